"""Jobs and runs in real crawls: budgets, several processes, pause, resume, cancel, withdrawal."""

import time
from typing import Any

from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

A, B = "alpha.test", "beta.test"
DONE = "select coalesce(sum(pages_crawled), 0) >= :least from domain_progress"


def job(land: Land, *arguments: str) -> None:
    land.run("job", *arguments)


def run_row(land: Land) -> Any:
    [row] = land.rows("select * from run_domains order by run_id desc limit 1")
    return row


def test_each_domain_has_its_own_budget(land_of: MakeLand) -> None:
    land = land_of(Web.generate(1, hosts=[A, B], pages_per_host=60))
    told = land.summary(land.name(A), land.name(B), "--max-pages", "25", "--depth", "all")
    assert {host: row["pages"] for host, row in told.items()} == {A: 25, B: 25}
    assert {row["stop_reason"] for row in told.values()} == {"page_budget"}
    assert "run again or --max-pages 0" in told[A]["next"]
    land.check()


def test_an_unfinished_run_keeps_its_count_and_a_finished_one_starts_anew(land_of: MakeLand) -> None:
    land = land_of(Web.generate(2, hosts=[A], pages_per_host=100))
    with land.start(land.name(A), "--max-pages", "50", "--depth", "all", delay="0.05") as started:
        land.wait_for(DONE, least=10)
        started.interrupt()
        assert started.wait(seconds=15).code == 130
    done = run_row(land).pages_done
    assert 10 <= done < 50
    assert run_row(land).stop_reason == "shutdown"
    rest = land.summary(land.name(A), "--depth", "all")
    assert rest[A]["pages"] == 50 - done
    assert (run_row(land).pages_done, run_row(land).stop_reason) == (50, "page_budget")
    again = land.summary(land.name(A), "--max-pages", "30", "--depth", "all")
    assert again[A]["pages"] == 30
    assert land.value("select count(*) from runs r join jobs j on j.id = r.job_id where kind = 'crawl'") == 2
    land.check()


def test_a_new_limit_replaces_that_of_an_unfinished_run(land_of: MakeLand) -> None:
    land = land_of(Web.generate(2, hosts=[A], pages_per_host=100))
    land.crawl(land.name(A), "--max-pages", "80", "--depth", "all", "--time", "0.7", delay="0.05")
    done = run_row(land).pages_done
    assert run_row(land).stop_reason == "time_budget"
    told = land.summary(land.name(A), "--max-pages", "40", "--depth", "all")
    assert told[A]["pages"] == 40 - done
    assert (run_row(land).pages_done, run_row(land).page_budget) == (40, 40)


def test_requests_have_a_budget_too(land_of: MakeLand) -> None:
    """Every request counts, those for learning the origin too."""
    land = land_of(Web.generate(3, hosts=[A], pages_per_host=40))
    told = land.summary(land.name(A), "--max-requests", "10", "--depth", "all")
    assert told[A]["stop_reason"] == "request_budget"
    row = run_row(land)
    assert row.requests_done == 10
    assert row.pages_done < 10


def test_depth(land_of: MakeLand) -> None:
    """0 is the start page only; deeper links stay pending, and a higher limit goes on."""
    land = land_of(Web.generate(4, hosts=[A], pages_per_host=60))
    site = land.running.web[A]
    for depth in (0, 1, 2, 4):
        told = land.summary(land.name(A), "--depth", str(depth))
        assert land.fetched(A) == site.reachable(depth)
        deeper = site.reachable() - site.reachable(depth)
        assert told[A]["stop_reason"] == ("depth_limit" if deeper else "frontier_empty")
    land.check()


def test_a_typed_url_is_the_start_page(land_of: MakeLand) -> None:
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=40))
    start = next(path for path in sorted(land.running.web[A].reachable()) if path != "/")
    land.crawl(f"http://{land.name(A)}{start}", "--depth", "0")
    assert land.fetched(A) == {start}
    assert land.value("select depth from pages where path = :path", path=start) == 0


def test_two_processes_share_the_work(land_of: MakeLand) -> None:
    """One command twice, at once: no page is fetched twice, no domain has two holders, both end."""
    hosts = [f"host{n}.test" for n in range(8)]
    land = land_of(Web.generate(6, hosts=hosts, pages_per_host=25))
    seeds = (*(land.name(host) for host in hosts), "--depth", "all")
    few = {"BAILIWICK_CRAWL_MAX_OPEN_DOMAINS": "2", "BAILIWICK_CRAWL_CLAIM_BATCH": "2"}
    with land.start(*seeds, delay="0.02", **few) as one, land.start(*seeds, delay="0.02", **few) as two:
        ends = one.wait(), two.wait()
    assert [end.code for end in ends] == [0, 0], ends
    assert all(" 0 pages of" not in end.out for end in ends)
    for host in hosts:
        assert land.fetched(host) == land.running.web[host].reachable()
    assert land.value("select count(*) from fetch_log") == 8 * 25
    assert land.value("select count(*) from jobs where kind = 'crawl' and state = 'finished'") == 1
    land.check()


def test_pause_resume_and_cancel_in_the_middle(land_of: MakeLand) -> None:
    land = land_of(Web.generate(7, hosts=[A], pages_per_host=900))
    job(land, "create", land.name(A), "--name", "mine", "--delay", "0.05", "--depth", "all", "--max-pages", "0")
    with land.start("--daemon", "--resolve", land.running.resolve) as worker:
        land.wait_for(DONE, least=5)
        job(land, "pause", "mine")
        paused = time.monotonic()
        land.wait_for("select worker is null from crawl_queue")
        assert time.monotonic() - paused < 6
        assert "only paused jobs want it" in land.run("explain", land.name(A)).out
        count = len(land.running.log.times(A))
        time.sleep(2.5)
        assert len(land.running.log.times(A)) == count
        land.check()
        job(land, "resume", "mine")
        land.wait_for(DONE, least=count + 10)
        job(land, "cancel", "mine")
        land.wait_for("select worker is null from crawl_queue")
        done = land.value("select pages_done from run_domains")
        time.sleep(2.5)
        assert land.value("select sum(pages_crawled) from domain_progress") == done
        worker.interrupt()
        assert worker.wait(seconds=15).code == 130
    assert run_row(land).stop_reason == "cancelled"
    assert land.value("select state from jobs where name = 'mine'") == "cancelled"
    assert 0 < len(land.fetched(A)) < 900
    land.check()
    job(land, "delete", "mine")
    assert land.run("job", "show", "mine", code=1).err.startswith("error: there is no job 'mine'")
    assert len(land.fetched(A)) == done


def test_a_withdrawn_approval_stops_the_crawl_within_seconds(land_of: MakeLand) -> None:
    land = land_of(Web.generate(8, hosts=[A], pages_per_host=200))
    with land.start(land.name(A), "--depth", "all", delay="0.05") as started:
        land.wait_for(DONE, least=5)
        land.run("domain", "suspend", land.name(A), "--reason", "they asked us to")
        stopped = time.monotonic()
        ended = started.wait(seconds=15)
    assert ended.code == 0
    assert "may not be crawled any more" in ended.out
    assert land.running.log.times(A)[-1] - stopped < 3.5
    land.check()
    land.run("domain", "resume", land.name(A))
    land.crawl(land.name(A), "--depth", "all")
    assert land.fetched(A) == land.running.web[A].reachable()


def test_an_approved_domain_belongs_to_the_standing_job(land_of: MakeLand) -> None:
    land = land_of(Web.generate(9, hosts=[A], pages_per_host=12))
    land.run("domain", "submit", land.name(A))
    assert "nothing is due" in land.crawl_due().out
    land.run("domain", "approve", land.name(A))
    land.crawl_due()
    assert land.fetched(A) == land.running.web[A].reachable(3)
    row = run_row(land)
    assert (
        land.value("select j.kind from runs r join jobs j on j.id = r.job_id where r.id = :id", id=row.run_id)
        == "standing"
    )
    assert row.stop_reason == "frontier_empty"
    assert land.value("select last_run_id from domains") == row.run_id
    land.check()


def test_scope_site_admits_hosts_of_the_site(land_of: MakeLand) -> None:
    """Links to other hosts of the seed's site become domains of the same job; other sites stay outlinks."""
    from bailiwick.demo.web.behaviours import linking

    hosts = ["site.test", "docs.site.test", "shop.site.test", B]
    web = Web.generate(10, hosts=hosts, pages_per_host=6, noise=False)
    land = land_of(web)
    port = land.running.port
    web["site.test"].behave("/", linking(f"http://docs.site.test:{port}/", f"http://{B}:{port}/"))
    web["docs.site.test"].behave("/", linking(f"http://shop.site.test:{port}/"))
    land.crawl(land.name("site.test"), "--scope", "site", "--depth", "all")
    for host in hosts[:3]:
        assert land.fetched(host) == web[host].reachable()
    assert land.running.log.times(B) == []
    assert {row.name for row in land.rows("select name from domains")} == {land.name(host) for host in hosts[:3]}
    assert land.value("select count(*) from job_domains") == 3
    land.check()


def test_a_cap_of_known_pages_is_a_reason_of_its_own(land_of: MakeLand) -> None:
    land = land_of(Web.generate(11, hosts=[A], pages_per_host=60))
    told = land.summary(land.name(A), "--depth", "all", BAILIWICK_CRAWL_MAX_KNOWN_PAGES="20")
    assert told[A]["stop_reason"] == "known_pages_cap"
    assert land.value("select count(*) from pages") == 20
    assert land.value("select pages_refused > 0 from domain_progress")
    land.check()
