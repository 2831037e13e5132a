"""Other ways to the same end: by keyboard alone, and without scripts."""

from playwright.sync_api import Page, expect

from tests.web.browser.conftest import OpenWindow
from tests.web.browser.serving import Served
from tests.web.browser.window import PASSWORD, Window


def test_by_keyboard_alone(served: Served, window: Window) -> None:
    page, name = window.page, served.name("town.example")
    page.goto(served.first_link)
    _tab_to(page, "Name")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("olga")
    _tab_to(page, "Password")
    page.keyboard.type(PASSWORD)
    _tab_to(page, "The same password again")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    window.expect_note("Welcome, olga.")

    _tab_to(page, "Skip to the content")
    page.keyboard.press("Enter")
    _tab_to(page, "Submit")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Domain", exact=True)).to_be_focused()
    page.keyboard.type(name)
    _tab_to(page, "Context (optional)")
    page.keyboard.type("The town's own pages")
    _tab_to(page, "Submit", role="button")
    page.keyboard.press("Enter")
    window.expect_note(f"{name} is submitted for review.")

    _tab_to(page, "Review")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Waiting for review")).to_be_visible()
    _tab_to(page, "Reject…")
    page.keyboard.press("Space")
    _tab_to(page, "Reason")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Reason")).to_be_hidden()
    _tab_to(page, "Approve")
    page.keyboard.press("Enter")
    window.expect_note(f"{name} is approved.")

    _tab_to(page, "Domains")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Domains")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Name begins with")).to_be_focused()
    page.keyboard.type("zzz")
    expect(page.get_by_text("No such domains.")).to_be_visible()
    assert page.url.endswith("&sort=name") or "q=zzz" in page.url


def test_without_scripts(served: Served, new_window: OpenWindow) -> None:
    window, host = new_window(has_scripts=False), "blog.example"
    page, name = window.page, served.name(host)
    window.start(served.first_link)
    window.submit(name, "A blog")
    window.expect_note(f"{name} is submitted for review.")
    window.configure(Delay="0")
    window.go("/review")
    page.get_by_text("Reject…").click()
    page.get_by_label("Reason").fill("Not yet.")
    page.get_by_role("button", name="Reject").click()
    window.expect_note(f"{name} is rejected.")
    window.submit(name, "Now it is.")
    window.expect_note(f"{name} is submitted for review again.")
    window.go("/review")
    page.get_by_role("button", name="Approve", exact=True).click()
    window.expect_note("Crawling started. Check back in a few minutes.")
    page.get_by_role("link", name=f"Watch {name}").click()
    expect(page.get_by_text("as of now")).to_be_visible()
    window.wait_until(lambda: _reloaded(page).get_by_text("40 of 40 known").is_visible())
    page.get_by_role("link", name="Pages", exact=True).click()
    expect(page.get_by_role("row")).to_have_count(41)
    page.get_by_role("link", name="Domains", exact=True).click()
    page.get_by_label("Approval").select_option("rejected")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No such domains.")).to_be_visible()
    window.go("/approved")
    page.get_by_text("Suspend…").click()
    page.get_by_label("Reason").fill("Enough.")
    page.get_by_role("button", name="Suspend").click()
    window.expect_note(f"{name} is suspended")


def _tab_to(page: Page, label: str, *, role: str | None = None) -> None:
    """Press Tab until the thing of this name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate(_FOCUSED)
        if found["name"] == label and (role is None or found["tag"] == role):
            return
    raise AssertionError(f"Tab does not come to {label}")


_FOCUSED = """() => {
    const it = document.activeElement;
    return {tag: it.localName, name: (it.labels?.[0] ?? it).innerText?.trim()};
}"""


def _reloaded(page: Page) -> Page:
    page.reload()
    return page
