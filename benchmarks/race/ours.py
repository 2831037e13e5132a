"""Bailiwick as a user has it: a project in a directory of its own, its embedded server with durable settings."""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bailiwick
from bailiwick.app import App
from benchmarks.race.meters import Cores, DatabaseMeter, Spent, run_measured
from benchmarks.race.served import Served

PROGRAM = Path(sys.executable).with_name("bailiwick")
SHOWN = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_compression", "shared_buffers")
AGENT = "RaceBot"
_ENV = {
    "BAILIWICK_NAMES_ALLOW_PRIVATE": "true",  # the race's site is 127.0.0.1: no name that a peer would have to look up
    "BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS": "true",
}


@dataclass(frozen=True)
class Project:
    """A project with a running database."""

    home: Path
    database: DatabaseMeter

    @property
    def env(self) -> dict[str, str]:
        return os.environ | _ENV

    @property
    def said(self) -> Path:
        """What the last crawl said."""
        return self.home / "crawl.out"

    def run(self, *arguments: str) -> str:
        """A command that is not measured."""
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=self.home, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def crawl(self, web: Served, cores: Cores, *arguments: str, parses: bool = False) -> tuple[Spent, float]:
        """What a crawl costs: the client, and CPU seconds of the database server."""
        before = self.database.cpu_seconds()
        spent = self.crawl_as_it_is(web, cores, *arguments, parses=parses)
        return spent, self.database.cpu_seconds() - before

    def crawl_as_it_is(self, web: Served, cores: Cores, *arguments: str, parses: bool = False) -> Spent:
        """What a crawl costs its client. The database server is left alone, whether it runs or not."""
        command = crawl_command(web, *arguments, parses=parses)
        return run_measured(command, core=cores.client, cwd=self.home, env=self.env, output=self.said)

    def shown(self) -> dict[str, str]:
        """How safe the server's writes are."""
        with self.database.connect() as conn:
            rows = [(name, conn.execute(f"show {name}").fetchone()) for name in SHOWN]
        return {name: str(row[0]) for name, row in rows if row is not None}

    def verify(self) -> str:
        return self.run("storage", "verify")

    def app(self) -> App:
        return App.at(self.home)


def crawl_command(web: Served, *arguments: str, parses: bool = False) -> Sequence[str | Path]:
    """Without the parse stage, unless that is what is measured: no peer has one."""
    stages = [] if parses else ["--no-parse"]
    return [PROGRAM, "-q", "crawl", *arguments, *stages, "--resolve", web.resolve, "--user-agent", AGENT, "--json"]


@contextmanager
def project(scratch: Path, name: str, *, core: int | None = None) -> Iterator[Project]:
    """A new one, its server on this core if one is given; all of it is gone at the end."""
    # As pip leaves a package, and as it leaves the peers: a checkout is compiled at each start where Python may not
    # keep what it compiled.
    compileall.compile_dir(Path(bailiwick.__file__).parent, quiet=2)
    home = scratch / name
    home.mkdir(mode=0o755)
    made = Project(home, DatabaseMeter(home))
    made.run("-q", "db", "upgrade")
    if core is not None:
        made.database.pin(core)
    try:
        yield made
    finally:
        made.run("-q", "db", "stop")
        shutil.rmtree(home, ignore_errors=True)
