"""One function moves a state: compare-and-set, with its event, or nothing at all."""

import threading

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from bailiwick.base.errors import ConflictError, DatabaseError, IllegalMoveError, NotFoundError, UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import members, metadata, state_moves
from bailiwick.ledger.events import Subject, latest
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.states import Role
from bailiwick.model.transitions import MACHINES, MEMBER
from tests.ledger.tools import make_member


def _disable(member_id: int, *, version: int = 1, reason: str | None = "left") -> Move:
    return Move(MEMBER, member_id, "disable", Seen("active", version), reason)


def test_a_move_changes_state_and_version_and_writes_its_event(database: Database) -> None:
    with database.begin() as conn:
        anna, ben = make_member(conn, "anna"), make_member(conn, "ben")
        moved = move(conn, _disable(ben.id), anna)
        assert (moved.state, moved.version) == ("disabled", 2)
    with database.read() as conn:
        row = conn.execute(select(members).where(members.c.id == ben.id)).one()
        assert (row.state, row.version) == ("disabled", 2)
        [event] = latest(conn, subject=Subject("member", "ben"))
        assert event.id == moved.event_id
        assert (event.actor, event.machine, event.verb) == ("anna", "member", "disable")
        assert (event.before, event.after, event.reason) == ("active", "disabled", "left")


def test_a_rolled_back_move_leaves_no_event(database: Database) -> None:
    with database.begin() as conn:
        anna, ben = make_member(conn, "anna"), make_member(conn, "ben")

    def move_and_fail() -> None:
        with database.begin() as conn:
            move(conn, _disable(ben.id), anna)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        move_and_fail()
    with database.read() as conn:
        assert latest(conn, subject=Subject("member", "ben")) == []


def test_the_second_of_two_is_told_what_happened(database: Database) -> None:
    with database.begin() as conn:
        anna, ben, cleo = (make_member(conn, name) for name in ("anna", "ben", "cleo"))
        move(conn, _disable(cleo.id, reason="spam"), anna)
        with pytest.raises(ConflictError) as raised:
            move(conn, _disable(cleo.id), ben)
    assert "member is disabled (version 2); last: disable by anna (spam)" in raised.value.message


def test_of_many_at_once_exactly_one_wins(database: Database) -> None:
    with database.begin() as conn:
        anna, target = make_member(conn, "anna"), make_member(conn, "target")
    barrier, outcomes = threading.Barrier(6), []

    def attempt() -> None:
        with database.begin() as conn:
            barrier.wait(10)
            try:
                outcomes.append(move(conn, _disable(target.id), anna).state)
            except ConflictError:
                outcomes.append("conflict")

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["conflict"] * 5 + ["disabled"]
    with database.read() as conn:
        assert len(latest(conn, subject=Subject("member", "target"))) == 1


def test_what_is_refused_before_the_database_is_asked(database: Database) -> None:
    with database.begin() as conn:
        anna, reviewer = make_member(conn, "anna"), make_member(conn, "rita", Role.REVIEWER)
        with pytest.raises(IllegalMoveError, match="may not disable"):
            move(conn, _disable(anna.id), reviewer)
        with pytest.raises(UsageError, match="needs a reason"):
            move(conn, _disable(anna.id, reason="  "), anna)
        with pytest.raises(IllegalMoveError, match="cannot enable"):
            move(conn, Move(MEMBER, anna.id, "enable", Seen("active", 1)), anna)
        with pytest.raises(NotFoundError):
            move(conn, _disable(10**9), anna)


def test_the_database_refuses_an_illegal_move_too(database: Database) -> None:
    """A stray UPDATE by hand cannot break a state machine, and neither can an INSERT."""
    for statement in (
        "insert into members (name, role, state) values ('x', 'admin', 'disabled')",
        "insert into members (name, role, state) values ('x', 'admin', 'no such state')",
        "update members set state = 'no such state' where name = 'system'",
    ):
        with pytest.raises(IllegalMoveError, match="member cannot go from"), database.begin() as conn:
            conn.execute(text(statement))


def test_the_database_knows_exactly_the_moves_of_the_model(database: Database) -> None:
    with database.read() as conn:
        kept = {tuple(row) for row in conn.execute(select(state_moves))}
        guarded = set(conn.execute(text("select tgname from pg_trigger where tgname like 'check_move_%'")).scalars())
    here = [machine for machine in MACHINES if machine.table in metadata.tables]
    assert kept == {(m.name, t.source, t.verb, t.target) for m in here for t in m.transitions}
    assert guarded == {f"check_move_{m.name}_{when}" for m in here for when in ("insert", "update")}


def test_events_are_append_only(database: Database) -> None:
    with database.begin() as conn:
        anna, ben = make_member(conn, "anna"), make_member(conn, "ben")
        move(conn, _disable(ben.id), anna)
    for statement in ("update events set reason = 'x'", "delete from events", "truncate events"):
        with pytest.raises(DatabaseError, match="append-only"), database.begin() as conn:
            conn.execute(text(statement))


def test_a_foreign_error_is_still_one_of_ours(database: Database) -> None:
    with pytest.raises(DatabaseError) as raised, database.begin() as conn:
        conn.execute(text("select 1 / 0"))
    assert isinstance(raised.value.__cause__, DBAPIError)
    assert raised.value.message == "division by zero"
