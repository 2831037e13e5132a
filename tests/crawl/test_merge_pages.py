"""Merging and purging a domain that was crawled: its pages, log, links and jobs go with it, once, and are counted."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.crawl import jobs, runs
from bailiwick.crawl.facts import Ending
from bailiwick.crawl.jobs import Job
from bailiwick.crawl.outcomes import Outcome, StopReason
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.ports import BodyRef
from bailiwick.registry.merge import Planned, merge, purge
from bailiwick.registry.records import Domain, get_by_id
from bailiwick.registry.release import Outcome as Released
from bailiwick.registry.release import release_all
from tests.crawl.desk_tools import (
    Held,
    balanced,
    batch,
    body_of,
    contents,
    desk_of,
    fetched,
    flushed,
    hash_of,
    hold,
    job_of,
    plant,
    rows,
    slice_of,
    value,
)
from tests.registry.tools import COOLDOWNS, RULES, claimed, sound

BLOG, SITE, OTHER = "blog.example.org", "example.org", "other.net"
PAIR = Planned(DomainName(BLOG), DomainName(SITE))


def give_back(conn: Connection, *held: Held, reason: StopReason | None = None) -> None:
    releases = [(one.lease, Released("active")) for one in held]
    assert len(release_all(conn, releases, RULES, COOLDOWNS, system_actor(conn))) == len(held)
    runs.end(conn, [runs.Ending(one.id, one.run.run_id, reason) for one in held], system_actor(conn), rest_seconds=3600)


def merged(conn: Connection) -> Domain:
    return merge(conn, PAIR, local_admin(conn))


def crawled(database: Database) -> tuple[Held, Held, Held]:
    """Two records with pages of their own and pages that both know, in all states; a third that nobody touches."""
    with sound(database) as conn:
        blog, site, other = hold(conn, BLOG, SITE, OTHER)
        for held, mine in ((blog, "blog"), (site, "site"), (other, "other")):
            plant(conn, held.id, "/both", "/both-failed", "/both-waits", f"/{mine}", f"/{mine}-gone", f"/{mine}-waits")
    for held, mine in ((blog, "blog"), (site, "site"), (other, "other")):
        both = {"body_hash": body_of(f"{mine} both"), "ref": BodyRef(len(mine), 1, 1), "images": 2}
        results = [
            fetched("/both", **both),
            fetched("/both-failed", Outcome.NOT_FOUND, status=404),
            fetched(f"/{mine}", depth=3 if mine == "blog" else 1),
            fetched(f"/{mine}-gone", Outcome.FORBIDDEN, status=403),
        ]
        outlinks = [(1, "shared.org", "/", mine, 1), (hash_of(mine), f"{mine}.net", "/", None, 1)]
        flushed(database, batch(held, 1, *results, outlinks=outlinks, requests=6, refused=1))
    return blog, site, other


def parse_rows(conn: Connection, held: Held) -> dict[str, bytes]:
    sql = """select p.path, q.body_hash from parse_queue as q join pages as p using (domain_id, path_hash)
             where q.domain_id = :id"""
    return {row.path: bytes(row.body_hash) for row in rows(conn, sql, id=held.id)}


def test_pages_log_and_links_move_once(database: Database) -> None:
    blog, site, other = crawled(database)
    with sound(database) as conn:
        give_back(conn, blog, site)
        untouched = {
            table: rows(conn, f"select * from {table} where domain_id = :id order by 1, 2", id=other.id)
            for table in ("pages", "parse_queue", "outlinks", "fetch_log", "run_domains", "domain_progress")
        }
        done = merged(conn)
        assert done.id == site.id
        states = {
            row.path: row.state for row in rows(conn, "select path, state from pages where domain_id = :id", id=site.id)
        }
        assert states == {
            "/both": "fetched", "/both-failed": "failed", "/both-waits": "pending",
            "/blog": "fetched", "/blog-gone": "failed", "/blog-waits": "pending",
            "/site": "fetched", "/site-gone": "failed", "/site-waits": "pending",
        }  # fmt: skip
        [both] = rows(conn, "select * from pages where domain_id = :id and path = '/both'", id=site.id)
        assert (bytes(both.body_hash), both.pack_id) == (body_of("site both"), 4), "what both know is the target's"
        assert parse_rows(conn, site) == {
            "/both": body_of("site both"), "/blog": body_of("/blog"), "/site": body_of("/site"),
        }  # fmt: skip
        anchors = rows(conn, "select target, anchor from outlinks where domain_id = :id order by 1", id=site.id)
        assert [tuple(row) for row in anchors] == [("blog.net", None), ("shared.org", "site"), ("site.net", None)]
        assert value(conn, "select count(*) from fetch_log where domain_id = :id", id=site.id) == 8
        for table in ("pages", "parse_queue", "outlinks", "fetch_log", "run_domains", "job_domains", "domain_progress"):
            assert rows(conn, f"select * from {table} where domain_id = :id", id=blog.id) == [], table
        for table, before in untouched.items():
            assert rows(conn, f"select * from {table} where domain_id = :id order by 1, 2", id=other.id) == before
        balanced(conn)


def test_counters_are_right_after_a_merge(database: Database) -> None:
    blog, site, _ = crawled(database)
    with sound(database) as conn:
        give_back(conn, blog, site)
        sent = """update domain_progress set last_request_at = bailiwick_now() - make_interval(secs => :ago)
                  where domain_id = :id"""
        conn.execute(text(sent), {"ago": 5, "id": blog.id})
        conn.execute(text(sent), {"ago": 500, "id": site.id})
        done = merged(conn)
        [row] = rows(conn, "select * from domain_progress where domain_id = :id", id=site.id)
        assert (row.pages_discovered, row.pages_waiting, row.pages_failed, row.pages_crawled) == (9, 3, 3, 8)
        assert (row.requests_made, row.pages_refused, row.images_found, row.total_error_count) == (12, 2, 4, 2)
        assert (row.bytes_fetched, row.outlinks_found, row.crawl_depth_reached) == (800, 3, 3)
        assert value(conn, "select bailiwick_now()") - row.last_request_at == timedelta(seconds=5), "politeness too"
        assert (done.row["pages_discovered"], done.row["pages_crawled"]) == (9, 8)
        assert done.row["crawl_depth_reached"] == 3
        balanced(conn)


def test_a_parse_row_of_a_page_that_gives_way_goes(database: Database) -> None:
    """The target knows the page without a body: the source's body is gone with its page."""
    with sound(database) as conn:
        blog, site = hold(conn, BLOG, SITE)
        plant(conn, blog.id, "/both", "/mine")
        plant(conn, site.id, "/both")
    flushed(database, batch(blog, 1, fetched("/both"), fetched("/mine")))
    with sound(database) as conn:
        give_back(conn, blog, site)
        merged(conn)
        assert parse_rows(conn, site) == {"/mine": body_of("/mine")}
        balanced(conn)


def test_a_merge_into_a_record_that_was_never_crawled(database: Database) -> None:
    with sound(database) as conn:
        [blog] = hold(conn, BLOG)
        plant(conn, blog.id, "/", "/waits")
    flushed(database, batch(blog, 1, fetched("/"), outlinks=[(1, "x.org", "/", None, 1)]))
    with sound(database) as conn:
        give_back(conn, blog)
        from tests.registry.tools import admit

        [site] = admit(conn, SITE)
        done = merged(conn)
        assert (done.id, done.row["pages_discovered"]) == (site.id, 2)
        assert value(conn, "select count(*) from pages where domain_id = :id", id=site.id) == 2
        balanced(conn)
        [lease] = claimed(conn)
        assert lease.domain_id == site.id


def test_the_next_slice_takes_what_was_merged(database: Database) -> None:
    blog, site, _ = crawled(database)
    with sound(database) as conn:
        give_back(conn, blog, site)
        merged(conn)
        [held] = hold(conn, SITE)
    taken = desk_of(database).take([(slice_of(held), 100)])[held.id]
    assert {page.path for page in taken} == {"/both-waits", "/blog-waits", "/site-waits"}
    flushed(database, batch(held, 1, *(fetched(page.path) for page in taken)))
    with sound(database) as conn:
        balanced(conn)


# Jobs and runs


def test_job_and_run_rows_move_without_doubles(database: Database) -> None:
    with sound(database) as conn:
        both = job_of(conn, "both", BLOG, SITE)
        alone = job_of(conn, "alone", BLOG, priority=9)
        blog, site = hold(conn, BLOG, SITE)
        assert blog.run.run_id == site.run.run_id
        plant(conn, blog.id, "/1", "/2")
        plant(conn, site.id, "/3")
    flushed(database, batch(blog, 1, fetched("/1"), fetched("/2", Outcome.FORBIDDEN)), batch(site, 1, fetched("/3")))
    with sound(database) as conn:
        give_back(conn, blog, site)
        merged(conn)
        wanted = rows(conn, "select job_id, domain_id, is_open from job_domains order by 1")
        assert [tuple(row) for row in wanted] == [(both.id, site.id, True), (alone.id, site.id, True)]
        [row] = rows(conn, "select * from run_domains where run_id = :id", id=site.run.run_id)
        assert (row.domain_id, row.pages_done, row.error_count, row.bytes_fetched) == (site.id, 3, 1, 300)
        assert row.requests_done == 3
        balanced(conn)
        [held] = hold(conn, SITE)
        assert (held.run.run_id, held.run.pages_done) == (site.run.run_id, 3), "its run goes on"


@pytest.mark.parametrize("done", [BLOG, SITE])
def test_a_job_that_is_done_with_one_of_them_still_wants_the_other(database: Database, done: str) -> None:
    with sound(database) as conn:
        job = job_of(conn, "mine", BLOG, SITE)
        held = dict(zip((BLOG, SITE), hold(conn, BLOG, SITE), strict=True))
        give_back(conn, held[done], reason=StopReason.PAGE_BUDGET)
        [left] = [one for name, one in held.items() if name != done]
        give_back(conn, left)
        merged(conn)
        assert runs.counts(conn, job.id).open_domains == 1
        [again] = hold(conn, SITE)
        assert again.run.job_id == job.id
        give_back(conn, again, reason=StopReason.FRONTIER_EMPTY)
        assert jobs.get(conn, "mine").state == "finished"
        assert all(run.open_domains == 0 for run in runs.listing(conn, job_id=job.id))


def _paused(conn: Connection, name: str, domain: str) -> Job:
    return jobs.pause(conn, job_of(conn, name, domain), local_admin(conn))


def test_a_merge_holds_what_only_paused_jobs_want(database: Database) -> None:
    with sound(database) as conn:
        job = _paused(conn, "mine", BLOG)
        from tests.registry.tools import admit

        admit(conn, SITE)
        assert merged(conn).refusal == "held"
        assert claimed(conn) == []
        jobs.resume(conn, job, local_admin(conn))
        [lease] = claimed(conn)
        assert str(lease.name) == SITE


def test_a_merge_frees_what_a_running_job_wants(database: Database) -> None:
    with sound(database) as conn:
        _paused(conn, "theirs", SITE)
        job = job_of(conn, "mine", BLOG)
        assert merged(conn).refusal is None
        [held] = hold(conn, SITE)
        assert held.run.job_id == job.id


# Purge


def test_a_purge_removes_everything_that_was_collected(database: Database) -> None:
    blog, site, other = crawled(database)
    tables = ("pages", "parse_queue", "outlinks", "fetch_log", "page_requests", "domain_progress")
    with sound(database) as conn:
        me = local_admin(conn)
        give_back(conn, blog, site)
        asked = "insert into page_requests (domain_id, kind, path, asked_by) values (:id, 'submitted', '/x', :by)"
        for held in (site, other):
            conn.execute(text(asked), {"id": held.id, "by": me.id})
        kept = {
            table: rows(conn, f"select * from {table} where domain_id <> :id order by 1, 2", id=site.id)
            for table in tables
        }
        done = purge(conn, get_by_id(conn, site.id), me, reason="they asked")
        for table in tables:
            assert rows(conn, f"select * from {table} where domain_id = :id", id=site.id) == [], table
            assert rows(conn, f"select * from {table} where domain_id <> :id order by 1, 2", id=site.id) == kept[table]
        assert (done.approval, done.row["pages_discovered"], done.row["pages_crawled"]) == ("approved", 0, 0)
        event = latest(conn, subject=Subject("domain", SITE))[0]
        counted: Any = event.details
        assert (event.verb, counted["pages_discovered"], counted["pages_crawled"]) == ("purge", 6, 4)
    with sound(database) as conn:
        before = contents(conn, *tables)
        purge(conn, get_by_id(conn, site.id), local_admin(conn), reason="again")
        assert contents(conn, *tables) == before


def test_a_purged_domain_can_be_crawled_again(database: Database) -> None:
    blog, site, _ = crawled(database)
    with sound(database) as conn:
        give_back(conn, blog, site)
        purge(conn, get_by_id(conn, site.id), local_admin(conn), reason=None)
        conn.execute(text("update crawl_queue set ready_key = null where domain_id = :id"), {"id": blog.id})
        conn.execute(text("update domains set is_held = true where id = :id"), {"id": blog.id})
    desk = desk_of(database)
    [opened] = desk.claim(5, None)
    assert (opened.lease.domain_id, opened.known.pages, opened.known.waiting) == (site.id, 1, 1)
    held = Held(opened.lease, opened.run)
    assert [page.path for page in desk.take([(slice_of(held), 9)])[site.id]] == ["/"]
    flushed(database, batch(held, 1, fetched("/"), links=[("/both", 1)]))
    assert desk.release([(slice_of(held), Ending(None))]) == {site.id}
    with sound(database) as conn:
        assert get_by_id(conn, site.id).row["pages_discovered"] == 2
