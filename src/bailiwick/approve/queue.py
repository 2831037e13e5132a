"""The review queue: domains that wait for a person, the longest waiting first."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, tuple_

from bailiwick.db.tables import domains, members
from bailiwick.registry.overview import CAP

_WAITS = (domains.c.approval == "pending_review", domains.c.is_proposed, domains.c.standing != "blacklisted")


@dataclass(frozen=True, slots=True)
class Waiting:
    """One domain that waits, and what a reviewer wants to know about it."""

    id: int
    name: str
    context: str | None
    submitter: str | None
    submitter_type: str
    submitted_by: int | None
    submitted_at: datetime
    max_crawl_depth: int
    profile: str
    version: int


def count(conn: Connection) -> int:
    """How many wait, counted up to one more than CAP."""
    some = select(domains.c.id).where(*_WAITS).limit(CAP + 1)
    return conn.execute(select(func.count()).select_from(some.subquery())).scalar_one()


def waiting(conn: Connection, *, limit: int, after: tuple[datetime, int] | None = None) -> list[Waiting]:
    """One page of the queue. `after` is (submitted_at, id) of the last one of the page before."""
    query = (
        select(
            domains.c.id, domains.c.name, domains.c.submission_context, members.c.name.label("submitter"),
            domains.c.submitter_type, domains.c.submitted_by, domains.c.first_seen_at, domains.c.max_crawl_depth,
            domains.c.profile, domains.c.version,
        )
        .outerjoin(members, members.c.id == domains.c.submitted_by)
        .where(*_WAITS)
        .order_by(domains.c.first_seen_at, domains.c.id)
        .limit(limit)
    )  # fmt: skip
    if after is not None:
        query = query.where(tuple_(domains.c.first_seen_at, domains.c.id) > after)
    return [
        Waiting(
            id=row.id,
            name=row.name,
            context=row.submission_context,
            submitter=row.submitter,
            submitter_type=row.submitter_type,
            submitted_by=row.submitted_by,
            submitted_at=row.first_seen_at,
            max_crawl_depth=row.max_crawl_depth,
            profile=row.profile,
            version=row.version,
        )
        for row in conn.execute(query)
    ]
