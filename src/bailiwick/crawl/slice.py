"""One leased stretch of crawling: what one domain has open, what it may still do, and why it ends. No I/O in here."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from bailiwick.base.sections import CrawlSettings
from bailiwick.crawl.facts import Ending, Known, Outlook, SendingEnds
from bailiwick.crawl.images.facts import ImageDue
from bailiwick.crawl.images.turn import SliceImages, no_images
from bailiwick.crawl.linkgate import Account, LinkGate, patterns_mark
from bailiwick.crawl.outcomes import MEANINGS, Outcome, StopReason
from bailiwick.crawl.results import (
    Batch,
    Memory,
    NewLink,
    PageResult,
    Refusal,
    RobotsRead,
    SitemapFound,
    SitemapRead,
    Taken,
)
from bailiwick.crawl.runs import Assignment
from bailiwick.crawl.seen import SeenLinks, SeenTable
from bailiwick.model.urls import hash_of
from bailiwick.net.gates import Pace, backoff_seconds
from bailiwick.net.robots import RobotsVerdict
from bailiwick.registry.leases import Lease
from bailiwick.registry.release import BlockCode

HOME_HASH = hash_of("/")
GRACE_SECONDS = 2.0
"""What is under way may take this long to end when a slice has to stop."""
RETRY_IN_PLACE_SECONDS = 100.0
"""A slice waits this long for a page's retry; for a later one the lease is given back."""


@dataclass
class Slice:
    """The state of one open domain."""

    lease: Lease
    run: Assignment
    known: Known
    settings: CrawlSettings
    sending: SendingEnds
    pace: Pace
    gate: LinkGate
    seen: SeenLinks = field(default_factory=lambda: SeenLinks(SeenTable(1 << 14)))
    images: SliceImages = field(default_factory=no_images)
    base_url: str | None = None
    queue: deque[Taken] = field(default_factory=deque)
    in_flight: dict[int, Taken] = field(default_factory=dict)
    results: list[PageResult] = field(default_factory=list)
    links: dict[int, tuple[int, str, int, int]] = field(default_factory=dict)
    outlinks: dict[int, tuple[int, str, str, str | None, int]] = field(default_factory=dict)
    unflushed: set[int] = field(default_factory=set)
    """Hashes in a flush that is under way: still waiting in the frontier as others see it."""
    stop: StopReason | None = None
    stopped_at: float = 0.0
    is_dry: bool = False
    """The frontier has shown all it has, until a flush or a wish adds to it."""
    outlook: Outlook | None = None
    is_urgent: bool = False
    flush_no: int = 0
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.base_url = self.base_url or self.lease.base_url
        self.pages_known = self.known.pages
        self.pages_waiting = self.known.waiting
        self.pages_failed = self.known.failed
        self.errors_in_row = self.known.errors_in_row
        self.outlinks_known = self.known.outlinks
        self.pages_done = self.requests = self.errors = self.bytes_received = 0
        self.depth = 0
        self.refused = 0
        self._requests_unflushed = self._refused_unflushed = 0
        self._outcomes: Counter[Outcome] = Counter()
        self._successes = 0
        self.robots: dict[str, RobotsVerdict] = dict(self.known.robots)
        self._robots_read: list[RobotsRead] = []
        self.refusals: list[Refusal] = []
        self.backoffs = self.known.backoffs
        self._memory_changed = False
        self.wants_sitemaps = self.run.max_depth > 0
        """There may be one to read. At depth 0 none is."""
        self.reads_sitemap = False
        self._sitemaps_found: dict[int, SitemapFound] = {}
        self._sitemaps_read: list[SitemapRead] = []
        self.on_wire = 0
        """Requests that are under way; pages in flight may still wait for their turn."""
        self.closed_for_seconds: float | None = None
        """robots.txt could not be read: nothing may be fetched for so long."""
        self._unknown_name: str | None = None
        self._denied: str | None = None

    # What may be done next

    @property
    def concurrency(self) -> int:
        """One at a time until origin and robots.txt are known: both are learned with the first page."""
        return self.lease.max_concurrent_requests if self.base_url in self.robots else 1

    def next_page(self) -> Taken | None:
        """The next page to fetch, if one may be started now."""
        if not self.queue or len(self.in_flight) >= self.concurrency or self._is_spent():
            return None
        if len(self.results) >= 2 * self.settings.flush_pages:
            return None  # the database is slower than the network
        if self.queue[0].depth > self._settled_depth():
            return None
        page = self.queue.popleft()
        self.in_flight[page.path_hash] = page
        return page

    def _settled_depth(self) -> int:
        """Pages below an unfinished level wait, so that each page is known by its shortest way.

        Without a depth limit nothing depends on it, and nothing waits.
        """
        if self.run.max_depth >= 1000:
            return self.run.max_depth
        open_depths = [page.depth for page in self.in_flight.values()] + [r.page.depth for r in self.results]
        return min(open_depths, default=self.run.max_depth)

    def _is_spent(self) -> bool:
        """Nothing more may be started: told to stop, at a budget, or at the end of its turn."""
        under_way = len(self.in_flight)
        return (
            self.stop is not None
            or self._budget_reached(under_way) is not None
            or not self.may_request_more(under_way + len(self.images.in_flight))
            or self.pages_done + under_way >= self.settings.slice_pages
            or time.monotonic() - self.started >= self.settings.slice_seconds
            or self.errors_in_row >= self.settings.max_domain_errors
            or self._unknown_name is not None
            or self._denied is not None
            or self.closed_for_seconds is not None
        )

    def _budget_reached(self, under_way: int) -> StopReason | None:
        run = self.run
        if run.page_budget and run.pages_done + self.pages_done + under_way >= run.page_budget:
            return StopReason.PAGE_BUDGET
        if run.request_budget and run.requests_done + self.requests + under_way >= run.request_budget:
            return StopReason.REQUEST_BUDGET
        return None

    def may_request_more(self, under_way: int = 0) -> bool:
        """Whether another request (for the same page at another origin, say) is within the budget."""
        run = self.run
        return not run.request_budget or run.requests_done + self.requests + under_way < run.request_budget

    def wants_pages(self, most: int) -> int:
        """How many pages to take from the frontier now, at most so many; 0 for none."""
        if self.is_dry or self._is_spent() or len(self.queue) > self.concurrency:
            return 0
        return min(self.settings.flush_pages, most)

    @property
    def may_fetch_images(self) -> bool:
        """Once its origin is known. Unlike pages, images have no budget of their own: those of fetched pages belong."""
        known = self.base_url is not None
        over = time.monotonic() - self.started >= self.settings.slice_seconds
        kept_out = self.closed_for_seconds is not None or self._denied is not None or self._unknown_name is not None
        too_bad = self.errors_in_row >= self.settings.max_domain_errors
        return known and self.stop is None and self.may_request_more() and not (over or kept_out or too_bad)

    def next_image(self) -> ImageDue | None:
        """One at a time beside its pages; as many as a host may be asked at once when there are none."""
        if not self.may_request_more(len(self.in_flight) + len(self.images.in_flight)):
            return None
        return self.images.next(1 if self.queue or self.in_flight else self.concurrency)

    @property
    def out(self) -> int:
        """Pages that the frontier still shows as waiting and that we have."""
        mine = len(self.queue) + len(self.in_flight) + len(self.results) + len(self.refusals)
        return mine + len(self.unflushed)

    @property
    def needs_outlook(self) -> bool:
        """It has nothing to do and nothing to write: why?"""
        reading = self.reads_sitemap or self.may_read_sitemaps
        ready = self.is_dry and self.outlook is None and not self.queue and not reading
        return ready and self.is_idle and not self.has_unwritten

    def look_again(self) -> None:
        """The frontier may have more now."""
        self.is_dry, self.outlook = False, None

    def offer(self, pages: list[Taken], asked: int) -> None:
        """Pages out of the frontier: those that we have already are passed over."""
        self.is_dry = len(pages) < asked
        have = {page.path_hash for page in self.queue} | self.in_flight.keys() | self.unflushed
        have |= {result.page.path_hash for result in self.results}
        have |= {refusal.page.path_hash for refusal in self.refusals}
        self.queue.extend(page for page in pages if page.path_hash not in have)

    @property
    def is_idle(self) -> bool:
        return not (self.in_flight or self.results or self.refusals or self.unflushed)

    @property
    def is_starved(self) -> bool:
        """It could do more, but only a flush will show what."""
        waiting = bool(self.results or self.refusals or self._sitemaps_read or self._sitemaps_found)
        return waiting and self.next_is_blocked and not self.in_flight

    @property
    def next_is_blocked(self) -> bool:
        return not self.queue or self.queue[0].depth > self._settled_depth()

    # What happened

    def stop_for(self, reason: StopReason, now: float) -> None:
        """Start nothing more. The first reason stays, but for a lost lease: then nothing can be written either."""
        if self.stop is None:
            self.stop, self.stopped_at = reason, now
        elif reason is StopReason.LEASE_LOST:
            self.stop = reason

    def count_request(self) -> None:
        self.requests += 1
        self._requests_unflushed += 1

    def may_send(self) -> bool:
        return self.stop is None and self.sending.may_send()

    def give_back(self, page: Taken) -> None:
        """The page was not fetched after all: it is still waiting in the frontier."""
        self.in_flight.pop(page.path_hash, None)

    def add(self, result: PageResult) -> None:
        """A fetch ended: count it and collect what it found."""
        self.in_flight.pop(result.page.path_hash, None)
        self.results.append(result)
        self.pages_done += 1
        self.bytes_received += result.bytes_received
        self.depth = max(self.depth, result.page.depth)
        self._outcomes[result.outcome] += 1
        if result.is_error:
            self.errors += 1
            self.errors_in_row += 1
        else:
            self.errors_in_row = 0
            self._successes += 1
            self._outcomes.clear()  # the reason for a block lies in the row of errors that led to it
        if result.base_url:
            self.base_url = result.base_url
        if result.outcome is Outcome.DNS_FAILURE and not self.base_url:
            self._unknown_name = result.error or "the name is not known"
        self._keep_pace(result)
        for path_hash, path, depth in result.links:
            self._add_link(path_hash, path, depth, result.page.path_hash)
        for url in result.feeds:
            self.found_sitemap(SitemapFound(hash_of(url), url, 0))
        for link in result.outlinks:
            if self.outlinks_known + len(self.outlinks) < self.settings.max_outlinks:
                self.outlinks.setdefault(link[0], (*link, result.page.path_hash))
        result.links, result.outlinks = [], []  # a result waits for its flush, and so many need not wait twice

    def turned_down(self, retry_after_seconds: float | None) -> None:
        """Any answer of the host that asks us to stay away slows all of it, and is written at once.

        Answers to what was under way together count as one.
        """
        self.backoffs += not self.pace.held_seconds
        self.pace.hold_off(backoff_seconds(self.backoffs, retry_after_seconds))
        self.is_urgent = self._memory_changed = True

    def answered(self, status: int, milliseconds: int) -> None:
        """The host answered for something else than a page: how fast, and whether we are welcome again."""
        if status < 400 and self.backoffs:
            self.backoffs, self._memory_changed = 0, True
        self.pace.answered(milliseconds / 1000)

    def _keep_pace(self, result: PageResult) -> None:
        if result.outcome in (Outcome.RATE_LIMITED, Outcome.UNAVAILABLE):
            if result.wait_seconds is not None:
                result.wait_seconds = max(result.wait_seconds, self.pace.held_seconds)
        elif self.backoffs and not result.is_error:
            self.backoffs, self._memory_changed = 0, True
        if result.status is not None:
            self.pace.answered(result.milliseconds / 1000)

    def refuse(self, page: Taken, rule: str, why: str) -> None:
        """A rule forbids the page: it is not asked for, and the rule is kept with it."""
        self.in_flight.pop(page.path_hash, None)
        self.refusals.append(Refusal(page, rule, why, self.known.revisit_seconds))
        self.gate.count(rule)

    def deny(self, why: str) -> None:
        """The domain itself forbids everything."""
        self._denied = why

    def learned_robots(self, read: RobotsRead, verdict: RobotsVerdict) -> None:
        """What an origin's robots.txt says holds from now on."""
        self.robots[read.origin] = verdict
        self._robots_read.append(read)
        # Whoever takes over has to know of it before the next request.
        self.is_urgent |= verdict.robots.crawl_delay_seconds is not None

    @property
    def may_read_sitemaps(self) -> bool:
        known = self.base_url is not None and self.base_url in self.robots
        return known and self.wants_sitemaps and not self.reads_sitemap and not self._is_spent()

    def found_sitemap(self, sitemap: SitemapFound) -> None:
        """A sitemap or feed of this domain was named."""
        self._sitemaps_found[sitemap.url_hash] = sitemap

    def read_sitemap(self, read: SitemapRead, links: list[NewLink], found: list[SitemapFound]) -> None:
        """What a sitemap holds: pages one link from the start, and further sitemaps."""
        self._sitemaps_read.append(read)
        for path_hash, path, depth in links:
            self._add_link(path_hash, path, depth, HOME_HASH)
        for sitemap in found:
            self.found_sitemap(sitemap)

    def admit(self, paths: Iterable[str], depth: int, found_on: str) -> tuple[list[NewLink], set[str]]:
        """Those of a page's links (or a sitemap's: `""`) that were not offered before and may become pages.

        And those that are refused. They may be admitted later, when their like have proved their worth, and are not
        remembered.
        """
        new: list[NewLink] = []
        refused: set[str] = set()
        for path in paths:
            if not self.seen.add(path, depth):
                continue
            if self.gate.refuses(path, depth, found_on) is None:
                new.append((hash_of(path), path, depth))
            else:
                self.seen.forget(path)
                refused.add(path)
        return new, refused

    def _add_link(self, path_hash: int, path: str, depth: int, referrer: int) -> None:
        known = self.links.get(path_hash)
        if known is not None:
            if depth < known[2]:
                self.links[path_hash] = (path_hash, path, depth, referrer)
        elif self.pages_known + len(self.links) >= self.settings.max_known_pages:
            self.refused += 1
            self._refused_unflushed += 1
        else:
            self.links[path_hash] = (path_hash, path, depth, referrer)

    # Flush

    def take_batch(self) -> Batch:
        """Everything collected since the last flush, as one numbered batch."""
        self.flush_no += 1
        account = self.gate.account()
        batch = Batch(
            domain_id=self.lease.domain_id,
            lease_no=self.lease.lease_no,
            run_id=self.run.run_id,
            flush_no=self.flush_no,
            results=self.results,
            links=list(self.links.values()),
            outlinks=list(self.outlinks.values()),
            requests=self._requests_unflushed,
            refused=self._refused_unflushed,
            errors_in_row=self.errors_in_row,
            last_sent=self.pace.last_sent,
            refusals=self.refusals,
            robots=self._robots_read,
            memory=self._memory(account),
            refused_links=account.links,
            sitemaps_found=list(self._sitemaps_found.values()),
            sitemaps_read=self._sitemaps_read,
            images=self.images.take(),
        )
        self.unflushed = {result.page.path_hash for result in self.results}
        self.unflushed |= {refusal.page.path_hash for refusal in self.refusals}
        self.results, self.links, self.outlinks = [], {}, {}
        self.refusals, self._robots_read = [], []
        self._sitemaps_found, self._sitemaps_read = {}, []
        self._memory_changed = False
        self._requests_unflushed = self._refused_unflushed = 0
        self.is_urgent = False
        return batch

    def _memory(self, account: Account) -> Memory | None:
        if not (self._memory_changed or account.counts or account.traps):
            return None
        options = self.run.options
        patterns = patterns_mark(options.include, options.exclude)
        return Memory(account.counts, self.pace.held_seconds, self.backoffs, account.traps, patterns)

    def flushed(self, batch: Batch, *, new_pages: int, new_outlinks: int) -> None:
        self.unflushed = set()
        self.wants_sitemaps = self.run.max_depth > 0 and (self.wants_sitemaps or bool(batch.sitemaps_found))
        self.look_again()
        self.images.flushed()
        self.pages_known += new_pages
        self.outlinks_known += new_outlinks
        self.pages_waiting = max(self.pages_waiting + new_pages - batch.leaving, 0)
        self.pages_failed += batch.failing

    @property
    def has_unwritten(self) -> bool:
        found = self.results or self.links or self.refusals or self._robots_read or self.gate.has_news
        return bool(found or self._requests_unflushed or self.images.results)

    def oldest_age(self, now: float) -> float:
        return max(now - self.results[0].at if self.results else 0.0, self.images.oldest_age(now))

    # The end

    def ending(self, now: float) -> Ending | None:
        """Why this slice is over, once nothing is under way; None while it goes on."""
        if self.stop is not None:
            at_once = self.stop is StopReason.LEASE_LOST or now - self.stopped_at > GRACE_SECONDS
            return Ending(self.stop) if at_once or not self.on_wire else None
        return self._turned_away() or self._used_up(now)

    def _turned_away(self) -> Ending | None:
        """The host, its name or its robots.txt does not let us go on."""
        if self._unknown_name is not None:
            return Ending(StopReason.UNREACHABLE, blamed=Outcome.DNS_FAILURE, why=self._unknown_name)
        if self._denied is not None:
            return Ending(StopReason.ROBOTS_DENIED, blamed=Outcome.ROBOTS_DENIED, why=self._denied)
        if self.closed_for_seconds is not None:
            return Ending(None, pause_seconds=self.closed_for_seconds, why="its robots.txt cannot be read")
        if self.pace.held_seconds > RETRY_IN_PLACE_SECONDS and not self.on_wire:
            return Ending(None, pause_seconds=self.pace.held_seconds, why="it asked us to stay away")
        if self.errors_in_row >= self.settings.max_domain_errors:
            return self._blocked(f"{self.errors_in_row} errors in a row")
        return None

    def _used_up(self, now: float) -> Ending | None:
        """A budget, its turn or the frontier is at its end."""
        reached = self._budget_reached(0)
        waits = self.may_fetch_images and self.images.keep_waiting(now)
        if reached is not None:
            return None if waits else Ending(reached)
        over = self.pages_done >= self.settings.slice_pages or now - self.started >= self.settings.slice_seconds
        if waits:
            return None
        if over and not self.in_flight:
            return Ending(None)
        return self._emptied() if self.outlook is not None and self.is_idle and not self.queue else None

    def _emptied(self) -> Ending | None:
        outlook = self.outlook
        if outlook is None:
            return None
        if outlook.next_in_seconds is not None:
            if outlook.next_in_seconds <= RETRY_IN_PLACE_SECONDS:
                return None
            return Ending(None, pause_seconds=outlook.next_in_seconds)
        if not self._successes and self._outcomes and self.pages_failed >= self.pages_known:
            return self._blocked("no page could be fetched")
        if self.refused:
            return Ending(StopReason.KNOWN_PAGES_CAP)
        return Ending(StopReason.DEPTH_LIMIT if outlook.has_deeper else StopReason.FRONTIER_EMPTY)

    def _blocked(self, what: str) -> Ending:
        """The reason of the most frequent outcome that speaks against the domain."""
        against = Counter({o: n for o, n in self._outcomes.items() if MEANINGS[o].code is not None})
        if not against:
            return Ending(StopReason.FRONTIER_EMPTY)
        worst, count = against.most_common(1)[0]
        code = MEANINGS[worst].code
        reason = _STOPS.get(code, StopReason.ERROR_LIMIT) if code else StopReason.ERROR_LIMIT
        times = f" ({count:,} times)" if count > 1 else ""
        return Ending(reason, blamed=worst, why=f"{what}: {worst.replace('_', ' ')}{times}")


_STOPS = {
    BlockCode.LOGIN_WALL: StopReason.LOGIN_WALL,
    BlockCode.RATE_LIMITED: StopReason.RATE_LIMITED,
    BlockCode.UNREACHABLE: StopReason.UNREACHABLE,
    BlockCode.ROBOTS_DENIED: StopReason.ROBOTS_DENIED,
}
