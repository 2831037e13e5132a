"""Stops the embedded server some time after its last use. Run as `python -m bailiwick.db.embedded.watchdog`.

One small process per server, nobody's child. It holds the `watchdog` lock, so that there is never a second one; when
it is killed, the next command that uses the database starts another. When the server is gone, so is it.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.settings import DatabaseSettings
from bailiwick.db.embedded import locks
from bailiwick.db.embedded.layout import Layout
from bailiwick.db.embedded.server import EmbeddedServer, detach

_LONGEST_POLL_SECONDS = 5.0


@dataclass(slots=True)
class Watch:
    """What one look at the server needs to know from the looks before."""

    server: EmbeddedServer
    idle_seconds: float
    last_use: float

    def run_once(self, now: float) -> bool:
        """One look; stops the server if it has been idle for long enough. Says whether to go on watching."""
        layout = self.server.layout
        if not layout.data.exists() or not self.server.is_running():
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
            return False
        if row is not None and row[0] > 0:
            self.last_use = time.time()
            return True
        return False


def ensure_watchdog(server: EmbeddedServer) -> None:
    """Start a watchdog if there is none and one is wanted."""
    idle = server.settings.idle_stop_seconds
    layout = server.layout
    if idle == 0 or locks.is_held(layout.watchdog):
        return
    log = os.open(layout.directory / "watchdog.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        module_path = Path(__file__).parents[3]
        detach(
            [sys.executable, "-c", _LAUNCH, str(module_path), str(server.data_root), str(idle)],
            log=log,
            keep=None,
            options={},
        )
    finally:
        os.close(log)


_LAUNCH = (
    "import sys; sys.path.insert(0, sys.argv[1]); from bailiwick.db.embedded.watchdog import main; main(sys.argv[2:])"
)


def main(arguments: list[str]) -> None:
    """Watch until the server is gone."""
    data_root, idle_seconds = Path(arguments[0]), float(arguments[1])
    server = EmbeddedServer(data_root, DatabaseSettings())
    layout: Layout = server.layout
    if not locks.try_lock(locks.open_lock(layout.watchdog)):
        return
    watch = Watch(server, idle_seconds, last_use=time.time())
    while watch.run_once(time.time()):
        time.sleep(min(_LONGEST_POLL_SECONDS, max(0.1, idle_seconds / 4)))


if __name__ == "__main__":
    main(sys.argv[1:])
