"""Search: what is found, what is asked, and how people write it.

    grant research        both words
    "research grant"      these words in a row
    grant OR loan         one of them
    grant -student        not with this word
    fund*                 every word that begins so

Any text means something; nothing is an error. A text without a word to look for finds nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

PAGE = "page"
"""The kind of a page itself; its items have their own."""
MAX_MATCHES = 1_000
"""So many matches are ranked and counted. Of more, those with the words in their title come first."""
_MAX_CHARS, _MAX_TERM_CHARS, _MAX_TERMS = 1_000, 400, 32


@dataclass(frozen=True, slots=True, order=True)
class PageKey:
    """A page, as tables name it."""

    domain_id: int
    path_hash: int


@dataclass(frozen=True, slots=True)
class Offer:
    """What a product costs, and what people look for in one."""

    price: Decimal | None = None
    currency: str | None = None
    availability: str | None = None
    """`in_stock`, `out_of_stock`, or nothing is known."""
    brand: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """What can be found: a page by its content now, or one of its items."""

    page: PageKey
    kind: str
    position: int
    snapshot_id: int
    url: str
    domain: str
    title: str
    description: str
    text: str
    language: str | None
    is_relevant: bool
    at: datetime
    """When it was published; if nobody says, when we saw it first."""
    offer: Offer | None = None
    """Of a product."""


class Facet(StrEnum):
    """By what matches can be counted."""

    KIND = "kind"
    DOMAIN = "domain"
    LANGUAGE = "language"
    AVAILABILITY = "availability"
    BRAND = "brand"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class OfferFilter:
    """What a product has to be like. A price of 10 to 100 is one in any currency, unless that is asked for, too."""

    low: Decimal | None = None
    high: Decimal | None = None
    currencies: tuple[str, ...] = ()
    in_stock: bool = False
    brands: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked. Filters that are empty let everything through; several values of one mean any of them."""

    text: str
    kinds: tuple[str, ...] = ()
    domain_ids: tuple[int, ...] = ()
    languages: tuple[str, ...] = ()
    only_relevant: bool = False
    since: datetime | None = None
    limit: int = 20
    after: int = 0
    """How many hits to leave out, because they were shown before."""
    facets: tuple[Facet, ...] = ()
    offer: OfferFilter | None = None
    """Only products, of this kind. Without words they come by their price, the lowest first."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a snippet. What matched is marked by its place, not by characters: no text can forge it."""

    text: str
    is_match: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    page: PageKey
    kind: str
    position: int
    rank: float
    url: str
    domain: str
    title: str
    snippet: tuple[Part, ...]
    language: str | None
    is_relevant: bool
    at: datetime
    offer: Offer | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best hits first. All figures are exact unless `is_capped`: then they tell of the matches that were ranked."""

    hits: tuple[Hit, ...] = ()
    total: int = 0
    is_capped: bool = False
    facets: Mapping[Facet, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    has_words: bool = True
    """False: there was nothing to look for, only exclusions or words that are everywhere."""


class TermKind(StrEnum):
    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    kind: TermKind = TermKind.WORD


@dataclass(frozen=True, slots=True)
class Terms:
    """Of each group one, and none of the excluded."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...]


_TOKEN = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)(?:"|$)|(?P<word>\S+)')
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def marked(snippet: tuple[Part, ...], before: str, after: str) -> str:
    """A snippet with what matched between two marks of the caller's choice."""
    return "".join(f"{before}{part.text}{after}" if part.is_match else part.text for part in snippet)


def storable(text: str) -> str:
    """A text without the characters that no database takes."""
    return _UNFIT.sub(" ", text)


def parse_terms(text: str) -> Terms:
    """What a person means by a text. Never refuses one; what is beyond 1,000 characters or 32 words is left out."""
    groups: list[tuple[Term, ...]] = []
    excluded: list[Term] = []
    joins = False
    for token in list(_TOKEN.finditer(storable(text[:_MAX_CHARS])))[:_MAX_TERMS]:
        if token["word"] in ("OR", "|"):
            joins = bool(groups)
            continue
        term, is_excluded = _term(token)
        if not term.text:
            continue
        if is_excluded:
            excluded.append(term)
        elif joins:
            groups[-1] = (*groups[-1], term)
        else:
            groups.append((term,))
        joins = False
    return Terms(tuple(groups), tuple(excluded))


def _term(token: re.Match[str]) -> tuple[Term, bool]:
    if token["phrase"] is not None:
        return Term(token["phrase"].strip()[:_MAX_TERM_CHARS], TermKind.PHRASE), bool(token["minus"])
    word = token["word"]
    is_excluded = word.startswith("-")
    word = word.lstrip("-") if is_excluded else word
    kind = TermKind.PREFIX if word.endswith("*") else TermKind.WORD
    return Term(word.strip("*")[:_MAX_TERM_CHARS], kind), is_excluded
