"""How the suite runs: real servers, a cloned database a test, and no test that is quietly not run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from tests.e2e.packages import GIMP_HELP
from tests.servers import KINDS, TestServers, available_kinds
from tests.suites import SUITES
from tests.web.browser import CHROMIUM

IN_CI = os.environ.get("CI") == "true"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--servers", default="", help=f"Only these database servers, of {', '.join(KINDS)}.")


def pytest_report_header() -> list[str]:
    suites = str(SUITES) if SUITES.is_dir() else "not found: the tests that read them are not collected"
    browser = str(CHROMIUM) if CHROMIUM.exists() else f"no {CHROMIUM}: the tests that need it are not collected"
    manual = str(GIMP_HELP) if GIMP_HELP.is_dir() else "not found: the test that crawls it is not collected"
    return [
        f"database servers: {', '.join(available_kinds())}",
        f"public suites: {suites}",
        f"browser: {browser}",
        f"gimp-help-en: {manual}",
    ]


def pytest_configure(config: pytest.Config) -> None:
    missing = [kind for kind in KINDS if kind not in available_kinds()]
    if IN_CI and missing and not config.getoption("--servers"):
        raise pytest.UsageError(f"CI=true, and these database servers are missing: {', '.join(missing)}")
    if IN_CI and not CHROMIUM.exists():
        raise pytest.UsageError(f"CI=true, and there is no {CHROMIUM}")
    if IN_CI and not GIMP_HELP.is_dir():
        raise pytest.UsageError(f"CI=true, and there is no {GIMP_HELP} (gimp-help-en)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `database` runs on every server there is."""
    if "server_kind" in metafunc.fixturenames:
        asked = [kind for kind in metafunc.config.getoption("--servers").split(",") if kind]
        metafunc.parametrize("server_kind", asked or available_kinds(), scope="session")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if IN_CI and exitstatus == 0 and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    stats = terminalreporter.stats
    run = sum(len(stats.get(outcome, ())) for outcome in ("passed", "failed", "xfailed", "xpassed"))
    terminalreporter.write_line(f"tests run: {run}")
    if IN_CI and stats.get("skipped"):
        terminalreporter.write_line(f"CI=true: {len(stats['skipped'])} skipped tests fail the run", red=True)


@pytest.fixture(scope="session")
def servers() -> Iterator[TestServers]:
    """Every database server of this test process, started on first use."""
    with TestServers() as started:
        yield started


@pytest.fixture
def database_url(servers: TestServers, server_kind: str) -> Iterator[str]:
    """An empty, migrated database of this test's own."""
    with servers.cloned(server_kind) as url:
        yield url


@pytest.fixture
def database(database_url: str, server_kind: str) -> Iterator[Database]:
    """The door to it."""
    prepared = server_kind != "pgbouncer"
    settings = Settings(database=DatabaseSettings(url=database_url, prepared_statements=prepared))
    with Database(Path("/nowhere"), settings) as opened:
        yield opened


@pytest.fixture
def home(servers: TestServers) -> Iterator[Path]:
    """A directory that an unprivileged server can reach (pytest's own are closed); its server is stopped at the end."""
    with servers.home() as path:
        yield path
