"""The one function that moves a state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue
from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    Table,
    any_,
    exists,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from bailiwick.base.errors import ConflictError, IllegalMoveError, NotFoundError, UsageError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db.tables import crawl_queue, events, metadata
from bailiwick.ledger.events import Actor, Subject, latest
from bailiwick.model.states import Machine, Transition


@dataclass(frozen=True, slots=True)
class Seen:
    """What the actor saw when they decided. If it is no longer so, somebody else was first."""

    state: str
    version: int


@dataclass(frozen=True, slots=True)
class Fence:
    """What a worker holds instead of a version: the state it knows, and the lease under which it knows it."""

    state: str
    lease_no: int
    worker: str


@dataclass(frozen=True, slots=True)
class Move:
    """One wish to move one row's state. `changes` are further columns that move with it."""

    machine: Machine
    subject_id: int
    verb: str
    seen: Seen | Fence
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
    moved = (
        update(table)
        .where(table.c.id == wish.subject_id, *_unchanged(wish, table))
        .values({**wish.changes, wish.machine.column: transition.target, **_next_version(wish, table)})
        .returning(table.c.id, table.c.name, table.c.version)
        .cte("moved")
    )
    logged = _logged(wish.machine, transition, moved, actor, reason=wish.reason, details=wish.details)
    row = conn.execute(select(moved.c.version, logged.c.id).select_from(moved.join(logged, text("true")))).one_or_none()
    if row is None:
        raise _what_happened(conn, wish, table)
    logger().info(LogEvent.STATE_MOVED, machine=wish.machine.name, verb=wish.verb, to=transition.target, by=actor.name)
    return Moved(event_id=row.id, state=transition.target, version=row.version)


def move_many(
    conn: Connection, machine: Machine, ids: Sequence[int], source: str, verb: str, *, actor: Actor, reason: str
) -> int:
    """The same move for all of these rows that are still in `source`, each with its event, in one statement.

    For the system's own moves, which leave the version alone. Returns how many moved.
    """
    transition = machine.transition(source, verb)
    if not ids:
        return 0
    _refuse_role(transition, actor)
    table = metadata.tables[machine.table]
    moved = (
        update(table)
        .where(table.c.id == any_(array_of(ids)), table.c[machine.column] == source)
        .values({machine.column: transition.target})
        .returning(table.c.id, table.c.name)
        .cte("moved")
    )
    logged = _logged(machine, transition, moved, actor, reason=reason, details=None)
    count: int = conn.execute(select(func.count()).select_from(logged)).scalar_one()
    return count


def array_of(ids: Sequence[int]) -> ColumnElement[list[int]]:
    """A list of ids as one parameter."""
    return literal(list(ids), ARRAY(BigInteger))


def _logged(
    machine: Machine, transition: Transition, moved: CTE, actor: Actor, *, reason: str | None, details: JsonValue
) -> CTE:
    """The insert of one event for each moved row, as part of the same statement."""
    values: dict[str, ColumnElement[object]] = {
        "actor_id": literal(actor.id),
        "subject_kind": literal(_kind(machine)),
        "subject_id": moved.c.id,
        "subject_name": moved.c.name,
        "machine": literal(machine.name),
        "verb": literal(transition.verb),
        "before": func.to_jsonb(literal(transition.source)),
        "after": func.to_jsonb(literal(transition.target)),
        "reason": literal(reason),
    }
    if details is not None:
        values["details"] = literal(details, JSONB)
    rows = select(*values.values()).select_from(moved)
    return insert(events).from_select(list(values), rows).returning(events.c.id).cte("logged")


def _unchanged(wish: Move, table: Table) -> tuple[ColumnElement[bool], ...]:
    """The compare of compare-and-set: state and version for people, state and lease for workers."""
    state = table.c[wish.machine.column] == wish.seen.state
    if isinstance(wish.seen, Seen):
        return state, table.c.version == wish.seen.version
    lease = (crawl_queue.c.domain_id == table.c.id, crawl_queue.c.lease_no == wish.seen.lease_no)
    return state, exists().where(*lease, crawl_queue.c.worker == wish.seen.worker)


def _next_version(wish: Move, table: Table) -> dict[str, ColumnElement[int]]:
    """Workers leave the version alone: a crawl in progress must not spoil a person's edit."""
    return {"version": table.c.version + 1} if isinstance(wish.seen, Seen) else {}


def _permitted(wish: Move, actor: Actor) -> Transition:
    transition = wish.machine.transition(wish.seen.state, wish.verb, to=wish.to)
    _refuse_role(transition, actor)
    if transition.needs_reason and not (wish.reason or "").strip():
        raise UsageError(f"{wish.verb} needs a reason", hint='say why: --reason "…"')
    return transition


def _refuse_role(transition: Transition, actor: Actor) -> None:
    if actor.role not in transition.who:
        who = ", ".join(sorted(transition.who))
        raise IllegalMoveError(
            f"{actor.name} ({actor.role}) may not {transition.verb}", hint=f"this takes the role {who}"
        )


def _what_happened(conn: Connection, wish: Move, table: Table) -> ConflictError | NotFoundError:
    """Look once more, to tell the actor what came in between."""
    state = table.c[wish.machine.column]
    row = conn.execute(select(table.c.name, state, table.c.version).where(table.c.id == wish.subject_id)).one_or_none()
    kind = _kind(wish.machine)
    if row is None:
        return NotFoundError(f"there is no {kind} with id {wish.subject_id}")
    name, now, version = row
    last = next(iter(latest(conn, subject=Subject(kind, name, wish.subject_id), limit=1)), None)
    by = f"; last: {last.verb} by {last.actor}" + (f" ({last.reason})" if last.reason else "") if last else ""
    return ConflictError(
        f"{name} has changed meanwhile: {wish.machine.name} is {now} (version {version}){by}",
        hint="look at it again, then decide",
    )


def _kind(machine: Machine) -> str:
    return machine.table.removesuffix("s")
