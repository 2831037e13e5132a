"""Start, find, wait for and stop the embedded server. Everything here may be done by several processes at once."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from bailiwick.base.errors import ServerMissingError
from bailiwick.base.settings import DatabaseSettings
from bailiwick.db.embedded import binaries as binaries_
from bailiwick.db.embedded import cluster, locks
from bailiwick.db.embedded.binaries import Binaries
from bailiwick.db.embedded.layout import PORT, SYSTEM_DIRECTORY, Layout, find_layout, make_layout
from bailiwick.db.embedded.users import ServerUser, environment, server_user

Say = Callable[[str], None]
_LOCK_LIMIT_SECONDS = 3600.0  # a holder that starts a server in long recovery shows progress of its own
_POLL_SECONDS = 0.05
_STOP_LIMIT_SECONDS = 120.0


def quiet(_message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """One project's server: the handle by which it is started, found and stopped."""

    data_root: Path
    settings: DatabaseSettings
    say: Say = quiet

    @property
    def user(self) -> ServerUser:
        return server_user(self.settings.server_user)

    @property
    def layout(self) -> Layout:
        return find_layout(self.data_root)

    def conninfo(self, database: str = cluster.DATABASE) -> str:
        """How to connect to the running server, for libpq. There is no password in it: the kernel vouches."""
        socket = self.layout.server_socket()
        return make_conninfo(host=str(socket), port=PORT, user=cluster.ROLE, dbname=database)

    def is_running(self) -> bool:
        """Whether any process of the server is alive (it may still be starting)."""
        layout = self.layout
        # The second: a server that somebody started by hand (pg_ctl) does not hold our lock.
        return locks.is_held(layout.running) or postmaster_pid(layout) is not None

    def ensure_running(self) -> None:
        """Start the server if it is not running, and wait until it answers. Safe from many processes at once."""
        layout = make_layout(self.data_root, self.user)
        if layout.moved and not layout.initialised:
            self.say(
                f"{self.data_root} is closed to the server's user {self.user.name!r}; data goes to {layout.directory}"
            )
        with self.exclusive(layout):
            if self.answers():
                return
            if not self.is_running():
                self._start(layout)
            self._wait_until_ready(layout)
            _ensure_database(self.conninfo("postgres"))

    def answers(self) -> bool:
        """Whether a real connection works."""
        try:
            psycopg.connect(self.conninfo("postgres"), connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    def stop(self, *, mode: signal.Signals = signal.SIGINT) -> bool:
        """Shut the server down (fast: open transactions roll back). Says whether it was running."""
        layout = self.layout
        if not layout.directory.is_dir():
            return False
        with self.exclusive(layout):
            return self.stop_locked(layout, mode=mode)

    def stop_locked(self, layout: Layout, *, mode: signal.Signals = signal.SIGINT) -> bool:
        """`stop` for who holds the lock already."""
        if not self.is_running():
            return False
        pid = postmaster_pid(layout)
        if pid is not None:
            os.kill(pid, mode)
        deadline = time.monotonic() + _STOP_LIMIT_SECONDS
        while self.is_running():
            if time.monotonic() >= deadline:
                raise ServerMissingError(
                    f"the server has not stopped within {_STOP_LIMIT_SECONDS:.0f} seconds",
                    hint=f"see {layout.log}",
                )
            time.sleep(_POLL_SECONDS)
        return True

    @contextmanager
    def exclusive(self, layout: Layout) -> Iterator[None]:
        """Nobody else starts, stops or changes the server meanwhile."""

        def waiting() -> None:
            self.say("waiting for another process that is starting or stopping the database")

        with locks.held(layout.lock, limit_seconds=_LOCK_LIMIT_SECONDS, waiting=waiting):
            yield

    def binaries(self, layout: Layout) -> Binaries:
        """The binaries for this data, where the server's user can run them."""
        chosen = binaries_.choose(layout.data_major, self.settings.binaries)
        return binaries_.reachable(chosen, self.user, SYSTEM_DIRECTORY)

    def _start(self, layout: Layout) -> None:
        user = self.user
        binaries = self.binaries(layout)
        if not layout.initialised:
            self.say(f"making a database in {layout.directory} (PostgreSQL {binaries.version})")
            cluster.initialise(layout, binaries, user)
        socket = layout.socket_directory(user)
        # Nobody holds `running`, so whatever pids these files name (used again, or a zombie's), there is no server.
        for stale in (layout.data / "postmaster.pid", *socket.glob(".s.PGSQL.*")):
            stale.unlink(missing_ok=True)
        cluster.configure(layout.data, socket, user)
        spawn_server(binaries.tool("postgres"), layout, user)

    def _wait_until_ready(self, layout: Layout) -> None:
        """Wait as long as the server makes progress: recovery after a crash may take longer than any fixed limit."""
        progress = _Progress(layout, self.settings.stall_seconds, self.say)
        while True:
            # Before the question, so that a server that dies in between is asked once more.
            alive = self.is_running()
            try:
                psycopg.connect(self.conninfo("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError as error:
                if not alive:
                    raise cluster.explain_failure(
                        progress.new_log(), f"the database did not start (log: {layout.log})"
                    ) from error
                progress.check()
                time.sleep(_POLL_SECONDS)
            else:
                return


class _Progress:
    """Tells a slow start from a stuck one by the server's log, and passes on what it says about recovery."""

    def __init__(self, layout: Layout, stall_seconds: float, say: Say) -> None:
        self._layout, self._stall_seconds, self._say = layout, stall_seconds, say
        self._size = self._start = 0
        self._moved_at = self._told_at = time.monotonic()

    def check(self) -> None:
        now = time.monotonic()
        size = self._layout.log.stat().st_size if self._layout.log.exists() else 0
        if size != self._size:
            self._size, self._moved_at = size, now
        if now - self._moved_at > self._stall_seconds:
            raise ServerMissingError(
                f"the database is starting but has made no progress for {self._stall_seconds:.0f} seconds",
                hint=f"see {self._layout.log}; [database] stall_seconds sets the limit; it may still come up by itself",
            )
        if now - self._told_at >= 1:
            self._told_at = now
            self._say(self._latest())

    def new_log(self) -> str:
        return _tail(self._layout.log)

    def _latest(self) -> str:
        lines = self.new_log().splitlines()
        for line in reversed(lines):
            if "in progress, elapsed time" in line:
                return "the database is recovering after a crash: " + line.partition("LOG:")[2].strip()
        return "waiting for the database to start"


def spawn_server(postgres: Path, layout: Layout, user: ServerUser) -> None:
    """Start the server as nobody's child: it outlives this process, and inherits the `running` lock."""
    if layout.log.exists():
        layout.log.rename(layout.log.with_suffix(".log.1"))  # the last run's, for who asks why it ended
    running = locks.open_lock(layout.running)
    log = os.open(layout.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        if not locks.wait_for_lock(running, limit_seconds=_STOP_LIMIT_SECONDS):
            raise ServerMissingError("processes of the last server are still there", hint=f"see {layout.log}")
        os.set_inheritable(running, True)
        detach([postgres, "-D", layout.data], log=log, keep=running, options=user.switch())
    finally:
        os.close(log)
        os.close(running)


def detach(command: list[str | Path], *, log: int, keep: int | None, options: dict[str, object]) -> None:
    """Run a program in a session of its own, as a child of init: it is nobody's zombie and gets no Ctrl-C."""
    subprocess.run(  # type: ignore[call-overload]
        ["/bin/sh", "-c", '"$@" &', "sh", *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment(),
        cwd="/",
        start_new_session=True,
        pass_fds=() if keep is None else (keep,),
        check=True,
        timeout=30,
        **options,
    )


def postmaster_pid(layout: Layout) -> int | None:
    """The server's main process, if the pid file names a live process that really is it."""
    try:
        lines = (layout.data / "postmaster.pid").read_text().splitlines()
        process = psutil.Process(int(lines[0]))
        # A pid can be used again: only a process that is as old as the file says is the one.
        same = abs(process.create_time() - int(lines[2])) < 60 and "postgres" in process.name()
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return process.pid if same and process.status() != psutil.STATUS_ZOMBIE else None


def _ensure_database(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as conn:
        found = conn.execute("select 1 from pg_database where datname = %s", [cluster.DATABASE]).fetchone()
        if found is None:
            conn.execute(f'create database "{cluster.DATABASE}"')


def _tail(path: Path, limit: int = 20_000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - limit))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
