"""Pages that answer 200 and are none, as the real program deals with them on the local web."""

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

LOGIN = (
    "<!doctype html><title>Sign in</title><main><h1>Sign in</h1><form action=/login method=post>"
    "<label>User name <input name=user></label><label>Password <input type=password name=password></label>"
    "<button>Sign in</button></form></main>"
)
MISSING = (
    "<!doctype html><title>Page not found</title><main><h1>Page not found</h1>"
    "<p>The page you asked for does not exist.</p>"
    "<p><a href=/>To the home page</a> <a href=more/of/this>More</a></p></main>"
)
TEXT = "<p>The harbour was built in 1824 and has been made larger twice since then.</p>" * 12


def page(path: str, *hrefs: str) -> Page:
    links = "".join(f'<li><a href="{href}">{href}</a></li>' for href in hrefs)
    header = "<header><a href=/login>Log in</a></header>"
    return Page(path, f"<!doctype html><title>About {path}</title>{header}<main><h1>On {path}</h1>{TEXT}{links}</main>")


def site_of(*pages: Page) -> Site:
    site = Site("site.test")
    site.add(*pages)
    return site


def told(land: Land) -> dict[str, tuple[str, str, int | None]]:
    rows = land.rows("select path, state, last_outcome, last_status from pages")
    return {row.path: (row.state, row.last_outcome, row.last_status) for row in rows}


def test_a_page_that_says_there_is_none_has_failed_and_its_links_are_not_followed(land_of: MakeLand) -> None:
    site = site_of(page("/", "/a", "/gone/"), page("/a"), Page("/gone/", MISSING))
    land = land_of(Web([site]))
    land.crawl(land.name("site.test"))
    assert told(land)["/gone/"] == ("failed", "soft_not_found", 200)
    assert told(land)["/a"] == ("fetched", "ok", 200)
    assert "/gone/more/of/this" not in told(land)
    assert land.value("select pack_id from pages where path = '/gone/'") is None
    assert land.crawl_state("site.test") == "exhausted"
    land.check()


def test_a_home_page_is_there_whatever_it_says(land_of: MakeLand) -> None:
    land = land_of(Web([site_of(Page("/", MISSING))]))
    land.crawl(land.name("site.test"))
    assert told(land)["/"] == ("fetched", "ok", 200)


def test_a_login_here_and_there_is_no_wall_around_the_domain(land_of: MakeLand) -> None:
    site = site_of(page("/", "/a", "/members", "/account"), page("/a"), Page("/members", LOGIN), Page("/login", LOGIN))
    site.behave("/account", b.redirect("/login?next=/account", status=302))
    land = land_of(Web([site]))
    land.crawl(land.name("site.test"))
    assert told(land)["/members"] == ("failed", "login", 200)
    assert told(land)["/account"] == ("failed", "login", 302)
    assert told(land)["/a"] == ("fetched", "ok", 200)
    assert "/login?next=/account" not in told(land)
    assert land.crawl_state("site.test") == "exhausted"
    land.check()


def test_a_domain_behind_a_login_is_blocked_for_30_days(land_of: MakeLand) -> None:
    site = site_of(Page("/login", LOGIN))
    site.behave_everywhere(
        lambda request, answer: answer if request.path.startswith("/login") else wall(request, answer)
    )
    wall = b.redirect("/login?return_to=/", status=302)
    land = land_of(Web([site]))
    summary = land.summary(land.name("site.test"))
    assert summary["site.test"]["stop_reason"] == "login_wall"
    [row] = land.rows(
        "select crawl, block_reason_code, extract(days from next_crawl_after - now())::int as days from domains"
    )
    assert (row.crawl, row.block_reason_code) == ("blocked", "login_wall")
    assert row.days in (29, 30)
    land.check()


def test_what_was_stored_before_the_wall_stays(land_of: MakeLand) -> None:
    site = site_of(page("/", "/a"), page("/a"))
    land = land_of(Web([site]))
    land.crawl(land.name("site.test"))
    kept = land.value("select pack_offset from pages where path = '/a'")
    site.add(Page("/a", LOGIN))
    land.run("domain", "recrawl", land.name("site.test"))
    land.crawl(land.name("site.test"))
    assert told(land)["/a"] == ("failed", "login", 200)
    assert land.value("select pack_offset from pages where path = '/a'") == kept
    land.check()
