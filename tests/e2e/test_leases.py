"""One worker a domain, as the server sees it: a stopped worker, a slow neighbour, a database that goes away."""

import signal
import time

import psycopg

from bailiwick.demo.web.behaviours import held
from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand

A, B = "alpha.test", "beta.test"
SHORT = {"BAILIWICK_LEASE_SECONDS": "3", "BAILIWICK_LEASE_HEARTBEAT_SECONDS": "1"}


def test_a_worker_that_was_stopped_past_its_lease_sends_and_writes_nothing(land_of: MakeLand) -> None:
    """SIGSTOP, another one takes over, SIGCONT: no page twice, no request closer than the delay, no double count."""
    land = land_of(Web.generate(1, hosts=[A], pages_per_host=80))
    seeds = (land.name(A), "--depth", "all")
    with land.start(*seeds, delay="0.1", **SHORT) as first:
        land.wait_for("select coalesce(sum(pages_crawled), 0) >= 5 from domain_progress")
        stopped = first.engine()
        stopped.send_signal(signal.SIGSTOP)
        with land.start(*seeds, delay="0.1", **SHORT) as second:
            land.wait_for("select count(*) = 1 from crawl_queue where worker is not null and lease_no = 2", seconds=20)
            time.sleep(1)
            stopped.send_signal(signal.SIGCONT)
            ends = second.wait(), first.wait()
    assert [end.code for end in ends] == [0, 0], ends
    assert "its lease was lost" in ends[1].out
    assert land.fetched(A) == land.running.web[A].reachable()
    # Between the moments of writing it is 0.1; the server may see one a little late on a busy machine.
    assert land.running.log.min_gap(A) >= 0.07
    assert land.value("select count(distinct lease_no) from fetch_log") == 2
    land.check()


def test_a_domain_that_hangs_holds_up_nobody(land_of: MakeLand) -> None:
    web = Web.generate(2, hosts=[A, B], pages_per_host=30)
    web[A].behave_everywhere(held(lambda: False))
    land = land_of(web)
    with land.start(land.name(A), land.name(B), "--depth", "all", BAILIWICK_NET_TOTAL_TIMEOUT_SECONDS="30") as started:
        land.wait_for(
            "select count(*) = 1 from domains where name = :name and crawl = 'exhausted'", name=land.name(B), seconds=20
        )
        assert land.running.log.open_requests()
        started.interrupt()
        assert started.wait(seconds=10).code == 130
    assert land.fetched(B) == web[B].reachable()
    land.check()


def test_a_database_that_goes_away_is_waited_for(land_of: MakeLand) -> None:
    """Every connection is cut again and again; the crawl goes on each time and its books agree."""
    land = land_of(Web.generate(3, hosts=[A, B], pages_per_host=60))
    cut = """
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()"""
    with land.start(land.name(A), land.name(B), "--depth", "all", delay="0.02") as started:
        land.wait_for("select coalesce(sum(pages_crawled), 0) >= 3 from domain_progress")
        for _ in range(6):
            land.rows(cut)
            time.sleep(0.4)
        ended = started.wait()
    assert ended.code == 0, ended
    for host in (A, B):
        assert land.fetched(host) == land.answered(host) == land.running.web[host].reachable()
    land.check()


def test_a_crawl_that_starts_while_a_lock_is_held_waits_for_it(land_of: MakeLand) -> None:
    """An engine that was stopped in the middle of a transaction keeps its locks: who starts then says so and waits."""
    land = land_of(Web.generate(4, hosts=[A], pages_per_host=5))
    land.run("domain", "submit", land.name(A))
    land.run("domain", "approve", land.name(A))
    with psycopg.connect(land.database_url) as holder:
        holder.execute("select * from crawl_queue for update")
        # A page that was typed is put into the queue's row: that needs the lock.
        with land.start(f"http://{land.name(A)}/about", BAILIWICK_DATABASE_LOCK_TIMEOUT_SECONDS="1") as started:
            land.wait_for(
                "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'"
                " and datname = current_database()"
            )
            time.sleep(2)
            holder.rollback()
            ended = started.wait()
    assert ended.code == 0, ended
    assert "somebody else holds a lock" in ended.err
    assert "trying again" in ended.err


def test_a_crawl_that_starts_while_the_database_restarts_waits_for_it(land_of: MakeLand) -> None:
    """The first connections find nobody; it says so and goes on. Engines that follow a killed one start like this."""
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=5))
    socket = land.home / "elsewhere"
    socket.mkdir()
    name, _, query = land.database_url.partition("?")
    there = query.partition("host=")[2].partition("&")[0]
    with land.start(land.name(A), BAILIWICK_DATABASE_URL=f"{name}?host={socket}&port=5432") as started:
        assert started.process.stderr is not None
        told = started.process.stderr.readline()
        (socket / ".s.PGSQL.5432").symlink_to(f"{there}/.s.PGSQL.5432")
        ended = started.wait()
    assert ended.code == 0, ended
    assert "no connection to PostgreSQL" in told
    assert land.fetched(A) == land.running.web[A].reachable()
