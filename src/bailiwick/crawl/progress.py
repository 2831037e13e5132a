"""How a crawl is going, for whoever watches: counters that stay small however many domains there are."""

import time
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from pydantic import JsonValue

from bailiwick.crawl.facts import Ending
from bailiwick.crawl.outcomes import Outcome, StopReason
from bailiwick.crawl.results import Batch, PageResult
from bailiwick.crawl.slice import Slice
from bailiwick.model.images import ImageOutcome

_KEPT = 1000
_RATE_SECONDS = 10.0


@dataclass
class DomainProgress:
    """One domain, over all its slices in this process."""

    name: str
    delay_seconds: float = 0.0
    is_default_delay: bool = True
    pages_done: int = 0
    pages_known: int = 0
    pages_waiting: int = 0
    page_budget: int = 0
    run_pages: int = 0
    errors: int = 0
    bytes_received: int = 0
    images_stored: int = 0
    depth: int = 0
    max_depth: int = 0
    reason: StopReason | None = None
    why: str | None = None
    next_in_seconds: float | None = None
    trouble: str | None = None
    """What went wrong with its last page; None if nothing did."""
    is_open: bool = True
    started: float = field(default_factory=time.monotonic)


class Progress:
    """All of it. Domains that ended long ago are only counted."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.domains: OrderedDict[str, DomainProgress] = OrderedDict()
        self.reasons: Counter[str] = Counter()
        self.outcomes: Counter[Outcome] = Counter()
        self.count = 0
        """Domains that were opened here."""
        self.pages = self.errors = self.bytes_received = 0
        self.images: Counter[str] = Counter()
        """What came of images; those that still wait are not counted."""
        self.elsewhere = 0
        """Domains of this command that another process is at."""
        self.is_held_back = False
        """Nothing is fetched until others have caught up with what was."""
        self._recent: deque[tuple[float, int]] = deque()

    def opened(self, part: Slice) -> None:
        name = part.lease.name.name
        known = self.domains.pop(name, None)
        if known is None:
            known = DomainProgress(name)
            self.count += 1
        known.is_open, known.reason, known.why = True, None, None
        known.delay_seconds = part.pace.delay_seconds
        known.is_default_delay = part.run.options.delay_seconds is None
        known.page_budget, known.max_depth = part.run.page_budget, part.run.max_depth
        known.run_pages = part.run.pages_done
        known.pages_known, known.pages_waiting = part.pages_known, part.pages_waiting
        self.domains[name] = known
        while len(self.domains) > _KEPT + 1000 and not next(iter(self.domains.values())).is_open:
            self.domains.popitem(last=False)

    def flushed(self, part: Slice, batch: Batch) -> None:
        known = self.domains[part.lease.name.name]
        count = len(batch.results)
        errors = sum(result.is_error for result in batch.results)
        received = batch.bytes_received
        known.pages_done += count
        known.run_pages += count
        known.errors += errors
        known.bytes_received += received
        known.depth = max(known.depth, part.depth)
        known.pages_known, known.pages_waiting = part.pages_known, part.pages_waiting
        if batch.results:
            known.trouble = _trouble(batch.results[-1], part.pace.held_seconds)
        self.pages += count
        self.images.update(i.outcome.value for i in batch.images if i.outcome is not ImageOutcome.WAITING)
        known.images_stored += sum(i.outcome is ImageOutcome.STORED for i in batch.images)
        self.errors += errors
        self.bytes_received += received
        self.outcomes.update(result.outcome for result in batch.results)
        self._recent.append((time.monotonic(), count))

    def ended(self, part: Slice, ending: Ending) -> None:
        known = self.domains[part.lease.name.name]
        known.is_open = False
        known.reason, known.why = ending.reason, ending.why
        known.next_in_seconds = ending.pause_seconds or None
        if ending.reason is not None:
            self.reasons[ending.reason] += 1

    def rate(self) -> float:
        """Pages a second of late."""
        now = time.monotonic()
        while self._recent and now - self._recent[0][0] > _RATE_SECONDS:
            self._recent.popleft()
        span = min(_RATE_SECONDS, max(now - self.started, 0.1))
        return sum(count for _, count in self._recent) / span

    def figures(self) -> dict[str, JsonValue]:
        """All of it in a few numbers, for those who watch from elsewhere."""
        opened = self.open_domains
        return {
            "pages": self.pages,
            "errors": self.errors,
            "bytes": self.bytes_received,
            "rate": round(self.rate(), 2),
            "open": len(opened),
            "waiting": sum(known.pages_waiting for known in opened),
            "outcomes": {outcome.value: count for outcome, count in self.outcomes.most_common()},
        }

    @property
    def open_domains(self) -> list[DomainProgress]:
        return [known for known in self.domains.values() if known.is_open]


def _trouble(result: PageResult, held_seconds: float) -> str | None:
    if not result.is_error:
        return None
    what = result.outcome.replace("_", " ") + (f": {result.error}" if result.error else "")
    wait = max(result.wait_seconds or 0.0, held_seconds)
    return f"{what}; tried again in {wait:.0f} s" if result.wait_seconds else what
