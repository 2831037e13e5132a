"""Messages to people, under way: written with what they tell of, sent later, at least once.

A sender claims messages for a limited time and says what came of them. One that dies leaves its claim, which ends by
itself: the message is sent again, also where it had gone out and only the note of it was lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Update,
    and_,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from bailiwick.db.tables import deliveries, members

Channel: TypeAlias = Literal["email", "slack", "other"]
Kind: TypeAlias = Literal["queue_threshold", "decision", "test"]

STATES = ("waiting", "sent", "failed")
TITLE_CHARS = 200
BODY_CHARS = 10_000
MOST_TOGETHER = 1_000
"""Decisions that are told one person in one message: who decides about thousands must not cause thousands of mails."""
_FIRST_PAUSE_SECONDS = 60.0
_PAUSE_FACTOR = 4
_LONGEST_PAUSE_SECONDS = 6 * 3600.0
_MOST_EXPONENT = 10
_COUNT_CAP = 10_000
_SWEPT_AT_ONCE = 1_000
_DEAD = "given up: whoever sent it ended before it was known what came of it"
_NOW = func.bailiwick_now()


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message, and how far it is. `recipient` is an e-mail address, or which of the other services; never a key."""

    id: int
    channel: str
    kind: str
    recipient: str | None
    title: str
    body: str
    state: str
    tries: int
    next_at: datetime
    error: str | None
    created_at: datetime
    sent_at: datetime | None


def enqueue(
    conn: Connection, channel: Channel, kind: Kind, title: str, body: str, *, recipient: str | None = None
) -> int:
    """Write a message in the caller's transaction: it goes out if that is committed, and waits for nobody."""
    added: int = conn.execute(
        insert(deliveries)
        .values(
            channel=channel,
            kind=kind,
            recipient=recipient,
            # One line: what stands in a subject must not begin another header.
            title=" ".join(title.split())[:TITLE_CHARS],
            body=body[:BODY_CHARS],
        )
        .returning(deliveries.c.id)
    ).scalar_one()
    return added


def tell_member(conn: Connection, member_id: int, title: str, body: str) -> bool:
    """Tell a member of a decision, in the caller's transaction. Says whether there is an address to tell it to."""
    address: str | None = conn.execute(
        select(members.c.email).where(members.c.id == member_id, members.c.state == "active")
    ).scalar()
    if address is None:
        return False
    enqueue(conn, "email", "decision", title, body, recipient=address)
    return True


def is_any_due(conn: Connection) -> bool:
    return conn.execute(select(deliveries.c.id).where(_due()).limit(1)).first() is not None


def claim(conn: Connection, worker: str, *, seconds: float, max_tries: int) -> list[Delivery]:
    """The message that is due for longest, for so long; with it what else the same person is to be told of decisions.

    None: nothing is due. What was claimed so often that it may have killed its senders is given up.
    """
    dead = update(deliveries).where(_due(), deliveries.c.tries >= max_tries)
    conn.execute(dead.values(state="failed", error=_DEAD, worker=None, claimed_until=None))
    oldest = select(deliveries).where(_due()).order_by(deliveries.c.next_at, deliveries.c.id).limit(1)
    first = conn.execute(oldest.with_for_update(skip_locked=True)).one_or_none()
    if first is None:
        return []
    ids = [first.id]
    if first.kind == "decision":
        same = (deliveries.c[name] == getattr(first, name) for name in ("channel", "kind", "recipient"))
        together = select(deliveries.c.id).where(_due(), *same).order_by(deliveries.c.id).limit(MOST_TOGETHER)
        ids = list({*conn.execute(together.with_for_update(skip_locked=True)).scalars(), first.id})
    return claim_these(conn, ids, worker, seconds=seconds)


def claim_these(conn: Connection, ids: Sequence[int], worker: str, *, seconds: float) -> list[Delivery]:
    """These messages, for so long. A try is counted when it begins."""
    until = _NOW + func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    claimed = (
        update(deliveries)
        .where(deliveries.c.id.in_(ids), deliveries.c.state == "waiting")
        .values(worker=worker, claimed_until=until, tries=deliveries.c.tries + 1)
        .returning(deliveries)
    )
    return sorted((_delivery(row) for row in conn.execute(claimed)), key=lambda found: found.id)


def sent(conn: Connection, ids: Sequence[int], worker: str) -> int:
    """They went out. How many were still this worker's?"""
    done = {"state": "sent", "sent_at": _NOW, "error": None, "worker": None, "claimed_until": None}
    return conn.execute(_held(ids, worker).values(done)).rowcount


def failed(
    conn: Connection, ids: Sequence[int], worker: str, why: str, *, max_tries: int, pause_seconds: float = 0.0
) -> int:
    """They did not go out, and why. Each is tried again, later every time, until it is given up. How many were?"""
    is_over = deliveries.c.tries >= max_tries
    exponent = func.least(deliveries.c.tries - 1, _MOST_EXPONENT)
    pause = func.least(_FIRST_PAUSE_SECONDS * func.power(_PAUSE_FACTOR, exponent), _LONGEST_PAUSE_SECONDS)
    later = _NOW + func.make_interval(0, 0, 0, 0, 0, 0, func.greatest(pause, pause_seconds))
    changed = {
        "state": case((is_over, literal("failed")), else_=literal("waiting")),
        "next_at": later,
        "error": why[:500],
        "worker": None,
        "claimed_until": None,
    }
    states = conn.execute(_held(ids, worker).values(changed).returning(deliveries.c.state)).scalars()
    return list(states).count("failed")


def release(conn: Connection, ids: Sequence[int], worker: str) -> None:
    """They were not tried: the next sender may have them at once."""
    given_back = {"worker": None, "claimed_until": None, "tries": func.greatest(deliveries.c.tries - 1, 0)}
    conn.execute(_held(ids, worker).values(given_back))


def spread(conn: Connection, delivery: Delivery, worker: str, recipients: Sequence[str]) -> None:
    """Put one message to each of these in the place of a message to all: each is tried for itself. To none: it goes."""
    mine = and_(deliveries.c.id == delivery.id, deliveries.c.worker == worker, deliveries.c.state == "waiting")
    if conn.execute(delete(deliveries).where(mine)).rowcount and recipients:
        common = {name: getattr(delivery, name) for name in ("channel", "kind", "title", "body", "created_at")}
        conn.execute(insert(deliveries), [{**common, "recipient": recipient} for recipient in recipients])


def retry(conn: Connection, ids: Sequence[int] | None = None) -> list[int]:
    """Let messages that were given up be tried anew, tests aside; all if none are named. Which were there?"""
    which = update(deliveries).where(deliveries.c.state == "failed", deliveries.c.kind != "test")
    if ids is not None:
        which = which.where(deliveries.c.id.in_(ids))
    again = {"state": "waiting", "tries": 0, "next_at": _NOW}
    return sorted(conn.execute(which.values(again).returning(deliveries.c.id)).scalars())


def listing(
    conn: Connection, *, state: str | None = None, limit: int = 50, before_id: int | None = None
) -> list[Delivery]:
    """The newest first, a page at a time."""
    query = select(deliveries).order_by(deliveries.c.id.desc()).limit(limit)
    if state is not None:
        query = query.where(deliveries.c.state == state)
    if before_id is not None:
        query = query.where(deliveries.c.id < before_id)
    return [_delivery(row) for row in conn.execute(query)]


def counts(conn: Connection) -> dict[str, int]:
    """How many wait and how many were given up, tests aside, each counted up to 10,000."""
    return {state: _count(conn, state) for state in ("waiting", "failed")}


def forget(conn: Connection, address: str) -> int:
    """Drop what was, or was to be, told of decisions to an address that is no longer anybody's."""
    kept = select(members.c.id).where(members.c.email == address).exists()
    gone = delete(deliveries).where(deliveries.c.kind == "decision", deliveries.c.recipient == address, ~kept)
    return conn.execute(gone).rowcount


def sweep(conn: Connection, *, keep_days: int) -> int:
    """Drop what was sent so long ago, and tests, some at a time. What failed stays until it is tried again."""
    age = func.make_interval(0, 0, 0, keep_days)
    old = (
        select(deliveries.c.id)
        .where(
            or_(deliveries.c.state == "sent", deliveries.c.kind == "test"),
            func.coalesce(deliveries.c.sent_at, deliveries.c.created_at) < _NOW - age,
        )
        .order_by(deliveries.c.id)
        .limit(_SWEPT_AT_ONCE)
    )
    return conn.execute(delete(deliveries).where(deliveries.c.id.in_(old))).rowcount


def _due() -> ColumnElement[bool]:
    is_free = or_(deliveries.c.claimed_until.is_(None), deliveries.c.claimed_until <= _NOW)
    return and_(deliveries.c.state == "waiting", deliveries.c.next_at <= _NOW, is_free)


def _held(ids: Sequence[int], worker: str) -> Update:
    """A claim that ran out may be somebody else's by now: theirs is left alone."""
    return update(deliveries).where(
        deliveries.c.id.in_(ids), deliveries.c.worker == worker, deliveries.c.state == "waiting"
    )


def _count(conn: Connection, state: str) -> int:
    is_meant = (deliveries.c.state == state, deliveries.c.kind != "test")
    some = select(deliveries.c.id).where(*is_meant).limit(_COUNT_CAP).subquery()
    return conn.execute(select(func.count()).select_from(some)).scalar_one()


def _delivery(row: Row[Any]) -> Delivery:
    values = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    return Delivery(**{name: values[name] for name in Delivery.__slots__})
