"""Backup and restore of the whole database, by PostgreSQL's own tools.

A restore goes into a database of its own and is swapped in at the end: a bad file changes nothing.
"""

import os
import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bailiwick.base.errors import BackupError, SchemaError
from bailiwick.db import schema
from bailiwick.db.embedded.binaries import tool_for
from bailiwick.db.embedded.users import ending_signal, environment
from bailiwick.db.engine import Database
from bailiwick.db.revision import HEAD

Progress = Callable[[int], None]
"""Told now and then how many bytes are done."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did; `kept_as` is the database that was there before."""

    revision_in_file: int
    revision: int
    kept_as: str


def backup(database: Database, file: Path, *, progress: Progress | None = None) -> int:
    """Write everything into one compressed file; it appears complete or not at all. Returns its size in bytes."""
    half = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    command, env = _tool(database, "pg_dump")
    # Made by us, closed to others. By its name: on its standard output pg_dump writes the table of contents twice.
    descriptor = _create(half)
    try:
        arguments = ["--format=custom", "--no-owner", "--no-privileges", f"--file={half}"]
        _run([*command, *arguments], env, grows=half, progress=progress)
        os.fsync(descriptor)
        half.rename(file)
    finally:
        os.close(descriptor)
        half.unlink(missing_ok=True)
    return file.stat().st_size


def restore(database: Database, file: Path) -> Restored:
    """Replace the database by a backup's content. The one before is kept under another name.

    Refused while others are connected. A file that is no backup, or of a newer program, changes nothing.
    """
    _refuse_unreadable(database, file)
    with database.connect() as conn:
        name = conn.info.dbname
    database.close()
    fresh, kept_as = _names_beside(name)
    with database.connect("postgres") as control:
        control.autocommit = True
        _refuse_busy(control, name)
        control.execute(sql.SQL("create database {} template template0").format(sql.Identifier(fresh)))
        try:
            found, revision = _fill(database, fresh, file)
            _swap(control, name, fresh, kept_as)
        except BaseException:
            control.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(fresh)))
            raise
    return Restored(found, revision, kept_as)


def drop_database(database: Database, name: str) -> None:
    """Remove a database that a restore kept."""
    with database.connect("postgres") as control:
        control.autocommit = True
        control.execute(sql.SQL("drop database {}").format(sql.Identifier(name)))


def _fill(database: Database, name: str, file: Path) -> tuple[int, int]:
    command, env = _tool(database, "pg_restore", database_name=name)
    _run([*command, "--exit-on-error", "--no-owner", "--no-privileges", "--single-transaction", str(file)], env)
    from sqlalchemy import create_engine

    engine = create_engine("postgresql+psycopg://", creator=lambda: database.connect(name))
    try:
        with engine.begin() as conn:
            found = schema.current_revision(conn)
            if found == 0:
                raise BackupError(f"{file} is no backup of Bailiwick", hint="it holds another program's tables")
            if found > HEAD:
                raise SchemaError(
                    f"{file} was made by a newer program (schema revision {found}, this one knows {HEAD})",
                    hint="upgrade this Bailiwick installation first",
                )
            return schema.upgrade(conn)
    finally:
        engine.dispose()


def _refuse_busy(control: "psycopg.Connection[tuple[object, ...]]", name: str) -> None:
    """Early, before the long work; `_swap` asks again, with a lock."""
    query = "select count(*) from pg_stat_activity where datname = %s and backend_type = 'client backend'"
    busy = control.execute(query, [name]).fetchone()
    if busy is not None and busy[0] != 0:
        raise _in_use(f"{busy[0]} connections")


def _in_use(who: str | None) -> BackupError:
    return BackupError(
        f"others use the database, and nothing was changed: {who}",
        hint="stop workers and web servers (and psql), then restore again",
    )


def _swap(control: "psycopg.Connection[tuple[object, ...]]", name: str, fresh: str, kept_as: str) -> None:
    rename = sql.SQL("alter database {} rename to {}")
    try:
        with control.transaction():
            control.execute(rename.format(sql.Identifier(name), sql.Identifier(kept_as)))
            control.execute(rename.format(sql.Identifier(fresh), sql.Identifier(name)))
    except psycopg.errors.ObjectInUse as error:
        raise _in_use(error.diag.message_detail) from error


def _names_beside(name: str) -> tuple[str, str]:
    """Names for the database that comes and the one that goes; PostgreSQL cuts names at 63 bytes."""
    return f"{name[:40]}_restoring_{secrets.token_hex(4)}", f"{name[:40]}_before_{time.strftime('%Y%m%d_%H%M%S')}"


def _refuse_unreadable(database: Database, file: Path) -> None:
    if not file.is_file():
        raise BackupError(f"there is no file {file}")
    command, env = _tool(database, "pg_restore")
    listing = subprocess.run(
        [command[0], "--list", str(file)], env=env, capture_output=True, text=True, errors="replace", check=False
    )
    if listing.returncode != 0:
        reason = listing.stderr.strip().splitlines()[-1:] or ["not readable"]
        raise BackupError(f"{file} is no backup: {reason[0]}", hint="bailiwick db backup makes one")


def _tool(database: Database, name: str, *, database_name: str | None = None) -> tuple[list[str], dict[str, str]]:
    """The tool's command line and environment. A password goes by the environment, where `ps` does not show it."""
    with database.connect() as conn:
        major = conn.info.server_version // 10000
    parts = conninfo_to_dict(database.server.conninfo())
    password = parts.pop("password", None)
    if database_name:
        parts["dbname"] = database_name
    tool = tool_for(major, name, database.settings.database.binaries)
    env = environment() | ({"PGPASSWORD": str(password)} if password else {})
    return [str(tool), f"--dbname={make_conninfo(**parts)}"], env  # type: ignore[arg-type]


def _run(
    command: list[str],
    env: dict[str, str],
    *,
    grows: Path | None = None,
    progress: Progress | None = None,
) -> None:
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        while True:
            try:
                _, said = process.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if progress is not None and grows is not None:
                    progress(grows.stat().st_size)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    if process.returncode != 0:
        said += ending_signal(process.returncode)
        lines = [line for line in said.splitlines() if line.strip()] or ["no reason given"]
        raise BackupError(f"{Path(command[0]).name} failed: {lines[-1]}", hint="nothing was changed")


def _create(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BackupError(
            f"cannot write in {path.parent}: {error.strerror}", hint="name a file in a directory that you may write to"
        ) from error
