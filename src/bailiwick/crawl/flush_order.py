"""Which slices are written now, and which of them together in one transaction."""

from collections.abc import Iterable, Iterator

from bailiwick.base.sections import CrawlSettings
from bailiwick.crawl.slice import Slice

_MOST_TOGETHER = 1_000
"""Results in one transaction: more only cost memory, and keep others waiting. A domain's are not torn apart."""
PRESSING = 5_000
"""So many unwritten results of all domains together are written before their time."""
MOST_UNWRITTEN = 2 * PRESSING
"""At so many nothing more is fetched: the database is slower than the network."""
_FEW_DOMAINS = 20
_FEW_FLUSH_SECONDS = 2.0


def due(parts: Iterable[Slice], settings: CrawlSettings, now: float) -> list[Slice]:
    """The slices to write now."""
    parts = list(parts)
    limit = min(settings.flush_seconds, _FEW_FLUSH_SECONDS) if len(parts) <= _FEW_DOMAINS else settings.flush_seconds
    if sum(len(part.results) for part in parts) >= PRESSING:
        limit = 0.0
    must = {id(part) for part in parts if part.has_unwritten and _must(part, settings.flush_pages, limit, now)}
    # If a transaction is under way anyway: take along what would be due soon.
    return [p for p in parts if id(p) in must or (p.results and p.oldest_age(now) > limit / 2)] if must else []


def together(parts: Iterable[Slice]) -> Iterator[list[Slice]]:
    """Those that share a transaction."""
    group: list[Slice] = []
    size = 0
    for part in parts:
        if group and size + len(part.results) > _MOST_TOGETHER:
            yield group
            group, size = [], 0
        group.append(part)
        size += len(part.results)
    if group:
        yield group


def _must(part: Slice, most: int, limit_seconds: float, now: float) -> bool:
    return len(part.results) >= most or part.is_urgent or part.is_starved or part.oldest_age(now) >= limit_seconds
