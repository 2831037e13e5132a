"""The queue for people: lists in its order, and one entry."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, FromClause, Row, and_, func, or_, select
from sqlalchemy.sql import Select

from bailiwick.base.errors import NotFoundError
from bailiwick.db.tables import domains, evaluations, jobs, members, review_queue

Order: TypeAlias = Literal["age", "information", "score", "decision"]
"""Longest waiting, most uncertain, or highest score first; of what is decided, the newest decision."""
State: TypeAlias = Literal["waiting", "approved", "rejected", "reviewed"]
Cursor: TypeAlias = tuple[datetime | float, int]
"""What the list is in the order of, and the id, of the last one of the page before."""


@dataclass(frozen=True, slots=True)
class Which:
    """Which entries; what is None does not matter."""

    state: State = "waiting"
    band: str | None = None
    job_id: int | None = None
    domain_id: int | None = None
    least: float | None = None
    most: float | None = None
    is_stale: bool | None = None
    is_audit: bool | None = None
    before: datetime | None = None
    """Queued before this time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the queue, and the names of its people."""

    id: int
    name: str
    url: str
    title: str | None
    domain: str
    domain_id: int
    job_id: int
    url_id: int
    evaluation_id: int
    profile: str
    confidence_band: str
    confidence_score: float
    evidence_confidence: float
    learned_probability: float | None
    information: float
    reasoning: str
    state: str
    is_stale: bool
    is_audit: bool
    """A band has decided about it already."""
    submitted_by: int
    submitter: str
    claimed_by: int | None
    claimer: str | None
    claimed_until: datetime | None
    is_claimed: bool
    """Somebody holds it now."""
    queued_at: datetime
    reviewed_at: datetime | None
    reviewed_by: int | None
    reviewer: str | None
    reviewer_notes: str | None
    is_self_approved: bool
    version: int


@dataclass(frozen=True, slots=True)
class JobEntries:
    """What goes with a job: its evaluations, and of these what waits in the queue or was decided there."""

    evaluated: int
    waiting: int
    reviewed: int

    @property
    def total(self) -> int:
        return self.waiting + self.reviewed


def entries(
    conn: Connection, which: Which, *, order: Order = "age", limit: int, after: Cursor | None = None
) -> list[Entry]:
    """One page of the queue. What is decided comes in the order of decisions, whatever the order."""
    return [_entry(row) for row in conn.execute(entries_query(which, order=order, limit=limit, after=after))]


def entries_query(which: Which, *, order: Order, limit: int, after: Cursor | None = None) -> "Select[Any]":
    """The question behind `entries`: the page by an index alone, then what belongs to its few rows."""
    if which.state != "waiting":
        order = "decision"
    key, goes_down = _KEYS[order]
    # Among equals: the older first, but for decisions, where time goes backwards.
    keys = (key.desc() if goes_down else key, review_queue.c.id.desc() if order == "decision" else review_queue.c.id)
    chosen = select(review_queue).where(*_conditions(which)).order_by(*keys).limit(limit)
    if after is not None:
        value, last = after
        further = key < value if goes_down else key > value
        later = review_queue.c.id < last if order == "decision" else review_queue.c.id > last
        chosen = chosen.where(or_(further, and_(key == value, later)))
        # Said once more in a form that an index can begin at.
        chosen = chosen.where(key <= value if goes_down else key >= value)
    page = chosen.subquery()
    same = page.c[key.name]
    ids = page.c.id.desc() if order == "decision" else page.c.id
    return _entries(page).order_by(same.desc() if goes_down else same, ids)


def place_of(entry: Entry, order: Order) -> Cursor:
    """Where a list in this order goes on after this entry."""
    if entry.reviewed_at is not None:
        return entry.reviewed_at, entry.id
    if order == "information":
        return entry.information, entry.id
    return (entry.confidence_score if order == "score" else entry.queued_at), entry.id


def get(conn: Connection, entry_id: int) -> Entry:
    """One entry, or NotFoundError."""
    row = conn.execute(_entries(review_queue).where(review_queue.c.id == entry_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no entry {entry_id} in the review queue", hint="bailiwick review list")
    return _entry(row)


def entries_of_job(conn: Connection, job_id: int) -> JobEntries:
    """How many evaluations and entries would go with this job."""
    evaluated = conn.execute(select(func.count()).where(evaluations.c.job_id == job_id)).scalar_one()
    is_open = review_queue.c.reviewed_at.is_(None)
    counts = (func.count().filter(is_open), func.count().filter(~is_open))
    waiting, reviewed = conn.execute(select(*counts).where(review_queue.c.job_id == job_id)).one()
    return JobEntries(evaluated, waiting, reviewed)


def job_id(conn: Connection, named: str) -> int:
    """A job by its name or number, or NotFoundError."""
    query = select(jobs.c.id).where(jobs.c.name == named)
    found = conn.execute(query).scalar()
    if found is None and named.isascii() and named.isdigit() and len(named) < 19:
        found = conn.execute(select(jobs.c.id).where(jobs.c.id == int(named))).scalar()
    if found is None:
        raise NotFoundError(f"there is no job {named!r}", hint="bailiwick job list shows them")
    return int(found)


_KEYS: dict[Order, tuple[ColumnElement[Any], bool]] = {
    "age": (review_queue.c.queued_at, False),
    "information": (review_queue.c.information, True),
    "score": (review_queue.c.confidence_score, True),
    "decision": (review_queue.c.reviewed_at, True),
}
"""By what a list goes, and whether downward."""


def _conditions(which: Which) -> list[ColumnElement[bool]]:
    kept = review_queue.c
    found: list[ColumnElement[bool]] = [
        kept.reviewed_at.is_(None) if which.state == "waiting" else kept.reviewed_at.is_not(None)
    ]
    if which.state in ("approved", "rejected"):
        found.append(kept.state == which.state)
    if which.band is not None:
        found.append(kept.confidence_band == which.band)
    if which.job_id is not None:
        found.append(kept.job_id == which.job_id)
    if which.domain_id is not None:
        found.append(kept.domain_id == which.domain_id)
    if which.least is not None:
        found.append(kept.confidence_score >= which.least)
    if which.most is not None:
        found.append(kept.confidence_score <= which.most)
    if which.is_stale is not None:
        found.append(kept.is_stale.is_(which.is_stale))
    if which.is_audit is not None:
        found.append(kept.is_audit if which.is_audit else ~kept.is_audit)
    if which.before is not None:
        found.append(kept.queued_at < which.before)
    return found


def _entries(source: FromClause) -> "Select[Any]":
    submitter, claimer, reviewer = (members.alias() for _ in range(3))
    is_claimed = func.coalesce(source.c.claimed_until > func.bailiwick_now(), False)
    return (
        select(
            source,
            is_claimed.label("is_claimed"),
            evaluations.c.title,
            evaluations.c.reasoning,
            evaluations.c.evidence_confidence,
            evaluations.c.learned_probability,
            domains.c.name.label("domain"),
            submitter.c.name.label("submitter"),
            claimer.c.name.label("claimer"),
            reviewer.c.name.label("reviewer"),
        )
        .select_from(source)
        .join(evaluations, evaluations.c.id == source.c.evaluation_id)
        .join(domains, domains.c.id == source.c.domain_id)
        .join(submitter, submitter.c.id == source.c.submitted_by)
        .outerjoin(claimer, claimer.c.id == source.c.claimed_by)
        .outerjoin(reviewer, reviewer.c.id == source.c.reviewed_by)
    )


def _entry(row: Row[Any]) -> Entry:
    values = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    return Entry(**{name: values[name] for name in Entry.__slots__})
