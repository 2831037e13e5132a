"""Faults of what the crawl stands on: full disks, a database that is gone or held up, a network that stalls.

Each time it waits or stops with a clear message, loses nothing, and goes on later.
"""

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from bailiwick.base.sections import NetSettings
from bailiwick.db.embedded.users import server_user
from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Site, Web, made_up_names
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard, Resolve
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest
from tests.chaos.fault_tools import NO_LIMITS, OwnLand, crawling, own_server, project, small_disk
from tests.e2e.pace import LeaseHistory, too_close
from tests.e2e.tools import Land
from tests.servers import TestServers

A, B, C, D = HOSTS = ("alpha.test", "beta.test", "gamma.test", "delta.test")
LEASE_SECONDS = 4
SHORT = {"BAILIWICK_LEASE_SECONDS": str(LEASE_SECONDS), "BAILIWICK_LEASE_HEARTBEAT_SECONDS": "1"}
GONE_SECONDS = 12.0
"""Shorter than a minute, and still three leases long."""
IN_WAY = "select count(*) > 0 from pg_stat_activity where datname = current_database() and "


def heavy(host: str, pages: int, *, kilobytes: int) -> Site:
    """Pages that compress to half of that, all linked from the first."""
    noise = random.Random(host)
    paths = ["/", *(f"/p{n}" for n in range(1, pages))]
    links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
    site = Site(host)
    for path in paths:
        text = noise.randbytes(kilobytes * 500).hex()
        site.add(Page(path, f"<!doctype html><title>{path}</title><p>{path} {links}</p><p>{text}</p>"))
    return site


def all_fetched(land: Land, *hosts: str) -> None:
    assert {host: land.fetched(host) for host in hosts} == {h: land.running.web[h].reachable() for h in hosts}
    land.check()


# Full disks


def test_a_body_that_the_disk_cannot_hold_stops_the_crawl_and_the_same_command_goes_on(
    servers: TestServers, tmp_path: Path
) -> None:
    """ENOSPC in the middle of a body. What fitted is kept; nothing that is written is fetched again."""
    web = Web([heavy(A, 12, kilobytes=100), heavy(B, 3, kilobytes=4000)])
    packs = tmp_path / ".bailiwick" / "packs"
    with project(servers, tmp_path, web) as land, small_disk(packs, "1500k") as disk:
        seeds = (land.name(A), land.name(B))
        with crawling(land, *seeds, **NO_LIMITS) as crawl:
            ended = crawl.wait()
        assert ended.code == 1, ended
        assert ended.err == f"stopping: no room to write {packs}/00000001.pack: No space left on device\n"
        assert "the disk is full: make room and run again" in ended.out
        assert land.running.log.asked[B, "/"] == 1
        written = {(host, path) for host in (A, B) for path in land.fetched(host)}
        land.check()
        disk.resize("64m")
        again = land.crawl(*seeds)
        assert "going on with job" in again.err
        all_fetched(land, A, B)
        assert {land.running.log.asked[page] for page in written} <= {1}
        assert sum(land.running.log.asked.values()) <= 2 + 15 + 5, "only what was under way was fetched twice"


def test_a_flush_waits_for_room_for_its_bodies(servers: TestServers, tmp_path: Path) -> None:
    web = Web([heavy(A, 40, kilobytes=100), heavy(B, 3, kilobytes=10)])
    packs = tmp_path / ".bailiwick" / "packs"
    with project(servers, tmp_path, web) as land, small_disk(packs, "300k") as disk:
        with crawling(land, land.name(A), land.name(B), delay="0.15", **NO_LIMITS) as crawl:
            crawl.until_it_says("waiting: no room to write")
            asked = _until_quiet(land)
            disk.resize("64m")
            ended = crawl.wait()
        assert ended.code == 0, ended
        assert (ended.err.count("waiting: "), ended.err.count("going on\n")) == (1, 1)
        assert asked < 30, "it went on fetching what it could not keep"
        all_fetched(land, A, B)
        assert sum(land.running.log.asked.values()) <= 2 + 43 + 5


@pytest.mark.parametrize("panics", [False, True])
def test_a_full_disk_under_the_database_is_waited_for(home: Path, *, panics: bool) -> None:
    """A table that cannot grow, or a log that cannot: then the server dies, and cannot start until there is room."""
    web = Web.generate(1, hosts=[A, B], pages_per_host=150)
    pg = home / ".bailiwick" / "pg"
    with serve(web) as running, small_disk(pg, "200m", uid=server_user(None).uid) as disk:
        _, url = own_server(home)
        land = OwnLand(home, running, url)
        with crawling(land, land.name(A), land.name(B), "--depth", "all", delay="0.02") as crawl:
            land.wait_for("select coalesce(sum(pages_crawled), 0) >= 10 from domain_progress")
            disk.fill()
            crawl.until_it_says("waiting: the disk is full: could not extend file")
            if panics:
                with pytest.raises(psycopg.Error):
                    _fill_log(url)
                refused = land.run("status", code=None)
                assert refused.code == 5, refused
                assert "the database did not start" in refused.err
                assert "the disk is full" in refused.err
                assert "hint: make room" in refused.err
            else:
                _until_quiet(land)
            disk.resize("300m")
            ended = crawl.wait()
        assert ended.code == 0, ended
        assert (ended.err.count("waiting: "), ended.err.count("going on\n")) == (1, 1)
        assert "died" not in ended.err
        all_fetched(land, A, B)


def _fill_log(url: str) -> None:
    """Until the server needs another file for its log."""
    with psycopg.connect(url, autocommit=True) as conn:
        for _ in range(20):
            conn.execute("select pg_switch_wal(), pg_logical_emit_message(true, '', 'one more')")


def _until_quiet(land: Land, *, seconds: float = 2.0) -> int:
    """Wait until no request has come in for so long; how many came before?"""
    deadline = time.monotonic() + 20
    while True:
        count = len(land.running.log.entries())
        time.sleep(seconds)
        if len(land.running.log.entries()) == count:
            return count
        assert time.monotonic() < deadline, "requests go on"


# The database


def test_a_database_that_is_gone_for_longer_than_the_leases(home: Path) -> None:
    """Said once. Nothing is sent past a lease that cannot be renewed; later everything is fetched, politely."""
    web = Web.generate(2, hosts=HOSTS, pages_per_host=40)
    server, url = own_server(home)
    with serve(web) as running:
        land = Land(home, running, url)
        history = LeaseHistory(land)
        seeds = [land.name(host) for host in HOSTS]
        with crawling(land, *seeds, "--depth", "all", delay="0.2", **SHORT) as crawl:
            land.wait_for("select count(*) = 4 from domain_progress where pages_crawled >= 5")
            server.stop(mode=signal.SIGQUIT)
            gone = time.monotonic()
            crawl.until_it_says("waiting: ")
            time.sleep(GONE_SECONDS)
            back = time.monotonic()
            server.ensure_running()
            ended = crawl.wait()
        assert ended.code == 0, ended
        assert (ended.err.count("waiting: "), ended.err.count("going on\n")) == (1, 1)
        times = [moment for host in HOSTS for moment in running.log.times(host)]
        assert [moment - gone for moment in times if gone + 0.9 * LEASE_SECONDS < moment < back] == []
        assert [moment for moment in times if moment < gone]
        assert [moment for moment in times if moment > back]
        assert too_close(running.log, dict.fromkeys(HOSTS, 0.2)) == []
        assert set(history.most_live().values()) == {1}
        all_fetched(land, *HOSTS)


def test_a_crawl_that_starts_while_another_one_is_stopped_inside_a_transaction(
    servers: TestServers, tmp_path: Path
) -> None:
    """It waits for the locks, with a message, and goes on when they are free."""
    web = Web.generate(4, hosts=[A, B], pages_per_host=40)
    env = {"BAILIWICK_DATABASE_LOCK_TIMEOUT_SECONDS": "1"}
    with project(servers, tmp_path, web) as land:
        with crawling(land, land.name(A), "--depth", "all", delay="0.05", **env) as first:
            land.wait_for("select coalesce(sum(pages_crawled), 0) >= 3 from domain_progress")
            with psycopg.connect(land.database_url) as conn:
                conn.execute("select * from domain_progress for update")
                land.wait_for(f"{IN_WAY} wait_event_type = 'Lock'")  # a flush: it holds the queue's rows already
                stopped = first.engine()
                stopped.suspend()
            land.wait_for(f"{IN_WAY} state = 'idle in transaction'")
            with crawling(land, land.name(A), land.name(B), "--depth", "all", **env) as second:
                second.until_it_says("somebody else holds a lock")
                time.sleep(2)
                stopped.resume()
                ends = second.wait(), first.wait()
        assert [end.code for end in ends] == [0, 0], ends
        assert ends[0].err.count("trying again") == 1
        all_fetched(land, A, B)


# The network


@contextmanager
def web_process(log: Path, pages: int) -> Iterator[tuple[psutil.Process, int]]:
    """One host of the local web in a process of its own, and its port."""
    command = [sys.executable, "-m", "bailiwick.demo.web", "--hosts", "1", "--pages", str(pages), "--log", str(log)]
    with subprocess.Popen([*command, "--until-eof"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as web:
        assert web.stdout is not None
        process = psutil.Process(web.pid)
        try:
            yield process, json.loads(web.stdout.readline())["port"]
        finally:
            process.resume()
            web.terminate()


def test_a_network_that_stalls_holds_up_its_own_domain_alone(servers: TestServers, tmp_path: Path) -> None:
    """The server takes connections and reads nothing, for much longer than the time-outs."""
    [stalling] = made_up_names(1)
    quick = {
        "BAILIWICK_NET_IDLE_TIMEOUT_SECONDS": "0.7", "BAILIWICK_NET_TOTAL_TIMEOUT_SECONDS": "2",
        "BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.5", "BAILIWICK_CRAWL_MAX_DOMAIN_ERRORS": "100",
    }  # fmt: skip
    log = tmp_path / "log"
    with project(servers, tmp_path, Web.generate(5, hosts=[B], pages_per_host=40)) as land, web_process(log, 40) as web:
        process, port = web
        seeds = (f"{stalling}:{port}", land.name(B), "--resolve", f"{stalling}:{port}:127.0.0.1")
        done = "select count(*) > 0 from domains where name = :name and crawl = 'exhausted'"
        with crawling(land, *seeds, "--depth", "all", delay="0.1", **quick) as crawl:
            land.wait_for("select count(*) > 3 from pages where path <> '/' and state = 'fetched' and domain_id ="
                          " (select id from domains where name = :name)", name=f"{stalling}:{port}")  # fmt: skip
            process.suspend()
            land.wait_for("select count(*) > 2 from fetch_log where outcome = 'timeout'")
            land.wait_for(done, name=land.name(B))
            process.resume()
            ended = crawl.wait()
        assert ended.code == 0, ended
        assert land.value(done, name=f"{stalling}:{port}")
        wanted = Web.generate(0, hosts=1, pages_per_host=40)[stalling].reachable()
        sql = "select path from pages p join domains d on d.id = p.domain_id where d.name = :name and last_status = 200"
        assert {row.path for row in land.rows(sql, name=f"{stalling}:{port}")} == wanted
        assert too_close(RequestLog.read(log), {stalling: 0.1}) == []
        all_fetched(land, B)


class SilentDns(AbstractResolver):
    """A name server that never answers."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        await asyncio.sleep(3600)
        raise AssertionError((host, port, family))

    async def close(self) -> None:
        pass


class Always:
    def sending(self) -> bool:
        return True


def test_a_name_server_that_never_answers_is_a_time_out_and_in_nobodys_way() -> None:
    with serve(Web.generate(6, hosts=[A], pages_per_host=3)) as running:

        async def story() -> tuple[list[FetchAnswer | FetchFailure], FetchAnswer | FetchFailure]:
            guard = Guard(allow_private=False, resolves=(Resolve.parse(running.resolve),))
            settings = NetSettings(total_timeout_seconds=1.5)
            fetcher = HttpFetcher(settings, guard, user_agent="test", dns=SilentDns())
            try:
                unheard = [asyncio.create_task(fetcher.fetch(_request(f"http://h{n}.example/"))) for n in range(20)]
                await asyncio.sleep(0)
                answer = await fetcher.fetch(_request(running.url(A)))
                assert not any(task.done() for task in unheard)
                return await asyncio.gather(*unheard), answer
            finally:
                await fetcher.close()

        failures, answer = asyncio.run(story())
    assert isinstance(answer, FetchAnswer)
    assert {failure.kind for failure in failures if isinstance(failure, FetchFailure)} == {FailureKind.TIMEOUT}
    assert all(isinstance(failure, FetchFailure) and failure.milliseconds < 10_000 for failure in failures)


def _request(url: str) -> FetchRequest:
    return FetchRequest(url, Always(), {}, lambda _status, _type: True)
