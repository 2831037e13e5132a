"""The registry at a glance. Counts are capped: beyond that nobody needs the exact number, and it stays quick."""

from dataclasses import dataclass
from typing import Any

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
        # By name, which their index has: the rows themselves are not read.
        by_approval={state: _count(conn, select(domains.c.name).where(approval == state)) for state in APPROVAL.states},
        leased=_count(
            conn,
            select(crawl_queue.c.domain_id).where(
                crawl_queue.c.worker.is_not(None), crawl_queue.c.wake_at > func.bailiwick_now()
            ),
        ),
        ready=min(sum(_count(conn, _ready(is_new=is_new)) for is_new in (False, True)), CAP + 1),
    )


def shown(count: int) -> str:
    """A capped count for people."""
    return f"{CAP:,}+" if count > CAP else f"{count:,}"


def _ready(*, is_new: bool) -> "Select[Any]":
    """New ones and others have an index each."""
    ready_key = crawl_queue.c.ready_key
    return select(ready_key).where(ready_key.is_not(None), crawl_queue.c.is_new if is_new else ~crawl_queue.c.is_new)


def _count(conn: Connection, query: "Select[Any]") -> int:
    return conn.execute(select(func.count()).select_from(query.limit(CAP + 1).subquery())).scalar_one()
