"""Pages that kill their parser, pages that somebody asks for meanwhile, and the display that goes with it all."""

import os
import pty
import subprocess
import time
from dataclasses import replace

from bailiwick.demo.web.behaviours import linking
from bailiwick.demo.web.sites import Web
from tests.cli.tools import PROGRAM, environment
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

A = "alpha.test"


def test_a_page_that_kills_the_parser_is_found_out(land_of: MakeLand) -> None:
    """Twice it takes the engine with it; then it is parsed apart, dies three times alone, and is poison."""
    web = Web.generate(1, hosts=[A], pages_per_host=20)
    home = web[A].page("/")
    assert home is not None
    web[A].add(replace(home, path="/poison", body="<html><body>kill-the-parser</body></html>"))
    web[A].behave("/", linking("/poison"))
    land = land_of(web)
    with land.start(land.name(A), "--depth", "all", BAILIWICK_FAILPOINT="parse:kill-the-parser") as started:
        ended = started.wait(seconds=60)
    assert ended.code == 0, ended
    assert ended.err.count("the crawl died (SIGSEGV)") == 2
    poison = land.rows("select path, state, last_error from pages where last_outcome = 'poison'")
    assert [tuple(row) for row in poison] == [("/poison", "failed", "it kills the parser")]
    assert land.fetched(A) == web[A].reachable() - {"/poison"}
    assert land.value("select crashes from crawl_queue") == 0
    land.check()


def test_killing_workers_condemns_no_healthy_page(land_of: MakeLand) -> None:
    """Three kills from outside: pages are parsed apart from the second on, and all of them are well."""
    land = land_of(Web.generate(2, hosts=[A], pages_per_host=60))
    with land.start(land.name(A), "--depth", "all", delay="0.02") as started:
        for least in (5, 15, 25):
            land.wait_for("select coalesce(sum(pages_crawled), 0) >= :least from domain_progress", least=least)
            started.engine().kill()
            time.sleep(0.2)
        ended = started.wait()
    assert ended.code == 0, ended
    assert land.value("select count(*) from pages where last_outcome = 'poison'") == 0
    assert land.fetched(A) == land.running.web[A].reachable()
    land.check()


def test_a_page_that_is_asked_for_meanwhile_comes_first(land_of: MakeLand) -> None:
    web = Web.generate(3, hosts=[A], pages_per_host=150)
    home = web[A].page("/")
    assert home is not None
    web[A].add(replace(home, path="/hidden"))
    land = land_of(web)
    with land.start(land.name(A), "--depth", "all", delay="0.1") as started:
        land.wait_for("select coalesce(sum(pages_crawled), 0) >= 3 from domain_progress")
        land.run("url", "submit", f"http://{land.name(A)}/hidden")
        land.wait_for("select count(*) = 1 from pages where path = '/hidden' and last_status = 200", seconds=10)
        assert land.value("select pages_waiting > 0 from domain_progress")
        started.interrupt()
        started.wait(seconds=15)
    assert land.value("select depth from pages where path = '/hidden'") == 0
    assert land.value("select count(*) from page_requests") == 0
    land.check()


def test_delay_and_concurrency_as_the_server_sees_them(land_of: MakeLand) -> None:
    """Also across a stop: the next slice waits for what is left of the delay."""
    from bailiwick.demo.web.behaviours import delayed

    web = Web.generate(4, hosts=[A], pages_per_host=12)
    web[A].behave_everywhere(delayed(0.5))
    land = land_of(web)
    land.crawl(land.name(A), "--max-pages", "5", "--depth", "all", delay="0.25")
    land.crawl(land.name(A), "--max-pages", "0", "--depth", "all", delay="0.25")
    assert land.fetched(A) == web[A].reachable()
    assert land.running.log.min_gap(A) >= 0.22
    assert land.running.log.most_at_once(A) <= 5


def test_the_live_display(land_of: MakeLand) -> None:
    """On a terminal: progress, politeness and its price are shown while it runs."""
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=80))
    shown = on_a_terminal(land, land.name(A), "--depth", "all", "--resolve", land.running.resolve, "--time", "8")
    assert f"{land.name(A)}" in shown
    assert "politeness 2.0 s (default)" in shown
    assert "--delay to change" in shown
    assert "pages" in shown
    assert "the time is over: run again to go on" in shown


def on_a_terminal(land: Land, *arguments: str) -> str:
    """What a crawl writes to a terminal of 140 columns."""
    ours, theirs = pty.openpty()
    env = environment(**land.env, COLUMNS="140", LINES="40", TERM="xterm")
    process = subprocess.Popen(
        [PROGRAM, "crawl", *arguments], cwd=land.home, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:
        pass  # the terminal is gone with its last user
    finally:
        os.close(ours)
        process.wait(30)
    return seen.decode(errors="replace")
