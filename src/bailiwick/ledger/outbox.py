"""The outbox: what happened at page rate, for listeners. Daily partitions, kept for two weeks."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pydantic import JsonValue
from sqlalchemy import Connection, insert, select, text

from bailiwick.db.tables import outbox
from bailiwick.ledger import partitions
from bailiwick.ledger.reader import Cursor, after_cursor

_DAYS_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Message:
    """What a writer tells."""

    topic: str
    subject_kind: str
    subject_id: int | None
    payload: JsonValue


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a listener gets."""

    message: Message
    at: datetime
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round of upkeep did."""

    created: int
    dropped: int


def put(conn: Connection, messages: Iterable[Message]) -> None:
    """Write messages in the caller's transaction: they become visible with the change they tell of, or never."""
    rows = [
        {"topic": m.topic, "subject_kind": m.subject_kind, "subject_id": m.subject_id, "payload": m.payload}
        for m in messages
    ]
    if rows:
        conn.execute(insert(outbox), rows)


def take(conn: Connection, cursor: Cursor, *, limit: int = 500) -> list[Delivered]:
    """The next messages after the cursor. A message is never skipped; after a restore it may come again."""
    query = select(outbox).where(after_cursor(outbox, cursor)).order_by(outbox.c.xid, outbox.c.id).limit(limit)
    return [
        Delivered(
            Message(row.topic, row.subject_kind, row.subject_id, row.payload),
            row.at,
            Cursor(int(row.xid), row.id),
        )
        for row in conn.execute(query)
    ]


def run_once(conn: Connection, *, keep_days: int) -> Counts:
    """Upkeep: make the next days' partitions and drop those past their time. Safe at any time and twice."""
    conn.execute(text("select pg_advisory_xact_lock(hashtext('bailiwick.outbox'))"))
    today = partitions.today(conn)
    existing = partitions.names(conn, "outbox")
    wanted = [today + timedelta(days=ahead) for ahead in range(_DAYS_AHEAD + 1)]
    missing = [day for day in wanted if _name(day) not in existing]
    for day in missing:
        partitions.create(conn, "outbox", "at", _name(day), since=day, until=day + timedelta(days=1))
    expired = sorted(name for name in existing if name < _name(today - timedelta(days=keep_days)))
    for name in expired:
        conn.execute(text(f"drop table {name}"))
    conn.execute(
        text("delete from outbox_default where at < bailiwick_now() - make_interval(days => :days)"),
        {"days": keep_days},
    )
    return Counts(created=len(missing), dropped=len(expired))


def _name(day: date) -> str:
    return f"outbox_{day:%Y%m%d}"
