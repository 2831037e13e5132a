"""What is known of a domain: its registration and its certificate, or why they are not known."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

MAX_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Registration:
    """What a registry says, as it says it: whether to believe it is for whoever reads it."""

    registered_on: date | None
    expires_on: date | None
    registrar: str | None
    is_private: bool | None
    """The registrant is hidden, or stands behind a service that hides them."""
    source: Literal["rdap", "whois"]
    why_not: Mapping[str, str] = field(default_factory=dict)
    """Why a fact above is missing, by its name."""
    server: str = ""
    """The host that told the date, or answered first."""
    is_partial: bool = False
    """Somebody who may know more did not answer: worth asking again before long."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server showed when TLS was spoken to it."""

    is_valid: bool
    issuer: str | None
    not_after: datetime | None
    why: str = ""
    """Why it is not valid."""


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """Each fact, or None and why."""

    registration: Registration | None
    registration_why: str
    certificate: Certificate | None
    certificate_why: str


@dataclass(frozen=True, slots=True)
class Untold:
    """No answer, and why."""

    why: str
    is_passing: bool = False
    """It says nothing about the domain and may be otherwise in a moment: not worth remembering."""


def spellings(name: str) -> tuple[str, ...]:
    """A canonical name as registries may write it: in ASCII, and as people read it."""
    try:
        return tuple(dict.fromkeys((name, name.encode().decode("idna").lower())))
    except UnicodeError:
        return (name,)


def plain(text: object, limit: int = MAX_TEXT_CHARS) -> str | None:
    """A stranger's text as one short line that the database takes; None if nothing is left of it, or it is no text."""
    if not isinstance(text, str):
        return None
    shown = text[: 4 * limit].encode("utf-8", "replace").decode()
    shown = "".join(" " if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") else letter for letter in shown)
    return " ".join(shown.split())[:limit].strip() or None
