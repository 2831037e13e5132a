"""robots.txt and the host's own wishes, as the server sees them."""

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand

A = "alpha.test"
QUICK = {"BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.1"}


def paths(land: object) -> list[str]:
    return [entry.path for entry in land.running.log.entries(A)]  # type: ignore[attr-defined]


def test_what_robots_txt_forbids_is_not_asked_for(land_of: MakeLand) -> None:
    web = Web.generate(1, hosts=[A], pages_per_host=20)
    forbidden = sorted(web[A].reachable() - {"/"})[0]
    web[A].robots = f"User-agent: *\nDisallow: {forbidden}\n"
    land = land_of(web)
    land.crawl(land.name(A), "--depth", "all")
    asked = paths(land)
    assert asked[0] == "/robots.txt"
    assert asked.count("/robots.txt") == 1
    assert forbidden not in asked
    [row] = land.rows(
        "select state, last_outcome, last_error, fetch_count from pages where path = :path", path=forbidden
    )
    assert tuple(row) == ("failed", "robots_denied", f"Disallow: {forbidden}", 0)
    assert land.value("select refusals ->> 'robots_denied' from domain_memory") == "1"
    land.check()


def test_robots_txt_is_kept_between_runs(land_of: MakeLand) -> None:
    land = land_of(Web.generate(2, hosts=[A], pages_per_host=20))
    land.crawl(land.name(A), "--max-pages", "5", "--depth", "all")
    land.crawl(land.name(A), "--max-pages", "5", "--depth", "all")
    assert paths(land).count("/robots.txt") == 1
    assert land.value("select kind from robots_cache") == "open"
    land.rows_done("update robots_cache set expires_at = now()")
    land.crawl(land.name(A), "--depth", "all")
    assert paths(land).count("/robots.txt") == 2


def test_a_site_that_forbids_everything_is_blocked_for_90_days(land_of: MakeLand) -> None:
    web = Web.generate(3, hosts=[A], pages_per_host=5)
    web[A].robots = "User-agent: *\nDisallow: /\n"
    land = land_of(web)
    told = land.summary(land.name(A))
    assert told[A]["stop_reason"] == "robots_denied"
    assert paths(land) == ["/robots.txt"]
    [row] = land.rows(
        "select crawl, block_reason_code, extract(days from next_crawl_after - now())::int d from domains"
    )
    assert (row.crawl, row.block_reason_code) == ("blocked", "robots_denied")
    assert row.d in (89, 90)
    land.check()


def test_a_robots_txt_that_cannot_be_read_means_no_for_now(land_of: MakeLand) -> None:
    web = Web.generate(4, hosts=[A], pages_per_host=5)
    web[A].behave("/robots.txt", b.status(503))
    land = land_of(web)
    ran = land.crawl(land.name(A))
    assert "robots.txt cannot be read" in ran.out
    assert set(paths(land)) == {"/robots.txt"}
    assert land.value("select next_crawl_after > now() + interval '50 minutes' from domains")
    assert land.crawl_state(A) == "active"
    web[A].behave("/robots.txt")
    land.rows_done("update robots_cache set expires_at = now()")
    land.crawl(land.name(A))
    assert land.fetched(A) == web[A].reachable(3)
    land.check()


def test_rules_for_us_and_crawl_delay(land_of: MakeLand) -> None:
    """A group for our name counts, another one does not; the delay is raised by it, --delay 0 or not."""
    web = Web.generate(5, hosts=[A], pages_per_host=4)
    web[A].robots = "User-agent: *\nDisallow: /\n\nUser-agent: bailiwick\nCrawl-delay: 0.4\nDisallow:\n"
    land = land_of(web)
    land.crawl(land.name(A), "--depth", "all")
    assert land.fetched(A) == web[A].reachable()
    assert land.running.log.min_gap(A) >= 0.35


def test_a_host_that_asks_for_a_pause_gets_it(land_of: MakeLand) -> None:
    """429 with Retry-After: no request to the whole host meanwhile, and nothing is lost."""
    web = Web.generate(6, hosts=[A], pages_per_host=10)
    slow = sorted(web[A].reachable() - {"/"})[3]
    web[A].behave(slow, b.for_first(1, b.too_many_requests("6")))
    land = land_of(web)
    land.crawl(land.name(A), "--depth", "all", **QUICK)
    entries = land.running.log.entries(A)
    [refused] = [n for n, entry in enumerate(entries) if entry.status == 429]
    later = [entry for entry in entries[refused + 1 :] if entry.received > entries[refused].received + 0.5]
    assert later[0].received - entries[refused].received >= 5.5
    assert land.fetched(A) == web[A].reachable()
    land.check()


def test_sitemaps_and_feeds_name_pages(land_of: MakeLand) -> None:
    """From robots.txt and from the page: an index, a gzipped list, a feed; pages there have depth 1."""
    import gzip
    from dataclasses import replace

    web = Web.generate(7, hosts=[A], pages_per_host=6, noise=False)
    site = web[A]
    home = site.page("/")
    assert home is not None
    for path in ("/by-list", "/by-feed", "/deep/by-list"):
        site.add(replace(home, path=path, body=f"<html><body>{path}</body></html>"))
    land = land_of(web)
    here = f"http://{land.name(A)}"
    site.robots = f"User-agent: *\nDisallow: /deep/\nSitemap: {here}/index.xml\nSitemap: http://other.test/no.xml\n"
    index = f"<sitemapindex><sitemap><loc>{here}/list.xml.gz</loc></sitemap></sitemapindex>"
    urls = f"<urlset><url><loc>{here}/by-list</loc></url><url><loc>{here}/deep/by-list</loc></url></urlset>"
    feed = f"<rss version='2.0'><channel><item><link>{here}/by-feed</link></item></channel></rss>"
    site.behave("/index.xml", b.content("application/xml", index.encode()))
    site.behave("/list.xml.gz", b.content("application/gzip", gzip.compress(urls.encode())))
    site.behave("/feed.xml", b.content("application/rss+xml", feed.encode()))
    link = '<link rel="alternate" type="application/rss+xml" href="/feed.xml"></head>'
    site.behave("/", lambda _, answer: replace(answer, body=str(answer.body).replace("</head>", link)))
    land.crawl(land.name(A), "--depth", "0")
    assert "/index.xml" not in paths(land)
    land.crawl(land.name(A), "--depth", "all")
    found = {row.path: row.depth for row in land.rows("select path, depth from pages where last_status = 200")}
    assert (found["/by-list"], found["/by-feed"]) == (1, 1)
    assert "/deep/by-list" not in paths(land)
    assert {row.state for row in land.rows("select state from sitemaps")} == {"read"}
    assert land.running.log.entries("other.test") == []
    land.check()


def test_a_robots_txt_on_another_host_is_asked_for_through_that_hosts_gate(land_of: MakeLand) -> None:
    """Nobody holds that host: the request is reserved in the database; what it says holds for the sender."""
    other = "rules.test"
    web = Web.generate(8, hosts=[A, other], pages_per_host=4)
    forbidden = sorted(web[A].reachable() - {"/"})[0]
    web[other].robots = f"User-agent: *\nDisallow: {forbidden}\n"
    web[A].behave("/robots.txt", b.redirect("/robots.txt", host=other))
    land = land_of(web)
    land.crawl(land.name(A), "--depth", "all")
    assert [entry.path for entry in land.running.log.entries(other)] == ["/robots.txt"]
    assert [row.host for row in land.rows("select host from host_gates")] == [other]
    assert forbidden not in paths(land)
    assert land.fetched(A) == web[A].reachable() - {forbidden}
    land.check()
