"""What people decide: once, by one person, with its result, its label and its event; and how it is taken back."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.base.errors import BailiwickError, ConflictError, IllegalMoveError, UsageError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.crawl import jobs
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.signals import SIGNAL_NAMES
from bailiwick.model.states import Role
from bailiwick.model.transitions import REVIEW
from bailiwick.registry.merge import Planned, merge
from bailiwick.review import decisions, listing, queue
from bailiwick.review.listing import JobEntries
from tests.ledger.tools import make_member
from tests.registry.tools import admit, shift_clock
from tests.review.tools import SETTINGS, queued, routed, urls


def reviewers(conn: Connection) -> tuple[Actor, Actor]:
    return make_member(conn, "ada", Role.REVIEWER), make_member(conn, "bob", Role.REVIEWER)


def trail(conn: Connection) -> list[tuple[str, str | None]]:
    rows = conn.execute(text("select verb, reason from events where machine = 'review' order by id")).all()
    return [(row.verb, row.reason) for row in rows]


def test_a_decision_has_its_result_its_label_and_its_event(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        good, bad = queued(conn, (0.7, 0.4))
        good = decisions.approve(conn, good, ada, SETTINGS, notes=" fine ")
        with pytest.raises(UsageError, match="needs notes"):
            decisions.reject(conn, bad, ada, SETTINGS, notes=" \n")
        bad = decisions.reject(conn, bad, ada, SETTINGS, notes="a link farm")
        assert (good.state, good.reviewer, good.reviewer_notes, good.is_self_approved) == (
            "approved",
            "ada",
            "fine",
            False,
        )
        assert (bad.state, bad.reviewer_notes) == ("rejected", "a link farm")
        rows = conn.execute(text("select status, reason, reviewer_notes, decided_by from url_results order by 1")).all()
        assert [tuple(row) for row in rows] == [
            ("approved", "person", "fine", ada.id),
            ("rejected", "person", "a link farm", ada.id),
        ]
        assert trail(conn) == [("approve", "fine"), ("reject", "a link farm")]
        [kept, _] = conn.execute(text("select * from labels order by id")).all()
        assert (kept.task, kept.subject, kept.profile, kept.is_wanted) == ("review", good.url, "general", True)
        assert bytes(kept.embedding) == b"\x01\x02"
        told = kept.material
        assert (told["confidence"], told["band"], told["action"]) == (0.7, "medium", "manual_review")
        assert tuple(told["signals"]) == tuple(sorted(SIGNAL_NAMES, key=lambda n: (len(n), n)))  # as jsonb orders them
        assert (told["signals"]["domain_age"], told["signals"]["tld_type"]) == (1, 0)
        assert (told["signals"]["registrar_reputation"], told["signals"]["write_for_us"]) == (None, 1)


def test_of_two_reviewers_at_once_one_wins_and_the_other_is_told(database: Database) -> None:
    with database.begin() as conn:
        people = reviewers(conn)
        entries = queued(conn, [0.6] * 5)
    start = Barrier(2)

    def decide(actor: Actor) -> list[str]:
        told = []
        for entry in entries:
            start.wait(20)
            try:
                with database.begin() as conn:
                    decisions.reject(conn, entry, actor, SETTINGS, notes=f"by {actor.name}")
                told.append("won")
            except ConflictError as error:
                told.append(error.message)
        return told

    with ThreadPoolExecutor(2) as pool:
        ada, bob = pool.map(decide, people)
    with database.read() as conn:
        for one, other, entry in zip(ada, bob, entries, strict=True):
            now = listing.get(conn, entry.id)
            assert sorted((one == "won", other == "won")) == [False, True]
            loser = other if one == "won" else one
            assert f"was rejected by {now.reviewer}, " in loser
            assert f": by {now.reviewer}" in loser
        assert conn.execute(text("select count(*) from url_results")).scalar_one() == 5
        assert conn.execute(text("select count(*) from labels")).scalar_one() == 5
        assert len(trail(conn)) == 5


def test_what_changed_meanwhile_is_not_decided_blindly(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        [seen] = queued(conn)
        decisions.approve(conn, seen, ada, SETTINGS)
        decisions.undo(conn, seen.id, ada, SETTINGS)
        with pytest.raises(ConflictError, match=r"changed meanwhile.*undo by ada"):
            decisions.approve(conn, seen, bob, SETTINGS)
        assert decisions.approve(conn, listing.get(conn, seen.id), bob, SETTINGS).reviewer == "bob"


def test_who_handed_it_in_does_not_decide_once_there_are_others(database: Database) -> None:
    with database.begin() as conn:
        admin = local_admin(conn)
        first, second = queued(conn, (0.6, 0.6))
        alone = decisions.approve(conn, first, admin, SETTINGS)
        assert alone.is_self_approved
        details = conn.execute(text("select details from events where verb = 'approve'")).scalar_one()
        assert details == {"confidence": 0.6, "band": "medium", "url": first.url, "self_approved": True}
        ada = make_member(conn, "ada", Role.REVIEWER)
        for attempt in (
            lambda: decisions.approve(conn, second, admin, SETTINGS),
            lambda: decisions.reject(conn, second, admin, SETTINGS, notes="no"),
            lambda: queue.claim(conn, second.id, admin, SETTINGS),
        ):
            with pytest.raises(UsageError, match=r"submitted site\.example"):
                attempt()
        assert queue.claim_next(conn, admin, SETTINGS) is None
        assert not decisions.reject(conn, second, ada, SETTINGS, notes="no").is_self_approved


def test_who_may_only_look_may_not_decide(database: Database) -> None:
    with database.begin() as conn:
        [entry] = queued(conn)
        for role in (Role.VIEWER, Role.SUBMITTER):
            who = make_member(conn, role, role)
            with pytest.raises(IllegalMoveError):
                decisions.approve(conn, entry, who, SETTINGS)
            with pytest.raises(UsageError, match="may not do this"):
                queue.claim_next(conn, who, SETTINGS)
        ada = make_member(conn, "ada", Role.REVIEWER)
        decisions.approve(conn, entry, ada, SETTINGS)
        with pytest.raises(IllegalMoveError, match="may not requeue"):
            decisions.requeue(conn, entry.id, ada, SETTINGS, reason="look again")


def test_undo_within_the_grace_period_leaves_only_the_events(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        [entry] = queued(conn)
        decisions.reject(conn, entry, ada, SETTINGS, notes="no")
        with pytest.raises(ConflictError, match="was rejected by ada") as refused:
            decisions.undo(conn, entry.id, bob, SETTINGS)
        assert "review requeue" in str(refused.value.hint)
        again = decisions.undo(conn, entry.id, ada, SETTINGS)
        assert (again.state, again.reviewer, again.reviewer_notes, again.queued_at) == (
            "waiting",
            None,
            None,
            entry.queued_at,
        )
        for table in ("url_results", "labels"):
            assert conn.execute(text(f"select count(*) from {table}")).scalar_one() == 0
        assert trail(conn) == [("reject", "no"), ("undo", None)]
        assert conn.execute(text("select details from events where verb = 'undo'")).scalar_one() == {
            "reviewer": "ada",
            "notes": "no",
            "url": entry.url,
        }
        with pytest.raises(ConflictError, match="waits for a decision"):
            decisions.undo(conn, entry.id, ada, SETTINGS)


def test_after_the_grace_period_an_admin_lets_it_wait_again(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        admin = local_admin(conn)
        entry, other = queued(conn, (0.6, 0.6))
        decisions.approve(conn, entry, ada, SETTINGS)
        conn.execute(text("update review_queue set is_stale = true"))
    shift_clock(database, "11 minutes")
    with database.begin() as conn:
        with pytest.raises(ConflictError, match="more than 10 minutes ago"):
            decisions.undo(conn, entry.id, ada, SETTINGS)
        with pytest.raises(UsageError, match="needs a reason"):
            decisions.requeue(conn, entry.id, admin, SETTINGS, reason=" ")
        again = decisions.requeue(conn, entry.id, admin, SETTINGS, reason="the site was sold")
        assert (again.state, again.is_stale, again.queued_at > other.queued_at) == ("waiting", False, True)
        assert conn.execute(text("select count(*) from labels")).scalar_one() == 0
        assert trail(conn)[-1] == ("requeue", "the site was sold")


def test_no_undo_makes_the_queue_longer_than_its_limit(database: Database) -> None:
    tight = ReviewSettings(queue_size_limit=1)
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        [entry] = queued(conn, settings=tight)
        decisions.approve(conn, entry, ada, tight)
        assert routed(conn, urls(conn, 1)[0], 0.6, tight).status == "waiting"
        with pytest.raises(ConflictError, match="the queue holds 1 of 1"):
            decisions.undo(conn, entry.id, ada, tight)


def test_the_label_of_another_decision_about_the_same_url_stays(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        first, second = queued(conn, (0.6, 0.6))
        conn.execute(text("update review_queue set url = :u"), {"u": first.url})
        decisions.approve(conn, listing.get(conn, first.id), ada, SETTINGS)
        decisions.reject(conn, listing.get(conn, second.id), ada, SETTINGS, notes="no")
        decisions.undo(conn, second.id, ada, SETTINGS)
        assert conn.execute(text("select is_wanted from labels")).scalars().all() == [True]


def test_a_deleted_job_takes_its_entries_but_not_what_people_decided(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        admin = local_admin(conn)
        entries = queued(conn, [0.6] * 3)
        decisions.approve(conn, entries[0], ada, SETTINGS, notes="good")
        job_id = entries[0].job_id
        assert listing.entries_of_job(conn, job_id) == JobEntries(evaluated=3, waiting=2, reviewed=1)
        assert listing.entries_of_job(conn, 10**9).total == 0
        conn.execute(text("update jobs set state = 'cancelled' where id = :j"), {"j": job_id})
        jobs.remove(conn, jobs.get(conn, str(job_id)), admin, details={"review_queue": {"waiting": 2, "reviewed": 1}})
        for table in ("job_urls", "evaluations", "url_results", "review_queue"):
            assert conn.execute(text(f"select count(*) from {table}")).scalar_one() == 0
        row = conn.execute(text("select * from events where verb = 'approve'")).one()
        assert (row.subject_name, row.reason, row.details["url"]) == (entries[0].name, "good", entries[0].url)
        assert conn.execute(text("select count(*) from labels")).scalar_one() == 1
        told = conn.execute(text("select details from events where verb = 'delete'")).scalar_one()
        assert told == {"review_queue": {"waiting": 2, "reviewed": 1}}


def test_a_merged_domain_takes_its_entries_along(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        entry, other = queued(conn, (0.6, 0.7))
        decisions.approve(conn, entry, ada, SETTINGS)
        [target] = admit(conn, "target.example")
        merge(conn, Planned(DomainName("site.example"), target.name), local_admin(conn))
        now = listing.get(conn, entry.id)
        assert (now.domain, now.state, listing.get(conn, other.id).domain_id) == (
            "target.example",
            "approved",
            target.id,
        )
        assert conn.execute(text("select distinct domain_id from evaluations")).scalars().all() == [target.id]


_STATES = {
    "waiting": "reviewed_at = null, reviewed_by = null, review_decision = null",
    "approved": "reviewed_at = now(), reviewed_by = 1, review_decision = 'approved'",
    "rejected": "reviewed_at = now(), reviewed_by = 1, review_decision = 'rejected', reviewer_notes = 'no'",
}


def test_the_database_permits_the_tables_moves_alone(database: Database) -> None:
    with database.begin() as conn:
        queued(conn)
    permitted: list[tuple[str, str]] = []
    refused: list[str] = []
    for before, after in itertools.permutations(REVIEW.states, 2):
        with database.begin() as conn:
            conn.execute(text("set local session_replication_role = replica"))
            conn.execute(text(f"update review_queue set state = '{before}', {_STATES[before]}"))
        try:
            with database.begin() as conn:
                conn.execute(text(f"update review_queue set state = '{after}', {_STATES[after]}"))
        except BailiwickError as error:
            refused.append(error.message)
        else:
            permitted.append((before, after))
    assert all("cannot go from" in message for message in refused)
    assert set(permitted) == {(t.source, t.target) for t in REVIEW.transitions if t.source}
