"""Rows of an export, chunk by chunk in the order of keys: each chunk is a short transaction of its own.

There is no one moment that an export shows. What changes while it runs is in it or in the next one with `--since`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from bailiwick.db.engine import Database
from bailiwick.db.sql import by_index, queries
from bailiwick.model.search import PageKey
from bailiwick.query.export.kinds import Kind

SQL = queries("bailiwick.query")
CHUNK = 500
"""Keys in one transaction: few enough that even long texts fit into memory."""
_LEAST, _LAST = -(2**63), 2**63 - 1
Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Which:
    """Which rows; what is empty does not matter."""

    domain_ids: tuple[int, ...] = ()
    item_kinds: tuple[str, ...] = ()
    only_relevant: bool = False
    since: datetime | None = None
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows, the key to go on after, and how many keys were looked at."""

    rows: Rows
    after: PageKey
    looked_at: int


START = PageKey(_LEAST, _LEAST)


def chunks(database: Database, kind: Kind, which: Which, after: PageKey) -> Iterator[Chunk]:
    """All rows behind this key."""
    for first, last in _spans(which, after):
        after, is_over = first, False
        while not is_over:
            with database.read() as conn:
                keys = _walk(conn, kind, after, last)
                rows = _rows(conn, kind, which, keys) if keys else []
            after = keys[-1] if keys else after
            yield Chunk(rows, after, len(keys))
            is_over = len(keys) < min(CHUNK, kind.keys_at_once)


def _spans(which: Which, after: PageKey) -> list[tuple[PageKey, int]]:
    """(behind this key, up to this domain), in order: one for each domain that is asked for, or one for all."""
    if not which.domain_ids:
        return [(after, _LAST)]
    left = sorted(number for number in set(which.domain_ids) if number >= after.domain_id)
    return [(max(after, PageKey(number - 1, _LAST)), number) for number in left]


def horizon(conn: Connection) -> datetime:
    """Everything that was written before this time is there to be read: where the next export goes on."""
    found = conn.exec_driver_sql(SQL["horizon"]).scalar_one()
    if not isinstance(found, datetime):
        raise TypeError("the horizon is a time")
    return found


def about_how_many(conn: Connection, kind: Kind) -> int | None:
    """The keys that will be looked at, as PostgreSQL last counted them; None if it never did."""
    found = conn.exec_driver_sql(SQL["about_how_many"], {"walk": kind.walk}).scalar()
    return int(found) if isinstance(found, int) and found > 0 else None


def _walk(conn: Connection, kind: Kind, after: PageKey, last: int) -> list[PageKey]:
    by_index(conn)
    asked = {
        "domain_id": after.domain_id,
        "path_hash": after.path_hash,
        "last": last,
        "limit": min(CHUNK, kind.keys_at_once),
    }
    return [PageKey(*row) for row in conn.exec_driver_sql(SQL[kind.walk], asked)]


def _rows(conn: Connection, kind: Kind, which: Which, keys: Sequence[PageKey]) -> Rows:
    asked = {
        "domain_ids": [key.domain_id for key in keys],
        "path_hashes": [key.path_hash for key in keys],
        "item_kinds": list(which.item_kinds),
        "only_relevant": which.only_relevant,
        "since": which.since,
        "states": list(which.states),
    }
    return conn.exec_driver_sql(SQL[kind.rows], asked).all()
