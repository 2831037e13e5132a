"""Jobs and runs: every move and every illegal one, who is served, who is held, and how a job ends."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import BrokenRuleError, ConflictError, IllegalMoveError, NotFoundError, UsageError
from bailiwick.crawl import jobs, runs, scope
from bailiwick.crawl.facts import Ending
from bailiwick.crawl.jobs import Job, JobOptions
from bailiwick.crawl.outcomes import Outcome, StopReason
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.urls import UrlRules
from bailiwick.registry.apply import requeue
from bailiwick.registry.records import get_by_id
from bailiwick.registry.release import Outcome as Released
from bailiwick.registry.release import release_all
from tests.crawl.desk_tools import (
    Held,
    at_once,
    batch,
    beside,
    blocked,
    desk_of,
    fetched,
    flushed,
    hold,
    job_of,
    limits,
    plant,
    rows,
    slice_of,
    value,
)
from tests.ledger.tools import make_member
from tests.registry.tools import COOLDOWNS, RULES, admit, claimed, released, shift_clock, sound

A, B, C = "a.org", "b.org", "c.org"


def ids_of(conn: Connection, *names: str) -> list[int]:
    return [domain.id for domain in admit(conn, *names)]


def ensure(conn: Connection, name: str, *domains: str, options: JobOptions | None = None) -> Job:
    return jobs.ensure(conn, name, ids_of(conn, *domains), options or JobOptions(), local_admin(conn))


def cancel(conn: Connection, job: Job) -> Job:
    return jobs.cancel(conn, job, local_admin(conn), COOLDOWNS)


def pause(conn: Connection, job: Job) -> Job:
    return jobs.pause(conn, job, local_admin(conn))


def resume(conn: Connection, job: Job) -> Job:
    return jobs.resume(conn, job, local_admin(conn))


def end(conn: Connection, held: Held, reason: StopReason | None = StopReason.FRONTIER_EMPTY) -> bool:
    """A slice ends: lease and run in one transaction, as the desk does it."""
    crawl = "exhausted" if reason is StopReason.FRONTIER_EMPTY else "active"
    rests = reason is not None and reason.ends_run and crawl == "active"
    done = release_all(conn, [(held.lease, Released(crawl, rests=rests))], RULES, COOLDOWNS, system_actor(conn))
    if done:
        runs.end(conn, [runs.Ending(held.id, held.run.run_id, reason)], system_actor(conn), rest_seconds=3600)
    return bool(done)


def wanted(conn: Connection, held: Held) -> str:
    return str(value(conn, "select wanted from crawl_queue where domain_id = :id", id=held.id))


def open_domains(conn: Connection, job: Job) -> list[str]:
    sql = """select d.name from job_domains as jd join domains as d on d.id = jd.domain_id
             where jd.job_id = :id and jd.is_open order by 1"""
    return [row.name for row in rows(conn, sql, id=job.id)]


def refusal(conn: Connection, name: str) -> str | None:
    [domain] = admit(conn, name)
    return domain.refusal


def run_row(conn: Connection, held: Held) -> Any:
    [row] = rows(
        conn, "select * from run_domains where run_id = :run and domain_id = :id", run=held.run.run_id, id=held.id
    )
    return row


# Moves


def test_a_job_is_made_with_its_first_run_and_an_event(database: Database) -> None:
    with sound(database) as conn:
        options = limits(max_pages=7, scope="site")
        job = job_of(conn, "mine", A, B, priority=3, options=options)
        assert (job.name, job.kind, job.state, job.priority, job.options) == ("mine", "crawl", "running", 3, options)
        assert job.created_by == local_admin(conn).name
        assert open_domains(conn, job) == [A, B]
        assert [run.ended_at for run in runs.listing(conn, job_id=job.id)] == [None]
        [event] = latest(conn, subject=Subject("job", "mine"))
        assert (event.verb, event.after, event.details["domains"]) == ("create", "running", 2)  # type: ignore[index, call-overload]
        assert jobs.get(conn, "mine") == jobs.get(conn, str(job.id)) == job


def test_names_of_jobs(database: Database) -> None:
    with sound(database) as conn:
        job_of(conn, "mine", A)
        with pytest.raises(ConflictError, match="already"):
            job_of(conn, "mine", B)
        with pytest.raises(ConflictError, match="already"):
            job_of(conn, "standing", B)
        with pytest.raises(NotFoundError):
            jobs.get(conn, "no such job")
        with pytest.raises(UsageError, match="at least one domain"):
            jobs.create(conn, "empty", [], JobOptions(), local_admin(conn))
        assert jobs.find(conn, "99999999999999999999") is None
    for name in ("", "   ", "x" * 201):
        with pytest.raises(BrokenRuleError), database.begin() as conn:
            job_of(conn, name, A)


def test_a_number_is_no_name(database: Database) -> None:
    """People name a job by its number too: one that is called like another's number would be taken for it."""
    with sound(database) as conn:
        first = job_of(conn, "first", A)
        for name in (str(first.id), str(first.id + 1), "007"):
            with pytest.raises(UsageError, match="number"):
                job_of(conn, name, B)


def test_names_that_nobody_gave() -> None:
    assert jobs.job_name(["b.org", "a.org", "b.org"]) == "a.org, b.org"
    many = [f"site{n}.org" for n in range(1000)]
    assert jobs.job_name(many) == jobs.job_name(many[::-1])
    assert jobs.job_name(many).startswith("site0.org, site1.org, site10.org and 997 more (")
    assert jobs.job_name(many) != jobs.job_name([*many[:-1], "other.org"])
    long = [f"{letter * 63}.{letter * 63}.org" for letter in "ab"]
    for last in ("c.org", "d.org"):
        assert 1 <= len(jobs.job_name([*long, last])) <= 200
        assert len(jobs.job_name([*long, *many, last])) <= 200
    assert jobs.job_name([*long, "c.org"]) != jobs.job_name([*long, "d.org"]), "what is cut off tells them apart"


def _moves(conn: Connection) -> dict[str, Callable[[Job], object]]:
    me = local_admin(conn)
    return {
        "pause": lambda job: jobs.pause(conn, job, me, reason="so"),
        "resume": lambda job: jobs.resume(conn, job, me),
        "cancel": lambda job: jobs.cancel(conn, job, me, COOLDOWNS),
        "delete": lambda job: jobs.remove(conn, job, me, reason="so"),
    }


def _finished(conn: Connection, job: Job) -> Job:
    [held] = hold(conn, A, job_ids=[job.id])
    assert end(conn, held)
    return jobs.get(conn, str(job.id))


LEGAL = {
    "running": {"pause", "cancel"},
    "paused": {"resume", "cancel"},
    "finished": {"delete"},
    "cancelled": {"delete"},
}
TO: dict[str, Callable[[Connection, Job], Job]] = {
    "running": lambda conn, job: job,
    "paused": pause,
    "finished": _finished,
    "cancelled": cancel,
}


def test_every_move_and_every_illegal_one(database: Database) -> None:
    verbs = ("pause", "resume", "cancel", "delete")
    for state, legal in LEGAL.items():
        for verb in verbs:
            # In a transaction that is undone: each starts from the same state.
            with database.begin() as conn:
                job = TO[state](conn, job_of(conn, "mine", A))
                assert job.state == state
                if verb in legal:
                    _moves(conn)[verb](job)
                    target = {"pause": "paused", "resume": "running", "cancel": "cancelled"}.get(verb)
                    found = jobs.find(conn, "mine")
                    assert (found.state if found else None) == target
                    assert latest(conn, subject=Subject("job", "mine"), limit=1)[0].verb == verb
                else:
                    with pytest.raises(ConflictError):
                        _moves(conn)[verb](job)
                    assert jobs.get(conn, "mine") == job
                conn.rollback()


def test_the_standing_job_cannot_be_moved(database: Database) -> None:
    with sound(database) as conn:
        standing = jobs.get(conn, "standing")
        for move in _moves(conn).values():
            with pytest.raises(ConflictError):
                move(standing)
        assert jobs.get(conn, "standing") == standing


def test_a_job_that_changed_meanwhile_is_looked_at_again(database: Database) -> None:
    with sound(database) as conn:
        seen = job_of(conn, "mine", A)
        pause(conn, seen)
        with pytest.raises(ConflictError, match="has changed meanwhile"):
            cancel(conn, seen)
        assert jobs.get(conn, "mine").state == "paused"


def test_roles(database: Database) -> None:
    with sound(database) as conn:
        ids = ids_of(conn, A)
        job = job_of(conn, "mine", A)
        for role in (Role.SUBMITTER, Role.VIEWER):
            actor = make_member(conn, f"the-{role}", role)
            for act in (
                lambda a: jobs.create(conn, "theirs", ids, JobOptions(), a),
                lambda a: jobs.ensure(conn, "mine", ids, JobOptions(), a),
                lambda a: jobs.pause(conn, job, a),
                lambda a: jobs.cancel(conn, job, a, COOLDOWNS),
                lambda a: jobs.remove(conn, replace(job, state="cancelled"), a),
            ):
                with pytest.raises((UsageError, IllegalMoveError)):
                    act(actor)
        reviewer = make_member(conn, "the-reviewer", Role.REVIEWER)
        job = jobs.pause(conn, job, reviewer)
        job = jobs.resume(conn, job, reviewer)
        job = jobs.cancel(conn, job, reviewer, COOLDOWNS)
        jobs.remove(conn, job, reviewer)
        assert jobs.find(conn, "mine") is None


# Who is served


def test_the_most_urgent_running_job_is_served(database: Database) -> None:
    with sound(database) as conn:
        slow = job_of(conn, "slow", A, priority=9)
        urgent = job_of(conn, "urgent", A, priority=1)
        also = job_of(conn, "also urgent", A, priority=1)
        [held] = hold(conn, A)
        assert held.run.job_id == urgent.id, "of two that are as urgent the older one"
        end(conn, held, None)
        pause(conn, urgent)
        [held] = hold(conn, A)
        assert held.run.job_id == also.id
        end(conn, held, None)
        cancel(conn, also)
        [held] = hold(conn, A)
        assert held.run.job_id == slow.id
        assert value(conn, "select run_id from crawl_queue") == held.run.run_id
        end(conn, held, None)
        [held] = hold(conn, A, job_ids=[slow.id])
        assert held.run.job_id == slow.id


def test_what_no_job_wants_is_the_standing_jobs(database: Database) -> None:
    with sound(database) as conn:
        standing = jobs.get(conn, "standing")
        job = job_of(conn, "mine", B)
        [a, b] = hold(conn, A, B)
        assert (a.run.job_id, b.run.job_id) == (standing.id, job.id)
        end(conn, b)
    shift_clock(database, "15 days")
    with sound(database) as conn:
        [again] = hold(conn, B, worker="w2")
        assert again.run.job_id == standing.id, "its part in the job is over"


def test_a_domain_that_only_paused_jobs_want_is_held(database: Database) -> None:
    with sound(database) as conn:
        first, second = job_of(conn, "first", A, B), job_of(conn, "second", A)
        first = pause(conn, first)
        assert (refusal(conn, A), refusal(conn, B)) == (None, "held")
        [lease] = claimed(conn)
        assert str(lease.name) == A
        released(conn, lease, Released("active"))
        second = pause(conn, second)
        assert refusal(conn, A) == "held"
        assert claimed(conn) == [], "nobody can claim it, the standing job neither"
    assert desk_of(database).claim(10, None) == []
    assert desk_of(database).claim(10, [first.id, second.id]) == []
    shift_clock(database, "400 days")
    with sound(database) as conn:
        assert claimed(conn) == []
        second = resume(conn, second)
        assert (refusal(conn, A), refusal(conn, B)) == (None, "held")
        [lease] = claimed(conn)
        assert str(lease.name) == A
        resume(conn, first)
        [lease] = claimed(conn)
        assert str(lease.name) == B


def test_a_job_that_wants_a_held_domain_frees_it(database: Database) -> None:
    with sound(database) as conn:
        pause(conn, job_of(conn, "first", A))
        assert claimed(conn) == []
        job_of(conn, "second", A)
        [lease] = claimed(conn)
        assert runs.assign(conn, [lease], None)[lease.domain_id].job_id == jobs.get(conn, "second").id


def test_a_domain_that_comes_to_a_paused_job_is_held(database: Database) -> None:
    with sound(database) as conn:
        job = pause(conn, job_of(conn, "mine", A))
        ensure(conn, "mine", A, B)
        assert jobs.get(conn, "mine").state == "paused"
        assert refusal(conn, B) == "held"
        assert claimed(conn) == []
        resume(conn, jobs.get(conn, str(job.id)))
        assert len(claimed(conn)) == 2


def test_pause_and_cancel_travel_to_the_lease_holder(database: Database) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        [held, other] = hold(conn, A, B)
    part, bystander = slice_of(held), slice_of(other)
    assert desk.control([part, bystander]) == {}
    with sound(database) as conn:
        job = pause(conn, job)
        assert (wanted(conn, held), wanted(conn, other)) == ("pause", "run")
    assert desk.control([part, bystander]) == {held.id: StopReason.PAUSED}
    with sound(database) as conn:
        job = resume(conn, job)
        assert wanted(conn, held) == "run"
    assert desk.control([part, bystander]) == {}
    with sound(database) as conn:
        cancel(conn, job)
        assert (wanted(conn, held), wanted(conn, other)) == ("stop", "run")
    assert desk.control([part, bystander]) == {held.id: StopReason.CANCELLED}
    with sound(database) as conn:
        approve.suspend(conn, get_by_id(conn, other.id), local_admin(conn), reason="so")
    assert desk.control([bystander]) == {other.id: StopReason.APPROVAL_WITHDRAWN}
    shift_clock(database, "31 minutes")
    assert set(desk.control([part, bystander]).values()) == {StopReason.LEASE_LOST}


@pytest.mark.parametrize("deed", [pause, cancel])
def test_who_works_for_another_job_is_not_disturbed(database: Database, deed: Callable[[Connection, Job], Job]) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        urgent, slow = job_of(conn, "urgent", A, priority=1), job_of(conn, "slow", A, priority=9)
        [held] = hold(conn, A)
        assert held.run.job_id == urgent.id
        deed(conn, slow)
        assert wanted(conn, held) == "run"
    assert desk.control([slice_of(held)]) == {}
    with sound(database) as conn:
        job_of(conn, "third", A)
        deed(conn, urgent)
    expected = StopReason.PAUSED if deed is pause else StopReason.CANCELLED
    assert desk.control([slice_of(held)]) == {held.id: expected}, "another job's domain, but this one's slice"


@pytest.mark.parametrize("deed", [pause, cancel])
def test_a_wish_to_stop_survives_what_happens_to_the_domain(
    database: Database, deed: Callable[[Connection, Job], Job]
) -> None:
    """Another job wants the domain too, so it is not held: a note on it, or that job's moves, do not undo the wish."""
    desk = desk_of(database)
    with sound(database) as conn:
        urgent, slow = job_of(conn, "urgent", A, priority=1), job_of(conn, "slow", A, priority=9)
        [held] = hold(conn, A)
        deed(conn, urgent)
        approve.note(conn, get_by_id(conn, held.id), local_admin(conn), text="seen")
        resume(conn, pause(conn, slow))
    expected = StopReason.PAUSED if deed is pause else StopReason.CANCELLED
    assert desk.control([slice_of(held)]) == {held.id: expected}


def test_a_paused_slice_goes_on_where_it_was(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A, options=limits(max_pages=10))
        [held] = hold(conn, A)
        plant(conn, held.id, "/", "/2")
    flushed(database, batch(held, 1, fetched("/"), fetched("/2"), requests=3))
    with sound(database) as conn:
        job = pause(conn, job)
        assert end(conn, held, StopReason.PAUSED)
        assert (run_row(conn, held).stop_reason, run_row(conn, held).ended_at) == ("paused", None)
        assert claimed(conn) == []
        resume(conn, job)
        [again] = hold(conn, A)
        assert again.run.run_id == held.run.run_id
        assert (again.run.pages_done, again.run.requests_done, again.run.page_budget) == (2, 3, 10)


# Cancel


def test_cancel_puts_to_rest(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B, C)
        conn.execute(text("update domains set scrape_frequency_hours = 5 where name = :name"), {"name": B})
        [held] = hold(conn, C)
        end(conn, held, None)
        job = cancel(conn, job)
        assert job.state == "cancelled"
        assert open_domains(conn, job) == []
        assert {name: refusal(conn, name) for name in (A, B, C)} == dict.fromkeys((A, B, C), "not_due")
        due = {row.name: row.rest for row in rows(
            conn, "select name, next_crawl_after - bailiwick_now() as rest from domains")}  # fmt: skip
        assert due == {A: timedelta(days=14), B: timedelta(hours=5), C: timedelta(days=14)}
        row = run_row(conn, held)
        assert (row.stop_reason, row.ended_at is not None) == ("cancelled", True)
        assert runs.listing(conn, job_id=job.id)[0].ended_at is not None
        assert claimed(conn) == []
    shift_clock(database, "15 days")
    with sound(database) as conn:
        assert len(claimed(conn)) == 3, "due as after a full crawl"


def test_cancel_lengthens_a_rest_and_never_shortens_it(database: Database) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B)
        [a, b] = hold(conn, A, B)
    desk.release([(slice_of(a), Ending(None, pause_seconds=500)), (slice_of(b), Ending(None))])
    with sound(database) as conn:
        later = "update domains set next_crawl_after = bailiwick_now() + interval '60 days' where name = :name"
        conn.execute(text(later), {"name": B})
        requeue(conn, [b.id])
        cancel(conn, job)
        rest = {row.name: row.rest for row in rows(
            conn, "select name, next_crawl_after - bailiwick_now() as rest from domains")}  # fmt: skip
        assert rest == {A: timedelta(days=14), B: timedelta(days=60)}


def test_cancel_leaves_what_another_job_wants(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B, C)
        job_of(conn, "theirs", A)
        pause(conn, job_of(conn, "paused", B))
        cancel(conn, job)
        assert (refusal(conn, A), refusal(conn, B), refusal(conn, C)) == (None, "held", "not_due")
        [lease] = claimed(conn)
        assert str(lease.name) == A


def test_cancel_leaves_what_cools_down_or_is_done(database: Database) -> None:
    from bailiwick.registry.release import BlockCode

    with sound(database) as conn:
        [b] = hold(conn, B)
        blocked_ = Released("blocked", BlockCode.FORBIDDEN, "403")
        release_all(conn, [(b.lease, blocked_)], RULES, COOLDOWNS, system_actor(conn))
        before = rows(conn, "select name, crawl, next_crawl_after from domains where name = :name", name=B)
        cancel(conn, job_of(conn, "mine", A, B))
        assert rows(conn, "select name, crawl, next_crawl_after from domains where name = :name", name=B) == before


def test_a_cancelled_slice_rests_too(database: Database) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        [held] = hold(conn, A)
        cancel(conn, job)
    assert desk.release([(slice_of(held), Ending(StopReason.CANCELLED))]) == {held.id}
    with sound(database) as conn:
        assert (refusal(conn, A), run_row(conn, held).stop_reason) == ("not_due", "cancelled")
        assert claimed(conn) == []


def test_a_cancelled_slice_leaves_the_domain_to_the_job_that_wants_it(database: Database) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        urgent, slow = job_of(conn, "urgent", A, priority=1), job_of(conn, "slow", A, priority=9)
        [held] = hold(conn, A)
        assert held.run.job_id == urgent.id
        cancel(conn, urgent)
    assert desk.release([(slice_of(held), Ending(StopReason.CANCELLED))]) == {held.id}
    with sound(database) as conn:
        assert refusal(conn, A) is None
        [next_] = hold(conn, A)
        assert next_.run.job_id == slow.id


@pytest.mark.parametrize("reason", [StopReason.PAGE_BUDGET, StopReason.DEPTH_LIMIT])
def test_a_job_that_is_done_leaves_the_domain_to_the_next_one(database: Database, reason: StopReason) -> None:
    """A small job does not put a domain to rest that a bigger one still wants."""
    desk = desk_of(database)
    with sound(database) as conn:
        small, big = job_of(conn, "small", A, B, C, priority=1), job_of(conn, "big", A, priority=9)
        [held, alone, soon] = hold(conn, A, B, C)
    ends = [(slice_of(held), Ending(reason)), (slice_of(alone), Ending(reason))]
    desk.release([*ends, (slice_of(soon), Ending(None, pause_seconds=500))])
    with sound(database) as conn:
        assert jobs.get(conn, "small").state == "running"
        assert (refusal(conn, A), refusal(conn, B), refusal(conn, C)) == (None, "not_due", "not_due")
        due = rows(conn, "select next_crawl_after - bailiwick_now() as rest from domains where name = :name", name=C)
        assert due[0].rest < timedelta(seconds=501), "a pause is kept"
        [next_] = hold(conn, A)
        assert next_.run.job_id == big.id != small.id


def test_a_job_that_is_cancelled_and_deleted_lets_its_slice_end(database: Database) -> None:
    """The worker has not looked yet: what it writes and gives back afterwards finds the run gone."""
    desk = desk_of(database)
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        [held, other] = hold(conn, A, B)
        plant(conn, held.id, "/")
    flushed(database, batch(held, 1, fetched("/")))
    with sound(database) as conn:
        jobs.remove(conn, cancel(conn, job), local_admin(conn))
        assert rows(conn, "select * from run_domains where domain_id = :id", id=held.id) == []
    assert flushed(database, batch(held, 2, fetched("/", state="fetched")))[held.id].is_held
    ends = [(slice_of(held), Ending(StopReason.CANCELLED)), (slice_of(other), Ending(StopReason.FRONTIER_EMPTY))]
    assert desk.release(ends) == {held.id, other.id}
    with sound(database) as conn:
        assert value(conn, "select count(*) from crawl_queue where worker is not null") == 0
        assert value(conn, "select count(*) from fetch_log") == 2, "the log of fetches stays"


def test_deleting_keeps_pages_and_forgets_runs(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        [held] = hold(conn, A)
        plant(conn, held.id, "/")
    flushed(database, batch(held, 1, fetched("/")))
    with sound(database) as conn:
        end(conn, held)
        assert value(conn, "select last_run_id from domains") == held.run.run_id
        jobs.remove(conn, jobs.get(conn, str(job.id)), local_admin(conn), reason="old")
        assert value(conn, "select last_run_id from domains") is None
        assert value(conn, "select count(*) from job_domains") == 0
        assert value(conn, "select count(*) from run_domains") == 0
        assert value(conn, "select count(*) from pages where state = 'fetched'") == 1
        event = latest(conn, subject=Subject("job", "mine"))[0]
        assert (event.verb, event.before, event.reason) == ("delete", "finished", "old")
        again = job_of(conn, "mine", A)
        assert again.id != job.id


# Runs


def test_an_unfinished_run_goes_on_with_what_is_left(database: Database) -> None:
    with sound(database) as conn:
        job_of(conn, "mine", A, options=limits(max_pages=50, max_requests=60, max_depth=2))
        [held] = hold(conn, A)
        assert (held.run.page_budget, held.run.request_budget, held.run.max_depth) == (50, 60, 2)
        plant(conn, held.id, "/")
    flushed(database, batch(held, 1, fetched("/"), requests=5))
    for reason in (None, StopReason.TIME_BUDGET, StopReason.SHUTDOWN, StopReason.STORAGE_FULL):
        with sound(database) as conn:
            assert end(conn, held, reason)
            row = run_row(conn, held)
            assert (row.stop_reason, row.ended_at) == (reason, None)
            [held] = hold(conn, A)
            assert (held.run.run_id, held.run.pages_done, held.run.requests_done) == (row.run_id, 1, 5)
    shift_clock(database, "31 minutes")
    with sound(database) as conn:
        [heir] = hold(conn, A, worker="w2")
        assert (heir.run.run_id, heir.run.pages_done) == (held.run.run_id, 1), "also after a crash"


def test_budgets_are_the_domains_own_unless_the_job_says_otherwise(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, A)
        job = job_of(conn, "mine", B, options=limits(max_pages=0, max_depth=0))
        conn.execute(text("update domains set max_pages_per_run = 77, max_crawl_depth = 9"))
        [own, asked] = hold(conn, A, B)
        assert (own.run.page_budget, own.run.request_budget, own.run.max_depth) == (77, 0, 9)
        assert (asked.run.page_budget, asked.run.request_budget, asked.run.max_depth) == (0, 0, 0)
        assert (own.run.options, asked.run.options) == (JobOptions(), job.options)


def test_new_limits_replace_those_of_an_unfinished_run(database: Database) -> None:
    with sound(database) as conn:
        job_of(conn, "mine", A, B, options=limits(max_pages=50, max_depth=2))
        [a, b] = hold(conn, A, B)
        end(conn, a, StopReason.PAGE_BUDGET)
        end(conn, b, None)
        job = ensure(conn, "mine", B, options=limits(max_pages=20, max_requests=9))
        assert job.options == limits(max_pages=20, max_requests=9, max_depth=2)
        row = run_row(conn, b)
        assert (row.page_budget, row.request_budget, row.max_depth) == (20, 9, 2)
        assert run_row(conn, a).page_budget == 50, "what has ended keeps what it had"
        event = latest(conn, subject=Subject("job", "mine"))[0]
        assert (event.verb, event.before, event.after) == (
            "change", {"max_pages": 50, "max_depth": 2}, {"max_pages": 20, "max_requests": 9, "max_depth": 2},
        )  # fmt: skip
        [again] = hold(conn, B)
        assert (again.run.run_id, again.run.page_budget, again.run.max_depth) == (b.run.run_id, 20, 2)
        same = ensure(conn, "mine", B)
        assert same.version == job.version, "nothing was asked for: nothing changed"


def test_a_domain_that_is_wanted_again_gets_a_new_run(database: Database) -> None:
    """Its part was over while the job goes on with others."""
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B)
        [a, b] = hold(conn, A, B)
        end(conn, a, StopReason.PAGE_BUDGET)
        ensure(conn, "mine", A)
        [again] = hold(conn, A)
        assert again.run.run_id > a.run.run_id
        assert (again.run.job_id, again.run.pages_done) == (job.id, 0)
        end(conn, again)
        assert jobs.get(conn, "mine").state == "running"
        end(conn, b)
        assert jobs.get(conn, "mine").state == "finished"
        assert [run.open_domains for run in runs.listing(conn, job_id=job.id)] == [0, 0]
        assert all(run.ended_at is not None for run in runs.listing(conn, job_id=job.id))


def test_the_standing_job_has_a_new_run_when_a_domain_comes_round(database: Database) -> None:
    with sound(database) as conn:
        standing = jobs.get(conn, "standing")
        [a, b] = hold(conn, A, B)
        assert a.run.run_id == b.run.run_id
        end(conn, a)
        assert runs.listing(conn, job_id=standing.id)[0].ended_at is None, "the newest one goes on"
        b_run = b.run.run_id
    shift_clock(database, "20 minutes")
    with sound(database) as conn:
        from bailiwick.registry.leases import renew

        renew(conn, [b.lease], RULES)
        approve.recrawl(conn, get_by_id(conn, a.id), local_admin(conn))
        [again] = hold(conn, A)
        [new] = hold(conn, C)
        assert again.run.run_id == new.run.run_id > b_run
        end(conn, b)
        newest, older = runs.listing(conn, job_id=standing.id)
        assert (newest.ended_at, older.ended_at is not None) == (None, True)
        end(conn, again)
        end(conn, new)
        assert runs.listing(conn, job_id=standing.id)[0].ended_at is None
        assert jobs.get(conn, "standing").state == "running"


# The end of a job


def test_a_job_finishes_with_its_last_domain(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B)
        [a, b] = hold(conn, A, B)
        end(conn, a, StopReason.PAGE_BUDGET)
        assert jobs.get(conn, "mine").state == "running"
        end(conn, b, None)
        assert jobs.get(conn, "mine").state == "running"
        [b] = hold(conn, B)
        end(conn, b, StopReason.FRONTIER_EMPTY)
        assert jobs.get(conn, "mine").state == "finished"
        event = latest(conn, subject=Subject("job", "mine"))[0]
        assert (event.verb, event.before, event.after, event.actor) == ("finish", "running", "finished", "system")
        assert runs.listing(conn, job_id=job.id)[0].ended_at is not None
        assert runs.counts(conn, job.id) == runs.Counts(2, 0, 0)


@pytest.mark.parametrize("last", [0, 1])
def test_two_last_releases_at_the_same_moment_finish_the_job(database: Database, last: int) -> None:
    """Each sees the other's domain still open; whoever commits later has to notice. Both orders, no luck needed."""
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B)
        held = [hold(conn, A, worker="w1")[0], hold(conn, B, worker="w2")[0]]

    def work() -> None:
        with database.begin() as conn:
            assert end(conn, held[last])

    with database.begin() as conn:
        assert end(conn, held[1 - last])
        with beside(work) as other:
            other.join(0.5)  # it is as far as it comes without us
            conn.commit()
    with sound(database) as conn:
        assert open_domains(conn, job) == []
        assert jobs.get(conn, "mine").state == "finished"
        assert [run.ended_at is not None for run in runs.listing(conn, job_id=job.id)] == [True]


def test_many_last_releases_at_once_finish_every_job(database: Database) -> None:
    """Two workers, the same jobs on both sides, opposite orders."""
    names = [f"j{n}" for n in range(8)]
    with sound(database) as conn:
        for n, name in enumerate(names):
            job_of(conn, name, f"l{n}.org", f"r{n}.org")
        left = [hold(conn, f"l{n}.org", worker="w1")[0] for n in range(8)]
        right = [hold(conn, f"r{n}.org", worker="w2")[0] for n in range(8)]
    desk = {worker: desk_of(database, worker) for worker in ("w1", "w2")}

    def work(worker: str, mine: list[Held]) -> None:
        for start in range(0, 8, 4):
            ends = [(slice_of(held), Ending(StopReason.FRONTIER_EMPTY)) for held in mine[start : start + 4]]
            assert len(desk[worker].release(ends)) == 4

    assert at_once(lambda: work("w1", left), lambda: work("w2", right[::-1])) == []
    with sound(database) as conn:
        assert {jobs.get(conn, name).state for name in names} == {"finished"}


def test_a_job_whose_last_domain_ended_while_it_was_paused_finishes_with_resume(database: Database) -> None:
    """The worker was done before it heard of the pause."""
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        [held] = hold(conn, A)
        job = pause(conn, job)
        end(conn, held, StopReason.FRONTIER_EMPTY)
        assert (jobs.get(conn, "mine").state, refusal(conn, A)) == ("paused", "not_due"), "nothing is left to hold"
        job = resume(conn, job)
        assert job.state == "finished"
        assert runs.listing(conn, job_id=job.id)[0].ended_at is not None


def test_a_finished_job_begins_anew(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A, B, options=limits(max_pages=5, max_depth=2))
        [a, b] = hold(conn, A, B)
        end(conn, a, StopReason.PAGE_BUDGET)
        end(conn, b, StopReason.PAGE_BUDGET)
        assert jobs.get(conn, "mine").state == "finished"
        again = ensure(conn, "mine", A, options=limits(max_pages=9))
        assert (again.id, again.state, again.options) == (job.id, "running", limits(max_pages=9))
        assert open_domains(conn, again) == [A]
        assert refusal(conn, A) is None, "a person's word wakes what rests"
        assert refusal(conn, B) == "not_due"
        [held] = hold(conn, A)
        assert held.run.run_id > a.run.run_id
        assert (held.run.pages_done, held.run.page_budget, held.run.max_depth) == (0, 9, held.lease.max_crawl_depth)
        end(conn, held)
        assert jobs.get(conn, "mine").state == "finished"


@pytest.mark.parametrize("started", [True, False])
def test_a_cancelled_job_begins_anew(database: Database, started: bool) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", A)
        if started:
            end(conn, hold(conn, A)[0], None)
        cancel(conn, job)
        assert claimed(conn) == []
        again = ensure(conn, "mine", A)
        assert (again.id, again.state, open_domains(conn, again)) == (job.id, "running", [A])
        [held] = hold(conn, A)
        assert held.run.job_id == job.id
        end(conn, held)
        assert jobs.get(conn, "mine").state == "finished"


def test_ensure_makes_what_is_missing_and_goes_on_with_what_is_there(database: Database) -> None:
    with sound(database) as conn:
        job = ensure(conn, "mine", A)
        assert (job.state, job.priority) == ("running", 1)
        assert ensure(conn, "mine", A).id == job.id
        assert open_domains(conn, ensure(conn, "mine", B)) == [A, B]
        assert len(runs.listing(conn, job_id=job.id)) == 1


def test_two_who_ensure_the_same_job_at_once_share_it(database: Database) -> None:
    with sound(database) as conn:
        ids = ids_of(conn, A, B)
        local_admin(conn)

    def work(mine: list[int]) -> None:
        with database.begin() as conn:
            jobs.ensure(conn, "mine", mine, JobOptions(), local_admin(conn))

    assert at_once(*(partial(work, mine) for mine in (ids, ids[::-1], ids[:1], ids[1:]))) == []
    with sound(database) as conn:
        [job] = [job for job in jobs.listing(conn) if job.kind == "crawl"]
        assert open_domains(conn, job) == [A, B]
        assert len(runs.listing(conn, job_id=job.id)) == 1


def test_listing_is_paged_and_filtered(database: Database) -> None:
    with sound(database) as conn:
        made = [job_of(conn, f"j{n}", A) for n in range(5)]
        pause(conn, made[2])
        assert [job.name for job in jobs.listing(conn, limit=2)] == ["j4", "j3"]
        assert [job.name for job in jobs.listing(conn, limit=2, before_id=made[3].id)] == ["j2", "j1"]
        assert [job.name for job in jobs.listing(conn, state="paused")] == ["j2"]


# Further hosts of a site


def _site(database: Database) -> tuple[Job, Held]:
    with sound(database) as conn:
        job = job_of(conn, "mine", "site.org", options=limits(scope="site"))
        [held] = hold(conn, "site.org")
        plant(conn, held.id, "/")
    links = [(n, host, f"/{n}", None, 1) for n, host in enumerate(("www2.site.org", "other.org", "docs.site.org"))]
    flushed(database, batch(held, 1, fetched("/"), outlinks=links))
    return job, held


def widen(conn: Connection, job: Job, held: Held) -> int:
    return scope.widen(conn, job.id, held.id, DomainName("site.org"), UrlRules())


def test_further_hosts_come_to_the_job_once(database: Database) -> None:
    job, held = _site(database)
    with sound(database) as conn:
        assert widen(conn, job, held) == 2
        assert widen(conn, job, held) == 0
        assert open_domains(conn, job) == ["docs.site.org", "site.org", "www2.site.org"]
        assert {row.path for row in rows(conn, "select path from page_requests")} == {"/0", "/2"}
        assert hold(conn, "docs.site.org")[0].run.job_id == job.id


def test_further_hosts_of_a_paused_job_are_held(database: Database) -> None:
    job, held = _site(database)
    with sound(database) as conn:
        pause(conn, job)
        widen(conn, job, held)
        assert claimed(conn) == []


def test_a_job_that_has_ended_gets_no_further_hosts(database: Database) -> None:
    """Its slice ends after the cancel: what it linked to must not be crawled by the standing job instead."""
    desk = desk_of(database)
    job, held = _site(database)
    with sound(database) as conn:
        cancel(conn, job)
    part = slice_of(held)
    assert part.run.options.scope == "site"
    desk.release([(part, Ending(StopReason.CANCELLED))])
    with sound(database) as conn:
        assert open_domains(conn, job) == []
        assert value(conn, "select count(*) from domains") == 1
        assert claimed(conn) == []


@pytest.mark.parametrize("grow", ["widen", "ensure"])
@pytest.mark.parametrize("first", ["grow", "pause"])
def test_a_pause_and_a_further_domain_at_the_same_moment(database: Database, first: str, grow: str) -> None:
    """Whichever is first: in the end the new one is held, or the pause says that it has to be asked again."""
    job, held = _site(database)
    with sound(database) as conn:
        local_admin(conn)
    refused: list[ConflictError] = []

    def do(conn: Connection, what: str) -> None:
        if what == "pause":
            pause(conn, job)
        elif grow == "widen":
            assert widen(conn, job, held) == 2
        else:
            ensure(conn, "mine", "further.org")

    def other() -> None:
        try:
            with database.begin() as conn:
                do(conn, "pause" if first == "grow" else "grow")
        except ConflictError as error:
            refused.append(error)

    with database.begin() as conn:
        do(conn, first)
        with beside(other) as thread:
            thread.join(0.5)  # it is as far as it comes without us
            conn.commit()
    with sound(database) as conn:
        assert len(refused) == (first == "grow")
        if refused:
            pause(conn, jobs.get(conn, "mine"))
        assert jobs.get(conn, "mine").state == "paused"
        assert claimed(conn) == []
        assert {row.is_held for row in rows(conn, "select is_held from domains")} == {True}


def test_a_pause_waits_for_no_worker(database: Database) -> None:
    """Claims, flushes and renewals of other domains go on while somebody pauses; nobody deadlocks."""
    with sound(database) as conn:
        job = job_of(conn, "mine", *(f"m{n}.org" for n in range(6)))
        mine = hold(conn, *(f"m{n}.org" for n in range(6)))
        for held in mine:
            plant(conn, held.id, "/")

    def flushes() -> None:
        for number in range(1, 16):
            batches = [batch(held, number, fetched("/", state="fetched")) for held in mine]
            assert all(answer.is_held for answer in flushed(database, *batches).values())

    def pauses() -> None:
        for _ in range(8):
            for deed in (pause, resume):
                with database.begin() as conn:
                    deed(conn, jobs.get(conn, str(job.id)))

    assert at_once(flushes, pauses) == []
    with sound(database) as conn:
        assert jobs.get(conn, "mine").state == "running"
        assert {wanted(conn, held) for held in mine} == {"run"}
    assert not blocked(database)


def test_an_outcome_that_blames_the_domain_ends_its_part(database: Database) -> None:
    desk = desk_of(database)
    with sound(database) as conn:
        job_of(conn, "mine", A, B)
        [a, b] = hold(conn, A, B)
    blamed = Ending(StopReason.LOGIN_WALL, blamed=Outcome.LOGIN, why="20 errors in a row")
    lost = Ending(StopReason.UNREACHABLE, blamed=Outcome.DNS_FAILURE, why="no such name")
    assert desk.release([(slice_of(a), blamed), (slice_of(b), lost)]) == {a.id, b.id}
    with sound(database) as conn:
        assert (refusal(conn, A), refusal(conn, B)) == ("cooling_down", "cooling_down")
        states = {row.name: (row.crawl, row.block_reason_code) for row in rows(conn, "select * from domains")}
        assert states == {A: ("blocked", "login_wall"), B: ("unreachable", "unreachable")}
        assert jobs.get(conn, "mine").state == "finished"
        assert {run_row(conn, held).stop_reason for held in (a, b)} == {"login_wall", "unreachable"}
