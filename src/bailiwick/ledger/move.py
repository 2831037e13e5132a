"""The one function that moves a state."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue
from sqlalchemy import Connection, Table, func, insert, literal, select, text, update
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.base.errors import ConflictError, IllegalMoveError, NotFoundError, UsageError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db.tables import events, metadata
from bailiwick.ledger.events import Actor, Subject, latest
from bailiwick.model.states import Machine, Transition


@dataclass(frozen=True, slots=True)
class Seen:
    """What the actor saw when they decided. If it is no longer so, somebody else was first."""

    state: str
    version: int


@dataclass(frozen=True, slots=True)
class Move:
    """One wish to move one row's state. `changes` are further columns that move with it."""

    machine: Machine
    subject_id: int
    verb: str
    seen: Seen
    reason: str | None = None
    to: str | None = None
    changes: Mapping[str, object] = field(default_factory=dict)
    details: JsonValue = None


@dataclass(frozen=True, slots=True)
class Moved:
    """What came of it."""

    event_id: int
    state: str
    version: int


def move(conn: Connection, wish: Move, actor: Actor) -> Moved:
    """Check the wish against the machine's table, then compare-and-set the state and write its event, in one statement.

    Raises IllegalMoveError (no such move, or not for this role), UsageError (a reason is missing), NotFoundError, and
    ConflictError when the row is no longer as it was seen; the message then says what happened instead.
    """
    transition = _permitted(wish, actor)
    table = metadata.tables[wish.machine.table]
    state = table.c[wish.machine.column]
    moved = (
        update(table)
        .where(table.c.id == wish.subject_id, state == wish.seen.state, table.c.version == wish.seen.version)
        .values({**wish.changes, wish.machine.column: transition.target, "version": table.c.version + 1})
        .returning(table.c.id, table.c.name, table.c.version)
        .cte("moved")
    )
    logged = (
        insert(events)
        .from_select(
            [
                "actor_id",
                "subject_kind",
                "subject_id",
                "subject_name",
                "machine",
                "verb",
                "before",
                "after",
                "reason",
            ]
            + (["details"] if wish.details is not None else []),
            select(
                literal(actor.id),
                literal(_kind(wish.machine)),
                moved.c.id,
                moved.c.name,
                literal(wish.machine.name),
                literal(wish.verb),
                func.to_jsonb(literal(wish.seen.state)),
                func.to_jsonb(literal(transition.target)),
                literal(wish.reason),
                *([literal(wish.details, JSONB)] if wish.details is not None else []),
            ),
        )
        .returning(events.c.id)
        .cte("logged")
    )
    row = conn.execute(select(moved.c.version, logged.c.id).select_from(moved.join(logged, text("true")))).one_or_none()
    if row is None:
        raise _what_happened(conn, wish, table)
    logger().info(LogEvent.STATE_MOVED, machine=wish.machine.name, verb=wish.verb, to=transition.target, by=actor.name)
    return Moved(event_id=row.id, state=transition.target, version=row.version)


def _permitted(wish: Move, actor: Actor) -> Transition:
    transition = wish.machine.transition(wish.seen.state, wish.verb, to=wish.to)
    if actor.role not in transition.who:
        who = ", ".join(sorted(transition.who))
        raise IllegalMoveError(f"{actor.name} ({actor.role}) may not {wish.verb}", hint=f"this takes the role {who}")
    if transition.needs_reason and not (wish.reason or "").strip():
        raise UsageError(f"{wish.verb} needs a reason", hint='say why: --reason "…"')
    return transition


def _what_happened(conn: Connection, wish: Move, table: Table) -> ConflictError | NotFoundError:
    """Look once more, to tell the actor what came in between."""
    state = table.c[wish.machine.column]
    row = conn.execute(select(table.c.name, state, table.c.version).where(table.c.id == wish.subject_id)).one_or_none()
    kind = _kind(wish.machine)
    if row is None:
        return NotFoundError(f"there is no {kind} with id {wish.subject_id}")
    name, now, version = row
    last = next(iter(latest(conn, subject=Subject(kind, name), limit=1)), None)
    by = f"; last: {last.verb} by {last.actor}" + (f" ({last.reason})" if last.reason else "") if last else ""
    return ConflictError(
        f"{name} has changed meanwhile: {wish.machine.name} is {now} (version {version}){by}",
        hint="look at it again, then decide",
    )


def _kind(machine: Machine) -> str:
    return machine.table.removesuffix("s")
