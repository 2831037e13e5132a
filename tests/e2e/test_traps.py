"""Endless sites, patterns and rules on links, as the real program deals with them on the local web."""

from datetime import UTC, datetime

import pytest

from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.behaviours import with_header
from bailiwick.demo.web.sites import Site, Web
from bailiwick.demo.web.traps import CalendarSite, EndlessSite, FacetSite, MirrorSite, RepetitionSite, SessionSite
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

MOST_PAGES = 300
ALL = ("--depth", "all", "--max-pages", "0")


def traps() -> list[tuple[EndlessSite, str]]:
    """Each with the rule that ends it."""
    return [
        (CalendarSite("calendar.test", datetime.now(UTC).date()), "calendar"),
        (FacetSite("shop.test"), "facets"),
        (SessionSite("session.test"), "session_id"),
        (MirrorSite("mirror.test"), "mirror"),
        (RepetitionSite("again.test"), "path_repetition"),
    ]


def real_pages_found(land: Land, site: EndlessSite) -> set[str | None]:
    return {site.real_page(path) for path in land.answered(site.host)} - {None}


def test_endless_sites_end_and_all_their_real_pages_are_found(land_of: MakeLand) -> None:
    sites = traps()
    land = land_of(Web([site for site, _ in sites]))
    land.crawl(*(land.name(site.host) for site, _ in sites), *ALL)
    for site, rule in sites:
        fetches = land.running.log.asked
        assert sum(n for (host, path), n in fetches.items() if host == site.host and path != "/robots.txt") < MOST_PAGES
        assert real_pages_found(land, site) == site.real_pages(), site.host
        [shown] = land.run("domain", "show", land.name(site.host), "--json").rows
        assert rule in shown["refused_by_rule"], site.host
        assert f"{rule.replace('_', ' ')} " in land.run("domain", "show", land.name(site.host)).out
        [refused] = land.rows(
            "select r.path from refused_links r join domains d on d.id = r.domain_id "
            "where d.name = :name and r.rule = :rule limit 1",
            name=land.name(site.host), rule=rule,
        )  # fmt: skip
        [told] = land.run("explain", f"http://{land.name(site.host)}{refused.path}", "--json").rows
        assert (told["page_state"], told["page_rule"]) == ("refused", rule)
    land.check()


@pytest.mark.parametrize("pages", ["25"])
def test_a_trap_does_not_forget_between_runs(land_of: MakeLand, pages: str) -> None:
    """Many short runs, each of them a new process, fetch no more of a calendar than a long one."""
    site = CalendarSite("calendar.test", datetime.now(UTC).date())
    land = land_of(Web([site]))
    for _ in range(14):
        land.crawl(land.name(site.host), "--depth", "all", "--max-pages", pages)
    assert len(land.answered(site.host)) < MOST_PAGES
    assert real_pages_found(land, site) == site.real_pages()
    assert land.crawl_state(site.host) == "exhausted"


def site_of(*pages: Page) -> Site:
    site = Site("site.test")
    site.add(*pages)
    return site


def page(path: str, *hrefs: str, head: str = "") -> Page:
    links = "".join(f'<a href="{href}">{href}</a>' for href in hrefs)
    return Page(
        path, f"<!doctype html><head><title>{path}</title>{head}</head><body><p>This is {path}.</p>{links}</body>"
    )


def test_patterns_keep_pages_back_for_one_job(land_of: MakeLand) -> None:
    paths = ("/docs/a", "/docs/b?print=1", "/blog/1", "/blog/2", "/about")
    land = land_of(Web([site_of(page("/", *paths), *map(page, paths))]))
    name = land.name("site.test")
    land.crawl(name, "--include", "/docs/", "--exclude", "print=", *ALL)
    assert land.answered("site.test") == {"/", "/docs/a"}
    [told] = land.run("explain", f"http://{name}/blog/1", "--json").rows
    assert (told["page_state"], told["page_rule"]) == ("failed", "not_included")
    [told] = land.run("explain", f"http://{name}/docs/b?print=1", "--json").rows
    assert told["page_rule"] == "excluded"
    [shown] = land.run("domain", "show", name, "--json").rows
    assert shown["refused_by_rule"] == {"not_included": 3, "excluded": 1}
    assert shown["crawl"] == "active"
    land.crawl(name, "--exclude", "/blog/", *ALL)
    assert land.answered("site.test") == {"/", "/docs/a", "/docs/b?print=1", "/about"}
    land.crawl(name, *ALL)
    assert land.answered("site.test") == {"/", *paths}
    land.check()


def test_a_bad_pattern_is_refused_before_anything_is_done(land_of: MakeLand) -> None:
    land = land_of(Web([site_of(page("/"))]))
    ran = land.crawl(land.name("site.test"), "--exclude", "re:(a+)+$", code=2)
    assert "repeats something with a repetition" in ran.err
    assert not land.running.log.asked


def test_nofollow_is_obeyed(land_of: MakeLand) -> None:
    site = site_of(
        page("/", "/meta", "/header", "/plain"),
        page("/meta", "/behind-meta", head='<meta name="robots" content="nofollow">'),
        page("/header", "/behind-header"),
        page("/plain", "/behind-plain"),
    )
    site.behave("/header", with_header("X-Robots-Tag", "nofollow"))
    land = land_of(Web([site]))
    land.crawl(land.name(site.host), *ALL)
    asked = {path for _, path in land.running.log.asked}
    assert {"/meta", "/header", "/plain", "/behind-plain"} <= asked
    assert not {"/behind-meta", "/behind-header"} & asked


def test_explain_tells_of_pages(land_of: MakeLand) -> None:
    site = site_of(page("/", "/a", "/gone", "/secret", "/1"), page("/a"), page("/1", "/2"), page("/2", "/3"))
    site.robots = "User-agent: *\nDisallow: /secret\n"
    land = land_of(Web([site]))
    land.crawl(land.name("site.test"), "--depth", "2")

    def told(path: str) -> tuple[str, str]:
        [row] = land.run("explain", f"http://{land.name('site.test')}{path}", "--json").rows
        return row["page_state"], row["page_rule"]

    assert told("/a") == ("downloaded", "fetched")
    assert told("/gone") == ("failed", "not_found")
    assert told("/secret") == ("failed", "robots_denied")
    assert told("/secret/other") == ("unknown", "robots_denied")
    assert told("/nowhere") == ("unknown", "unknown")
    assert told("/3")[1] == "waiting"
    plain = land.run("explain", f"http://{land.name('site.test')}/secret").out
    assert "robots.txt forbids it: Disallow: /secret" in plain
    assert "page" not in land.run("explain", land.name("site.test"), "--json").rows[0]
