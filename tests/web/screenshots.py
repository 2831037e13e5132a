"""Pictures of every page: `make screenshots`, or `python -m tests.web.screenshots DIRECTORY`.

A small organisation at work on the sample web: some domains done, some under way, some waiting, some refused.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sample import sample_web
from tests.servers import TestServers
from tests.web.browser.serving import Program, Served
from tests.web.browser.wheel import unpack_wheel
from tests.web.browser.window import NARROW, SCHEMES, WIDE, Window, open_browser, open_window

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
_DELAYS = {"blog": "0", "library": "0.05", "museum": "0.2", "foodbank": "0.7", "news": "0.4", "shop": "0"}
"""Host -> seconds between two requests: the first are done when the pictures are taken, the others under way."""
_GROWN = re.compile(r"(\S+ ){12}")
"""A line of so many points."""
_CONTEXTS = {
    "foodbank": "State food bank directory: opening hours and addresses of 40 pantries.",
    "library": "The city library with its branches and events.",
    "museum": "Exhibitions and guided tours.",
    "news": "The local newspaper; asked for by two readers.",
    "blog": "A neighbourhood blog.",
    "shop": "Kettles, knives and tea; asked for by the price watch.",
    "town": "The town's own pages.\nOffices, forms, council papers.",
    "foundation": "Gives small grants. Is this one of ours?",
    "members": "A club; its members' area needs a login.",
}


@dataclass(frozen=True)
class Shot:
    """One page that has its picture taken."""

    name: str
    path: str
    is_narrow_too: bool = False
    is_live: bool = False
    """Taken when figures have come in for a while."""
    unfolds: bool = False
    """Taken with the second of what can be unfolded open."""


def take_all(folder: Path) -> list[Path]:
    """Every page, light and dark; some of them on a small screen, too."""
    folder.mkdir(parents=True, exist_ok=True)
    with _stage() as (served, browser), open_window(browser, served.address) as window:
        visitors = list(_visit(window, folder, [Shot("welcome", served.first_link)]))
        window.start(served.first_link)
        _fill(window, served)
        taken = list(_visit(window, folder, _shots(served)))
        with open_window(browser, served.address) as other:
            visitors += _visit(other, folder, [Shot("login", "/login", is_narrow_too=True)])
    return [*visitors, *taken]


@contextmanager
def _stage() -> Iterator[tuple[Served, Browser]]:
    with (
        tempfile.TemporaryDirectory() as directory,
        TestServers() as servers,
        servers.cloned("pg18") as url,
        serve(sample_web()) as running,
        sync_playwright() as playwright,
        open_browser(playwright) as browser,
    ):
        home = Path(directory) / "home"
        home.mkdir()
        with Program(unpack_wheel(Path(directory)), home, url).serve(running) as served:
            yield served, browser


def _shots(served: Served) -> list[Shot]:
    def domain(host: str, tail: str = "") -> str:
        return f"/domains/{served.name(f'{host}.example')}{tail}"

    return [
        Shot("domain", domain("news"), is_narrow_too=True, is_live=True),
        Shot("dashboard", "/", is_narrow_too=True, is_live=True),
        Shot("domain-done", domain("library")),
        Shot("domain-blocked", domain("members")),
        Shot("domain-rejected", domain("town")),
        Shot("domain-items", domain("shop")),
        Shot("items", domain("shop", "/items"), is_narrow_too=True, unfolds=True),
        Shot("items-none", domain("museum", "/items?kind=service")),
        Shot("pages", domain("library", "/pages"), is_narrow_too=True),
        Shot("errors", domain("news", "/pages?view=errors")),
        Shot("waiting", domain("news", "/pages?view=waiting")),
        Shot("refused", domain("library", "/pages?view=refused&path=/staff/rota")),
        Shot("domains", "/domains", is_narrow_too=True),
        Shot("domains-none", "/domains?q=nothing"),
        Shot("review", "/review", is_narrow_too=True),
        Shot("approved", "/approved", is_narrow_too=True),
        Shot("submit", "/submit", is_narrow_too=True),
        Shot("members", "/members", is_narrow_too=True),
        Shot("mine", "/mine"),
        Shot("account", "/account", is_narrow_too=True),
        Shot("error", "/no/such/page"),
        Shot("suggest", "/suggest"),
    ]


def _fill(window: Window, served: Served) -> None:
    """By the program's other door: the pages themselves are tried out by the tests."""
    run, name = served.program.run, lambda host: served.name(f"{host}.example")
    run("settings", "set", "web.public_submission", "true")
    for member, role in (("rosa", "reviewer"), ("viktor", "viewer"), ("sam", "submitter")):
        run("member", "add", member, "--role", role)
    for host, context in _CONTEXTS.items():
        run("--as", "sam", "domain", "submit", name(host), "--context", context)
    for host, delay in (_DELAYS | {"members": "0"}).items():
        window.go(f"/domains/{name(host)}")
        window.configure(Delay=delay)
    run("domain", "reject", name("town"), "--reason", "We have these from the town itself.")
    run("domain", "approve", *(name(host) for host in (*_DELAYS, "members")))
    run("domain", "trust", name("foodbank"), "--reason", "Their pages have always been good.")
    window.go(f"/domains/{name('library')}")
    expect(window.page.locator("[data-live]").get_by_text("exhausted")).to_be_visible()


def _visit(window: Window, folder: Path, shots: list[Shot]) -> Iterator[Path]:
    for shot in shots:
        window.page.goto(shot.path if "://" in shot.path else window.address + shot.path)
        if shot.is_live:
            expect(window.page.locator("[data-live] .spark-line")).to_have_attribute("points", _GROWN)
        if shot.unfolds:
            window.page.locator("main summary").nth(1).click()
        for scheme in SCHEMES:
            window.page.emulate_media(color_scheme=scheme)
            yield _take(window, folder / f"{shot.name}-{scheme}.png")
        if shot.is_narrow_too:
            window.page.set_viewport_size(NARROW)
            yield _take(window, folder / f"{shot.name}-narrow.png", is_whole=True)
            window.page.set_viewport_size(WIDE)


def _take(window: Window, file: Path, *, is_whole: bool = False) -> Path:
    window.page.screenshot(path=file, full_page=is_whole)
    return file


if __name__ == "__main__":
    for made in take_all(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(made)
