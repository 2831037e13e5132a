"""The content hash: of the main text without noise, and of what carries meaning beside it (DESIGN section 7).

Beside the text count: the title; `description`, `keywords`, `author` and the families in `_FAMILIES` of meta; JSON-LD;
itemprop values; the addresses of images. A price that changes only there is a change. None of these counts:

- Meta of any other name: CSRF tokens, build numbers and request ids live there. Of `modified_time` and `updated_time`
  only the day counts: some sites write the moment of the request there.
- In JSON-LD the order of keys and of scripts, `userInteractionCount` (views, likes), the time of day of `dateModified`,
  and `sdDatePublished` (when the data were generated). Times of day elsewhere count: an event may begin later.
- The number of unread things before a title: "(3) Inbox".
- The order and repetition of images; their cache-busting and signing parameters; images from paths and hosts of
  advertisers and of pixels; images as data, which stand for one that is loaded later.
- Sessions and campaign parameters in any URL.

What is noise within the text itself is written down in `noise`.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from unicodedata import is_normalized, normalize

from pydantic import JsonValue

from bailiwick.extract.addresses import steady, steady_image
from bailiwick.extract.noise import without_noise

HASH_BYTES = 16
_NAMES = frozenset({"description", "keywords", "author", "subject", "abstract", "date", "price", "availability"})
_FAMILIES = (
    *("og:", "article:", "product:", "twitter:", "book:", "event:", "place:", "business:"),
    *("dc.", "dcterms.", "citation_"),
)
_ROLLING = frozenset({"og:updated_time", "article:modified_time", "dcterms.modified", "dc.date.modified"})
_UNREAD = re.compile(r"^\s*\(\d+\+?\)\s*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_IGNORED_KEYS = frozenset({"userInteractionCount", "sdDatePublished", "nonce"})
_IGNORED_PROPERTIES = frozenset({"userinteractioncount", "interactioncount", "sddatepublished"})


@dataclass(slots=True)
class Beside:
    """What carries meaning beside the main text."""

    title: str = ""
    meta: list[tuple[str, str]] = field(default_factory=list)
    """(name in lower case, content), as they stand."""
    linked_data: list[JsonValue] = field(default_factory=list)
    """Each script's value, or its source where that is no JSON."""
    properties: list[tuple[str, str]] = field(default_factory=list)
    """itemprop and its value."""
    images: list[str] = field(default_factory=list)


def content_hash(text: str, beside: Beside | None = None) -> bytes:
    """16 bytes. Equal when nothing that counts is different."""
    digest = blake2b(digest_size=HASH_BYTES)
    digest.update(without_noise(_composed(text)))
    if beside is not None:
        for part in _parts(beside):
            digest.update(b"\x00")
            digest.update(part.encode("utf-8", "replace"))
    return digest.digest()


def _composed(text: str) -> str:
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def _parts(beside: Beside) -> Iterable[str]:
    yield "".join(_UNREAD.sub("", beside.title).split())
    yield from sorted(f"{name}={_steady_value(name, value)}" for name, value in beside.meta if _counts(name))
    yield "ld"
    yield from sorted(_canonical(value) for value in beside.linked_data)
    yield "itemprop"
    for name, value in beside.properties:
        if name.lower() not in _IGNORED_PROPERTIES:
            yield f"{name}={_steady_value(name, value)}"
    yield "img"
    yield from sorted({url for image in beside.images if (url := steady_image(image)) is not None})


def _counts(name: str) -> bool:
    return name in _NAMES or name.startswith(_FAMILIES)


def _steady_value(name: str, value: str) -> str:
    if name in _ROLLING or name == "dateModified":
        day = _DAY.match(value)
        return day[0] if day else value
    if "://" in value or value[:1] == "/":
        return (steady_image(value) or "") if "image" in name else steady(value)
    return "".join(value.split())


def _canonical(value: JsonValue) -> str:
    """The same text for the same data. What nests deeper than Python goes does not count."""
    try:
        return json.dumps(_counted(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError):
        return ""


def _counted(value: JsonValue, name: str = "") -> JsonValue:
    if isinstance(value, dict):
        return {key: _counted(inner, key) for key, inner in value.items() if key not in _IGNORED_KEYS}
    if isinstance(value, list):
        return [_counted(inner, name) for inner in value]
    return _steady_value(name, value) if isinstance(value, str) else value
