"""Which slices are written now, and which of them together."""

import time

import pytest

from bailiwick.base.sections import CrawlSettings
from bailiwick.crawl import flush_order
from bailiwick.crawl.outcomes import Effect, Outcome
from bailiwick.crawl.results import PageResult, Taken
from bailiwick.crawl.slice import Slice
from bailiwick.model.names import DomainName
from bailiwick.model.urls import hash_of
from tests.crawl.desk_tools import slice_without_database

SETTINGS = CrawlSettings(flush_pages=50, flush_seconds=10)


def a_slice(number: int, results: int, *, age: float = 0.0) -> Slice:
    """A domain with pages left to fetch and so many results, the oldest of them so many seconds old."""
    name = DomainName.parse(f"d{number}.test")
    part = slice_without_database(name, number, max_depth=1000)
    part.queue.append(taken("/next"))
    for n in range(results):
        part.add(PageResult(taken(f"/{n}"), Outcome.OK, Effect.CHANGED, status=200, at=time.monotonic() - age))
    return part


def taken(path: str) -> Taken:
    return Taken(hash_of(path), path, 1, 0, "pending", None, None, None, None)


def due(parts: list[Slice]) -> list[int]:
    return [part.lease.domain_id for part in flush_order.due(parts, SETTINGS, time.monotonic())]


def test_a_slice_is_written_when_it_is_full_or_its_results_are_old() -> None:
    many = [a_slice(n, 1) for n in range(100, 130)]
    assert due([*many, a_slice(1, 49, age=4), a_slice(2, 0)]) == []
    assert due([*many, a_slice(1, 50)]) == [1]
    assert due([*many, a_slice(1, 1, age=11)]) == [1]
    assert due([*many, a_slice(1, 1, age=11), a_slice(2, 1, age=6), a_slice(3, 1, age=4)]) == [1, 2], "one goes along"


def test_few_domains_are_written_sooner() -> None:
    assert due([a_slice(1, 1, age=3)]) == [1]
    assert due([a_slice(1, 1, age=1)]) == []


def test_too_many_unwritten_results_of_all_domains_are_written_before_their_time() -> None:
    parts = [a_slice(n, 49) for n in range(1, flush_order.PRESSING // 49 + 2)]
    assert due(parts[:-2]) == []
    assert due(parts) == [part.lease.domain_id for part in parts]


@pytest.mark.parametrize("sizes", [[], [0], [1, 2, 3], [400] * 10, [5_000, 1, 1], [999, 1, 1], [1, 5_000, 1]])
def test_a_transaction_takes_a_thousand_results_but_tears_no_domain_apart(sizes: list[int]) -> None:
    parts = [a_slice(number, size) for number, size in enumerate(sizes, 1)]
    groups = list(flush_order.together(parts))
    assert [part for group in groups for part in group] == parts
    assert all(groups)
    totals = [sum(len(part.results) for part in group) for group in groups]
    assert all(total <= 1_000 or len(group) == 1 for total, group in zip(totals, groups, strict=True))
    assert all(a + len(later[0].results) > 1_000 for a, later in zip(totals, groups[1:], strict=False)), (
        "no more than needed"
    )
