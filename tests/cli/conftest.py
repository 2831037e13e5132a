"""One project for all tests of a module: each test uses domain names of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from tests.cli.tools import bailiwick
from tests.servers import TestServers


@pytest.fixture(scope="module")
def land(servers: TestServers) -> Iterator[Path]:
    """A directory with a fresh database."""
    with servers.home() as path:
        assert bailiwick("db", "upgrade", cwd=path).code == 0
        yield path


@pytest.fixture(scope="module")
def store(land: Path) -> Iterator[Database]:
    """The same database, for what no command does yet: what workers leave behind."""
    with Database(land / ".bailiwick", Settings()) as opened:
        yield opened
