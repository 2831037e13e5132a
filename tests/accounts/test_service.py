"""The verbs by which admins look after members."""

import threading
from collections.abc import Iterator

import pytest

from bailiwick.accounts import links, service, sessions
from bailiwick.accounts.members import find, local_admin, system_actor
from bailiwick.base.errors import BailiwickError, ConflictError, NotAllowedError, NotFoundError, UsageError
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.states import Role
from tests.ledger.tools import make_member
from tests.web.tools import cheap_passwords

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _cheap() -> Iterator[None]:
    with cheap_passwords():
        yield


def test_a_member_is_added_with_an_invitation(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        word = service.add(conn, " Ann ", Role.VIEWER, me)
        assert links.look(conn, word).member == find(conn, "ann")
        assert not service.get(conn, "ann").has_password
        for name in ("ann", "ANN", "system", me.name):
            with pytest.raises(ConflictError):
                service.add(conn, name, Role.VIEWER, me)
        with pytest.raises(UsageError):
            service.add(conn, "a b", Role.VIEWER, me)
        verbs = [event.verb for event in latest(conn, subject=Subject("member", "ann"))]
        assert verbs == ["make_invitation_link", "join"]


@pytest.mark.parametrize("role", [Role.SUBMITTER, Role.VIEWER, Role.REVIEWER, Role.SYSTEM])
def test_only_admins_look_after_members(database: Database, role: Role) -> None:
    with database.begin() as conn:
        actor = system_actor(conn) if role is Role.SYSTEM else make_member(conn, "actor", role)
        make_member(conn, "ann", Role.VIEWER)
        local_admin(conn)
        for deed in (
            lambda: service.add(conn, "new", Role.ADMIN, actor),
            lambda: service.set_role(conn, "ann", Role.ADMIN, actor),
            lambda: service.reset_password(conn, "ann", actor),
            lambda: service.disable(conn, "ann", actor, reason="x"),
        ):
            with pytest.raises((NotAllowedError, ConflictError)):
                deed()
        assert service.get(conn, "ann").state == "active"


def test_nobody_is_made_the_system_and_the_system_is_not_touched(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        make_member(conn, "ann", Role.VIEWER)
        with pytest.raises(UsageError):
            service.add(conn, "x", Role.SYSTEM, me)
        with pytest.raises(UsageError):
            service.set_role(conn, "ann", Role.SYSTEM, me)
        with pytest.raises(UsageError):
            service.reset_password(conn, "system", me)
        for deed in (service.disable, service.enable):
            with pytest.raises(NotFoundError):
                deed(conn, "system", me, reason="x")
        assert "system" not in [member.name for member in service.listing(conn, limit=10)]
        assert service.first_link(conn, system_actor(conn)) is None


def test_the_last_admin_stays(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        with pytest.raises(ConflictError, match="the only admin"):
            service.disable(conn, me.name, me, reason="x")
        with pytest.raises(ConflictError, match="the only admin"):
            service.set_role(conn, me.name, Role.REVIEWER, me)
        other = make_member(conn, "other")
        service.disable(conn, "other", me, reason="x")
        with pytest.raises(ConflictError, match="the only admin"):
            service.disable(conn, me.name, me, reason="x")
        service.enable(conn, "other", me)
        service.set_role(conn, me.name, Role.VIEWER, other)
        assert service.get(conn, me.name).role == Role.VIEWER


def test_two_admins_cannot_remove_each_other_at_once(database: Database) -> None:
    with database.begin() as conn:
        pair = make_member(conn, "ann"), make_member(conn, "bob")
    told: list[str] = []
    together = threading.Barrier(2)

    def remove(mine: int) -> None:
        actor, whom = pair[mine], pair[1 - mine].name
        together.wait(10)
        try:
            with database.begin() as conn:
                if mine:
                    service.disable(conn, whom, actor, reason="x")
                else:
                    service.set_role(conn, whom, Role.VIEWER, actor)
            told.append("done")
        except BailiwickError as error:
            told.append(type(error).__name__)

    people = [threading.Thread(target=remove, args=(n,)) for n in range(2)]
    for one in people:
        one.start()
    for one in people:
        one.join(30)
    assert sorted(told) == ["ConflictError", "done"]
    with database.read() as conn:
        left = [one for one in service.listing(conn, limit=9) if (one.role, one.state) == ("admin", "active")]
        assert len(left) == 1


def test_a_disabled_member_is_out_and_comes_back_with_the_old_password(database: Database) -> None:
    with database.begin() as conn:
        me, ann = local_admin(conn), make_member(conn, "ann", Role.REVIEWER)
        links.set_password(conn, ann, PASSWORD)
        words = sessions.open_session(conn, ann, device=None, user_agent=None, address=None)
        with pytest.raises(UsageError):
            service.disable(conn, "ann", me, reason=" ")
        assert service.disable(conn, "ann", me, reason="left").state == "disabled"
        assert sessions.find(conn, words.token) is None
        assert service.authenticate(conn, "ann", PASSWORD) is None
        with pytest.raises(ConflictError):
            service.disable(conn, "ann", me, reason="again")
        with pytest.raises(UsageError):
            service.reset_password(conn, "ann", me)
        service.enable(conn, "ann", me)
        assert sessions.find(conn, words.token) is None
        assert service.authenticate(conn, "ann", PASSWORD) == ann


def test_a_role_is_changed_with_its_event(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        make_member(conn, "ann", Role.VIEWER)
        assert service.set_role(conn, "Ann", Role.REVIEWER, me, reason="helps").role == Role.REVIEWER
        service.set_role(conn, "ann", Role.REVIEWER, me)
        [event] = latest(conn, subject=Subject("member", "ann"))
        assert (event.verb, event.before, event.after, event.reason) == ("change_role", "viewer", "reviewer", "helps")


def test_a_password_is_changed_by_whoever_knows_the_old_one(database: Database) -> None:
    with database.begin() as conn:
        ann = make_member(conn, "ann", Role.VIEWER)
        with pytest.raises(UsageError, match="another one"):
            service.change_password(conn, ann, old="", new=PASSWORD)
        links.set_password(conn, ann, PASSWORD)
        here, there = (sessions.open_session(conn, ann, device=None, user_agent=None, address=None) for _ in range(2))
        mine = sessions.find(conn, here.token)
        assert mine is not None
        with pytest.raises(UsageError):
            service.change_password(conn, ann, old="wrong", new="a new horse battery")
        with pytest.raises(UsageError):
            service.change_password(conn, ann, old=PASSWORD, new="short")
        service.change_password(conn, ann, old=PASSWORD, new="a new horse battery", session_id=mine.id)
        assert sessions.find(conn, here.token) is not None
        assert sessions.find(conn, there.token) is None
        assert service.authenticate(conn, "ann", PASSWORD) is None
        assert service.authenticate(conn, "ANN ", "a new horse battery") == ann


def test_the_first_link_is_made_until_an_admin_can_log_in(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        first, second = service.first_link(conn, me), service.first_link(conn, me)
        assert first is not None
        assert second is not None
        with pytest.raises(NotFoundError):
            links.look(conn, first)
        viewer = make_member(conn, "ann", Role.VIEWER)
        links.set_password(conn, viewer, PASSWORD)
        assert service.first_link(conn, viewer) is None
        assert service.first_link(conn, me) is not None
        links.set_password(conn, me, PASSWORD)
        assert service.first_link(conn, me) is None
        service.reset_password(conn, me.name, me)
        assert service.first_link(conn, me) is not None


def test_members_are_listed_by_name_a_page_at_a_time(database: Database) -> None:
    with database.begin() as conn:
        for name in ("bob", "ann", "cid"):
            make_member(conn, name, Role.VIEWER)
        assert [one.name for one in service.listing(conn, limit=2)] == ["ann", "bob"]
        assert [one.name for one in service.listing(conn, limit=2, after="bob")] == ["cid"]
