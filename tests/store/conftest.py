"""One server is enough where files are what matters, and one database for a module, emptied before each test."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from tests.servers import TestServers, available_kinds
from tests.store.tools import opened


@pytest.fixture(scope="module")
def shared_url(servers: TestServers) -> Iterator[str]:
    with servers.cloned(available_kinds()[0]) as url:
        yield url


@pytest.fixture
def one_url(shared_url: str) -> str:
    """A database without packs and pages, on the first server there is."""
    with opened(shared_url) as database, database.bare() as conn:
        conn.execute(text("truncate packs, pages restart identity"))
    return shared_url


@pytest.fixture
def one_database(one_url: str) -> Iterator[Database]:
    with opened(one_url) as database:
        yield database
