"""No way inside, with the real program: what a site says leads to no address on loopback but the site's own."""

from collections.abc import Iterator

import pytest

from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.behaviours import linking, redirect
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.conftest import MakeLand
from tests.net.inside import Canary, canary

PAGES, ROBOTS, SITEMAPS = "pages.test", "robots.test", "sitemaps.test"
HOSTS = ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0.0.0.0")
QUICK = {
    "BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.1",
    "BAILIWICK_CRAWL_MAX_RETRIES": "1",
    "BAILIWICK_NET_IDLE_TIMEOUT_SECONDS": "0.5",
}
NAMES_ALLOWED = {"BAILIWICK_NAMES_ALLOW_PRIVATE": "true"}
"""So that names like `127.0.0.1` are no reason to stop: only the guard is left."""


@pytest.fixture
def bird() -> Iterator[Canary]:
    with canary() as made:
        yield made


def inside(bird: Canary, path: str = "/") -> list[str]:
    return [f"http://{host}:{bird.port}{path}" for host in HOSTS]


def hostile_web(bird: Canary) -> Web:
    pages = Web.generate(1, hosts=[PAGES], pages_per_host=5)[PAGES]
    for number, url in enumerate(inside(bird)):
        pages.add(Page(f"/to-{number}", ""))
        pages.behave(f"/to-{number}", redirect(url))
    pages.behave("/", linking(*inside(bird), *(f"/to-{number}" for number in range(len(HOSTS)))))
    robots = Site(ROBOTS)
    robots.add(Page("/", "<p>Home</p>"))
    robots.behave("/robots.txt", redirect(inside(bird, "/robots.txt")[0]))
    sitemaps = Site(SITEMAPS, robots="\n".join(f"Sitemap: {url}" for url in inside(bird, "/map.xml")))
    urls = "".join(f"<url><loc>{url}</loc></url>" for url in [*inside(bird), "/found"])
    sitemaps.add(
        Page("/", "<p>Home</p>"),
        Page("/found", "<p>Found</p>"),
        Page("/map.xml", f"<urlset>{urls}</urlset>", content_type="application/xml"),
        Page("/away.xml", ""),
    )
    sitemaps.behave("/away.xml", redirect(inside(bird, "/map.xml")[0]))
    return Web([pages, robots, sitemaps])


@pytest.mark.parametrize("env", [{}, NAMES_ALLOWED], ids=["names refused", "names allowed"])
def test_no_redirect_robots_sitemap_or_link_leads_inside(land_of: MakeLand, bird: Canary, env: dict[str, str]) -> None:
    web = hostile_web(bird)
    land = land_of(web)
    map_url = land.running.url(SITEMAPS, "/map.xml")
    away_url = land.running.url(SITEMAPS, "/away.xml")
    web[SITEMAPS].robots = f"{web[SITEMAPS].robots}\nSitemap: {map_url}\nSitemap: {away_url}"
    land.crawl(*(land.name(host) for host in (PAGES, ROBOTS, SITEMAPS)), "--depth", "all", **QUICK, **env)
    assert bird.hits() == 0
    asked = {(entry.host, entry.path) for entry in land.running.log.entries()}
    assert {(PAGES, f"/to-{number}") for number in range(len(HOSTS))} <= asked
    assert {(ROBOTS, "/robots.txt"), (SITEMAPS, "/map.xml"), (SITEMAPS, "/away.xml"), (SITEMAPS, "/found")} <= asked
    land.check()


def test_the_canary_is_hit_where_the_operator_allows_it(land_of: MakeLand, bird: Canary) -> None:
    """The same web, and private networks allowed: so the zero above is the guard's doing."""
    land = land_of(hostile_web(bird))
    env = {**QUICK, **NAMES_ALLOWED, "BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS": "true"}
    land.crawl(land.name(ROBOTS), **env)
    assert bird.hits() > 0
