"""Reads an answer of RDAP (RFC 9083) by `whodap`. A stranger wrote it: whatever is off is left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from bailiwick.score.facts.known import Untold, plain, spellings
from bailiwick.score.facts.registrants import is_private

_MOST_EVENTS = 500
_MOST_LINKS = 100


@dataclass(frozen=True, slots=True)
class RdapAnswer:
    """What an RDAP server says of a domain."""

    registered_on: date | None
    expires_on: date | None
    registrar: str | None
    is_private: bool | None
    related: str | None
    """Where the registrar's own answer is."""


def read_rdap(body: bytes, name: str) -> RdapAnswer | Untold:
    """The answer about this name."""
    from whodap.response import DomainResponse

    try:
        response = DomainResponse.from_json(body)
    except (ValueError, TypeError, RecursionError):  # TypeError: members named like the parser's own parameters
        return Untold("the answer is no JSON")
    if not isinstance(response, DomainResponse):
        return Untold("the answer is no RDAP")
    told = plain(getattr(response, "ldhName", None))
    if told is not None and told.lower().rstrip(".") not in spellings(name):
        return Untold(f"the answer is about {told[:80]}")
    events = list(_events(response))
    if told is None and not events:
        return Untold("the answer says nothing about the domain")
    named = _named(response)
    return RdapAnswer(
        registered_on=min((day for action, day in events if action == "registration"), default=None),
        expires_on=max((day for action, day in events if action.endswith("expiration")), default=None),
        registrar=_shown(named.get("registrar_name")),
        is_private=is_private(named.get("registrant_organization"), named.get("registrant_name")),
        related=_related(response, name),
    )


def _listed(response: object, name: str, most: int) -> list[object]:
    found = getattr(response, name, None)
    return found[:most] if isinstance(found, list) else []


def _events(response: object) -> Iterator[tuple[str, date]]:
    """(what, day), with every date that can be read: `whodap` itself would keep the last of each kind."""
    for event in _listed(response, "events", _MOST_EVENTS):
        action = plain(getattr(event, "eventAction", None))
        try:
            day = _day(getattr(event, "eventDate", None))  # whodap makes a datetime of what it knows
        except (TypeError, ValueError):
            day = None
        if action is not None and day is not None:
            yield action.lower(), day


def _day(told: object) -> date | None:
    if isinstance(told, str):
        told = datetime.fromisoformat(told.strip())
    return told.date() if isinstance(told, datetime) else None


def _named(response: object) -> dict[str, str]:
    """Names of people and organisations, by `whodap`'s words for them."""
    from whodap.response import DomainResponse

    bare = DomainResponse(entities=getattr(response, "entities", None), redacted=getattr(response, "redacted", None))
    bare.ldhName = ""  # it fails without one
    try:
        flat = bare.to_whois_dict()
    except (AttributeError, TypeError, ValueError, KeyError, IndexError, RecursionError):
        return {}
    return {str(key.value): text for key, value in flat.items() if (text := plain(_first(value))) is not None}


def _shown(name: str | None) -> str | None:
    return None if name is None or name.lower().startswith("redacted") else name


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _related(response: object, name: str) -> str | None:
    """The link to what the registrar says: a registry that knows no registrants has one."""
    for link in _listed(response, "links", _MOST_LINKS):
        href, rel, kind = (plain(getattr(link, key, None), 2000) for key in ("href", "rel", "type"))
        if href and rel and rel.lower() == "related" and (kind or "").lower() == "application/rdap+json":
            return href if href.lower().rstrip("/").endswith(name) else None
    return None
