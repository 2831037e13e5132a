"""Who takes part in the race, and what one lap is: the whole site, once, from nothing.

A contender is a name and a lap.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.race.meters import Cores, Spent, run_measured
from benchmarks.race.ours import Project, project
from benchmarks.race.served import ROOT, Served, seen

PEERS = ROOT / "benchmarks" / "peers"
WHOLE_SITE = ("--depth", "all", "--max-pages", "0", "--delay", "0")
OURS, SCRAPY, STORING, CRAWLEE = "Bailiwick", "Scrapy with JOBDIR", "Scrapy, bodies kept", "Crawlee"
PARSING = "Bailiwick with parsing"


@dataclass(frozen=True, slots=True)
class Course:
    """Where a lap is run."""

    web: Served
    cores: Cores
    scratch: Path


@dataclass(frozen=True, slots=True)
class Lap:
    """What one contender did and what it took. Pages are counted by the server."""

    contender: str
    pages: int
    doubled: int
    wall_seconds: float
    client_cpu_seconds: float
    database_cpu_seconds: float
    peak_mb: float
    code: int

    @property
    def pages_per_cpu_second(self) -> float:
        return self.pages / (self.client_cpu_seconds + self.database_cpu_seconds)

    @classmethod
    def of(cls, contender: str, course: Course, spent: Spent, database: float = 0.0) -> "Lap":
        got = seen(course.web.hits(spent.started))
        peak = spent.peak_bytes / 1e6
        return cls(
            contender, got.distinct, got.doubled, spent.wall_seconds, spent.cpu_seconds, database, peak, spent.code
        )


@dataclass(frozen=True)
class Contender:
    """Somebody who can crawl a site."""

    name: str
    how: str
    """What a reader has to know about its settings."""
    lap: Callable[[Course], Lap]


Said: TypeAlias = Callable[[Project], None]


def all_contenders(peers_python: Path, *, stores: bool, at_end: Said) -> list[Contender]:
    """Ours first. A peer that is not installed is told of, and left out."""
    versions = {name: _version(peers_python, name) for name in ("scrapy", "crawlee")}
    for name, version in versions.items():
        if version is None:
            print(f"{name} is not installed in {peers_python.parent.parent.name}: the race goes on without it")
    found = [Contender(OURS, "5 requests at once (its default), bodies kept", lambda course: _our_lap(course, at_end))]
    if versions["scrapy"]:
        how = f"{versions['scrapy']}, 16 requests at once"
        found.append(Contender(SCRAPY, f"{how}, no bodies kept", lambda c: _scrapy_lap(c, peers_python, stores=False)))
        if stores:
            keeping = Contender(STORING, f"{how}, gzip files", lambda c: _scrapy_lap(c, peers_python, stores=True))
            found.append(keeping)
    if versions["crawlee"]:
        how = f"{versions['crawlee']}, ParselCrawler, 16 requests at once, queue in files, no bodies kept"
        found.append(Contender(CRAWLEE, how, lambda course: _crawlee_lap(course, peers_python)))
    return found


def parsing_lap(course: Course) -> Lap:
    """Ours as it is by default: main text, markdown, language, items and search of every page. No peer does as much."""
    return _our_lap(course, lambda _: None, PARSING)


def _our_lap(course: Course, at_end: Said, name: str = OURS) -> Lap:
    """All of ours shares the client's core, the database server too: nobody can say that we had two."""
    with project(course.scratch, "ours", core=course.cores.client) as ours:
        spent, database = ours.crawl(course.web, course.cores, course.web.url, *WHOLE_SITE, parses=name == PARSING)
        lap = Lap.of(name, course, spent, database)
        if spent.code:
            print(f"{name} ended with {spent.code}: {ours.said.read_text()[-300:]}")
        at_end(ours)
    return lap


def _scrapy_lap(course: Course, python: Path, *, stores: bool) -> Lap:
    folder = course.scratch / "scrapy"
    bodies = folder / "bodies"
    bodies.mkdir(parents=True)
    command: list[str | Path] = [python, PEERS / "scrapy_site.py", course.web.url, folder / "job"]
    command += [bodies] if stores else []
    return _peer_lap(STORING if stores else SCRAPY, course, command, folder)


def _crawlee_lap(course: Course, python: Path) -> Lap:
    folder = course.scratch / "crawlee"
    folder.mkdir()
    command: list[str | Path] = [python, PEERS / "crawlee_site.py", course.web.url, folder / "storage"]
    return _peer_lap(CRAWLEE, course, command, folder)


def _peer_lap(name: str, course: Course, command: Sequence[str | Path], folder: Path) -> Lap:
    output = folder / "said.txt"
    spent = run_measured(command, core=course.cores.client, cwd=folder, env=os.environ, output=output)
    if spent.code:
        print(f"{name} ended with {spent.code}: {output.read_text()[-300:]}")
    shutil.rmtree(folder, ignore_errors=True)
    return Lap.of(name, course, spent)


def _version(python: Path, package: str) -> str | None:
    """None: it cannot be imported there."""
    question = f"import {package}, importlib.metadata as m; print(m.version({package!r}))"
    try:
        done = subprocess.run([python, "-c", question], capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
