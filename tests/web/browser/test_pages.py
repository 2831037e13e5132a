"""Every page there is: usable in both colour schemes, on a small screen, with everything unfolded."""

from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser.conftest import OpenWindow
from tests.web.browser.serving import Served
from tests.web.browser.window import Window

_PAGES = {
    "dashboard.html": "/",
    "domains.html": "/domains?sort=priority",
    "domain.html": "/domains/{name}",
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
