"""What comes in, and the answer to it. Specification 000."""

import pytest
from sqlalchemy import select

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import page_requests
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.urls import PageUrl
from bailiwick.registry import trust
from bailiwick.registry.records import get
from bailiwick.registry.release import Outcome
from bailiwick.registry.submit import Answer, Submission, submit, submit_url
from tests.ledger.tools import make_member
from tests.registry.tools import admit, claimed, released, sound

NAME = DomainName.parse("example.org")


def test_a_new_domain_waits_for_review_with_its_submitter_and_context(database: Database) -> None:
    with sound(database) as conn:
        anna = make_member(conn, "anna", Role.SUBMITTER)
        done = submit(conn, Submission(NAME, context="a food bank", max_crawl_depth=2), anna)
        assert (done.answer, done.domain.approval, done.domain.refusal) == (
            Answer.SUBMITTED, "pending_review", "pending_review",
        )  # fmt: skip
        row = done.domain.row
        assert (row["submitter"], row["submitter_type"], row["submission_context"]) == (
            "anna",
            "public_user",
            "a food bank",
        )
        assert (row["max_crawl_depth"], row["crawl_delay_seconds"], row["site"]) == (2, 2, "example.org")
        [event] = latest(conn, subject=Subject("domain", "example.org"))
        assert (event.actor, event.verb, event.after) == ("anna", "submit", "pending_review")


@pytest.mark.parametrize(
    ("role", "kind"),
    [(Role.ADMIN, "admin"), (Role.REVIEWER, "admin"), (Role.SUBMITTER, "public_user"), (Role.SYSTEM, "system")],
)
def test_submitter_types(database: Database, role: Role, kind: str) -> None:
    with sound(database) as conn:
        who = make_member(conn, "who", role)
        assert submit(conn, Submission(NAME), who).domain.row["submitter_type"] == kind


def test_what_is_known_gets_its_answer_and_keeps_its_state(database: Database) -> None:
    with sound(database) as conn:
        me, other = local_admin(conn), make_member(conn, "other")
        submit(conn, Submission(NAME), other)
        again = submit(conn, Submission(NAME, context="again", max_crawl_depth=9), me)
        assert again.answer is Answer.ALREADY_PENDING
        assert again.domain.row["max_crawl_depth"] == 3
        domain = approve.approve(conn, again.domain, me)
        assert submit(conn, Submission(NAME), me).answer is Answer.ALREADY_APPROVED
        domain = approve.suspend(conn, domain, me, reason="x")
        assert submit(conn, Submission(NAME, context="please"), me).answer is Answer.SUSPENDED
        domain = approve.reject(conn, domain, me, reason="spam")
        assert submit(conn, Submission(NAME), me).answer is Answer.REJECTED
        back = submit(conn, Submission(NAME, context="they have changed"), me)
        assert (back.answer, back.domain.approval) == (Answer.RESUBMITTED, "pending_review")
        approve.blacklist(conn, back.domain, me, reason="scam")
        assert submit(conn, Submission(NAME, context="please", admit=True), me).answer is Answer.BLACKLISTED


def test_an_admins_word_admits_and_nobody_elses(database: Database) -> None:
    with sound(database) as conn:
        reviewer = make_member(conn, "rita", Role.REVIEWER)
        with pytest.raises(UsageError, match="may not admit"):
            submit(conn, Submission(NAME, admit=True), reviewer)
        submit(conn, Submission(NAME), reviewer)
        assert submit(conn, Submission(NAME, admit=True), local_admin(conn)).answer is Answer.ADMITTED
        assert len(claimed(conn)) == 1


def test_a_trust_rule_admits_on_first_sight_and_trusts_no_neighbour(database: Database) -> None:
    with sound(database) as conn:
        me, anna = local_admin(conn), make_member(conn, "anna", Role.SUBMITTER)
        trust.add_rule(conn, trust.suffix_of(".GOV"), me, reason="states")
        trust.add_rule(conn, trust.suffix_of("alice.github.io"), me, reason="known")
        answers = {
            name: submit(conn, Submission(DomainName.parse(name)), anna).answer
            for name in ("a.gov", "x.y.gov", "notgov.org", "alice.github.io", "bob.github.io", "malice.github.io")
        }
        admitted = {name for name, answer in answers.items() if answer is Answer.ADMITTED}
        assert admitted == {"a.gov", "x.y.gov", "alice.github.io"}
        [event] = latest(conn, subject=Subject("domain", "a.gov"))
        assert event.details == {"rule": ".gov"}
        assert get(conn, DomainName("a.gov")).row["reviewed_by"] is None, "nobody has reviewed it"
        assert trust.remove_rule(conn, ".gov", me, reason=None)
        assert not trust.remove_rule(conn, ".gov", me, reason=None)
        assert submit(conn, Submission(DomainName.parse("b.gov")), anna).answer is Answer.SUBMITTED


@pytest.mark.parametrize("text", ["", ".", "..", "a b", ".x/", "." + "a" * 300, "*."])
def test_what_is_no_suffix_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        trust.suffix_of(text)


def test_depth_warns_from_four_on(database: Database) -> None:
    with sound(database) as conn:
        me = system_actor(conn)
        for depth, warned in ((0, False), (3, False), (4, True)):
            done = submit(conn, Submission(DomainName.parse(f"d{depth}.org"), max_crawl_depth=depth), me)
            assert bool(done.warnings) is warned
        with pytest.raises(UsageError):
            submit(conn, Submission(NAME, max_crawl_depth=-1), me)


def test_a_url_of_an_approved_domain_is_queued_once_and_wakes_it(database: Database) -> None:
    url = PageUrl.parse("https://example.org/grants?utm_source=x&id=3")
    with sound(database) as conn:
        me = local_admin(conn)
        assert submit_url(conn, url, me) is None, "an unknown domain has to be submitted first"
        admit(conn, "example.org")
        [lease] = claimed(conn)
        released(conn, lease, Outcome("exhausted"))
        assert claimed(conn) == []
        for _ in range(2):
            submit_url(conn, url, me, contact="me@example.com")
        rows = conn.execute(select(page_requests)).all()
        assert [(r.kind, r.path, r.priority, r.contact) for r in rows] == [
            ("submitted", "/grants?id=3", 1, "me@example.com")
        ]
        assert len(claimed(conn)) == 1


def test_a_url_of_a_pending_domain_is_kept_until_it_is_approved(database: Database) -> None:
    with sound(database) as conn:
        anna, me = make_member(conn, "anna", Role.SUBMITTER), local_admin(conn)
        submit(conn, Submission(NAME), anna)
        submit_url(conn, PageUrl.parse("https://example.org/a"), anna)
        assert claimed(conn) == []
        approve.approve(conn, get(conn, NAME), me)
        [lease] = claimed(conn)
        kept = conn.execute(select(page_requests.c.path).where(page_requests.c.domain_id == lease.domain_id))
        assert kept.scalars().all() == ["/a"]
