"""What an evaluation looks at: one page as it was fetched and read, and what is known of its site."""

from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of the page: its address made whole, and its words."""

    url: str
    text: str = ""
    rel: str = ""


@dataclass(frozen=True, slots=True)
class SitePage:
    """Another page of the same domain, as far as it is known: crawled before, or fetched by the probe."""

    url: str
    title: str = ""
    text: str = ""
    """The first words of its main text."""


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """Whether a link leads somewhere. `is_broken` None: it could not be told, and does not count."""

    url: str
    is_broken: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Lookalike:
    """A stored page elsewhere whose text is nearly the same."""

    url: str
    likeness: float
    """0..1, 1 is word for word."""
    is_older: bool
    """It was seen before the page was."""


@dataclass(frozen=True, slots=True)
class PageMaterial:
    """One page. Text of strangers, of bounded length."""

    url: str
    html: str
    """Decoded and tamed: bounded in size and depth. Empty where the page is no HTML."""
    text: str
    """The main text."""
    title: str = ""
    language: str | None = None
    links: tuple[PageLink, ...] = ()
    published: date | None = None
    modified: date | None = None
    item_kinds: tuple[str, ...] = ()
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class SiteMaterial:
    """What is known around the page."""

    pages: tuple[SitePage, ...] = ()
    is_crawled: bool = False
    """The pages come from a crawl, not from a probe's few requests."""
    link_checks: tuple[LinkCheck, ...] = ()
    lookalikes: tuple[Lookalike, ...] = ()
    compared_with: int = 0
    """How many stored texts the page was compared with; 0: none, so nothing is known of copies."""
    unreached: tuple[str, ...] = field(default=())
    """Why pages of the site that were asked for did not come."""
