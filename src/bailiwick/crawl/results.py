"""What the fetch loop hands to the flush: plain records, collected per domain."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.crawl.images.facts import ImageResult
from bailiwick.crawl.outcomes import MEANINGS, Effect, Outcome
from bailiwick.ports import BodyRef

NewLink: TypeAlias = tuple[int, str, int]
"""(path_hash, path, depth)."""
Outlink: TypeAlias = tuple[int, str, str, str | None]
"""(url_hash, domain name, path, anchor text)."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A page as it was taken from the frontier."""

    path_hash: int
    path: str
    depth: int
    retries: int
    state: str
    etag: str | None
    last_modified: str | None
    body_hash: bytes | None
    text_hash: int | None


@dataclass(slots=True)
class PageResult:
    """One fetch of one page."""

    page: Taken
    outcome: Outcome
    effect: Effect
    status: int | None = None
    error: str | None = None
    milliseconds: int = 0
    bytes_received: int = 0
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_hash: bytes | None = None
    text_hash: int | None = None
    is_noindex: bool = False
    canonical: str | None = None
    ref: BodyRef | None = None
    images: int = 0
    wait_seconds: float | None = None
    """Until the page may be fetched again; None is never."""
    links: list[NewLink] = field(default_factory=list)
    outlinks: list[Outlink] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    """Addresses of feeds of this domain."""
    offer: tuple[str, str] | None = None
    """A redirect's target in another domain: (name, path)."""
    base_url: str | None = None
    """The origin that was learned with this page."""
    at: float = field(default_factory=time.monotonic)

    def end_as(self, outcome: Outcome, error: str | None = None) -> None:
        """It came to something else than its status says."""
        self.outcome, self.effect = outcome, MEANINGS[outcome].effect
        self.error = error or self.error

    @property
    def is_error(self) -> bool:
        return MEANINGS[self.outcome].is_error

    @property
    def waits_for_parsing(self) -> bool:
        return self.effect is Effect.CHANGED and self.ref is not None and not self.is_noindex

    @property
    def leaves_waiting(self) -> bool:
        return self.page.state == "pending" and self.effect is not Effect.RETRY

    @property
    def becomes_failed(self) -> bool:
        return self.effect is Effect.FAILED and self.page.state != "failed"

    @property
    def recovers(self) -> bool:
        return self.effect in (Effect.CHANGED, Effect.SAME) and self.page.state == "failed"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A page that a rule forbids: which rule, and its words."""

    page: Taken
    rule: str
    why: str
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A link that did not become a page, by which rule, and the page it was found on."""

    path_hash: int
    path: str
    rule: str
    from_hash: int | None


@dataclass(frozen=True, slots=True)
class RobotsRead:
    """A robots.txt as it was read just now."""

    origin: str
    kind: str
    status: int | None
    body: str | None
    error: str | None
    expires_seconds: float


@dataclass(frozen=True, slots=True)
class SitemapFound:
    """A sitemap or feed that was named somewhere."""

    url_hash: int
    url: str
    level: int


@dataclass(frozen=True, slots=True)
class SitemapRead:
    """What reading one came to; `wait_seconds` until it is read again."""

    url_hash: int
    state: str
    entries_taken: int
    error: str | None
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept of a domain's manners beyond its slice."""

    refusals: Mapping[str, int]
    held_seconds: float
    backoffs: int
    traps: str | None = None
    """JSON; None: as it was."""
    patterns: str | None = None
    """The mark of the patterns by which pages were kept back."""


@dataclass(slots=True)
class Batch:
    """The results of one domain that one flush makes true."""

    domain_id: int
    lease_no: int
    run_id: int
    flush_no: int
    results: list[PageResult]
    links: list[tuple[int, str, int, int]]
    """(path_hash, path, depth, referrer's hash), each page once."""
    outlinks: list[tuple[int, str, str, str | None, int]]
    requests: int = 0
    refused: int = 0
    errors_in_row: int = 0
    last_sent: float = float("-inf")
    refusals: list[Refusal] = field(default_factory=list)
    robots: list[RobotsRead] = field(default_factory=list)
    memory: Memory | None = None
    sitemaps_found: list[SitemapFound] = field(default_factory=list)
    sitemaps_read: list[SitemapRead] = field(default_factory=list)
    refused_links: list[RefusedLink] = field(default_factory=list)
    images: list[ImageResult] = field(default_factory=list)

    @property
    def bytes_received(self) -> int:
        return sum(r.bytes_received for r in self.results) + sum(i.bytes_received for i in self.images)

    @property
    def leaving(self) -> int:
        """Pages that wait no longer."""
        refused = sum(refusal.page.state == "pending" for refusal in self.refusals)
        return refused + sum(result.leaves_waiting for result in self.results)

    @property
    def failing(self) -> int:
        """Pages that failed now, less those that are well again."""
        refused = sum(refusal.page.state != "failed" for refusal in self.refusals)
        return refused + sum(r.becomes_failed for r in self.results) - sum(r.recovers for r in self.results)


@dataclass(frozen=True, slots=True)
class Flushed:
    """What became of a domain's batch: whether the lease held, and how many of its links were new."""

    is_held: bool
    new_pages: int = 0
    new_outlinks: int = 0
