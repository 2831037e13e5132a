"""A browser window that is watched: whom it asked, what its console said, whether everybody can use its pages."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, Response, expect

from tests.web.browser import CHROMIUM

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
SCHEMES = ("light", "dark")
PATIENCE_MS = 30_000
PASSWORD = "correct horse battery staple"
# No sandbox, as tests run as root; no errands of the browser's own.
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-proxy-server",
)  # fmt: skip
_REFUSED = re.compile(r"the server responded with a status of 4\d\d ")
_WIDTHS = """() => {
    const page = document.documentElement;
    const wide = [...document.querySelectorAll("body *")].filter((e) =>
        e.getBoundingClientRect().right > page.clientWidth + 1 && !e.closest(".scroll, .skip, thead"));
    return {page: page.clientWidth, content: page.scrollWidth, wide: wide.map((e) => e.outerHTML.slice(0, 200))};
}"""


def open_browser(playwright: Playwright) -> Browser:
    """Debian's Chromium, without a head."""
    expect.set_options(timeout=PATIENCE_MS)
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))


class Window:
    """One page of a browser with its own cookies, and all that is held against it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.asked: set[str] = set()
        self.faults: list[str] = []
        self._refused: set[str] = set()
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("crash", lambda _: self.faults.append("the page crashed"))

    def go(self, path: str) -> None:
        """To a page of ours."""
        self.page.goto(self.address + path)

    def start(self, first_link: str, name: str = "olga", *, renames: bool = True) -> None:
        """The first visit by a one-time link. Only the operator chooses the name."""
        self.page.goto(first_link)
        if renames:
            self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_label("The same password again").fill(PASSWORD)
        self.page.get_by_role("button", name="Set it and log in").click()
        self.expect_note(f"Welcome, {name}.")

    def log_in(self, name: str, password: str = PASSWORD) -> None:
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()

    def submit(self, domain: str, context: str = "") -> None:
        """Fill in the form and send it."""
        self.go("/submit")
        self.page.get_by_label("Domain", exact=True).fill(domain)
        self.page.get_by_label("Context").fill(context)
        self.page.get_by_role("button", name="Submit", exact=True).click()

    def configure(self, **values: str) -> None:
        """Change the crawl configuration on the domain's page, by label."""
        for label, value in values.items():
            self.page.get_by_label(label, exact=True).fill(value)
        self.page.get_by_role("button", name="Keep").click()
        self.expect_note("The configuration is kept")

    def expect_note(self, says: str) -> None:
        """What was done is said at the top of the next page."""
        expect(self.page.get_by_role("status").filter(has_text=says)).to_be_visible()

    def expect_alert(self, says: str) -> None:
        expect(self.page.get_by_role("alert").filter(has_text=says)).to_be_visible()

    def wait_until(self, holds: Callable[[], bool], *, seconds: float = 60) -> None:
        """Until something is so, with the page at work meanwhile."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"never came true, at {self.page.url}"
            self.page.wait_for_timeout(100)

    def inspect(self) -> None:
        """Everybody can use this page: in both colour schemes, and on a small screen."""
        for scheme in SCHEMES:
            self.page.emulate_media(color_scheme=scheme)
            self._ask_axe(scheme)
        self.page.set_viewport_size(NARROW)
        widths = self.page.evaluate(_WIDTHS)
        if widths["content"] > widths["page"] or widths["wide"]:
            self.faults.append(f"{self.page.url} is too wide for a small screen: {widths}")
        self._ask_axe("narrow")
        self.page.set_viewport_size(WIDE)

    def judge(self) -> None:
        """What must be so of a whole visit."""
        assert not self.faults, "\n".join(self.faults)
        assert self.asked == {urlsplit(self.address).netloc}, self.asked

    def _ask_axe(self, how: str) -> None:
        found = Axe().run(self.page)
        if found.violations_count:
            self.faults.append(f"{self.page.url} ({how}): {found.generate_report()}")

    def _on_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        self.asked.add(parts.netloc or parts.scheme)

    def _on_response(self, response: Response) -> None:
        if response.request.is_navigation_request() and 400 <= response.status < 500:
            self._refused.add(response.url)

    def _on_console(self, message: ConsoleMessage) -> None:
        """A form that is answered with 4xx is a page like others; the browser notes it all the same."""
        is_refusal = message.location["url"] in self._refused and _REFUSED.search(message.text)
        if message.type in ("error", "warning") and not is_refusal:
            self.faults.append(f"console {message.type}: {message.text} ({message.location['url']})")


@contextmanager
def open_window(browser: Browser, address: str, *, has_scripts: bool = True) -> Iterator[Window]:
    """A visit with cookies of its own, judged at its end."""
    context = browser.new_context(viewport=WIDE, java_script_enabled=has_scripts, locale="en-GB", timezone_id="UTC")
    context.set_default_timeout(PATIENCE_MS)
    try:
        window = Window(context.new_page(), address)
        yield window
        window.judge()
    finally:
        context.close()
