"""How the suite runs: real servers, a cloned database a test, and no test that is quietly not run."""

import os
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from tests.e2e.packages import GIMP_HELP
from tests.servers import KINDS, TestServers, available_kinds
from tests.suites import SUITES
from tests.web.browser import CHROMIUM

IN_CI = os.environ.get("CI") == "true"
# The unit of work, its promises and the ports: here a server, or a pooler before it, may make a difference.
ON_EVERY_SERVER = frozenset({"conformance", "crawl", "db", "ledger", "registry"})

# What an example takes is the machine's affair: a busy one would fail tests that nothing is wrong with.
examples.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("house")


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
    """A test that asks for `database` runs on one of the servers, chosen by its name, so that each module meets all.

    What is about the database itself runs on every server there is; `--servers` names those for all tests.
    """
    if "server_kind" in metafunc.fixturenames:
        asked = [kind for kind in metafunc.config.getoption("--servers").split(",") if kind]
        kinds = asked or available_kinds()
        if not asked and metafunc.module.__name__.split(".")[1] not in ON_EVERY_SERVER:
            kinds = [kinds[crc32(metafunc.definition.nodeid.encode()) % len(kinds)]]
        metafunc.parametrize("server_kind", kinds, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a module sets up once for all its tests is set up once, not in every process that takes some of them."""
    for item in items:
        found = getattr(item, "_fixtureinfo", None)
        scopes = {one.scope for defined in found.name2fixturedefs.values() for one in defined} if found else set()
        if "module" in scopes:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


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
