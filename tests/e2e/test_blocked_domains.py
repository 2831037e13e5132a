"""Errors in a row end a domain's crawl for a while: with the reason of the most frequent one, and its cooldown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.answers import Answer, Behaviour, Page, Request
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Site, Web
from bailiwick.model.urls import hash_of
from tests.e2e.conftest import MakeLand
from tests.e2e.test_outcomes import shift_clock
from tests.e2e.tools import Land
from tests.servers import TestServers

# A retry is later than the test, so that each page counts once.
ENV = {"BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "1000"}
LIMIT = 20
"""The default of crawl.max_domain_errors."""


@dataclass(frozen=True)
class Ends:
    """How the crawl of a domain ends."""

    state: str
    code: str | None = None
    days: float = 14
    stop: str = "frontier_empty"


EXHAUSTED = Ends("exhausted")
WALLS: dict[str, tuple[list[tuple[int, Behaviour]], Ends]] = {
    # host: (so many pages each, how it ends)
    "login.test": ([(LIMIT, b.status(401))], Ends("blocked", "login_wall", 30, "login_wall")),
    "proxy-login.test": ([(LIMIT, b.status(407))], Ends("blocked", "login_wall", 30, "login_wall")),
    "forbidden.test": ([(LIMIT, b.status(403))], Ends("blocked", "forbidden", 14, "error_limit")),
    "broken.test": ([(LIMIT, b.status(500))], Ends("blocked", "error_limit", 7, "error_limit")),
    "silent.test": ([(LIMIT, b.dropped())], Ends("blocked", "error_limit", 7, "error_limit")),
    "late.test": ([(LIMIT, b.status(504))], Ends("unreachable", "unreachable", 7, "unreachable")),
    "mostly-forbidden.test": (
        [(9, b.status(403)), (6, b.status(500)), (5, b.status(401))],
        Ends("blocked", "forbidden", 14, "error_limit"),
    ),
    "mostly-broken.test": (
        [(7, b.status(403)), (8, b.status(502)), (5, b.status(418))],
        Ends("blocked", "error_limit", 7, "error_limit"),
    ),
    "one-short.test": ([(LIMIT - 1, b.status(403))], EXHAUSTED),
    "missing.test": ([(3 * LIMIT, b.status(404))], EXHAUSTED),
    "gone.test": ([(3 * LIMIT, b.status(410))], EXHAUSTED),
}


def walled_site(host: str, pages: list[tuple[int, Behaviour]]) -> Site:
    """A home page, and behind it pages that behave so."""
    site = Site(host)
    flat = [behaviour for number, behaviour in pages for _ in range(number)]
    paths = {f"/page-{n}": behaviour for n, behaviour in enumerate(flat)}
    put(site, "/", paths)
    return site


def put(site: Site, at: str, paths: Mapping[str, Behaviour]) -> None:
    """A page that is well, with links to these."""
    links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)
    site.add(Page(at, f"<!doctype html><title>{at}</title><main>{links}</main>\n"))
    for path, behaviour in paths.items():
        site.behave(path, behaviour)


def stairs(host: str, *levels: tuple[int, Behaviour]) -> Site:
    """Levels of pages, each behind a page that is well and that is fetched after all of its own level."""
    site, at = Site(host), "/"
    for n, (number, behaviour) in enumerate(levels):
        # Pages of one depth go by their hash.
        *paths, hub = sorted((f"/level-{n}-{m}" for m in range(number + 1)), key=hash_of)
        put(site, at, dict.fromkeys(paths, behaviour) | {hub: with_nothing})
        at = hub
    put(site, at, {})
    return site


def with_nothing(_: Request, answer: Answer) -> Answer:
    return answer


def domain(land: Land, host: str) -> Any:
    sql = """
        select d.*, p.consecutive_error_count as in_row, p.pages_crawled as fetches, r.stop_reason,
               d.next_crawl_after - bailiwick_now() as rest
        from domains d join domain_progress p on p.domain_id = d.id
        left join run_domains r on r.run_id = d.last_run_id and r.domain_id = d.id where d.name = :name"""
    [row] = land.rows(sql, name=land.name(host))
    return row


def assert_rests(row: Any, days: float) -> None:
    """Due after so many days, counted from the end of the crawl, which was just now."""
    assert timedelta(days=days, minutes=-15) < row.rest <= timedelta(days=days)


STAIRS = [
    stairs("ups-and-downs.test", *[(15, b.status(403))] * 3),
    stairs("other-times.test", (15, b.status(403)), (15, b.status(403)), (LIMIT, b.status(500))),
]


@pytest.fixture(scope="module")
def walled(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Land]:
    web = Web([*(walled_site(host, pages) for host, (pages, _) in WALLS.items()), *STAIRS])
    with serve(web) as running, servers.cloned("pg18") as url:
        land = Land(tmp_path_factory.mktemp("walls"), running, url)
        land.run("domain", "submit", "--approve", *(land.name(site.host) for site in STAIRS))
        land.rows_done("update domains set max_concurrent_requests = 1")  # so that the order is known
        land.crawl(*map(land.name, web.hosts), "--depth", "all", **ENV)
        yield land


@pytest.mark.parametrize("host", WALLS)
def test_errors_in_a_row_have_a_reason_and_a_cooldown(walled: Land, host: str) -> None:
    ends = WALLS[host][1]
    row = domain(walled, host)
    assert (row.crawl, row.block_reason_code, row.stop_reason) == (ends.state, ends.code, ends.stop), row.block_reason
    assert (row.block_retries, bool(row.block_reason)) == ((1, True) if ends.code else (0, False))
    assert_rests(row, ends.days)


def test_the_reason_says_how_many_and_which(walled: Land) -> None:
    assert domain(walled, "mostly-forbidden.test").block_reason == "20 errors in a row: forbidden (9 times)"


def test_the_books_agree(walled: Land) -> None:
    walled.check()


def test_a_page_that_is_well_starts_the_count_anew(walled: Land) -> None:
    """Thrice 15 errors and one page: 45 errors, and never 20 in a row."""
    row = domain(walled, "ups-and-downs.test")
    assert (row.crawl, row.stop_reason, row.in_row) == ("exhausted", "frontier_empty", 0)
    assert row.fetches == 1 + 3 * 16


def test_what_happened_before_the_count_began_is_not_the_reason(walled: Land) -> None:
    """Of 50 errors 30 are forbidden, but those were long ago: the 20 in a row are failures of the server."""
    row = domain(walled, "other-times.test")
    assert (row.crawl, row.block_reason_code) == ("blocked", "error_limit"), row.block_reason
    assert_rests(row, 7)


def test_a_host_that_asks_to_be_left_alone_is(land_of: MakeLand) -> None:
    """After one such answer: the second would have to wait for five seconds, the third for ten."""
    statuses = {"busy.test": 429, "down.test": 503}
    land = land_of(Web(walled_site(host, [(2, b.status(status))]) for host, status in statuses.items()))
    land.crawl(*map(land.name, statuses), **ENV, BAILIWICK_CRAWL_MAX_DOMAIN_ERRORS="1")
    for host in statuses:
        row = domain(land, host)
        assert (row.crawl, row.block_reason_code, row.stop_reason) == ("blocked", "rate_limited", "rate_limited")
        assert_rests(row, 7)


def test_blocked_domains_are_tried_again(land_of: MakeLand) -> None:
    """After the cooldown, or after a reset. One stays forbidden: at last only a reset helps. One is well again."""
    closed, reopened, forgiven = "closed.test", "reopened.test", "forgiven.test"
    walls = {host: walled_site(host, [(LIMIT, b.status(403))]) for host in (reopened, forgiven)}
    web = Web([Site(closed), *walls.values()])
    web[closed].behave("/", b.status(403))
    land = land_of(web)
    env = ENV | {"BAILIWICK_COOLDOWN_MAX_RETRIES": "1"}
    land.crawl(*map(land.name, web.hosts), **env)
    for host in web.hosts:
        row = domain(land, host)
        assert (row.crawl, row.block_reason_code, row.block_retries) == ("blocked", "forbidden", 1)
        assert_rests(row, 14)
    put(web[reopened], "/", {f"/page-{n}": b.noindex_header() for n in range(LIMIT)})
    web[reopened].add(*(Page(f"/page-{n}", f"<!doctype html><title>{n}</title>\n") for n in range(LIMIT)))
    land.run("domain", "reset", land.name(forgiven))
    shift_clock(land, "15 days")
    land.crawl_due(**env)
    row = domain(land, closed)
    assert (row.crawl, row.block_retries, row.next_crawl_after) == ("blocked", 2, None)
    assert land.running.log.asked[closed, "/"] == 2
    row = domain(land, reopened)
    assert (row.crawl, row.block_reason_code, row.block_retries, row.in_row) == ("exhausted", None, 0, 0)
    assert land.fetched(reopened) == {"/", *(f"/page-{n}" for n in range(LIMIT))}
    row = domain(land, forgiven)
    assert (row.crawl, row.block_reason_code, row.block_retries) == ("blocked", "forbidden", 1)
    assert row.fetches == 2 * (1 + LIMIT)
    land.check()
