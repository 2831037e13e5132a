"""Clocks that jump by an hour, forward and back, in the middle of a crawl: the database's, and a worker's own.

Lease times are the database's, pauses are counted on clocks that nobody sets: nothing is lost, nothing comes too close.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bailiwick.demo.web.sites import Web
from tests.chaos.fault_tools import crawling, project
from tests.e2e.pace import LeaseHistory, too_close
from tests.e2e.tools import Land
from tests.servers import TestServers

HOSTS = ("alpha.test", "beta.test", "gamma.test")
DELAY = 0.2
RENEWED = {"BAILIWICK_LEASE_HEARTBEAT_SECONDS": "1"}
SMALL_STEPS = {"BAILIWICK_CRAWL_FLUSH_PAGES": "8"}
"""So that most of the frontier is taken after the jump."""
UNDER_WAY = f"select count(*) = {len(HOSTS)} from domain_progress where pages_crawled >= 5"


@pytest.fixture
def land(servers: TestServers, tmp_path: Path) -> Iterator[Land]:
    with project(servers, tmp_path, Web.generate(2, hosts=HOSTS, pages_per_host=40)) as found:
        yield found


def set_database_clock(land: Land, hours: int) -> None:
    land.rows_done(
        "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
        f"return now() + interval '{hours} hours'"
    )


def judge(land: Land, history: LeaseHistory) -> None:
    """All fetched, one holder a domain, never too close; and what was written has times that make sense."""
    assert {host: land.fetched(host) for host in HOSTS} == {h: land.running.web[h].reachable() for h in HOSTS}
    assert set(history.most_live().values()) == {1}
    assert too_close(land.running.log, dict.fromkeys(HOSTS, DELAY)) == []
    due = land.rows("select extract(epoch from next_at - bailiwick_now())::int / 3600 as hours, state from pages")
    assert {row.state for row in due} == {"fetched"}
    assert {row.hours for row in due} <= set(range(14 * 24 - 2, 14 * 24 + 2))
    assert land.value("select count(*) from fetch_log_default") == 0
    assert land.value("select count(*) from outbox_default") == 0
    land.check()


@pytest.mark.parametrize("hours", [1, -1])
def test_the_databases_clock_jumps(land: Land, hours: int) -> None:
    """Forward, every lease runs out at once under its holder, and another worker takes it over. Back, nobody waits."""
    history = LeaseHistory(land)
    seeds = [land.name(host) for host in HOSTS]
    with ExitStack() as stack:
        crawls = [
            stack.enter_context(crawling(land, *seeds, "--depth", "all", delay=str(DELAY), **SMALL_STEPS))
            for _ in range(2)
        ]
        land.wait_for(UNDER_WAY)
        set_database_clock(land, hours)
        ends = [crawl.wait() for crawl in crawls]
    assert [end.code for end in ends] == [0, 0], ends
    judge(land, history)
    lost = sum(end.out.count("its lease was lost") for end in ends)
    assert lost <= len(HOSTS)
    assert {tenure.lease_no for tenure in history.tenures()} == ({1, 2} if hours > 0 else {1})


def test_a_domain_of_which_the_clock_went_back_is_asked_again_after_its_delay(land: Land) -> None:
    """What was written an hour ahead of now makes no pause of an hour."""
    seeds = [land.name(host) for host in HOSTS]
    history = LeaseHistory(land)
    set_database_clock(land, 1)
    land.crawl(*seeds, "--depth", "all", "--max-pages", "10", delay=str(DELAY))
    set_database_clock(land, 0)
    again = land.crawl(*seeds, "--depth", "all", "--max-pages", "0", delay=str(DELAY))
    assert again.out.count("all known pages are fetched") == len(HOSTS), again
    judge(land, history)


def test_a_lease_that_comes_back_to_its_holder_before_it_saw_the_loss(land: Land) -> None:
    """It starts anew, at the old pace: the slice that was lost sends nothing beside the new one."""
    history = LeaseHistory(land)
    with crawling(land, *(land.name(host) for host in HOSTS), "--depth", "all", delay=str(DELAY)) as crawl:
        land.wait_for(UNDER_WAY)
        for _ in range(3):
            land.wait_for("select count(*) = 3 from crawl_queue where worker is not null")
            land.run("lease", "release", land.name(HOSTS[0]))
        ended = crawl.wait()
    assert ended.code == 0, ended
    judge(land, history)


@pytest.mark.parametrize("offset", ["+3600", "-3600"])
def test_a_workers_clock_jumps(land: Land, offset: str, tmp_path: Path) -> None:
    """By more than a lease lasts. It goes on as if nothing had happened, and what it writes has the database's time."""
    shift = tmp_path / "shift"
    shift.write_text("+0\n")
    history = LeaseHistory(land)
    seeds = [land.name(host) for host in HOSTS]
    env = RENEWED | SMALL_STEPS | shifted(shift)
    with crawling(land, *seeds, "--depth", "all", delay=str(DELAY), **env) as crawl:
        land.wait_for(UNDER_WAY)
        shift.write_text(f"{offset}\n")
        ended = crawl.wait()
    assert ended.code == 0, ended
    assert {tenure.lease_no for tenure in history.tenures()} == {1}
    judge(land, history)


def shifted(file: Path) -> dict[str, str]:
    """The environment of a program whose wall clock, and no other, is off by what the file says."""
    found = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if found is None:
        pytest.skip("shifts a program's clock: install Debian's package faketime")
    return {
        "LD_PRELOAD": str(found),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
