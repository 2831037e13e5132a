"""Who waits for a person: room under the limit, entries that come in, and claims: one reviewer at a time."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, func, insert, select, update

from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.sql import queries
from bailiwick.db.tables import review_queue
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.states import Role
from bailiwick.registry.permission import DECIDERS, is_own_decision, others_can_decide, require
from bailiwick.review import crossings
from bailiwick.review.listing import Entry, get

SQL = queries("bailiwick.review")
Order = Literal["age", "information"]
_LIMIT_LOCK = "bailiwick.review_queue"
_UNCLAIMED = {"claimed_by": None, "claimed_until": None}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A URL that comes into the queue."""

    evaluation_id: int
    url_id: int
    job_id: int
    domain_id: int
    name: str
    url: str
    profile: str
    confidence_band: str
    confidence_score: float
    information: float
    submitted_by: int
    is_audit: bool = False
    """A band has decided about it already: people are asked whether rightly."""


def room(conn: Connection, settings: ReviewSettings) -> int | None:
    """How many more may come in; None: as many as like.

    Until the end of the transaction nobody else comes in, so what is found stays true. Before any entry is locked.
    """
    limit = settings.queue_size_limit
    if limit is None:
        return None
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtext(_LIMIT_LOCK))))
    return max(0, limit - count(conn, most=limit))


def need_room(conn: Connection, settings: ReviewSettings) -> None:
    """ConflictError if the queue is full."""
    if room(conn, settings) == 0:
        limit = f"{settings.queue_size_limit:,}"
        raise ConflictError(
            f"the queue holds {limit} of {limit}",
            hint="decide about another one first, or raise review.queue_size_limit",
        )


def count(conn: Connection, *, most: int) -> int:
    """How many wait, counted up to `most`."""
    return int(conn.exec_driver_sql(SQL["waiting_up_to"], {"most": most}).scalar_one())


def add(conn: Connection, waiting: Waiting, settings: ReviewSettings) -> int:
    """Put it into the queue; the caller has made sure of the room."""
    row = {**asdict(waiting), "state": "waiting"}
    entry_id: int = conn.execute(insert(review_queue).values(row).returning(review_queue.c.id)).scalar_one()
    count_changed(conn, settings)
    return entry_id


def count_changed(conn: Connection, settings: ReviewSettings) -> None:
    """Called in every transaction that changes how many wait, after the change: thresholds are watched from here."""
    crossings.check(conn, settings.notifications)


def lock(conn: Connection, entry_id: int) -> Entry:
    """The entry as it is now, and nobody else changes it until the end of the transaction. NotFoundError."""
    # Locked first and read then: a row that was waited for would be joined with what belonged to its old self.
    query = select(review_queue.c.id).where(review_queue.c.id == entry_id).with_for_update()
    if conn.execute(query).one_or_none() is None:
        raise NotFoundError(f"there is no entry {entry_id} in the review queue", hint="bailiwick review list")
    return get(conn, entry_id)


def claim(
    conn: Connection, entry_id: int, actor: Actor, settings: ReviewSettings, *, takes_over: bool = False
) -> Entry:
    """Take an entry for `claim_minutes`, or hold it for as long again.

    Another's claim can be taken over when it has run out, by an admin at any time (`takes_over`), which is an event.
    ConflictError if it is decided or held by somebody else, UsageError if it is the actor's own and others can decide.
    """
    require(actor, DECIDERS)
    entry = lock(conn, entry_id)
    refuse_decided(entry)
    is_own_decision(conn, actor, entry.submitted_by, entry.name)
    is_others = entry.is_claimed and entry.claimed_by != actor.id
    if is_others and not (takes_over and actor.role is Role.ADMIN):
        raise held(entry, hint="wait, ask them, or let an admin take it over: bailiwick review claim --take-over ID")
    _hold(conn, entry.id, actor, settings)
    if is_others:
        act = Act("take_over", before=entry.claimer, after=actor.name)
        record(conn, actor, Subject("review_queue", entry.name, entry.id), act)
    return get(conn, entry.id)


def claim_next(conn: Connection, actor: Actor, settings: ReviewSettings, *, order: Order | None = None) -> Entry | None:
    """What the actor holds already, else the first in the queue's order that is free; None if there is none."""
    require(actor, DECIDERS)
    asked = {"actor": actor.id}
    found = conn.exec_driver_sql(SQL["held_by"], asked).scalar()
    if found is None:
        name = f"next_by_{order or settings.order}"
        found = conn.exec_driver_sql(SQL[name], {**asked, "others_own": others_can_decide(conn, actor)}).scalar()
    if found is None:
        return None
    _hold(conn, found, actor, settings)
    return get(conn, found)


def release(conn: Connection, entry_id: int, actor: Actor) -> Entry:
    """Give an entry back to the others. One's own, or (admins) anybody's."""
    require(actor, DECIDERS)
    entry = lock(conn, entry_id)
    refuse_decided(entry)
    if entry.is_claimed and entry.claimed_by != actor.id and actor.role is not Role.ADMIN:
        raise held(entry, hint="they can release it, or an admin")
    conn.execute(update(review_queue).where(review_queue.c.id == entry.id).values(_UNCLAIMED))
    return get(conn, entry.id)


def refuse_decided(entry: Entry) -> None:
    """ConflictError that tells who decided what."""
    if entry.state != "waiting":
        told = f"{_shown(entry.reviewed_at)}" + (f": {entry.reviewer_notes}" if entry.reviewer_notes else "")
        raise ConflictError(
            f"entry {entry.id} ({entry.name}) was {entry.state} by {entry.reviewer}, {told}",
            hint=f"bailiwick review show {entry.id}",
        )


def held(entry: Entry, *, hint: str) -> ConflictError:
    """Somebody else is at it."""
    until = _shown(entry.claimed_until)
    return ConflictError(f"entry {entry.id} ({entry.name}) is held by {entry.claimer} until {until}", hint=hint)


def _hold(conn: Connection, entry_id: int, actor: Actor, settings: ReviewSettings) -> None:
    # Its version stays: a claim changes nothing that somebody decides about.
    until = func.bailiwick_now() + func.make_interval(0, 0, 0, 0, 0, 0, settings.claim_minutes * 60)
    values = {"claimed_by": actor.id, "claimed_until": until}
    conn.execute(update(review_queue).where(review_queue.c.id == entry_id).values(values))


def _shown(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""
