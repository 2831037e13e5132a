"""Stops the embedded server some time after its last use. Run as `python -m bailiwick.db.embedded.watchdog`.

One small process per server, nobody's child. It holds the `watchdog` lock, so that there is never a second one; when
it is killed, the next command that uses the database starts another. When the server is gone, so is it.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded import locks
from bailiwick.db.embedded.files import open_private
from bailiwick.db.embedded.layout import Layout
from bailiwick.db.embedded.server import EmbeddedServer, detach
from bailiwick.db.embedded.users import environment

_LONGEST_POLL_SECONDS = 5.0
_LOCK_LIMIT_SECONDS = 2.0  # others look at the lock for a moment


@dataclass(slots=True)
class Watch:
    """What one look at the server needs to know from the looks before."""

    server: EmbeddedServer
    last_use: float
    idle_seconds: int = 0

    def run_once(self, now: float) -> bool:
        """One look; stops the server if it has been idle for long enough. Says whether to go on watching."""
        layout = self.server.layout
        if not layout.data.exists() or not self.server.is_running():
            return False
        self.idle_seconds = _wanted_seconds(layout)
        if self.idle_seconds == 0:
            return False
        users = locks.open_lock(layout.users)
        try:
            if not locks.try_lock(users):
                self.last_use = now
                return True
            self.last_use = max(self.last_use, layout.users.stat().st_mtime)
            if now - self.last_use < self.idle_seconds or self._others_connected():
                return True
            # We hold `users` exclusively: nobody can begin to use the server until it has stopped.
            self.server.stop()
            return False
        finally:
            os.close(users)

    def _others_connected(self) -> bool:
        """Connections of programs that do not hold our lock, such as psql."""
        import psycopg

        try:
            with psycopg.connect(self.server.conninfo("postgres"), connect_timeout=5) as conn:
                row = conn.execute(
                    "select count(*) from pg_stat_activity "
                    "where backend_type = 'client backend' and pid <> pg_backend_pid()"
                ).fetchone()
        except psycopg.Error:
            return True  # it does not say: recovering, or full
        if row is not None and row[0] > 0:
            self.last_use = time.time()
            return True
        return False


def ensure_watchdog(server: EmbeddedServer) -> None:
    """Start a watchdog if there is none and one is wanted, and tell the one that is there what is wanted now."""
    idle = server.settings.idle_stop_seconds
    layout = server.layout
    if idle != _wanted_seconds(layout):
        _want_seconds(layout, idle)
    if idle == 0 or locks.is_held(layout.watchdog):
        return
    log = open_private(layout.directory / "watchdog.log", truncate=True)
    # It finds our packages where this process did, wherever they are installed.
    path = {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    try:
        command: list[str | Path] = [sys.executable, "-m", __name__, server.data_root]
        detach(command, log=log, keep=None, options={"env": environment() | path})
    finally:
        os.close(log)


def main(arguments: list[str]) -> None:
    """Watch until the server is gone."""
    server = EmbeddedServer(Path(arguments[0]), DatabaseSettings())
    lock = locks.open_lock(server.layout.watchdog)
    if not locks.wait_for_lock(lock, limit_seconds=_LOCK_LIMIT_SECONDS):
        return
    watch = Watch(server, last_use=time.time())
    while watch.run_once(time.time()):
        time.sleep(min(_LONGEST_POLL_SECONDS, max(0.1, watch.idle_seconds / 4)))


def _wanted_seconds(layout: Layout) -> int:
    """What the last command wanted `idle_stop_seconds` to be; 0 where nothing was said."""
    try:
        return int(layout.watchdog.read_text())
    except (OSError, ValueError):
        return 0


def _want_seconds(layout: Layout, seconds: int) -> None:
    descriptor = open_private(layout.watchdog)
    try:
        os.pwrite(descriptor, f"{seconds:<12}\n".encode(), 0)  # one write of one length: never half of it is read
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main(sys.argv[1:])
