"""What the tests of faults share: a crawl that can be listened to, and file systems of a few megabytes."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bailiwick.base.sections import DatabaseSettings, StorageSettings
from bailiwick.base.settings import Settings
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.engine import Database
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Web
from tests.cli.tools import PROGRAM, Ran, environment
from tests.e2e.tools import Land, Started
from tests.servers import TestServers

NO_LIMITS = {"BAILIWICK_STORAGE_MIN_FREE_BYTES": "0", "BAILIWICK_STORAGE_MIN_FREE_PERCENT": "0"}
"""No pause before the disk is full: the system itself has to say so."""


@contextmanager
def project(servers: TestServers, home: Path, web: Web) -> Iterator[Land]:
    """A project on a database of its own, and its local web."""
    with serve(web) as running, servers.cloned("pg18") as url:
        yield Land(home, running, url)


class OwnLand(Land):
    """A project whose commands start their embedded server themselves; `database_url` is for the test alone."""

    @property
    def env(self) -> dict[str, str]:
        return {name: value for name, value in super().env.items() if name != "BAILIWICK_DATABASE_URL"} | NO_LIMITS


def own_server(home: Path) -> tuple[EmbeddedServer, str]:
    """A database server that a test may harm, with our schema, and the URL of its database."""
    data = home / ".bailiwick"
    data.mkdir(exist_ok=True)
    server = EmbeddedServer(data, DatabaseSettings(idle_stop_seconds=0))
    settings = Settings(database=server.settings, storage=StorageSettings(min_free_bytes=0, min_free_percent=0))
    with Database(data, settings) as database:
        database.ensure_schema()
    return server, f"postgresql://bailiwick@/bailiwick?host={server.layout.server_socket()}"


@dataclass
class Heard(Started):
    """A crawl under way whose words can be read while it says them."""

    voice: Path

    def said(self) -> str:
        return self.voice.read_text()

    def until_it_says(self, words: str, *, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.said():
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.said()}"
            assert time.monotonic() < deadline, f"it never said {words!r}: {self.said()!r}"
            time.sleep(0.05)

    def wait(self, *, seconds: float = 60) -> Ran:
        out, _ = self.process.communicate(timeout=seconds)
        return Ran(self.process.returncode, out, self.said())


@contextmanager
def crawling(land: Land, *arguments: str, delay: str = "0", **env: str) -> Iterator[Heard]:
    """Like `Land.start`, with ears."""
    voice = land.home / f"voice-{time.monotonic_ns()}"
    with voice.open("w") as file:
        process = subprocess.Popen(
            [PROGRAM, "crawl", *arguments, "--no-parse", "--resolve", land.running.resolve, "--delay", delay],
            cwd=land.home, env=environment(**(land.env | env)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=file, text=True,
        )  # fmt: skip
    heard = Heard(process, voice)
    try:
        yield heard
    finally:
        heard.end()


@dataclass(frozen=True)
class SmallDisk:
    """A file system in memory, which can be given more room while it is in use."""

    place: Path

    def resize(self, size: str) -> None:
        assert _mount("-o", f"remount,size={size}", self.place) == 0

    def fill(self) -> None:
        """Not another byte: it is as large as what is in it."""
        self.resize(f"{shutil.disk_usage(self.place).used}")


@contextmanager
def small_disk(place: Path, size: str, *, uid: int = 0) -> Iterator[SmallDisk]:
    """Mount one there. Only root may: who is not is told so, and with CI=true that fails the run."""
    place.mkdir(parents=True)
    if os.geteuid() != 0 or _mount("-t", "tmpfs", "-o", f"size={size},uid={uid},mode=0700", "none", place):
        pytest.skip("mounts a small disk: run the suite as root, where mounting is allowed")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def _mount(*words: str | Path) -> int:
    command = [shutil.which("mount") or "false", *words]
    return subprocess.run(command, capture_output=True, check=False).returncode
