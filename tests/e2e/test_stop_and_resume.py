"""Specification 002 section 8: stop, go on, crash, run again. Real processes, a real web, a real database."""

import signal
import time

import pytest

from bailiwick.demo.web.behaviours import status
from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

A, B, C, D = "alpha.test", "beta.test", "gamma.test", "delta.test"


def web_8_1() -> Web:
    """A is large, B is small, C answers 403 everywhere, D is small."""
    sizes = {A: 120, B: 15, C: 10, D: 12}
    web = Web(
        [Web.generate(n, hosts=[host], pages_per_host=size)[host] for n, (host, size) in enumerate(sizes.items())]
    )
    web[C].behave_everywhere(status(403))
    return web


def names(land: Land, *hosts: str) -> list[str]:
    return [land.name(host) for host in hosts]


def test_8_1_graceful_stop_and_the_next_run(land_of: MakeLand) -> None:
    """Run 1 is stopped: A is partly crawled, B is done, C is blocked, D was not started. Run 2 goes on."""
    land = land_of(web_8_1())
    # One domain at a time is open, so that the stop comes before D.
    one = {"BAILIWICK_CRAWL_MAX_OPEN_DOMAINS": "1"}
    land.crawl(land.name(B), **one)
    land.crawl(land.name(C), **one)
    with land.start(land.name(A), "--depth", "all", delay="0.05", **one) as started:
        land.wait_for("select coalesce(sum(p.pages_crawled), 0) > 30 from domain_progress p join domains d on"
                      " d.id = p.domain_id where d.name = :name", name=land.name(A))  # fmt: skip
        started.interrupt()
        ended = started.wait(seconds=15)
    assert ended.code == 130
    land.run("domain", "submit", land.name(D))
    land.run("domain", "approve", land.name(D))
    before = land.fetched(A)
    assert 30 < len(before) < 120
    assert [land.crawl_state(host) for host in (A, B, C, D)] == ["active", "exhausted", "blocked", "pending"]
    days = "select extract(days from next_crawl_after - now())::int from domains where name = :name"
    assert land.value(days, name=land.name(C)) in (13, 14)
    land.check()

    counts = {host: len(land.running.log.times(host)) for host in (A, B, C)}
    again = land.crawl(*names(land, A, B, C, D), "--depth", "all")
    assert "beta.test" in again.err
    assert "all known pages are fetched" in again.err
    assert "bailiwick domain recrawl" in again.err
    assert "gamma.test" in again.err
    assert "forbidden" in again.err
    assert [land.crawl_state(host) for host in (A, B, C, D)] == ["exhausted", "exhausted", "blocked", "exhausted"]
    assert {host: len(land.running.log.times(host)) for host in (B, C)} == {B: counts[B], C: counts[C]}
    assert land.fetched(A) == land.running.web[A].reachable()
    assert land.fetched(D) == land.running.web[D].reachable()
    # No page of A that was written is fetched again.
    assert len(land.running.log.times(A)) - counts[A] == len(land.fetched(A) - before)
    land.check()


def test_8_2_crash_recovery(land_of: MakeLand) -> None:
    """A killed engine is started again by its parent and goes on; nothing is lost, nothing is counted twice."""
    land = land_of(Web.generate(3, hosts=[A], pages_per_host=150))
    with land.start(land.name(A), "--depth", "all", delay="0.01") as started:
        for least in (20, 60):
            land.wait_for("select coalesce(sum(pages_crawled), 0) > :least from domain_progress", least=least)
            started.engine().kill()
            time.sleep(0.3)
        ended = started.wait()
    assert ended.code == 0, ended
    assert ended.err.count("the crawl died (SIGKILL)") == 2
    assert land.fetched(A) == land.answered(A) == land.running.web[A].reachable()
    assert land.value("select count(*) from runs r join jobs j on j.id = r.job_id where j.kind = 'crawl'") == 1
    land.check()


def test_8_3_same_seeds_same_max_pages(land_of: MakeLand) -> None:
    """Only pending and active domains are crawled; exhausted and blocked ones are passed over."""
    land = land_of(web_8_1())
    seeds = names(land, A, B, C, D)
    first = land.summary(*seeds, "--max-pages", "40", "--depth", "all")
    assert first[A]["stop_reason"] == "page_budget"
    assert first[B]["stop_reason"] == "frontier_empty"
    assert first[C]["stop_reason"] == "error_limit"
    second = land.summary(*seeds, "--max-pages", "40", "--depth", "all")
    assert set(second) == {A}
    assert second[A]["pages"] == 40
    land.check()


def test_8_3_same_seeds_higher_max_pages(land_of: MakeLand) -> None:
    """An active domain gets more budget; an exhausted one stays as it is."""
    land = land_of(web_8_1())
    land.summary(*names(land, A, B), "--max-pages", "30")
    second = land.summary(*names(land, A, B), "--max-pages", "0", "--depth", "all")
    assert set(second) == {A}
    assert land.fetched(A) == land.running.web[A].reachable()
    land.check()


def test_8_3_new_seeds_added(land_of: MakeLand) -> None:
    land = land_of(web_8_1())
    land.summary(land.name(B))
    second = land.summary(*names(land, B, D))
    assert set(second) == {D}
    assert [land.crawl_state(host) for host in (B, D)] == ["exhausted", "exhausted"]
    land.check()


def test_8_3_force_recrawl_of_an_exhausted_domain(land_of: MakeLand) -> None:
    """All its pages are fetched again; what did not change is not stored again."""
    land = land_of(web_8_1())
    land.summary(land.name(B))
    packed = land.rows("select path, pack_id, pack_offset, body_hash from pages order by path")
    land.running.web[B].change("/")
    land.run("domain", "recrawl", land.name(B))
    land.crawl_due()
    assert land.crawl_state(B) == "exhausted"
    assert land.value("select min(fetch_count) from pages where last_status = 200") == 2
    now = land.rows("select path, pack_id, pack_offset, body_hash from pages order by path")
    assert [row.path for row, old in zip(now, packed, strict=True) if row != old] == ["/"]
    assert land.value("select change_count from pages where path = '/'") == 1
    land.check()


def test_a_second_interrupt_ends_at_once_and_loses_nothing(land_of: MakeLand) -> None:
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=100))
    with land.start(land.name(A), "--depth", "all", delay="0.02") as started:
        land.wait_for("select coalesce(sum(pages_crawled), 0) > 10 from domain_progress")
        engine = started.engine()
        engine.send_signal(signal.SIGINT)
        engine.send_signal(signal.SIGINT)
        ended = started.wait(seconds=5)
    assert ended.code == 130
    land.crawl(land.name(A), "--depth", "all")
    assert land.fetched(A) == land.answered(A) == land.running.web[A].reachable()
    land.check()


@pytest.mark.parametrize("point", ["after_pack", "before_commit", "after_commit", "before_release"])
def test_dying_at_each_point_loses_nothing(land_of: MakeLand, point: str) -> None:
    """The process ends right there (exit 137); the next command goes on, and the books agree."""
    land = land_of(Web.generate(7, hosts=[A, B], pages_per_host=60))
    seeds = (*names(land, A, B), "--depth", "all")
    count = "1" if point == "before_release" else "3"
    died = land.crawl(*seeds, code=137, BAILIWICK_FAILPOINT=f"{point}:{count}", BAILIWICK_CRAWL_FLUSH_PAGES="10")
    assert died.code == 137
    land.crawl(*seeds)
    for host in (A, B):
        assert land.fetched(host) == land.answered(host) == land.running.web[host].reachable()
        assert land.crawl_state(host) == "exhausted"
    land.check()
