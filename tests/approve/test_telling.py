"""Who handed in a domain or a page of it is told what was decided, if they left an address."""

from sqlalchemy import Connection, text

from bailiwick.accounts.service import set_email
from bailiwick.approve import service as approve
from bailiwick.db.engine import Database
from bailiwick.ledger import deliveries
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.urls import PageUrl
from bailiwick.registry.submit import Submission, submit, submit_url
from tests.ledger.tools import make_member


def told(conn: Connection) -> list[tuple[str | None, str, str]]:
    found = [(row.recipient, row.title, row.body) for row in deliveries.listing(conn)[::-1]]
    conn.execute(text("delete from deliveries"))
    return found


def test_a_submitter_is_told_of_every_decision_and_why(database: Database) -> None:
    with database.begin() as conn:
        rita, sam = make_member(conn, "rita", Role.REVIEWER), make_member(conn, "sam", Role.SUBMITTER)
        set_email(conn, "sam", "sam@mail.test", sam)
        first, second, third = (
            submit(conn, Submission(DomainName.parse(name)), sam).domain for name in ("a.org", "b.org", "c.org")
        )
        assert told(conn) == []
        approved = approve.approve(conn, first, rita)
        assert told(conn) == [("sam@mail.test", "a.org is approved", "The domain a.org is approved.")]
        approve.suspend(conn, approved, rita, reason="too many errors")
        approve.reject(conn, second, rita, reason="off topic")
        approve.set_trust(conn, third, rita, trusted=True, reason="known well")
        assert told(conn) == [
            ("sam@mail.test", "a.org is suspended", "Why: too many errors"),
            ("sam@mail.test", "b.org is rejected", "Why: off topic"),
            ("sam@mail.test", "c.org is approved", "Why: known well"),
        ]


def test_without_an_address_nobody_is_told(database: Database) -> None:
    with database.begin() as conn:
        rita, sam = make_member(conn, "rita", Role.REVIEWER), make_member(conn, "sam", Role.SUBMITTER)
        domain = submit(conn, Submission(DomainName.parse("a.org")), sam).domain
        approve.approve(conn, domain, rita, reason="fine")
        assert told(conn) == []


def test_who_asked_for_a_page_and_left_an_address_is_told(database: Database) -> None:
    with database.begin() as conn:
        rita, sam = make_member(conn, "rita", Role.REVIEWER), make_member(conn, "sam", Role.SUBMITTER)
        domain = submit(conn, Submission(DomainName.parse("a.org")), sam).domain
        for page, contact in (("/1", "eva@mail.test"), ("/2", "eva@mail.test"), ("/3", "no@address"), ("/4", None)):
            submit_url(conn, PageUrl.parse(f"https://a.org{page}"), sam, contact=contact)
        approve.reject(conn, domain, rita, reason="off topic")
        assert told(conn) == [("eva@mail.test", "a.org is rejected", "Why: off topic")]


def test_a_decision_that_fails_tells_nobody(database: Database) -> None:
    with database.begin() as conn:
        rita, sam = make_member(conn, "rita", Role.REVIEWER), make_member(conn, "sam", Role.SUBMITTER)
        set_email(conn, "sam", "sam@mail.test", sam)
        domain = submit(conn, Submission(DomainName.parse("a.org")), sam).domain
    with database.begin() as conn:
        approve.approve(conn, domain, rita)
        conn.rollback()
    with database.begin() as conn:
        assert told(conn) == []
