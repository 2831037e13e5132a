"""Lists page by page against the plain answer: every filter, every order, many equal values, none shown twice."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from sqlalchemy import Connection, RowMapping, select, text

from bailiwick.base.errors import UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import domains
from bailiwick.registry import listing
from bailiwick.registry.listing import Filter, Sort, count_domains, list_domains

# Ten priorities, five moments of first sight, and half without a yield or a crawl.
_DOMAINS = """
insert into domains (name, site, shared_key, approval, standing, crawl, source, priority_score, image_yield_rate,
    first_seen_at, last_crawled_at, review_reason, block_reason)
select (array['a', 'ab', 'b', 'shop.'])[1 + n % 4] || n || '.org', 'site' || n % 3 || '.org', 'x',
    (array['approved', 'approved', 'pending_review', 'rejected', 'suspended'])[1 + n % 5],
    (array['discovered', 'discovered', 'processed_low_quality'])[1 + n % 3],
    (array['pending', 'active', 'exhausted', 'blocked'])[1 + n / 3 % 4], case when n % 2 = 0 then 'list' end,
    n * 7 % 10, case when n % 2 = 0 then n % 6 / 3.0 end, timestamptz '2026-01-01' + n % 5 * interval '1.000001 s',
    case when n % 2 = 1 then timestamptz '2026-02-01' - n % 4 * interval '1 hour' end, 'why', 'why'
from generate_series(1, 240) as n
"""
FILTERS = [
    Filter(*states, prefix=prefix)
    for *states, prefix in product(
        (None, "approved", "rejected"), (None, "discovered"), (None, "exhausted"), (None, "a", "AB")
    )
] + [Filter(site="site1.org"), Filter(source="list"), Filter(site="site1.org", source="list", approval="approved")]
_COLUMN = {
    Sort.PRIORITY: "priority_score",
    Sort.YIELD: "image_yield_rate",
    Sort.LAST_CRAWLED: "last_crawled_at",
    Sort.FIRST_SEEN: "first_seen_at",
}


@pytest.fixture
def conn(database: Database) -> Iterator[Connection]:
    with database.begin() as opened:
        opened.execute(text("set local session_replication_role = replica"))
        opened.execute(text(_DOMAINS))
        yield opened


@pytest.mark.parametrize("narrow", [0, 5000])
def test_pages_together_are_the_whole_list(conn: Connection, narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_NARROW", narrow)
    rows = conn.execute(select(domains)).mappings().all()
    for which, sort in product(FILTERS, Sort):
        assert list(_paged(conn, which, sort, 23)) == _expected(rows, which, sort), (which, sort)


def test_counts_are_those_of_the_list(conn: Connection) -> None:
    rows = conn.execute(select(domains)).mappings().all()
    counts = {which: count_domains(conn, which) for which in FILTERS}
    assert [which for which, count in counts.items() if count is None] == FILTERS[-1:]
    for which, count in counts.items():
        assert count in (None, len(_expected(rows, which, Sort.NAME))), which


def test_a_count_ends_at_the_cap(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "CAP", 20)
    assert count_domains(conn, Filter()) == count_domains(conn, Filter(prefix="a")) == 21


def test_a_list_goes_on_behind_known_domains_only(conn: Connection) -> None:
    with pytest.raises(UsageError):
        list_domains(conn, Filter(), sort=Sort.PRIORITY, limit=5, after="nobody.org")


def _paged(conn: Connection, which: Filter, sort: Sort, limit: int) -> Iterator[str]:
    after = None
    while rows := list_domains(conn, which, sort=sort, limit=limit, after=after):
        assert len(rows) <= limit
        yield from (row["name"] for row in rows)
        after = rows[-1]["name"]


def _expected(rows: Sequence[RowMapping], which: Filter, sort: Sort) -> list[str]:
    wanted = {name: getattr(which, name) for name in ("approval", "standing", "crawl", "site", "source")}
    found = [row for row in rows if all(value in (None, row[name]) for name, value in wanted.items())]
    found = sorted(
        (row for row in found if row["name"].startswith((which.prefix or "").lower())), key=lambda row: row["name"]
    )
    if sort is not Sort.NAME:
        column = _COLUMN[sort]
        found = sorted((row for row in found if row[column] is not None), key=lambda row: row[column], reverse=True)
    return [row["name"] for row in found]
