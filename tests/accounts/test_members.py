"""Members: the local admin is made once, from the operating system's user."""

import getpass

import pytest
from sqlalchemy import func, select

from bailiwick.accounts.members import find, local_admin, member_name, system_actor
from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import members
from bailiwick.ledger.events import Subject, latest
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.states import Role
from bailiwick.model.transitions import MEMBER


def test_the_local_admin_is_made_once_with_its_event(database: Database) -> None:
    with database.begin() as conn:
        first, second = local_admin(conn), local_admin(conn)
        assert first == second
        assert (first.name, first.role) == (getpass.getuser().lower(), Role.ADMIN)
        assert conn.execute(select(func.count()).select_from(members)).scalar_one() == 2
        [event] = latest(conn, subject=Subject("member", first.name))
        assert (event.actor, event.verb, event.subject.id) == ("system", "join", first.id)


def test_a_user_called_system_is_not_the_system(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "System")
    with database.begin() as conn:
        assert local_admin(conn).id != system_actor(conn).id


def test_a_disabled_member_cannot_act(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        move(conn, Move(MEMBER, me.id, "disable", Seen("active", 1), "test"), me)
        with pytest.raises(UsageError, match="is disabled"):
            find(conn, me.name)
        with pytest.raises(NotFoundError):
            find(conn, "nobody-like-that")


@pytest.mark.parametrize("text", ["", " ", "a b", "a\x00b", "x" * 101, "tab\there"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        member_name(text)
