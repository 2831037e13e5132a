"""The registry at a glance. Counts are capped: beyond that nobody needs the exact number, and it stays quick."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select
from sqlalchemy.sql import Select

from bailiwick.db.tables import crawl_queue, domains
from bailiwick.model.transitions import APPROVAL

CAP = 10_000


@dataclass(frozen=True, slots=True)
class Overview:
    """How many domains there are by approval, how many are being crawled, and how many wait for a worker."""

    by_approval: dict[str, int]
    leased: int
    ready: int


def overview(conn: Connection) -> Overview:
    approval = domains.c.approval
    return Overview(
        by_approval={state: _count(conn, select(domains.c.id).where(approval == state)) for state in APPROVAL.states},
        leased=_count(
            conn,
            select(crawl_queue.c.domain_id).where(
                crawl_queue.c.worker.is_not(None), crawl_queue.c.wake_at > func.bailiwick_now()
            ),
        ),
        ready=_count(conn, select(crawl_queue.c.domain_id).where(crawl_queue.c.ready_key.is_not(None))),
    )


def shown(count: int) -> str:
    """A capped count for people."""
    return f"{CAP:,}+" if count > CAP else f"{count:,}"


def _count(conn: Connection, query: "Select[tuple[int]]") -> int:
    return conn.execute(select(func.count()).select_from(query.limit(CAP + 1).subquery())).scalar_one()
