"""A project on a database of its own, and a local web that the test fills."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Web
from tests.e2e.tools import Land
from tests.servers import TestServers

MakeLand = Callable[[Web], Land]


@pytest.fixture
def land_of(servers: TestServers, tmp_path: Path) -> Iterator[MakeLand]:
    """Serve a web and make a project for it."""
    with ExitStack() as stack:

        def make(web: Web) -> Land:
            running = stack.enter_context(serve(web))
            return Land(tmp_path, running, stack.enter_context(servers.cloned("pg18")))

        yield make
