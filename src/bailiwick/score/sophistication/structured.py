"""What structured data of a page says, as far as layer 3 asks: who wrote it, who publishes it, what it is about."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_MOST_SCRIPTS = 20
_MOST_CHARS = 200_000
_MOST_THINGS = 500
_MOST_TYPES = 30
_ORGANISATIONS = (
    "organization",
    "corporation",
    "business",
    "store",
    "university",
    "school",
    "ngo",
    "hospital",
    "brand",
)
_REVIEWS = frozenset({"review", "userreview", "comment", "answer", "question", "rating"})
"""What others say below a page: their authors are not its own."""
_NAMERS = ("author", "creator")
_PUBLISHERS = ("publisher", "sourceOrganization", "provider", "seller")
_CREDENTIALS = ("jobTitle", "honorificPrefix", "honorificSuffix", "hasCredential", "award", "alumniOf", "knowsAbout")


@dataclass(frozen=True, slots=True)
class Structured:
    things: int = 0
    """Different kinds of things that are named."""
    bad: int = 0
    """Blocks that cannot be read."""
    author: str = ""
    has_profile: bool = False
    has_organisation: bool = False
    has_contact: bool = False
    has_credentials: bool = False
    is_dated: bool = False
    is_kept_up: bool = False


def structured_of(scripts: list[str], types: list[str]) -> Structured:
    """Of JSON-LD, and of the types that microdata and RDFa name."""
    blocks = [_read(script) for script in scripts[:_MOST_SCRIPTS]]
    things = [thing for block in blocks for thing in _things(block)][:_MOST_THINGS]
    kinds = {kind for thing in things for kind in _kinds(thing)}
    kinds |= {kind.rstrip("/").rpartition("/")[2].rpartition(":")[2].lower() for kind in types}
    own = [thing for thing in things if not _REVIEWS.intersection(_kinds(thing))]
    authors = [value for thing in own for name in _NAMERS for value in _listed(thing.get(name))]
    publishers = any(_name(value) for thing in things for name in _PUBLISHERS for value in _listed(thing.get(name)))
    return Structured(
        things=min(len(kinds - {""}), _MOST_TYPES),
        bad=sum(block is None for block in blocks),
        author=next(filter(None, map(_name, authors)), ""),
        has_profile=any(isinstance(one, dict) and (one.get("url") or one.get("sameAs")) for one in authors),
        has_organisation=publishers or any(word in kind for kind in kinds for word in _ORGANISATIONS),
        has_contact=any(thing.get("contactPoint") or thing.get("telephone") or thing.get("email") for thing in things),
        has_credentials=any(thing.get(name) for thing in things for name in _CREDENTIALS),
        is_dated=any(thing.get("datePublished") for thing in things),
        is_kept_up=any(thing.get("dateModified") for thing in things),
    )


def _read(script: str) -> object:
    """The JSON of a block; None if it is none."""
    try:
        found: object = json.loads(script.strip()[:_MOST_CHARS], strict=False)
    except (ValueError, RecursionError):
        return None
    return found


def _things(block: object) -> Iterator[Mapping[str, object]]:
    """Every object, at whatever depth, up to a number."""
    waiting, seen = [block], 0
    while waiting and seen < _MOST_THINGS:
        part = waiting.pop()
        seen += 1
        if isinstance(part, dict):
            yield part
            waiting += [value for value in part.values() if isinstance(value, dict | list)]
        elif isinstance(part, list):
            waiting += [value for value in part[:_MOST_THINGS] if isinstance(value, dict | list)]


def _kinds(thing: Mapping[str, object]) -> Iterator[str]:
    return (kind.lower() for kind in _listed(thing.get("@type")) if isinstance(kind, str))


def _listed(value: object) -> list[object]:
    return value[:20] if isinstance(value, list) else [] if value is None else [value]


def _name(value: object) -> str:
    given = value.get("name") if isinstance(value, dict) else value
    return " ".join(given.split())[:200] if isinstance(given, str) and "://" not in given else ""
