"""One server is enough where files are what matters."""

from collections.abc import Iterator

import pytest

from bailiwick.db.engine import Database
from tests.servers import TestServers, available_kinds
from tests.store.tools import opened


@pytest.fixture
def one_url(servers: TestServers) -> Iterator[str]:
    """A database of this test's own, on the first server there is."""
    with servers.cloned(available_kinds()[0]) as url:
        yield url


@pytest.fixture
def one_database(one_url: str) -> Iterator[Database]:
    with opened(one_url) as database:
        yield database
