"""A PostgreSQL server that somebody else runs, by URL."""

from dataclasses import dataclass

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bailiwick.base.errors import ServerMissingError, SettingsError
from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded.binaries import OLDEST_MAJOR


@dataclass(frozen=True, slots=True)
class ExternalServer:
    """The handle on a server by `[database] url`. Its password never appears in a message."""

    settings: DatabaseSettings

    def conninfo(self, database: str | None = None) -> str:
        """How to connect, for libpq; the password is in it."""
        url = self.settings.url
        if url is None:
            raise SettingsError("database.url is not set")
        url_text = url.get_secret_value().replace("postgresql+psycopg://", "postgresql://", 1)
        try:
            parts = conninfo_to_dict(url_text)
        except psycopg.ProgrammingError as error:
            raise SettingsError(
                "database.url is not a PostgreSQL URL", hint="postgresql://user:password@host:5432/name"
            ) from error
        return make_conninfo(url_text, dbname=database or parts.get("dbname"))

    def connect(self, database: str | None = None) -> "psycopg.Connection[tuple[object, ...]]":
        info = self.conninfo(database)
        try:
            conn = psycopg.connect(
                info,
                connect_timeout=self.settings.connect_timeout_seconds,
                application_name="bailiwick",
                prepare_threshold=5 if self.settings.prepared_statements else None,
            )
        except psycopg.OperationalError as error:
            parts = conninfo_to_dict(info)
            where = f"{parts.get('host', 'localhost')}:{parts.get('port', '5432')}/{parts.get('dbname', '')}"
            raise ServerMissingError(
                f"no connection to PostgreSQL at {where}: {_reason(error)}",
                hint="is it running and is [database] url right? Without it the embedded server is used",
            ) from error
        if conn.info.server_version < OLDEST_MAJOR * 10000:
            version = conn.info.server_version // 10000
            conn.close()
            raise ServerMissingError(
                f"PostgreSQL {version} is too old", hint=f"PostgreSQL {OLDEST_MAJOR} or later is needed"
            )
        return conn


def _reason(error: psycopg.Error) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
