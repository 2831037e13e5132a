"""A project under test: the real command line in processes of its own, and the real server behind it."""

import atexit
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psutil
import psycopg
import pytest

from bailiwick.accounts import members
from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.embedded.binaries import available
from bailiwick.db.embedded.server import EmbeddedServer, postmaster_pid
from bailiwick.db.embedded.users import ServerUser, server_user
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Act, Subject, latest, record
from tests.servers import open_directory

SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
SCRIPT = Path(sys.executable).with_name("bailiwick")
LIMIT_SECONDS = 60.0
_PROBE = Subject("probe", "value")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="changes to other users: run the suite as root")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float

    def refused(self, *words: str, code: int) -> None:
        """It failed the way a user should see it: an error, a hint, no stack trace, these words and this code."""
        assert self.code == code, self
        assert "error: " in self.err, self
        assert "hint: " in self.err, self
        assert "Traceback" not in self.out + self.err, self
        assert "unexpected" not in self.err, self
        for word in words:
            assert word in self.err, (word, self)


@dataclass
class Project:
    """One project directory and everything that its commands start. `user` runs the commands (None: who tests)."""

    root: Path
    user: str | None = None
    settings: dict[str, object] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *_: object) -> None:
        self._clients_end()
        self.server.stop(mode=signal.SIGQUIT)
        end([*self.processes(), *self.watchdogs()])
        layout = self.server.layout
        if layout.moved:
            shutil.rmtree(layout.directory, ignore_errors=True)

    @property
    def data_root(self) -> Path:
        return self.root / ".bailiwick"

    @property
    def server(self) -> EmbeddedServer:
        return EmbeddedServer(self.data_root, DatabaseSettings())

    @property
    def data(self) -> Path:
        return self.server.layout.data

    # Commands

    def begin(
        self,
        *arguments: str | Path,
        named: bool = True,
        cwd: Path | None = None,
        file_limit: int | None = None,
        umask: int = 0o022,
    ) -> "subprocess.Popen[str]":
        """Start a command and do not wait for it. `file_limit` is the longest file it and its children may write."""
        home = ["--home", str(self.root)] if named else []
        process = subprocess.Popen(
            [*self.prefix, *_limited(file_limit), *program(self.user), *home, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd or "/",
            env=self.variables(),
            umask=umask,
            **_identity(self.user),
        )
        self._clients.append(process)
        return process

    def run(
        self,
        *arguments: str | Path,
        named: bool = True,
        cwd: Path | None = None,
        file_limit: int | None = None,
        umask: int = 0o022,
    ) -> Ended:
        """Run a command to its end."""
        began = time.monotonic()
        process = self.begin(*arguments, named=named, cwd=cwd, file_limit=file_limit, umask=umask)
        return wait_for_end(process, began)

    def ok(self, *arguments: str | Path) -> str:
        """Run a command that must work; what it printed."""
        ended = self.run(*arguments)
        assert ended.code == 0, ended
        return ended.out

    def events(self) -> list[dict[str, object]]:
        """The audit trail, as the command line shows it."""
        return [json.loads(line) for line in self.ok("events", "--json").splitlines()]

    def put(self, value: int) -> None:
        """Write something that can be seen again, in this process (that is quicker): an event."""
        with self.database() as database, database.begin() as conn:
            record(conn, members.system_actor(conn), _PROBE, Act("put", after=value))

    def got(self) -> list[object]:
        """Every value that was put, oldest first."""
        with self.database() as database, database.read() as conn:
            return [event.after for event in reversed(latest(conn, subject=_PROBE, limit=1000))]

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The door to the database, in this process, with the project's settings; it starts the server like any."""
        mine = {name.removeprefix("database_"): value for name, value in self.settings.items()}
        with Database(self.data_root, Settings(database=DatabaseSettings.model_validate(mine))) as database:
            yield database

    def facts(self) -> dict[str, object]:
        """What `db status` says."""
        facts: dict[str, object] = json.loads(self.ok("db", "status", "--json"))
        return facts

    # The server

    def connect(self, database: str = "bailiwick") -> "psycopg.Connection[tuple[object, ...]]":
        """A connection that the supervisor does not know of, as psql would have."""
        return psycopg.connect(self.server.conninfo(database), autocommit=True)

    def pid(self) -> int | None:
        return postmaster_pid(self.server.layout)

    def processes(self) -> list[psutil.Process]:
        """Every process of the server: PostgreSQL's all work in the data directory."""
        return [process for process in psutil.process_iter() if _works_in(process, self.data)]

    def watchdogs(self) -> list[psutil.Process]:
        return [
            process
            for process in psutil.process_iter()
            if str(self.data_root) in (words := _words(process)) and any("embedded.watchdog" in word for word in words)
        ]

    def kill_server(self) -> None:
        """SIGKILL to all of it at once, as a power cut does."""
        processes = self.processes()
        assert processes
        for process in processes:
            with suppress(psutil.NoSuchProcess):  # a backend or an autovacuum worker that ended meanwhile
                process.suspend()
        end(processes)

    @property
    def _clients(self) -> "list[subprocess.Popen[str]]":
        started: list[subprocess.Popen[str]] = self.__dict__.setdefault("_started", [])
        return started

    def _clients_end(self) -> None:
        for process in self._clients:
            if process.poll() is None:
                process.kill()
            if process.stdout and not process.stdout.closed:
                process.communicate(timeout=LIMIT_SECONDS)

    def variables(self) -> dict[str, str]:
        """The environment of its commands."""
        settings = {f"BAILIWICK_{name.upper()}": str(value) for name, value in self.settings.items()}
        path = f"{SOURCE}:{PACKAGES}"  # the packages for users who cannot reach the interpreter of the tests
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            **settings,
            **self.environment,
        }


@contextmanager
def opened(root: Path, *, user: str | None = None, **settings: object) -> Iterator[Project]:
    """A project whose data directory is there already, made like every other but quicker: by copying one."""
    with Project(root, user, settings) as project:
        copy_cluster(project, 18)
        yield project


@contextmanager
def sketched(root: Path, *, user: str | None = None, version: bytes = b"18\n") -> Iterator[Project]:
    """A project with a data directory in name only, for what must end before a server is started."""
    with Project(root, user) as project:
        owner = server_user() if user is None else _user(user)
        (project.data_root / "pg" / "data").mkdir(parents=True)
        (project.data_root / "pg").chmod(0o700)
        (project.data / "PG_VERSION").write_bytes(version)
        own = [project.data_root, project.data_root / "pg"] if user else [project.data_root / "pg"]
        for path in own:
            owner.own(path)
        yield project


def copy_cluster(project: Project, major: int) -> None:
    """A stopped server's data with our schema, of this PostgreSQL version."""
    owner = server_user() if project.user is None else _user(project.user)
    project.data_root.mkdir(parents=True, exist_ok=True)
    target = project.data_root / "pg"
    target.mkdir(mode=0o700)
    subprocess.run(["cp", "-a", _prepared(major), target / "data"], check=True)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", f"{owner.uid}:{owner.gid}", target], check=True)
        if project.user is not None:
            os.chown(project.data_root, owner.uid, owner.gid)


@cache
def _prepared(major: int) -> Path:
    directory = open_directory("bwp-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    root = directory / ".bailiwick"
    root.mkdir()
    settings = DatabaseSettings(binaries=binaries_directory(major), idle_stop_seconds=0)
    with Database(root, Settings(database=settings)) as database:
        database.ensure_schema()
    server = EmbeddedServer(root, settings)
    server.stop()
    return server.layout.data


def binaries_directory(major: int) -> Path:
    return next(binaries.directory for binaries in available() if binaries.major == major)


@cache
def program(user: str | None) -> tuple[str, ...]:
    """The command line's words for this user, who may not be able to reach the interpreter that runs the tests."""
    if user is None:
        return (str(SCRIPT),)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{SOURCE}:{PACKAGES}"}
    tried = []
    for candidate in dict.fromkeys((sys.executable, *_system_interpreters())):
        try:
            found = subprocess.run(
                [candidate, "-c", "import bailiwick.app, pydantic, psutil"],
                env=environment, cwd="/", capture_output=True, text=True, check=False, **_identity(user),
            )  # fmt: skip
        except OSError as error:
            tried.append(f"{candidate}: {error}")
            continue
        if found.returncode == 0:
            return (candidate, "-m", "bailiwick")
        tried.append(f"{candidate}: {found.stderr.strip().splitlines()[-1:]}")
    pytest.fail(f"no Python {sys.version_info[:2]} that user {user} can run with our packages; tried {tried}")


def _system_interpreters() -> Iterator[str]:
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for directory in ("/usr/bin", "/usr/local/bin", "/opt/python/bin"):
        yield from (f"{directory}/{name}", f"{directory}/python3")


# Waiting and ending


def eventually(claim: Callable[[], object], what: str, *, limit_seconds: float = 30.0) -> None:
    """Wait until the claim holds."""
    deadline = time.monotonic() + limit_seconds
    while not claim():
        assert time.monotonic() < deadline, f"not within {limit_seconds:.0f} seconds: {what}"
        time.sleep(0.05)


def throughout(claim: Callable[[], object], what: str, *, seconds: float) -> None:
    """See that the claim holds all the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert claim(), f"no longer so: {what}"
        time.sleep(0.05)


def wait_for_end(process: "subprocess.Popen[str]", began: float | None = None) -> Ended:
    began = time.monotonic() if began is None else began
    try:
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"{process.args} did not end within {LIMIT_SECONDS:.0f} seconds: {out!r} {err!r}")
    return Ended(process.returncode, out, err, time.monotonic() - began)


def end(processes: list[psutil.Process]) -> None:
    """SIGKILL to these, and wait until they are gone."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    eventually(lambda: not any(map(_lives, processes)), "they are gone")


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _works_in(process: psutil.Process, directory: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(directory)
    except psutil.Error:
        return False


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _limited(file_limit: int | None) -> tuple[str, ...]:
    """Words before a command that limit the size of files, in bytes: the nearest thing to a full disk."""
    return () if file_limit is None else ("/bin/sh", "-c", 'ulimit -f "$0"; exec "$@"', str(file_limit // 512))


def _user(name: str) -> ServerUser:
    entry = pwd.getpwnam(name)
    return ServerUser(name, entry.pw_uid, entry.pw_gid, switched=os.geteuid() == 0)


def _identity(user: str | None) -> dict[str, object]:
    if user is None:
        return {}
    if user.isdigit():
        return {"user": int(user), "group": int(user), "extra_groups": []}
    return _user(user).switch()
