"""Every page there is: usable in both colour schemes, on a small screen, with everything unfolded."""

import re
from pathlib import Path

from playwright.sync_api import expect

from bailiwick.demo.web.goods import JSON_LD, MICRODATA
from tests.web.browser.conftest import OpenWindow
from tests.web.browser.serving import Served
from tests.web.browser.window import Window

_PAGES = {
    "dashboard.html": "/",
    "domains.html": "/domains?sort=priority",
    "domain.html": "/domains/{name}",
    "items.html": "/domains/{name}/items",
    "pages.html": "/domains/{name}/pages?view=waiting",
    "images.html": "/domains/{name}/images",
    "review.html": "/review",
    "approved.html": "/approved",
    "submit.html": "/submit",
    "mine.html": "/mine",
    "members.html": "/members",
    "account.html": "/account",
    "error.html": "/no/such/page",
    "suggest.html": "/suggest",
}
_VISITORS = {"login.html": "/login", "welcome.html": "by a link", "base.html": "in all"}
_HOSTILE = "<img src=x onerror=alert(1)> &amp; " + "w" * 300


def test_every_page_is_listed_here(wheel: Path) -> None:
    templates = {file.name for file in (wheel / "bailiwick" / "web" / "templates").iterdir()}
    assert {name for name in templates if not name.startswith("_")} == {*_PAGES, *_VISITORS}


def test_every_page_is_for_everybody(served: Served, window: Window, new_window: OpenWindow) -> None:
    name, page = served.name("town.example"), window.page
    window.start(served.first_link)
    served.program.run("settings", "set", "web.public_submission", "true")
    served.program.run("domain", "submit", name, served.name("shop.example"), "--context", _HOSTILE)
    served.program.run("domain", "approve", name)
    served.program.run("member", "add", "viktor", "--role", "viewer")
    for path in _PAGES.values():
        window.go(path.format(name=name))
        page.evaluate("() => document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        window.inspect()
    page.get_by_label("Domain").fill("https://example.org/page")
    page.get_by_role("button", name="Suggest").click()
    window.expect_note("Your receipt:")
    window.inspect()
    visitor = new_window()
    visitor.go("/login")
    expect(visitor.page.get_by_label("Name")).to_be_focused()
    visitor.inspect()


def test_items_of_a_shop_are_found_filtered_and_unfolded(
    served: Served, window: Window, new_window: OpenWindow
) -> None:
    """With htmx, and in a browser without scripts."""
    name, page = served.name("shop.example"), window.page
    window.start(served.first_link)
    served.program.run("domain", "submit", name)
    window.go(f"/domains/{name}")
    window.configure(Delay="0")
    served.program.run("domain", "approve", name)
    count = len(JSON_LD) + len(MICRODATA)  # those that need no parser of one's own
    window.wait_until(lambda: _items(served, name) == count)
    window.go(f"/domains/{name}")
    page.get_by_role("link", name="product", exact=True).click()
    expect(page.locator(".items > li")).to_have_count(count)
    page.locator("summary", has_text="Linen towel, red stripe").click()
    expect(page.get_by_text("Softer with every wash, for thirty years.")).to_be_visible()
    page.evaluate("() => document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    window.inspect()
    page.get_by_label("Kind").select_option("")
    expect(page).to_have_url(re.compile(r"/items\?kind=$"))
    expect(page.locator(".items > li")).to_have_count(count)
    plain = new_window(has_scripts=False)
    plain.page.context.add_cookies(page.context.cookies())
    plain.go(f"/domains/{name}/items")
    plain.page.get_by_label("Kind").select_option("product")
    plain.page.get_by_role("button", name="Show").click()
    expect(plain.page.locator(".items > li")).to_have_count(count)


def _items(served: Served, name: str) -> int:
    rows = served.program.run("item", "list", "--kind", "product", "--domain", name, "--json", "--limit", "100")
    return len(rows.splitlines())


def test_the_watch_sees_what_is_wrong(window: Window) -> None:
    """Else the other tests prove nothing."""
    window.go("/login")
    window.page.evaluate("""() => {
        document.querySelector("main").insertAdjacentHTML("beforeend",
            '<p style="color: red">styled</p><img src="http://elsewhere.invalid/x.png"><div class="far">wide</div>');
        document.querySelector(".far").style.width = "2000px";
    }""")
    window.inspect()
    window.page.evaluate("() => fetch('http://elsewhere.invalid/').catch(() => null)")
    found = "\n".join(window.faults)
    for words in ("Applying inline style", "elsewhere.invalid", "image-alt", "too wide for a small screen"):
        assert words in found
    assert "elsewhere.invalid" in window.asked
    window.faults.clear()
    window.asked.discard("elsewhere.invalid")
