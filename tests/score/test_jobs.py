"""Evaluation jobs: taken in once, claimed by one, given back by the dead, finished when nothing waits."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.crawl import jobs as crawl_jobs
from bailiwick.db.engine import Database
from bailiwick.model.urls import PageUrl
from bailiwick.score import jobs
from bailiwick.score.jobs import EvaluationJob, JobCounts, OrderMark, Settled


def make(conn: Connection, urls: Sequence[str], name: str = "a job") -> EvaluationJob:
    mark = OrderMark("general")
    for url in urls:
        mark.add(url)
    job = jobs.create(conn, name, "general", str(mark), local_admin(conn))
    jobs.add_urls(conn, job, [(PageUrl.parse(url), url) for url in urls], local_admin(conn))
    jobs.filled(conn, job)
    return jobs.get(conn, job.id)


URLS = [f"https://site{n % 3}.example/page/{n}" for n in range(9)]


def test_a_page_is_in_a_job_once_and_its_domain_waits_in_no_queue(database: Database) -> None:
    with database.begin() as conn:
        job = make(conn, URLS)
        again = [(PageUrl.parse(url), url) for url in (*URLS, "http://www.site1.example/page/1#part")]
        assert jobs.add_urls(conn, job, again, local_admin(conn)) == 0
        assert jobs.counts(conn, job.id) == JobCounts(waiting=9)
        found = conn.execute(text("select name, approval, is_proposed from domains order by name")).all()
    assert [tuple(row) for row in found] == [(f"site{n}.example", "pending_review", False) for n in range(3)]


def test_the_same_order_is_the_same_job_until_it_has_ended(database: Database) -> None:
    marks = {str(_marked(order)) for order in (URLS, URLS[::-1])}
    assert len(marks) == 1
    assert marks != {str(_marked(URLS[1:]))}
    with database.begin() as conn:
        job = make(conn, URLS)
        assert jobs.open_job(conn, marks.pop()) == job
        claimed = jobs.claim(conn, job.id, 100)
        jobs.settle(conn, [Settled(url.id, "unreachable", "gone") for url in claimed])
        assert jobs.finish(conn, job.id)
        assert jobs.open_job(conn, str(_marked(URLS))) is None
        assert make(conn, URLS).name == "a job (2)"
        assert make(conn, URLS).name == "a job (3)"


def _marked(urls: Sequence[str]) -> OrderMark:
    mark = OrderMark("general")
    for url in urls:
        mark.add(url)
    return mark


def test_many_claimers_share_no_url(database: Database) -> None:
    with database.begin() as conn:
        job = make(conn, [f"https://a.example/{n}" for n in range(60)])

    def take(_: int) -> list[int]:
        with database.begin() as conn:
            return [url.id for url in jobs.claim(conn, job.id, 7)]

    with ThreadPoolExecutor(6) as threads:
        taken = [one for batch in threads.map(take, range(12)) for one in batch]
    assert len(taken) == len(set(taken)) == 60


def test_what_a_dead_process_held_is_free_at_once(database: Database) -> None:
    with database.begin() as conn:
        job = make(conn, URLS)
        assert len(jobs.claim(conn, job.id, 5)) == 5
        assert len(jobs.claim(conn, job.id, 100)) == 4
        conn.execute(text("update job_urls set worker = regexp_replace(worker, '/[0-9]+/', '/999999/')"))
        assert len(jobs.claim(conn, job.id, 100)) == 9
        conn.execute(text("update job_urls set worker = 'elsewhere/0/1/1.0'"))
        assert jobs.claim(conn, job.id, 100) == []
        conn.execute(text("update job_urls set claimed_until = bailiwick_now() - interval '1 second'"))
        assert len(jobs.claim(conn, job.id, 100)) == 9


def test_settled_by_another_is_left_alone(database: Database) -> None:
    """A late process whose claim was taken over writes nothing."""
    with database.begin() as conn:
        job = make(conn, URLS)
        (url,) = jobs.claim(conn, job.id, 1)
        conn.execute(text("update job_urls set worker = 'elsewhere/0/1/1.0' where id = :id"), {"id": url.id})
        jobs.settle(conn, [Settled(url.id, "refused", "late")])
        assert jobs.counts(conn, job.id).refused == 0


def test_again_later_keeps_count_of_tries(database: Database) -> None:
    with database.begin() as conn:
        job = make(conn, URLS[:1])
        (url,) = jobs.claim(conn, job.id, 1)
        jobs.settle(conn, [Settled(url.id, "waiting", "busy", has_failed=True, again_seconds=60)])
        assert jobs.claim(conn, job.id, 1) == []
        assert 50 < (jobs.next_in(conn, job.id) or 0) <= 60
        conn.execute(text("update job_urls set next_at = bailiwick_now()"))
        (url,) = jobs.claim(conn, job.id, 1)
        assert url.tries == 1
        assert not jobs.finish(conn, job.id)


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_nothing_is_taken_of_a_job_that_does_not_run(database: Database, verb: str) -> None:
    with database.begin() as conn:
        job, admin = make(conn, URLS), local_admin(conn)
        found = crawl_jobs.get(conn, str(job.id))
        assert found.kind == "evaluation"
        if verb == "pause":
            crawl_jobs.pause(conn, found, admin)
        else:
            crawl_jobs.cancel(conn, found, admin, _cooldowns())
        assert jobs.claim(conn, job.id, 10) == []
        assert not jobs.finish(conn, job.id)
        if verb == "pause":
            assert crawl_jobs.resume(conn, crawl_jobs.get(conn, str(job.id)), admin).state == "running"
            assert len(jobs.claim(conn, job.id, 10)) == 9
        else:
            crawl_jobs.remove(conn, crawl_jobs.get(conn, str(job.id)), admin)
            assert conn.execute(text("select count(*) from job_urls")).scalar() == 0


def _cooldowns() -> object:
    from bailiwick.base.sections import CooldownSettings

    return CooldownSettings()


def test_a_job_that_is_still_filled_is_not_finished(database: Database) -> None:
    with database.begin() as conn:
        job = jobs.create(conn, "half", "general", "mark", local_admin(conn))
        assert not jobs.finish(conn, job.id)
        jobs.filled(conn, job)
        assert jobs.finish(conn, job.id)
