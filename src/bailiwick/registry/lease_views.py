"""Leases as people look at them: by worker, one by one, and what could be leased now. Specification 002 section 7.4."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from bailiwick.db.tables import crawl_queue, domains
from bailiwick.registry.apply import SQL

CLAIMABLE_CAP = 100_000
"""Nobody needs to know the exact number above it."""


@dataclass(frozen=True, slots=True)
class WorkerLeases:
    """How many leases a worker has, when the first of them ends, and how many have run out."""

    worker: str
    leases: int
    earliest_expiry: datetime
    expired: int


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """One leased domain."""

    domain: str
    worker: str
    expires_at: datetime
    is_expired: bool
    wanted: str
    crashes: int


def by_worker(conn: Connection, *, limit: int, after: str | None = None) -> list[WorkerLeases]:
    """One page of workers that hold leases, in the order of their names."""
    rows = conn.exec_driver_sql(SQL["lease_workers"], {"after": after or "", "limit": limit})
    return [WorkerLeases(row.worker, row.leases, row.earliest_expiry, row.expired) for row in rows]


def of_worker(conn: Connection, worker: str, *, limit: int, after: str | None = None) -> list[LeaseRow]:
    """One page of a worker's leases, in the order of domain names."""
    expired = crawl_queue.c.wake_at <= func.bailiwick_now()
    query = (
        select(domains.c.name, crawl_queue, expired.label("is_expired"))
        .join(crawl_queue, crawl_queue.c.domain_id == domains.c.id)
        .where(crawl_queue.c.worker == worker, domains.c.name > (after or ""))
        .order_by(domains.c.name)
        .limit(limit)
    )
    return [
        LeaseRow(row.name, row.worker, row.wake_at, row.is_expired, row.wanted, row.crashes)
        for row in conn.execute(query)
    ]


def claimable(conn: Connection) -> dict[str, int]:
    """Domains that could be leased now, by crawl state; their sum goes up to the cap."""
    rows = conn.exec_driver_sql(SQL["claimable"], {"cap": CLAIMABLE_CAP}).all()
    return {str(crawl): int(count) for crawl, count in rows}
