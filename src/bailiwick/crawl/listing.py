"""A domain's pages as people look at them: what was fetched of late, what failed, what waits, what was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from bailiwick.crawl.flush import SQL
from bailiwick.crawl.outcomes import MEANINGS, Effect
from bailiwick.db.tables import refused_links

ERRORS = [outcome.value for outcome, meaning in MEANINGS.items() if meaning.is_error or meaning.effect is Effect.FAILED]
"""Also what says nothing against a domain: a page that is not there."""
LOOKED_THROUGH = 20_000
"""Errors are looked for among so many of the last fetches."""
_NEWEST = (datetime(9999, 12, 31, tzinfo=UTC), 0)


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch, as the log has it."""

    at: datetime
    path_hash: int
    path: str | None
    status: int | None
    outcome: str
    bytes_received: int
    milliseconds: int
    error: str | None


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """One page of the frontier."""

    path: str
    priority: int
    depth: int
    path_hash: int
    retries: int
    next_at: datetime | None
    last_outcome: str | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """One link that did not become a page, and the rule that decided it."""

    path_hash: int
    path: str
    rule: str
    refused_at: datetime


def fetches(
    conn: Connection, domain_id: int, *, limit: int, before: tuple[datetime, int] | None = None, only_errors: bool
) -> list[Fetch]:
    """The newest first. `before` is (at, path_hash) of the last one of the page before."""
    at, path_hash = before if before is not None else _NEWEST
    rows = conn.exec_driver_sql(
        SQL["errors_logged" if only_errors else "fetches_logged"],
        {"domain_id": domain_id, "limit": limit, "at": at, "path_hash": path_hash, "errors": ERRORS,
         "most": LOOKED_THROUGH},
    )  # fmt: skip
    return [Fetch(*row) for row in rows]


def waiting(
    conn: Connection, domain_id: int, *, limit: int, after: tuple[int, int, int] | None = None
) -> list[WaitingPage]:
    """The frontier in its own order. `after` is (priority, depth, path_hash) of the last one of the page before."""
    priority, depth, path_hash = after if after is not None else (0, 0, 0)
    rows = conn.exec_driver_sql(
        SQL["frontier_page"],
        {"domain_id": domain_id, "limit": limit, "priority": priority, "depth": depth, "path_hash": path_hash},
    )
    return [WaitingPage(*row) for row in rows]


def refused(conn: Connection, domain_id: int, *, limit: int, after: int | None = None) -> Sequence[RefusedLink]:
    """Refused links, in no order that means anything. `after` is the path_hash of the last one of the page before."""
    query = (
        select(refused_links.c.path_hash, refused_links.c.path, refused_links.c.rule, refused_links.c.refused_at)
        .where(refused_links.c.domain_id == domain_id)
        .order_by(refused_links.c.path_hash)
        .limit(limit)
    )
    if after is not None:
        query = query.where(refused_links.c.path_hash > after)
    return [RefusedLink(*row) for row in conn.execute(query)]
