"""One-time links: one use, a time, one at once."""

import threading
from collections.abc import Iterator

import pytest

from bailiwick.accounts import links, service, sessions
from bailiwick.accounts.links import Kind
from bailiwick.accounts.members import find, local_admin
from bailiwick.base.errors import BailiwickError, ConflictError, NotFoundError, UsageError
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.states import Role
from tests.ledger.tools import make_member
from tests.registry.tools import shift_clock
from tests.web.tools import cheap_passwords

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _cheap() -> Iterator[None]:
    with cheap_passwords():
        yield


def made(database: Database, kind: Kind = Kind.INVITATION, name: str = "ann") -> str:
    with database.begin() as conn:
        me = local_admin(conn)
        return links.make(conn, kind, me if kind is Kind.FIRST else make_member(conn, name, Role.REVIEWER), me)


def accepted(database: Database, word: str, *, name: str = "", password: str = PASSWORD) -> str:
    with database.begin() as conn:
        return links.accept(conn, word, name=name, password=password).name


def test_a_link_works_once_and_leaves_its_trail(database: Database) -> None:
    word = made(database)
    with database.read() as conn:
        link = links.look(conn, word)
        assert (link.kind, link.member.name, link.may_rename) == (Kind.INVITATION, "ann", False)
        assert word not in str(conn.exec_driver_sql("select * from one_time_links").all())
    assert accepted(database, word, name="mallory") == "ann"
    for _ in range(2):
        with pytest.raises(NotFoundError, match="used before"):
            accepted(database, word)
    with database.read() as conn:
        verbs = [event.verb for event in latest(conn, subject=Subject("member", "ann"))]
        assert verbs == ["set_password", "make_invitation_link"]
        actor = service.authenticate(conn, "ann", PASSWORD)
        assert actor is not None
        assert actor.role is Role.REVIEWER


@pytest.mark.parametrize(("kind", "within", "after"), [
    (Kind.FIRST, "23 hours", "25 hours"), (Kind.RESET, "23 hours", "25 hours"), (Kind.INVITATION, "6 days", "8 days"),
])  # fmt: skip
def test_a_link_holds_for_its_time(database: Database, kind: Kind, within: str, after: str) -> None:
    word = made(database, kind)
    shift_clock(database, within)
    with database.read() as conn:
        links.look(conn, word)
    shift_clock(database, after)
    with pytest.raises(NotFoundError):
        accepted(database, word, name="ann")


def test_a_newer_link_voids_the_older_one(database: Database) -> None:
    old = made(database)
    with database.begin() as conn:
        new = links.make(conn, Kind.RESET, find(conn, "ann"), local_admin(conn))
        with pytest.raises(NotFoundError):
            links.look(conn, old)
    assert accepted(database, new) == "ann"


def test_a_link_of_a_disabled_member_is_void_and_stays_so(database: Database) -> None:
    word = made(database)
    with database.begin() as conn:
        me = local_admin(conn)
        service.disable(conn, "ann", me, reason="left")
        service.enable(conn, "ann", me)
        with pytest.raises(NotFoundError):
            links.look(conn, word)


def test_a_refused_password_leaves_the_link_good(database: Database) -> None:
    word = made(database)
    for password in ("short", "a" * 20, "x" * 300):
        with pytest.raises(UsageError):
            accepted(database, word, password=password)
    assert accepted(database, word) == "ann"


def test_older_sessions_end_with_the_new_password(database: Database) -> None:
    word = made(database)
    with database.begin() as conn:
        words = sessions.open_session(conn, find(conn, "ann"), device=None, user_agent=None, address=None)
    accepted(database, word)
    with database.read() as conn:
        assert sessions.find(conn, words.token) is None


def test_of_two_who_use_a_link_at_once_one_is_first(database: Database) -> None:
    word = made(database)
    told: list[str] = []
    together = threading.Barrier(2)

    def use(password: str) -> None:
        together.wait(10)
        try:
            accepted(database, word, password=password)
            told.append(password)
        except BailiwickError as error:
            told.append(type(error).__name__)

    people = [threading.Thread(target=use, args=(f"the password of {n}",)) for n in range(2)]
    for one in people:
        one.start()
    for one in people:
        one.join(30)
    [winner] = [said for said in told if said.startswith("the password")]
    assert next(said for said in told if said != winner) in ("ConflictError", "NotFoundError")
    with database.read() as conn:
        assert service.authenticate(conn, "ann", winner) is not None


def test_the_first_link_names_the_operator_and_the_command_line_stays_the_same_member(database: Database) -> None:
    word = made(database, Kind.FIRST)
    with database.begin() as conn:
        me = local_admin(conn)
        make_member(conn, "taken", Role.VIEWER)
    for name in ("taken", "system", "SYSTEM "):
        with pytest.raises(ConflictError):
            accepted(database, word, name=name)
    for name in ("", "a b", "a/b", "..", "x" * 101, "in\u202evisible", "zero\u200bwidth"):
        with pytest.raises(UsageError):
            accepted(database, word, name=name)
    for password in ("the-operator-name", " The-Operator-Name "):
        with pytest.raises(UsageError, match="the password is the name"):
            accepted(database, word, name="The-Operator-Name", password=password)
    assert accepted(database, word, name=" The-Operator ") == "the-operator"
    with database.begin() as conn:
        again = local_admin(conn)
        assert (again.id, again.name) == (me.id, "the-operator")
        assert service.authenticate(conn, "The-Operator", PASSWORD) == again
        assert latest(conn, subject=Subject("member", "the-operator"))[0].verb == "rename"
        assert conn.exec_driver_sql("select count(*) from members where name = %s", (me.name,)).scalar() == 0
