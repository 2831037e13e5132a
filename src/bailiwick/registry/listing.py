"""Lists of domains: filtered, sorted, paged by key. No combination of filters and order reads more than it shows, or
a few thousand rows: an index leads from the three axes to each order (a test shows the plans).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Text, func, literal, or_, select, true, union_all
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql import Select
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.selectable import Subquery

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import domains
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry.overview import CAP


class Sort(StrEnum):
    """Orders of a list; those by a value start with the largest."""

    NAME = "name"
    PRIORITY = "priority"
    YIELD = "yield"
    LAST_CRAWLED = "last-crawled"
    FIRST_SEEN = "first-seen"


_COLUMN = {
    Sort.PRIORITY: "priority_score",
    Sort.YIELD: "image_yield_rate",
    Sort.LAST_CRAWLED: "last_crawled_at",
    Sort.FIRST_SEEN: "first_seen_at",
}
_SPARSE = (Sort.YIELD, Sort.LAST_CRAWLED)
"""Domains without a value are not part of these orders."""
_AXES = {"approval": APPROVAL.states, "standing": STANDING.states, "crawl": CRAWL.states}
_NARROW = 5_000
"""So many domains of a site, a source or a prefix are rather read and sorted than looked for in an order."""

Columns = ReadOnlyColumnCollection[str, Any]
Conditions = list[ColumnElement[bool]]


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
    value = _value_of(conn, sort, after) if after else None
    if _is_narrow(conn, which, sort):
        # Materialized: the planner must not walk an order instead, in the hope of soon finding some.
        near = select(domains).where(*_narrowing(which)).cte("near").prefix_with("materialized")
        query = select(near).where(*_in_order(near.c, sort), *_on_axes(near.c, which))
        if after:
            query = query.where(or_(*_behind(near.c, sort, after, value)))
        return query.order_by(*_order(near.c, sort)).limit(limit)
    page = _walk(which, sort, after, value, limit)
    return select(domains).join(page, page.c.name == domains.c.name).order_by(*_order(page.c, sort))


def count_domains(conn: Connection, which: Filter) -> int | None:
    """How many there are, counted up to one more than CAP; None where counting would have to look at many rows: of a
    site or a source, those in certain states.
    """
    if which.site is None and which.source is None:
        names = select(domains.c.name).where(*_narrowing(which)).limit(CAP + 1)
        return _count(conn, _in_each_state(which, names), CAP)
    if which not in (Filter(site=which.site), Filter(source=which.source)):
        return None
    return _count(conn, select(domains.c.id).where(*_narrowing(which)), CAP)


def list_sites(conn: Connection, which: Filter, *, limit: int, after: str | None = None) -> list[SiteRow]:
    """The domains that the filter lets through, grouped by site, in the order of site names."""
    query = (
        select(
            domains.c.site,
            func.count(),
            func.count().filter(domains.c.approval == "approved"),
            func.sum(domains.c.pages_crawled),
        )
        .where(domains.c.site > (after or ""), *_narrowing(which), *_on_axes(domains.c, which))
        .group_by(domains.c.site)
        .order_by(domains.c.site)
        .limit(limit)
    )
    return [
        SiteRow(site, int(count), int(approved), int(pages)) for site, count, approved, pages in conn.execute(query)
    ]


def _walk(which: Filter, sort: Sort, after: str | None, value: object, limit: int) -> Subquery:
    """The names of one page, with the values by which they are sorted.

    Each combination of states has its own part of the index, in the right order: the first few of each are fetched, and
    of these the first few. However rare a combination is, nobody looks for it among others.
    """
    wanted = [domains.c.name] if sort is Sort.NAME else [domains.c.name, domains.c[_COLUMN[sort]]]
    query = select(*wanted).where(*_narrowing(which, sort), *_in_order(domains.c, sort))
    query = query.order_by(*_order(domains.c, sort)).limit(limit)
    parts = [query.where(part) for part in _behind(domains.c, sort, after, value)] if after else [query]
    # Apart, because each is one range of the index: equal values may be very many.
    found = [_in_each_state(which, part) for part in parts]
    together = union_all(*found).subquery() if len(found) > 1 else found[0].subquery()
    return select(together).order_by(*_order(together.c, sort)).limit(limit).subquery("page")


def _in_each_state(which: Filter, query: "Select[Any]") -> "Select[Any]":
    """The query's rows for every combination of states that the filter lets through, each by itself."""
    lists = {axis: [getattr(which, axis)] if getattr(which, axis) else states for axis, states in _AXES.items()}
    axes = [
        func.unnest(literal(list(states), ARRAY(Text))).table_valued("state").render_derived(name=axis)
        for axis, states in lists.items()
    ]
    few = query.where(*(domains.c[axis.name] == axis.c.state for axis in axes)).lateral("few")
    approval, standing, crawl = axes
    return select(few).select_from(approval.join(standing, true()).join(crawl, true()).join(few, true()))


def _is_narrow(conn: Connection, which: Filter, sort: Sort) -> bool:
    """Whether there are few of what is asked for besides states. A prefix is a part of the order by name itself."""
    given = [Filter(site=which.site), Filter(source=which.source)]
    if sort is not Sort.NAME:
        given.append(Filter(prefix=which.prefix))
    return any(
        _count(conn, select(domains.c.name).where(*_narrowing(one)), _NARROW) <= _NARROW
        for one in given
        if one != Filter()
    )


def _count(conn: Connection, query: "Select[Any]", cap: int) -> int:
    """How many rows there are, up to one more than the cap."""
    return conn.execute(select(func.count()).select_from(query.limit(cap + 1).subquery())).scalar_one()


def _narrowing(which: Filter, sort: Sort = Sort.NAME) -> Conditions:
    """What is asked for besides states, for a walk in this order."""
    exact = {"site": which.site, "source": which.source}
    conditions: Conditions = [domains.c[name] == value for name, value in exact.items() if value is not None]
    low = (which.prefix or "").lower()
    if low and sort is Sort.NAME:
        # Names sort by bytes, so a prefix is a range of an index.
        conditions += [domains.c.name >= low, domains.c.name < low + "\U0010ffff"]
    elif low:
        # In another order it is none. Said in a way that does not tempt the planner to fetch the range and sort it.
        conditions.append(func.left(domains.c.name, len(low)) == low)
    return conditions


def _on_axes(columns: Columns, which: Filter) -> Conditions:
    return [columns[axis] == value for axis in _AXES if (value := getattr(which, axis)) is not None]


def _in_order(columns: Columns, sort: Sort) -> Conditions:
    return [columns[_COLUMN[sort]].is_not(None)] if sort in _SPARSE else []


def _order(columns: Columns, sort: Sort) -> list[ColumnElement[object]]:
    return [columns.name] if sort is Sort.NAME else [columns[_COLUMN[sort]].desc(), columns.name]


def _behind(columns: Columns, sort: Sort, after: str, value: object) -> Conditions:
    """What comes behind a domain: others of the same value, and those of smaller ones."""
    if sort is Sort.NAME:
        return [columns.name > after]
    column = columns[_COLUMN[sort]]
    return [(column == value) & (columns.name > after), column < value]


def _value_of(conn: Connection, sort: Sort, name: str) -> object:
    """By what this domain has its place in the order."""
    if sort is Sort.NAME:
        return None
    row = conn.execute(select(domains.c[_COLUMN[sort]]).where(domains.c.name == name)).one_or_none()
    if row is None:
        raise UsageError(f"there is no domain {name} to go on after")
    return row[0]
