"""A browser, a server of the built wheel and a local web for each test. Without Chromium there are no such tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sample import sample_web
from tests.servers import TestServers
from tests.web.browser import CHROMIUM
from tests.web.browser.serving import Program, Served
from tests.web.browser.wheel import mark, unpack_wheel
from tests.web.browser.window import Window, open_browser, open_window

collect_ignore_glob = [] if CHROMIUM.exists() else ["test_*.py"]

OpenWindow = Callable[..., Window]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the built program is."""
    unpacked = unpack_wheel(tmp_path_factory.mktemp("wheel"))
    mark(unpacked)
    return unpacked


@pytest.fixture
def served(servers: TestServers, wheel: Path, tmp_path: Path) -> Iterator[Served]:
    """A server on the sample web."""
    with (
        serve(sample_web()) as running,
        servers.cloned("pg18") as url,
        Program(wheel, tmp_path, url).serve(running) as started,
    ):
        yield started


@pytest.fixture
def new_window(served: Served) -> Iterator[OpenWindow]:
    """Opens windows, each with cookies of its own. The browser ends with the test: its event loop is in others' way."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, ExitStack() as stack:
        browser = stack.enter_context(open_browser(playwright))
        yield lambda *, has_scripts=True: stack.enter_context(
            open_window(browser, served.address, has_scripts=has_scripts)
        )


@pytest.fixture
def window(new_window: OpenWindow) -> Window:
    """The operator's."""
    return new_window()
