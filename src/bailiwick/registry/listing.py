"""Lists of domains: filtered, sorted, paged by key. Every combination is served by an index (a test shows its plan)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, func, or_, select
from sqlalchemy.sql import Select

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import domains


class Sort(StrEnum):
    """Orders of a list; those by a value start with the largest."""

    NAME = "name"
    PRIORITY = "priority"
    YIELD = "yield"
    LAST_CRAWLED = "last-crawled"
    FIRST_SEEN = "first-seen"


_COLUMN = {
    Sort.PRIORITY: domains.c.priority_score,
    Sort.YIELD: domains.c.image_yield_rate,
    Sort.LAST_CRAWLED: domains.c.last_crawled_at,
    Sort.FIRST_SEEN: domains.c.first_seen_at,
}
_SPARSE = (Sort.YIELD, Sort.LAST_CRAWLED)
"""Domains without a value are not part of these orders."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which domains; what is None does not matter."""

    approval: str | None = None
    standing: str | None = None
    crawl: str | None = None
    site: str | None = None
    source: str | None = None
    prefix: str | None = None


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One site and how many domains of ours it has."""

    site: str
    domains: int
    approved: int
    pages_crawled: int


def list_domains(
    conn: Connection, which: Filter, *, sort: Sort = Sort.NAME, limit: int, after: str | None = None
) -> Sequence[RowMapping]:
    """One page of domains. `after` is the name of the last domain of the page before."""
    return conn.execute(list_query(conn, which, sort=sort, limit=limit, after=after)).mappings().all()


def list_query(
    conn: Connection, which: Filter, *, sort: Sort, limit: int, after: str | None
) -> "Select[tuple[object, ...]]":
    query = select(domains).where(*_conditions(which)).limit(limit)
    if sort is Sort.NAME:
        query = query.order_by(domains.c.name)
        return query.where(domains.c.name > after) if after else query
    column = _COLUMN[sort]
    if sort in _SPARSE:
        query = query.where(column.is_not(None))
    if after:
        query = query.where(_behind(conn, column, after))
    return query.order_by(column.desc(), domains.c.name)


def list_sites(conn: Connection, which: Filter, *, limit: int, after: str | None = None) -> list[SiteRow]:
    """The domains that the filter lets through, grouped by site, in the order of site names."""
    query = (
        select(
            domains.c.site,
            func.count(),
            func.count().filter(domains.c.approval == "approved"),
            func.sum(domains.c.pages_crawled),
        )
        .where(domains.c.site > (after or ""), *_conditions(which))
        .group_by(domains.c.site)
        .order_by(domains.c.site)
        .limit(limit)
    )
    return [
        SiteRow(site, int(count), int(approved), int(pages)) for site, count, approved, pages in conn.execute(query)
    ]


def _conditions(which: Filter) -> list[ColumnElement[bool]]:
    exact = ("approval", "standing", "crawl", "site", "source")
    conditions = [domains.c[name] == value for name in exact if (value := getattr(which, name)) is not None]
    if which.prefix:
        low = which.prefix.lower()
        # Names sort by bytes, so a prefix is a range of the unique index.
        conditions += [domains.c.name >= low, domains.c.name < low + "\U0010ffff"]
    return conditions


def _behind(conn: Connection, column: ColumnElement[object], after: str) -> ColumnElement[bool]:
    row = conn.execute(select(column).where(domains.c.name == after)).one_or_none()
    if row is None:
        raise UsageError(f"there is no domain {after} to go on after")
    value = row[0]
    # The first condition says where in the index to start, the second passes over what was shown of the same value.
    return and_(column <= value, or_(column < value, domains.c.name > after))
