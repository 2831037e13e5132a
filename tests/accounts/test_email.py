"""Where a member is told of decisions: set by themselves or an admin, shown in no trail."""

import pytest
from sqlalchemy import text

from bailiwick.accounts import service
from bailiwick.base.errors import NotAllowedError, UsageError
from bailiwick.db.engine import Database
from bailiwick.ledger import deliveries
from bailiwick.ledger.events import latest
from bailiwick.model.states import Role
from tests.ledger.tools import make_member


def test_members_for_themselves_and_admins_for_all(database: Database) -> None:
    with database.begin() as conn:
        boss, ann, bob = (
            make_member(conn, "boss"),
            make_member(conn, "ann", Role.VIEWER),
            make_member(conn, "bob", Role.REVIEWER),
        )
        assert not service.get(conn, "ann").has_email
        assert service.set_email(conn, "ann", " ann@mail.test ", ann).has_email
        assert service.set_email(conn, "bob", "bob@mail.test", boss).has_email
        with pytest.raises(NotAllowedError):
            service.set_email(conn, "ann", "bob@mail.test", bob)
        kept = dict(conn.execute(text("select name, email from members where email is not null")).all())  # type: ignore[arg-type]
        assert kept == {"ann": "ann@mail.test", "bob": "bob@mail.test"}


def test_the_trail_says_that_and_not_which(database: Database) -> None:
    with database.begin() as conn:
        ann = make_member(conn, "ann", Role.VIEWER)
        for address in ("ann@mail.test", "ann@mail.test", "ann@other.test", None, None):
            service.set_email(conn, "ann", address, ann)
        events = [event for event in latest(conn) if event.subject.name == "ann"]
        assert [event.verb for event in events] == ["remove_email", "set_email", "set_email"]
        assert "@" not in str(events)


def test_what_is_no_address_is_refused_and_the_old_one_stays(database: Database) -> None:
    with database.begin() as conn:
        ann = make_member(conn, "ann", Role.VIEWER)
        service.set_email(conn, "ann", "ann@mail.test", ann)
        for given in ("", "ann", "a b@mail.test", "a@b", "a@b.test\r\nBcc: x@y.test", "a@b.test,c@d.test", "@b.test"):
            with pytest.raises(UsageError, match="is no e-mail address"):
                service.set_email(conn, "ann", given, ann)
        assert conn.execute(text("select email from members where name = 'ann'")).scalar() == "ann@mail.test"


def test_what_waits_for_an_address_goes_with_it(database: Database) -> None:
    with database.begin() as conn:
        ann = make_member(conn, "ann", Role.VIEWER)
        service.set_email(conn, "ann", "ann@mail.test", ann)
        deliveries.tell_member(conn, ann.id, "t", "b")
        service.set_email(conn, "ann", None, ann)
        assert deliveries.listing(conn) == []
