"""Events: who did what, when, why, from what to what. Append-only, kept for ever."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.sql import Select

from bailiwick.db.tables import events, members
from bailiwick.ledger.reader import Cursor, after_cursor
from bailiwick.model.states import Role


@dataclass(frozen=True, slots=True)
class Actor:
    """The member in whose name something happens."""

    id: int
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event is about."""

    kind: str
    name: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """What was done to a subject."""

    verb: str
    before: JsonValue = None
    after: JsonValue = None
    reason: str | None = None
    details: JsonValue = None


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the trail, as people read it."""

    id: int
    at: datetime
    actor: str
    subject: Subject
    machine: str | None
    verb: str
    before: JsonValue
    after: JsonValue
    reason: str | None
    details: JsonValue
    cursor: Cursor


def record(conn: Connection, actor: Actor, subject: Subject, act: Act) -> int:
    """Write an event about something that is no state move, in the caller's transaction."""
    row = {
        "actor_id": actor.id,
        "subject_kind": subject.kind,
        "subject_id": subject.id,
        "subject_name": subject.name,
        "verb": act.verb,
        "reason": act.reason,
    }
    # An absent value is SQL's NULL, not JSON's null.
    values = (("before", act.before), ("after", act.after), ("details", act.details))
    row |= {name: value for name, value in values if value is not None}
    event_id: int = conn.execute(insert(events).values(row).returning(events.c.id)).scalar_one()
    return event_id


def latest(
    conn: Connection, *, subject: Subject | None = None, limit: int = 50, before_id: int | None = None
) -> list[Event]:
    """The newest events first (of one subject), a page at a time."""
    query = _events().order_by(events.c.id.desc()).limit(limit)
    if subject is not None:
        query = query.where(events.c.subject_kind == subject.kind, events.c.subject_name == subject.name)
        if subject.id is not None:  # several may have one name: the same page in two jobs
            query = query.where(events.c.subject_id == subject.id)
    if before_id is not None:
        query = query.where(events.c.id < before_id)
    return _all(conn, query)


def since(conn: Connection, cursor: Cursor, *, limit: int = 500) -> list[Event]:
    """What has become visible after the cursor, in an order that never hides a late commit."""
    query = _events().where(after_cursor(events, cursor)).order_by(events.c.xid, events.c.id).limit(limit)
    return _all(conn, query)


def _events() -> "Select[tuple[object, ...]]":
    return select(events, members.c.name.label("actor")).join(members, members.c.id == events.c.actor_id)


def _all(conn: Connection, query: "Select[tuple[object, ...]]") -> list[Event]:
    rows: Sequence[Row[tuple[object, ...]]] = conn.execute(query).all()
    return [
        Event(
            id=row.id,
            at=row.at,
            actor=row.actor,
            subject=Subject(row.subject_kind, row.subject_name, row.subject_id),
            machine=row.machine,
            verb=row.verb,
            before=row.before,
            after=row.after,
            reason=row.reason,
            details=row.details,
            cursor=Cursor(int(row.xid), row.id),
        )
        for row in rows
    ]
