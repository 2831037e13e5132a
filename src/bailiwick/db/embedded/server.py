"""Start, find, wait for and stop the embedded server. Everything here may be done by several processes at once."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from bailiwick.base.errors import ServerMissingError
from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded import binaries as binaries_
from bailiwick.db.embedded import cluster, locks
from bailiwick.db.embedded.binaries import Binaries
from bailiwick.db.embedded.files import open_private
from bailiwick.db.embedded.layout import PORT, SYSTEM_DIRECTORY, Layout, find_layout, make_layout, owner_of
from bailiwick.db.embedded.processes import end_leftovers, says_starting
from bailiwick.db.embedded.processes import postmaster_pid as postmaster_pid  # noqa: PLC0414 - the commands take it from here
from bailiwick.db.embedded.progress import Progress, tail
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
        return server_user(self.settings.server_user, owner=owner_of(self.data_root))

    @property
    def layout(self) -> Layout:
        return find_layout(self.data_root)

    @property
    def disk_path(self) -> Path:
        """Where it writes, for who looks at the free space."""
        layout = self.layout
        return layout.directory if layout.moved else self.data_root

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
            if not self.answers():
                self._bring_up(layout)
            # Also when it answers: who started it may have been killed before this.
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
        socket, told = layout.server_socket(), None
        deadline = time.monotonic() + _STOP_LIMIT_SECONDS
        while self.is_running():
            pid = postmaster_pid(layout)
            if pid is None:
                end_leftovers(layout)
            elif pid != told:
                told = pid
                with suppress(ProcessLookupError):
                    os.kill(pid, mode)
            if time.monotonic() >= deadline:
                raise ServerMissingError(
                    f"the server has not stopped within {_STOP_LIMIT_SECONDS:.0f} seconds",
                    hint=f"see {layout.log}",
                )
            time.sleep(_POLL_SECONDS)
        if not socket.is_relative_to(layout.directory):
            with suppress(OSError):
                socket.rmdir()
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

    @contextmanager
    def claimed(self, layout: Layout) -> Iterator[int]:
        """The `running` lock, to be inherited by programs that work on the data: a killed parent does not free it."""
        running = locks.open_lock(layout.running)
        try:
            if not locks.wait_for_lock(running, limit_seconds=_STOP_LIMIT_SECONDS):
                raise ServerMissingError("processes of the last server are still there", hint=f"see {layout.log}")
            yield running
        finally:
            os.close(running)

    def _bring_up(self, layout: Layout) -> None:
        # What is there may be starting, or ending: the rest of a killed server, an initdb that lost its parent.
        if self.is_running() and self._came_up(layout):
            return
        self._start(layout)
        if not self._came_up(layout):
            raise cluster.explain_failure(tail(layout.log), f"the database did not start (log: {layout.log})")

    def _start(self, layout: Layout) -> None:
        user = self.user
        binaries = self.binaries(layout)
        with self.claimed(layout) as running:
            if not layout.initialised:
                self.say(f"making a database in {layout.directory} (PostgreSQL {binaries.version})")
                cluster.initialise(layout, binaries, user, running=running)
            socket = layout.socket_directory(user)
            # Nobody held `running`, so whatever pids these files name (used again, or a zombie's), there is no server.
            for stale in (layout.data / "postmaster.pid", *socket.glob(".s.PGSQL.*")):
                stale.unlink(missing_ok=True)
            cluster.configure(layout.data, socket, user)
            spawn_server(binaries.tool("postgres"), layout, user, running=running)

    def _came_up(self, layout: Layout) -> bool:
        """Wait as long as the server makes progress: recovery after a crash may take longer than any fixed limit.

        False when it ends instead.
        """
        progress = Progress(layout, self.settings.stall_seconds, self.say)
        while True:
            # Before the question, so that a server that dies in between is asked once more.
            alive = self.is_running()
            starts = alive and says_starting(layout)
            if not starts and self._accepts():
                return True
            if not alive:
                return False
            if not starts:
                end_leftovers(layout)
            progress.check()
            time.sleep(_POLL_SECONDS)

    def _accepts(self) -> bool:
        """Like `answers`, but a server that says no, rather than «not yet», is not worth waiting for."""
        try:
            psycopg.connect(self.conninfo("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError as error:
            said = str(error).partition("FATAL:")[2].strip()
            if said and not said.startswith("the database system is"):
                raise ServerMissingError(
                    f"the database refuses connections: {said.splitlines()[0]}",
                    hint="bailiwick db status shows the server; bailiwick db stop ends it and every connection",
                ) from error
            return False
        return True


def spawn_server(postgres: Path, layout: Layout, user: ServerUser, *, running: int) -> None:
    """Start the server as nobody's child: it outlives this process, and inherits the `running` lock."""
    if layout.log.exists():
        layout.log.rename(layout.log.with_suffix(".log.1"))  # the last run's, for who asks why it ended
    log = open_private(layout.log, truncate=True)
    try:
        detach([postgres, "-D", layout.data], log=log, keep=running, options=user.switch())
    finally:
        os.close(log)


def detach(command: list[str | Path], *, log: int, keep: int | None, options: dict[str, object]) -> None:
    """Run a program in a session of its own, as a child of init: it is nobody's zombie and gets no Ctrl-C."""
    subprocess.run(  # type: ignore[call-overload]
        ["/bin/sh", "-c", '"$@" &', "sh", *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",
        start_new_session=True,
        pass_fds=() if keep is None else (keep,),
        check=True,
        timeout=30,
        **({"env": environment()} | options),
    )


def _ensure_database(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as conn:
        found = conn.execute("select 1 from pg_database where datname = %s", [cluster.DATABASE]).fetchone()
        if found is None:
            conn.execute(f'create database "{cluster.DATABASE}"')
