"""Bring the schema to a revision. Alembic is imported on use."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from bailiwick.base.errors import SchemaError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db.revision import HEAD

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK_TIMEOUT_SECONDS = 30
_STATEMENT_TIMEOUT_SECONDS = 3600


def current_revision(conn: Connection) -> int:
    """The revision of the database; 0 where there is no schema yet."""
    known = conn.execute(text("select to_regclass('alembic_version') is not null")).scalar_one()
    if not known:
        return 0
    found = conn.execute(text("select version_num from alembic_version")).scalar()
    return int(found) if found is not None else 0


def upgrade(conn: Connection, to: int = HEAD) -> tuple[int, int]:
    """Upgrade inside the caller's transaction; returns (revision before, revision after). Twice is harmless."""
    return _migrate(conn, to, _upgrade_to)


def downgrade(conn: Connection, to: int) -> tuple[int, int]:
    """Take revisions back inside the caller's transaction. What only newer tables held is lost: ask first."""
    return _migrate(conn, to, _downgrade_to)


def _migrate(conn: Connection, to: int, run: "Callable[[Config, int], None]") -> tuple[int, int]:
    try:
        conn.execute(text(f"set local lock_timeout = '{_LOCK_TIMEOUT_SECONDS}s'"))
        conn.execute(text(f"set local statement_timeout = '{_STATEMENT_TIMEOUT_SECONDS}s'"))
        # One at a time; writers hold a share of the same lock.
        conn.execute(text("select pg_advisory_xact_lock(hashtext('bailiwick.schema'))"))
        before = current_revision(conn)
        if before > HEAD:
            raise SchemaError(
                f"the schema is at revision {before}, this program knows only {HEAD}",
                hint="upgrade this Bailiwick installation: pip install --upgrade bailiwick",
            )
        if before != to:
            run(_config(conn), to)
            logger().info(LogEvent.SCHEMA_CHANGED, before=before, after=to)
        return before, to
    except DBAPIError as error:
        raise migration_error(error) from error


def migration_error(error: DBAPIError) -> SchemaError:
    if isinstance(error.orig, psycopg.errors.LockNotAvailable):
        return SchemaError(
            f"another program kept a lock for {_LOCK_TIMEOUT_SECONDS} seconds; nothing was changed",
            hint="stop workers and long queries, then try again",
        )
    return SchemaError(f"the migration failed and nothing was changed: {error.orig}")


def _config(conn: Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = conn
    return config


def _upgrade_to(config: "Config", to: int) -> None:
    from alembic import command

    command.upgrade(config, f"{to:04}")


def _downgrade_to(config: "Config", to: int) -> None:
    from alembic import command

    command.downgrade(config, f"{to:04}" if to else "base")
