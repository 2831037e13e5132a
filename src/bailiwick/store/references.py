"""Who refers to bodies: the one place that knows. A table in this list has the columns of `probe` and `repoint`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, LiteralString

from sqlalchemy import Connection, text

from bailiwick.db.sql import by_index, queries
from bailiwick.ports import BodyRef
from bailiwick.store.walk import Found

SQL = queries("bailiwick.store")
PAGES: Final = "pages"
BODY_TABLES: tuple[LiteralString, ...] = (PAGES,)
"""All tables whose rows may refer to a body. Whoever adds one makes its bodies safe from the sweep."""

_MOST_STRAYS = 20_000
"""Rows held in memory at once; what is left is for the next sweep."""


class Fate(StrEnum):
    """What has become of a record."""

    LIVE = "live"
    """A row refers to it."""
    SUPERSEDED = "superseded"
    """Its page has another body now."""
    PURGED = "purged"
    """Its page is gone, and so should this be."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a row says: the body of this page lies there."""

    domain_id: int
    path_hash: int
    ref: BodyRef


@dataclass(frozen=True, slots=True)
class Copied:
    """A body that lies in a second place, too, and who refers to the first."""

    of: Reference
    to: BodyRef


def fates(conn: Connection, pack_id: int, records: Sequence[Found]) -> list[Fate]:
    """What has become of each of these records of one pack, by the primary keys of their pages."""
    keys = {
        "domain_ids": [record.header.domain_id for record in records],
        "path_hashes": [record.header.path_hash for record in records],
    }
    by_index(conn)
    known: set[tuple[int, int]] = set()
    live: set[tuple[int, int, int]] = set()
    for table in BODY_TABLES:
        for row in conn.exec_driver_sql(SQL["probe"].format(table=table), keys):
            known.add((row.domain_id, row.path_hash))
            if row.pack_id == pack_id:
                live.add((row.domain_id, row.path_hash, row.pack_offset))
    return [_fate(record, known, live) for record in records]


def referred_packs(conn: Connection) -> set[int]:
    """Every pack that any row refers to. Reads the tables from end to end."""
    lift_statement_timeout(conn)
    return _packs(conn, [SQL["referred_packs"].format(table=table) for table in BODY_TABLES])


def still_referred_packs(conn: Connection, pack_ids: Iterable[int]) -> set[int]:
    """Those of these packs that any row refers to, under whatever key. Reads the tables from end to end.

    Not by the keys of their records: this is asked right before a pack is deleted, and must also be right of a record
    that cannot be read any more, and of a page that was merged into another domain.
    """
    lift_statement_timeout(conn)
    statements = [SQL["still_referred_packs"].format(table=table) for table in BODY_TABLES]
    return _packs(conn, statements, {"pack_ids": list(pack_ids)})


def strays(conn: Connection, pack_id: int) -> list[Reference]:
    """Rows that refer to this pack, many at most. Reads the tables from end to end."""
    lift_statement_timeout(conn)
    values = {"pack_id": pack_id, "limit": _MOST_STRAYS}
    return [
        Reference(row.domain_id, row.path_hash, BodyRef(pack_id, row.pack_offset, row.pack_length))
        for table in BODY_TABLES
        for row in conn.exec_driver_sql(SQL["strays"].format(table=table), values)
    ]


def repoint(conn: Connection, from_pack: int, copies: Sequence[Copied]) -> int:
    """Let the rows that refer to the first place refer to the second; returns how many.

    A row that refers to neither stays as it is: a body that was replaced meanwhile does not come back.
    """
    moved = {
        "from_pack": from_pack,
        "domain_ids": [copy.of.domain_id for copy in copies],
        "path_hashes": [copy.of.path_hash for copy in copies],
        "from_offsets": [copy.of.ref.offset for copy in copies],
        "to_packs": [copy.to.pack_id for copy in copies],
        "to_offsets": [copy.to.offset for copy in copies],
    }
    by_index(conn)
    return sum(conn.exec_driver_sql(SQL["repoint"].format(table=table), moved).rowcount for table in BODY_TABLES)


def lift_statement_timeout(conn: Connection) -> None:
    """For the rest of the transaction: reading a table from end to end takes as long as it takes."""
    conn.execute(text("set local statement_timeout = 0"))


def _packs(conn: Connection, statements: list[str], values: dict[str, list[int]] | None = None) -> set[int]:
    return {row.pack_id for statement in statements for row in conn.exec_driver_sql(statement, values)}


def _fate(record: Found, known: set[tuple[int, int]], live: set[tuple[int, int, int]]) -> Fate:
    key = (record.header.domain_id, record.header.path_hash)
    if (*key, record.offset) in live:
        return Fate.LIVE
    return Fate.SUPERSEDED if key in known else Fate.PURGED
