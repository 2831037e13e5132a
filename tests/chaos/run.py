"""One whole run: a web, a database server of its own that may be restarted, the workers, the driver and the judge."""

from dataclasses import dataclass
from pathlib import Path

import psycopg

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db import schema
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.engine import Database
from bailiwick.demo.web.running import serve
from tests.chaos.driver import Account, Driver, Plan
from tests.chaos.judge import AT_ONCE, Judge, Verdict
from tests.chaos.proxy import between
from tests.chaos.web import Ground, give_sitemaps
from tests.chaos.workers import Crew, End
from tests.e2e.tools import Land
from tests.registry.tools import admit
from tests.servers import TestServers

FLUSH_PAGES = 20
LEASE_SECONDS = 5
_OPEN_DOMAINS = 4
_DATABASE = "chaos"


@dataclass
class Run:
    """What came of it."""

    plan: Plan
    workers: int
    account: Account
    verdict: Verdict
    drops: dict[str, int]
    ends: list[End]


def run(ground: Ground, plan: Plan, *, workers: int) -> Run:
    """From an empty database to the verdict."""
    with TestServers() as servers, servers.home() as home, serve(ground.web) as running:
        give_sitemaps(ground, running)
        server = _server(home)
        land = Land(home, running, _url(server.layout.server_socket()))
        judge = prepare(land, ground)
        with between(server.layout.server_socket(), home / "proxy") as proxy:
            crew = Crew(land, [land.name(host) for host in ground.hosts], _environment(proxy.directory), workers)
            try:
                account = Driver(land, crew, server, proxy, plan).run()
                left = crew.left_behind()
            finally:
                crew.end()
            verdict = judge.judge(account)
        verdict.add("a command ended badly", [end for end in crew.ends if not end.is_well])
        verdict.add("a process was left behind", left)
        return Run(plan, workers, account, verdict, dict(proxy.dropped), crew.ends)


def prepare(land: Land, ground: Ground) -> Judge:
    """Admit the domains, each with its own pace, and let the judge look on."""
    with land.app() as app, app.database.begin() as conn:
        admit(conn, *(land.name(host) for host in ground.hosts))
    for host, delay in ground.delays.items():
        land.rows_done(
            f"update domains set crawl_delay_seconds = {delay}, max_concurrent_requests = {AT_ONCE} "
            f"where name = '{land.name(host)}'"
        )
    return Judge(land, ground, FLUSH_PAGES, _OPEN_DOMAINS)


def _environment(socket: Path) -> dict[str, str]:
    return {
        "BAILIWICK_DATABASE_URL": _url(socket),
        "BAILIWICK_CRAWL_FLUSH_PAGES": str(FLUSH_PAGES),
        "BAILIWICK_CRAWL_MAX_OPEN_DOMAINS": str(_OPEN_DOMAINS),
        "BAILIWICK_LEASE_SECONDS": str(LEASE_SECONDS),
        "BAILIWICK_LEASE_HEARTBEAT_SECONDS": "1",
    }


def _server(home: Path) -> EmbeddedServer:
    """Ours alone: the other tests' must not be restarted."""
    data = home / ".bailiwick"
    data.mkdir()
    server = EmbeddedServer(data, DatabaseSettings(idle_stop_seconds=0))
    server.ensure_running()
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as control:
        control.execute(f"create database {_DATABASE}")
    settings = Settings(database=DatabaseSettings(url=_url(server.layout.server_socket())))
    with Database(data, settings) as database, database.bare() as conn:
        schema.upgrade(conn)
    return server


def _url(socket: Path) -> str:
    return f"postgresql://bailiwick@/{_DATABASE}?host={socket}&port=5432"
