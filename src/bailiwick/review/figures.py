"""The queue in figures: how many wait and since when, what came of the rest, who decided lately."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, literal, select

from bailiwick.db.tables import evaluations, job_urls, members, review_queue, url_results

LATELY = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """What one person decided lately."""

    name: str
    approved: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Audits:
    """Automatic decisions that people looked at: how many wait, and of the others how many were right."""

    waiting: int
    agreed: int
    overruled: int


@dataclass(frozen=True, slots=True)
class Figures:
    waiting: int
    """Audits among them."""
    stale: int
    claimed: int
    oldest: datetime | None
    results: Mapping[str, Mapping[str, int]]
    """By status, then by who or what decided."""
    reviewers: Sequence[Reviewer]
    audits: Audits


def figures(conn: Connection) -> Figures:
    """As it is now."""
    kept = review_queue.c
    counted = select(
        func.count().label("waiting"),
        func.count().filter(kept.is_stale).label("stale"),
        func.count().filter(kept.claimed_until > func.bailiwick_now()).label("claimed"),
        func.min(kept.queued_at).label("oldest"),
    ).where(kept.reviewed_at.is_(None))
    row = conn.execute(counted).one()
    return Figures(row.waiting, row.stale, row.claimed, row.oldest, _results(conn), _reviewers(conn), _audits(conn))


def results_of_job(conn: Connection, job_id: int) -> dict[str, int]:
    """What the URLs of a job came to, by status; `waiting` is for those that people have to decide on, and `audit` for
    those that have a status, and that people are asked about besides.
    """
    kept = url_results.c
    query = (
        select(kept.status, func.count().label("urls"))
        .join(job_urls, job_urls.c.id == kept.url_id)
        .where(job_urls.c.job_id == job_id)
        .group_by(kept.status)
    )
    found: dict[str, int] = {row.status: row.urls for row in conn.execute(query)}
    is_audit = review_queue.c.is_audit
    open_ = select(func.count().filter(~is_audit).label("waiting"), func.count().filter(is_audit).label("audit")).where(
        review_queue.c.job_id == job_id, review_queue.c.reviewed_at.is_(None)
    )
    return {**found, **conn.execute(open_).one()._asdict()}


def _results(conn: Connection) -> dict[str, dict[str, int]]:
    kept = url_results.c
    query = select(kept.status, kept.reason, func.count().label("urls")).group_by(kept.status, kept.reason)
    found: dict[str, dict[str, int]] = {}
    for row in conn.execute(query.order_by(kept.status, kept.reason)):
        found.setdefault(row.status, {})[row.reason] = row.urls
    return found


def _audits(conn: Connection) -> Audits:
    kept = review_queue.c
    agrees = (kept.state == "approved") == (evaluations.c.action == "auto_approve")
    is_open = kept.reviewed_at.is_(None)
    query = (
        select(
            func.count().filter(is_open).label("waiting"),
            func.count().filter(~is_open, agrees).label("agreed"),
            func.count().filter(~is_open, ~agrees).label("overruled"),
        )
        .join(evaluations, evaluations.c.id == kept.evaluation_id)
        .where(kept.is_audit)
    )
    return Audits(**conn.execute(query).one()._asdict())


def _reviewers(conn: Connection) -> list[Reviewer]:
    kept = review_queue.c
    query = (
        select(
            members.c.name,
            func.count().filter(kept.state == "approved").label("approved"),
            func.count().filter(kept.state == "rejected").label("rejected"),
        )
        .join(members, members.c.id == kept.reviewed_by)
        .where(kept.reviewed_at > func.bailiwick_now() - literal(LATELY))
        .group_by(members.c.name)
        .order_by(func.count().desc(), members.c.name)
    )
    return [Reviewer(row.name, row.approved, row.rejected) for row in conn.execute(query)]
