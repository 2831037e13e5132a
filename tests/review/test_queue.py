"""Claims: one reviewer at a time, for a while, taken over when it is over; the next one in order."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import text

from bailiwick.accounts.members import local_admin
from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role
from bailiwick.review import decisions, queue, stale
from tests.ledger.tools import make_member
from tests.registry.tools import shift_clock
from tests.review.test_decisions import reviewers
from tests.review.tools import SETTINGS, queued


def test_what_one_holds_nobody_else_decides(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        [entry] = queued(conn)
        held = queue.claim(conn, entry.id, ada, SETTINGS)
        assert (held.claimer, held.is_claimed, held.version) == ("ada", True, entry.version)
        for attempt in (
            lambda: queue.claim(conn, entry.id, bob, SETTINGS),
            lambda: queue.claim(conn, entry.id, bob, SETTINGS, takes_over=True),
            lambda: queue.release(conn, entry.id, bob),
            lambda: decisions.approve(conn, entry, bob, SETTINGS),
        ):
            with pytest.raises(ConflictError, match=r"is held by ada until \d{4}-\d\d-\d\d \d\d:\d\d UTC"):
                attempt()
        queue.release(conn, entry.id, ada)
        assert decisions.approve(conn, entry, bob, SETTINGS).claimer is None
        with pytest.raises(ConflictError, match="was approved by bob"):
            queue.claim(conn, entry.id, ada, SETTINGS)
        with pytest.raises(NotFoundError, match="no entry 999"):
            queue.claim(conn, 999, ada, SETTINGS)


def test_a_claim_that_ran_out_is_taken_over(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        [entry] = queued(conn)
        queue.claim(conn, entry.id, ada, SETTINGS)
    shift_clock(database, "16 minutes")
    with database.begin() as conn:
        assert queue.claim(conn, entry.id, bob, SETTINGS).claimer == "bob"
        with pytest.raises(ConflictError, match="held by bob"):
            decisions.approve(conn, entry, ada, SETTINGS)
        assert conn.execute(text("select count(*) from events where verb = 'take_over'")).scalar_one() == 0


def test_an_admin_takes_over_at_any_time_and_the_trail_says_so(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        carl = make_member(conn, "carl", Role.ADMIN)
        [entry] = queued(conn)
        queue.claim(conn, entry.id, ada, SETTINGS)
        with pytest.raises(ConflictError):
            queue.claim(conn, entry.id, carl, SETTINGS)
        assert queue.claim(conn, entry.id, carl, SETTINGS, takes_over=True).claimer == "carl"
        row = conn.execute(text("select before, after, subject_id from events where verb = 'take_over'")).one()
        assert tuple(row) == ("ada", "carl", entry.id)


def test_the_next_one_is_the_first_that_is_free_in_the_order(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        first, second, _ = queued(conn, (0.31, 0.55, 0.7))
        got = queue.claim_next(conn, ada, SETTINGS)
        assert got is not None
        assert got.id == first.id
        assert queue.claim_next(conn, ada, SETTINGS) == got, "what one holds already comes first"
        uncertain = ReviewSettings(order="information")
        other = queue.claim_next(conn, bob, uncertain)
        assert other is not None
        assert other.id == second.id
        decisions.approve(conn, got, ada, SETTINGS)
        rest = queue.claim_next(conn, ada, SETTINGS)
        assert rest is not None
        assert rest.confidence_score == 0.7
        decisions.approve(conn, rest, ada, SETTINGS)
        assert queue.claim_next(conn, ada, SETTINGS) is None


def test_reviewers_who_ask_at_once_get_different_ones(database: Database) -> None:
    with database.begin() as conn:
        people = [make_member(conn, f"r{n}", Role.REVIEWER) for n in range(6)]
        entries = queued(conn, [0.6] * 5)
    start = Barrier(6)

    def take(actor: Actor) -> int | None:
        start.wait(20)
        with database.begin() as conn:
            got = queue.claim_next(conn, actor, SETTINGS)
            return got.id if got else None

    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(take, people))
    assert sorted(one for one in got if one is not None) == [entry.id for entry in entries]


def test_stale_marking_goes_in_batches_and_only_once(database: Database) -> None:
    weekly = ReviewSettings(auto_review_timeout_days=7)
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        entries = queued(conn, [0.6] * 7)
        decisions.approve(conn, entries[0], ada, SETTINGS)
        conn.execute(
            text("update review_queue set queued_at = bailiwick_now() - interval '8 days' where id <> :new"),
            {"new": entries[6].id},
        )
    assert stale.run_once(database, SETTINGS).marked is None
    assert stale.run_once(database, weekly, batch=2).marked == 5
    assert stale.run_once(database, weekly, batch=2).marked == 0
    with database.read() as conn:
        marked = conn.execute(text("select id from review_queue where is_stale order by id")).scalars().all()
        assert marked == [entry.id for entry in entries[1:6]], "neither what is decided nor what is new"
        told = conn.execute(text("select details from events where verb = 'mark_stale' order by id")).scalars().all()
        assert [one["entries"] for one in told] == [2, 2, 1]


def test_what_a_reviewer_is_at_is_not_waited_for(database: Database) -> None:
    with database.begin() as conn:
        queued(conn, [0.6, 0.6])
        local_admin(conn)
    shift_clock(database, "8 days")
    weekly = ReviewSettings(auto_review_timeout_days=7)
    with database.begin() as conn:
        conn.execute(text("select id from review_queue order by id limit 1 for update"))
        assert stale.run_once(database, weekly).marked == 1
    assert stale.run_once(database, weekly).marked == 1
