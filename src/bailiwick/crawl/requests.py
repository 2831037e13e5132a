"""Page requests: what others want of a domain, taken into its frontier by whoever holds its lease."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from bailiwick.crawl.flush import SQL
from bailiwick.db.sql import by_index
from bailiwick.model.urls import hash_of
from bailiwick.registry.apply import SQL as REGISTRY_SQL
from bailiwick.registry.leases import Lease

_MOST = 1000
_RECRAWL_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One wish."""

    id: int
    domain_id: int
    kind: str
    path: str
    priority: int


def waiting(conn: Connection, domain_ids: Sequence[int]) -> list[PageRequest]:
    """The oldest wishes for these domains, a bounded number."""
    rows = conn.exec_driver_sql(SQL["requests_for"], {"ids": list(domain_ids), "limit": _MOST})
    return [PageRequest(row.id, row.domain_id, row.kind, row.path, row.priority) for row in rows]


def admit(conn: Connection, wishes: Sequence[PageRequest], leases: Sequence[Lease], worker: str) -> bool:
    """Make the wished pages due under our leases, and forget the wishes. True if a recrawl has more to do."""
    asked = {"ids": [le.domain_id for le in leases], "lease_nos": [le.lease_no for le in leases], "worker": worker}
    held = {row.domain_id for row in conn.exec_driver_sql(REGISTRY_SQL["fence"], asked)}
    mine = [wish for wish in wishes if wish.domain_id in held]
    by_index(conn)
    pages = [wish for wish in mine if wish.kind != "recrawl"]
    if pages:
        conn.exec_driver_sql(
            SQL["admit_requested"],
            {
                "domain_id": [wish.domain_id for wish in pages],
                "path_hash": [hash_of(wish.path) for wish in pages],
                "path": [wish.path for wish in pages],
                "priority": [wish.priority for wish in pages],
            },
        )
    unfinished = {wish.id for wish in mine if wish.kind == "recrawl" and _recrawl(conn, wish)}
    conn.exec_driver_sql(SQL["forget_requests"], {"ids": [w.id for w in mine if w.id not in unfinished]})
    return bool(unfinished)


def _recrawl(conn: Connection, wish: PageRequest) -> bool:
    asked = {"domain_id": wish.domain_id, "request_id": wish.id, "limit": _RECRAWL_BATCH}
    return conn.exec_driver_sql(SQL["recrawl"], asked).rowcount == _RECRAWL_BATCH
