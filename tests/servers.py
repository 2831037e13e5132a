"""Real database servers for the tests, run by our own supervisor: the wheel's newest, Debian's 15, and PgBouncer."""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import psutil
import psycopg

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db import schema
from bailiwick.db.embedded.binaries import available
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.engine import Database

KINDS = ("pg18", "pg15", "pgbouncer")
_TEMPLATE = "template_bailiwick"


@cache
def available_kinds() -> list[str]:
    """The servers that this machine has."""
    majors = {binaries.major for binaries in available()}
    have = {"pg18": 18 in majors, "pg15": 15 in majors, "pgbouncer": _pgbouncer() is not None}
    return [kind for kind in KINDS if have[kind]]


@cache
def _quick_place() -> Path | None:
    """A file system in memory, where there is room: a database for a test takes a twentieth of the time there."""
    place = Path("/dev/shm")
    if not place.is_dir() or not os.access(place, os.W_OK):
        return None
    room = min(shutil.disk_usage(place).free, psutil.virtual_memory().available)
    return place if room > 8_000_000_000 else None


def open_directory(prefix: str = "bwt-") -> Path:
    """A new directory that other users can pass through."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=_quick_place()))
    path.chmod(0o755)
    return path


class TestServers:
    """The servers of one test process."""

    __test__ = False

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._sockets: dict[str, str] = {}
        self._names = itertools.count()

    def __enter__(self) -> "TestServers":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def cloned(self, kind: str) -> Iterator[str]:
        """A fresh database with our schema; its URL goes through the server of this kind."""
        direct = self._socket("pg18" if kind == "pgbouncer" else kind)
        name = f"test_{os.getpid()}_{next(self._names)}"
        with psycopg.connect(_url(direct, "postgres"), autocommit=True) as control:
            control.execute(f"create database {name} template {_TEMPLATE}")
            try:
                yield _url(self._socket(kind), name, port=6432 if kind == "pgbouncer" else 5432)
            finally:
                control.execute(f"drop database {name} with (force)")

    def direct_url(self, url: str) -> str:
        """The same database without PgBouncer in between."""
        name = url.split("?", maxsplit=1)[0].rsplit("/", 1)[1]
        return _url(self._socket("pg18"), name) if "port=6432" in url else url

    @contextmanager
    def home(self) -> Iterator[Path]:
        path = open_directory()
        try:
            yield path
        finally:
            for data in path.rglob(".bailiwick"):
                EmbeddedServer(data, DatabaseSettings()).stop(mode=signal.SIGQUIT)
            shutil.rmtree(path, ignore_errors=True)

    def _socket(self, kind: str) -> str:
        if kind not in self._sockets:
            self._sockets[kind] = self._start_pgbouncer() if kind == "pgbouncer" else self._start(int(kind[2:]))
        return self._sockets[kind]

    def _start(self, major: int) -> str:
        directory = self._stack.enter_context(self.home())
        data = directory / ".bailiwick"
        data.mkdir()
        binaries = next(b for b in available() if b.major == major)
        settings = DatabaseSettings(binaries=binaries.directory, idle_stop_seconds=600)
        server = EmbeddedServer(data, settings)
        server.ensure_running()
        socket = str(server.layout.server_socket())
        with psycopg.connect(_url(socket, "postgres"), autocommit=True) as control:
            control.execute(f"create database {_TEMPLATE}")
        settings = DatabaseSettings(url=_url(socket, _TEMPLATE))
        with Database(data, Settings(database=settings)) as template, template.bare() as conn:
            schema.upgrade(conn)
        return socket

    def _start_pgbouncer(self) -> str:
        program = _pgbouncer()
        assert program is not None
        backend = self._socket("pg18")
        directory = open_directory("bwb-")
        user = EmbeddedServer(directory, DatabaseSettings()).user
        user.own(directory)
        (directory / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={backend} port=5432 user=bailiwick\n"
            f"[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {directory}\nauth_type = any\n"
            f"pool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 20\nserver_reset_query =\n"
            f"logfile = {directory}/log\n"
        )
        process = subprocess.Popen(
            [program, "-q", directory / "pgbouncer.ini"], cwd="/", stderr=subprocess.DEVNULL, **user.switch()
        )
        self._stack.callback(shutil.rmtree, directory, ignore_errors=True)
        self._stack.callback(process.wait, 10)
        self._stack.callback(process.terminate)
        _wait_for(directory / ".s.PGSQL.6432")
        return str(directory)


def _url(socket: str, database: str, *, port: int = 5432) -> str:
    return f"postgresql://bailiwick@/{database}?host={socket}&port={port}"


def _pgbouncer() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _wait_for(path: Path) -> None:
    for _ in range(200):
        if path.exists():
            return
        time.sleep(0.05)
    raise TimeoutError(f"{path} did not appear")
