"""An engine's hit becomes a search result: plain text within bounds and a URL that may be crawled, or a reason why not.

Strangers wrote all of it. Nothing of it is run or fetched, and the time it takes is linear in its length.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.discovery import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, MAX_URL_CHARS, SearchResult
from bailiwick.model.names import canonical_name, split_url, typed_url
from bailiwick.model.results import plain_text
from bailiwick.model.urls import DEFAULT_RULES, PageUrl, UrlRules
from bailiwick.ports import EngineHit


class Reason(StrEnum):
    """Why a hit is no search result."""

    NO_URL = "no_url"
    NOT_WEB = "not_web"
    """`javascript:`, `data:`, `mailto:` and whatever else is neither http nor https."""
    TOO_LONG = "too_long"
    NOT_PUBLIC = "not_public"
    """An IP address, `localhost` or a one-word name, where those are not allowed."""
    NO_NAME = "no_name"
    """The host is no host name, or there is none."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A hit that is left out, and why."""

    reason: Reason
    hit: EngineHit
    why: str


def clean(
    hit: EngineHit, *, engine: str = "", query: str = "", position: int = 1, rules: UrlRules = DEFAULT_RULES
) -> SearchResult | Refused:
    """The result that a hit stands for. Its URL is in the browsers' form, without credentials and fragment."""
    url = _url(hit, rules)
    if isinstance(url, Refused):
        return url
    return SearchResult(
        url,
        plain_text(hit.title, MAX_TITLE_CHARS),
        plain_text(hit.snippet, MAX_SNIPPET_CHARS),
        engine,
        query,
        position,
    )


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?!\d+(?:[/?#]|$))", re.IGNORECASE)
_WEB = ("http", "https")
_EDGES = "".join(map(chr, range(0x21))) + "\x7f\xa0\u200b\u2028\u2029\u3000\ufeff"


def _url(hit: EngineHit, rules: UrlRules) -> str | Refused:
    text = hit.url.strip(_EDGES)
    if not text:
        return Refused(Reason.NO_URL, hit, "there is no URL")
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in _WEB and "." not in scheme[1]:
        return Refused(Reason.NOT_WEB, hit, f"{scheme[1].lower()[:20]}: is neither http nor https")
    if len(text) > MAX_URL_CHARS:
        return Refused(Reason.TOO_LONG, hit, f"the URL is longer than {MAX_URL_CHARS:,} characters")
    try:
        url = typed_url(text)
        authority, target = split_url(url)
        canonical_name(authority, allow_private=rules.allow_private)
        if len(target) > rules.max_path_chars:  # a page's path is never longer than it was
            PageUrl.parse(url, rules=rules)
    except NameRefusedError as error:
        return Refused(_reason(text), hit, error.message)
    url = f"{url.partition(':')[0]}://{authority}{target}"
    if len(url) > MAX_URL_CHARS:
        return Refused(Reason.TOO_LONG, hit, f"the URL is longer than {MAX_URL_CHARS:,} characters")
    return url


def _reason(text: str) -> Reason:
    """Of a URL that was refused: by the first thing that is wrong with it."""
    try:
        authority, _ = split_url(typed_url(text))
        canonical_name(authority, allow_private=True)
    except NameRefusedError:
        return Reason.NOT_WEB if "@" in text and "//" not in text else Reason.NO_NAME
    try:
        canonical_name(authority, allow_private=False)
    except NameRefusedError:
        return Reason.NOT_PUBLIC
    return Reason.TOO_LONG
