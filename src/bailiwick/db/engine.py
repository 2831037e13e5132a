"""The door to the database: opens it (starting the embedded server), and hands out transactions."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import psycopg
from sqlalchemy import Connection, Engine, create_engine, text

from bailiwick.base.clock import Clock, SystemClock
from bailiwick.base.errors import SchemaError, ServerMissingError
from bailiwick.base.settings import Settings
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db import schema
from bailiwick.db.disk import DiskGuard
from bailiwick.db.embedded import locks
from bailiwick.db.embedded.server import EmbeddedServer, quiet
from bailiwick.db.embedded.watchdog import ensure_watchdog
from bailiwick.db.external import ExternalServer
from bailiwick.db.faults import translated
from bailiwick.db.revision import HEAD

RawConnection = psycopg.Connection[tuple[object, ...]]
_USERS_LIMIT_SECONDS = 180.0
_START_ATTEMPTS = 2
_DISK_PATIENCE_SECONDS = 3600.0


class Database:
    """One database, for one process. `begin` writes, `read` reads; nothing else opens transactions."""

    def __init__(
        self,
        data_root: Path,
        settings: Settings,
        *,
        say: Callable[[str], None] = quiet,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.server: EmbeddedServer | ExternalServer = (
            ExternalServer(settings.database)
            if settings.database.url is not None
            else EmbeddedServer(data_root, settings.database, say)
        )
        self.disk = (
            DiskGuard(self.server.disk_path, settings.storage, clock or SystemClock())
            if isinstance(self.server, EmbeddedServer)
            else None
        )
        self._say = say
        self._users: int | None = None
        self._engine: Engine | None = None
        self._making = Lock()

    @property
    def is_embedded(self) -> bool:
        return isinstance(self.server, EmbeddedServer)

    def connect(self, database: str | None = None) -> RawConnection:
        """A plain psycopg connection, for what must be fast. A stopped embedded server is started."""
        server = self.server
        if isinstance(server, ExternalServer):
            return server.connect(database)
        # Twice: a watchdog that did not see us coming may stop it again right after the first.
        for _ in range(_START_ATTEMPTS):
            try:
                return self._connect_announced(server, database)
            except psycopg.OperationalError:
                # Stopped, starting, or killed: start it, or wait for whoever does.
                server.ensure_running()
                logger().info(LogEvent.DATABASE_STARTED, data=str(server.layout.data))
        try:
            return self._connect_announced(server, database)
        except psycopg.OperationalError as error:
            raise ServerMissingError(
                f"no connection to the embedded database: {error}", hint=f"see {server.layout.log}"
            ) from error

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that writes: refused to programs older than the schema and on a full disk."""
        if self.disk is not None:
            self.disk.check()
        with self._transaction(writes=True) as conn:
            yield conn

    @contextmanager
    def begin_patiently(self) -> Iterator[Connection]:
        """Like `begin`, for long work: on a full disk it pauses, says so, and goes on when there is room."""
        if self.disk is not None:
            self.disk.wait(self._say, limit_seconds=_DISK_PATIENCE_SECONDS)
        with self.begin() as conn:
            yield conn

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._transaction(writes=False) as conn:
            yield conn

    @contextmanager
    def bare(self) -> Iterator[Connection]:
        """A transaction without any check, for what looks at the schema itself."""
        with translated(), self.engine.begin() as conn:
            yield conn

    def ensure_schema(self) -> tuple[int, int]:
        """Bring an embedded database up to this program; say what to do about any other. (before, after)"""
        with self.bare() as conn:
            found = schema.current_revision(conn)
            if found < HEAD and self.is_embedded:
                return schema.upgrade(conn)
        if found < HEAD:
            what = "has no schema yet" if found == 0 else f"is at schema revision {found}, this program needs {HEAD}"
            raise SchemaError(f"the database {what}", hint="bailiwick db upgrade")
        return found, found

    @property
    def engine(self) -> Engine:
        with self._making:  # threads that come first together share one
            if self._engine is None:
                self._engine = create_engine(
                    "postgresql+psycopg://", creator=self.connect, pool_pre_ping=True, pool_size=5, max_overflow=5
                )
            return self._engine

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        limits = self.settings.database
        with translated(), self.engine.begin() as conn:
            conn.execute(
                text("select bailiwick_enter(:revision, :writes, :lock_ms, :statement_ms)"),
                {
                    "revision": HEAD,
                    "writes": writes,
                    "lock_ms": limits.lock_timeout_seconds * 1000,
                    "statement_ms": limits.statement_timeout_seconds * 1000,
                },
            )
            yield conn

    def _connect_announced(self, server: EmbeddedServer, database: str | None) -> RawConnection:
        self._announce(server)
        info = server.conninfo(database) if database else server.conninfo()
        return psycopg.connect(info, connect_timeout=10, application_name="bailiwick")

    def _announce(self, server: EmbeddedServer) -> None:
        """Tell the watchdog that this process uses the server, for as long as it lives; see that there is one."""
        layout = server.layout
        if not layout.initialised:
            return
        if self._users is None:
            users = locks.open_lock(layout.users)
            if not locks.wait_for_lock(users, shared=True, limit_seconds=_USERS_LIMIT_SECONDS):
                os.close(users)
                raise ServerMissingError("the embedded database is stopping and does not end", hint=f"see {layout.log}")
            self._users = users
        os.utime(self._users)
        if server.is_running():
            ensure_watchdog(server)
