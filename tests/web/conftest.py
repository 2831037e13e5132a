"""One site for all tests of a module: each test uses domain and member names of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import TestServers
from tests.web.tools import Land, cheap_passwords, land_at


@pytest.fixture(scope="module")
def _cheap() -> Iterator[None]:
    with cheap_passwords():
        yield


@pytest.fixture(scope="module")
def land(servers: TestServers, tmp_path_factory: pytest.TempPathFactory, _cheap: None) -> Iterator[Land]:
    """A site with a member of each role."""
    root: Path = tmp_path_factory.mktemp("web")
    with servers.cloned("pg18") as url, land_at(root, url) as made:
        yield made
