"""The verbs by which people govern a domain, and what the queue makes of each."""

import threading
from dataclasses import replace

import pytest

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import ConflictError, IllegalMoveError, UsageError
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.registry import standing, trust
from bailiwick.registry.records import get
from bailiwick.registry.release import BlockCode, Outcome
from bailiwick.registry.submit import Submission, submit
from tests.ledger.tools import make_member
from tests.registry.tools import admit, claimed, released, shift_clock, sound

NAME = DomainName.parse("example.org")


def test_approval_is_by_somebody_else_once_there_are_two(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        first = submit(conn, Submission(DomainName.parse("mine.org")), me).domain
        approve.approve(conn, first, me)
        [event] = [e for e in latest(conn, subject=Subject("domain", "mine.org")) if e.verb == "approve"]
        assert event.details == {"self_approved": True}
        rita = make_member(conn, "rita", Role.REVIEWER)
        second = submit(conn, Submission(NAME), me).domain
        with pytest.raises(UsageError, match="submitted"):
            approve.approve(conn, second, me)
        done = approve.approve(conn, second, rita, reason="fine", include_subdomains=True)
        assert (done.approval, done.row["reviewer"]) == ("approved", "rita")
        assert trust.rule_for(conn, DomainName.parse("blog.example.org")) == ".example.org"


def test_rejecting_and_suspending_need_a_reason(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        domain = submit(conn, Submission(NAME), system_actor(conn)).domain
        with pytest.raises(UsageError, match="needs a reason"):
            approve.reject(conn, domain, me, reason=" ")
        done = approve.reject(conn, domain, me, reason="off topic")
        assert (done.approval, done.row["review_reason"]) == ("rejected", "off topic")
        with pytest.raises(IllegalMoveError, match="cannot suspend"):
            approve.suspend(conn, done, me, reason="x")


def test_roles(database: Database) -> None:
    with sound(database) as conn:
        domain = submit(conn, Submission(NAME), system_actor(conn)).domain
        viewer, submitter = make_member(conn, "v", Role.VIEWER), make_member(conn, "s", Role.SUBMITTER)
        reviewer = make_member(conn, "r", Role.REVIEWER)
        for nobody in (viewer, submitter):
            with pytest.raises(IllegalMoveError):
                approve.approve(conn, domain, nobody)
            with pytest.raises(UsageError):
                approve.note(conn, domain, nobody, text="x")
        with pytest.raises(IllegalMoveError):
            approve.blacklist(conn, domain, reviewer, reason="only admins do")


def test_two_people_at_once_one_wins_and_the_other_is_told(database: Database) -> None:
    with database.begin() as conn:
        submit(conn, Submission(NAME), system_actor(conn))
        people = [make_member(conn, "anna"), make_member(conn, "ben")]
        seen = get(conn, NAME)
    barrier, told = threading.Barrier(2), list[str]()

    def decide(index: int) -> None:
        barrier.wait(20)
        try:
            with database.begin() as conn:
                if index == 0:
                    approve.approve(conn, seen, people[0])
                else:
                    approve.reject(conn, seen, people[1], reason="no")
            told.append("won")
        except ConflictError as error:
            told.append(error.message)

    threads = [threading.Thread(target=decide, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    lost = [message for message in told if message != "won"]
    assert len(lost) == 1
    assert "has changed meanwhile" in lost[0]
    assert "last: " in lost[0]


def test_trust_approves_what_waits_and_decides_nothing_else(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        domain = submit(conn, Submission(NAME), system_actor(conn)).domain
        domain = approve.set_trust(conn, domain, me, trusted=True, reason="known")
        assert (domain.approval, domain.is_trusted) == ("approved", True)
        domain = approve.set_trust(conn, domain, me, trusted=False, reason=None)
        assert (domain.approval, domain.is_trusted) == ("approved", False)
        domain = approve.suspend(conn, domain, me, reason="x")
        with pytest.raises(ConflictError, match="approval decides"):
            approve.set_trust(conn, domain, me, trusted=True, reason=None)


def test_the_blacklist_stops_everything_and_lifting_leads_back(database: Database) -> None:
    with sound(database) as conn:
        me, system = local_admin(conn), system_actor(conn)
        [domain] = admit(conn, "example.org")
        standing.start(conn, [domain.id], system, reason="a session")
        rated = [standing.Rated(domain.id, 1, 0, 0.9)]
        standing.finish(conn, rated, system, low_quality_after=3, reason="a session")
        domain = get(conn, domain.name)
        domain = approve.blacklist(conn, domain, me, reason="scam")
        assert domain.refusal == "blacklisted"
        assert claimed(conn) == []
        domain = approve.lift_blacklist(conn, domain, me)
        assert domain.standing == "processed_high_quality"
        assert domain.row["blacklist_reason"] is None
        assert len(claimed(conn)) == 1


def test_no_funds_comes_back_in_the_new_year_by_itself(database: Database) -> None:
    from datetime import UTC, datetime

    year = datetime.now(UTC).year
    with sound(database) as conn:
        me = local_admin(conn)
        [domain] = admit(conn, "example.org")
        with pytest.raises(UsageError):
            approve.mark_no_funds(conn, domain, me, year=2019, reason=None)
        domain = approve.mark_no_funds(conn, domain, me, year=year + 1, reason=None)
        domain = approve.mark_no_funds(conn, domain, me, year=year, reason="checked")
        assert (domain.refusal, domain.wakes_at) == ("no_funds_this_year", datetime(year + 1, 1, 1, tzinfo=UTC))
        assert claimed(conn) == []
    shift_clock(database, "366 days")
    with sound(database) as conn:
        assert len(claimed(conn)) == 1


def test_recrawl_and_reset(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        pending = submit(conn, Submission(DomainName.parse("pending.org")), system_actor(conn)).domain
        for verb in (approve.recrawl, approve.reset):
            with pytest.raises(ConflictError, match="pending_review"):
                verb(conn, pending, me)
        admit(conn, "example.org")
        [lease] = claimed(conn)
        released(conn, lease, Outcome("exhausted"))
        domain = approve.recrawl(conn, get(conn, NAME), me)
        assert (domain.crawl, domain.refusal) == ("pending", None)
        [lease] = claimed(conn)
        released(conn, lease, Outcome("blocked", BlockCode.FORBIDDEN, "403"))
        blocked = get(conn, NAME)
        with pytest.raises(ConflictError) as raised:
            approve.recrawl(conn, blocked, me)
        assert raised.value.hint == "bailiwick domain reset example.org clears that"
        done = approve.reset(conn, blocked, me, reason="they called")
        assert (done.crawl, done.refusal, done.row["block_reason"]) == ("pending", None, None)


def test_notes_add_up(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [domain] = admit(conn, "example.org")
        domain = approve.note(conn, domain, me, text="first")
        domain = approve.note(conn, domain, me, text=" second ")
        assert domain.row["notes"] == "first\nsecond"
        with pytest.raises(ConflictError):
            approve.note(conn, replace(domain, version=1), me, text="late")
