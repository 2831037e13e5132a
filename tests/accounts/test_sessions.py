"""Sessions: the database keeps no word of them, and they end by time, by their owner and by an admin."""

import pytest

from bailiwick.accounts import sessions
from bailiwick.accounts.members import local_admin
from bailiwick.accounts.secrets import kept
from bailiwick.accounts.sessions import Opened
from bailiwick.db.engine import Database
from bailiwick.db.tables import sessions as table
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.states import Role
from tests.ledger.tools import make_member
from tests.registry.tools import shift_clock


def opened(database: Database, device: str | None = None) -> Opened:
    with database.begin() as conn:
        return sessions.open_session(conn, local_admin(conn), device=device, user_agent="x" * 999, address="192.0.2.1")


def is_open(database: Database, words: Opened) -> bool:
    with database.read() as conn:
        return sessions.find(conn, words.token) is not None


def test_the_words_are_new_and_only_their_hashes_are_kept(database: Database) -> None:
    words = opened(database, device="planted")
    assert words.device != "planted"
    with database.read() as conn:
        [row] = conn.execute(table.select())
        assert (row.token_hash, row.device_hash) == (kept(words.token), kept(words.device))
        assert words.token not in str(row)
        assert len(row.user_agent) == 300
        found = sessions.find(conn, words.token)
        assert found is not None
        assert found.actor.role is Role.ADMIN
        for other in ("", "x", words.device, words.token.lower(), words.token + " ", "\ud800"):
            assert sessions.find(conn, other) is None
        assert latest(conn, subject=Subject("member", found.actor.name))[0].verb == "log_in"


@pytest.mark.parametrize(("shift", "still"), [("6 days", True), ("8 days", False), ("31 days", False)])
def test_a_session_ends_by_idleness_and_by_time(database: Database, shift: str, still: bool) -> None:
    words = opened(database)
    shift_clock(database, shift)
    assert is_open(database, words) is still


def test_use_keeps_a_session_open_but_not_for_ever(database: Database) -> None:
    words = opened(database)
    for day in range(6, 30, 6):
        shift_clock(database, f"{day} days")
        with database.begin() as conn:
            found = sessions.find(conn, words.token)
            assert found is not None
            assert found.is_stale
            sessions.touch(conn, found.id)
            touched = sessions.find(conn, words.token)
            assert touched is not None
            assert not touched.is_stale
    shift_clock(database, "30 days 1 second")
    assert not is_open(database, words)


def test_a_member_ends_their_own_sessions_alone(database: Database) -> None:
    mine, other = opened(database), opened(database)
    with database.begin() as conn:
        me, somebody = local_admin(conn), make_member(conn, "somebody")
        ids = [one.id for one in sessions.of_member(conn, me.id)]
        assert not sessions.end(conn, somebody, ids[0])
        found = sessions.find(conn, mine.token)
        assert found is not None
        assert sessions.end(conn, me, found.id)
        assert not sessions.end(conn, me, found.id)
        assert sessions.end_all(conn, me.id) == 1
        assert sessions.still_open(conn, {kept(mine.token), kept(other.token)}) == {}
    assert not is_open(database, other)


def test_a_device_is_known_to_the_member_who_used_it_even_after_the_end(database: Database) -> None:
    words = opened(database)
    again = opened(database, device=words.device)
    assert again.device == words.device
    assert again.token != words.token
    with database.begin() as conn:
        me, somebody = local_admin(conn), make_member(conn, "somebody")
        sessions.end_all(conn, me.id)
        assert sessions.is_known_device(conn, me.id, words.device)
        assert not sessions.is_known_device(conn, somebody.id, words.device)
    shift_clock(database, "121 days")
    opened(database)
    with database.begin() as conn:
        assert not sessions.is_known_device(conn, local_admin(conn).id, words.device)


def test_what_is_open_is_told_with_the_role_of_now(database: Database) -> None:
    words = opened(database)
    with database.begin() as conn:
        assert sessions.still_open(conn, {kept(words.token), b"x"}) == {kept(words.token): Role.ADMIN}
        conn.exec_driver_sql("update members set role = 'viewer' where role = 'admin'")
        assert sessions.still_open(conn, {kept(words.token)}) == {kept(words.token): Role.VIEWER}
