"""`bailiwick db`: start, look after, move, save and bring back the database."""

import shutil
import time
from pathlib import Path

import click
from sqlalchemy import text

from bailiwick.base.amounts import size
from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import show_facts
from bailiwick.db import schema
from bailiwick.db.embedded import binaries as binaries_
from bailiwick.db.embedded.server import EmbeddedServer, postmaster_pid
from bailiwick.db.revision import HEAD

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group()
def db() -> None:
    """Look after the database.

    The embedded PostgreSQL starts by itself when it is needed and stops when it is idle. With [database] url in
    bailiwick.toml, any PostgreSQL 15 or later is used instead.
    """


@db.command()
@json_option
@pass_session
def status(session: Session, *, as_json: bool) -> None:
    """Show where the database is, its version and schema; starts nothing."""
    app = session.app
    database = app.unchecked_database
    facts: dict[str, str | int | None] = {"kind": "embedded" if database.is_embedded else "by URL"}
    server = database.server
    if isinstance(server, EmbeddedServer):
        facts |= _embedded_facts(server)
        if not server.is_running():
            show_facts(facts, as_json=as_json)
            return
    with database.bare() as conn:
        version, used, revision = (
            conn.execute(text("select current_setting('server_version')")).scalar_one(),
            conn.execute(text("select pg_database_size(current_database())")).scalar_one(),
            schema.current_revision(conn),
        )
    facts |= {"version": version, "size": size(used), "schema": _schema_fact(revision)}
    show_facts(facts, as_json=as_json)


def _schema_fact(revision: int) -> str:
    if revision == HEAD:
        return f"revision {revision}, up to date"
    if revision > HEAD:
        return f"revision {revision}, newer than this program ({HEAD}): it may read but not write"
    return f"revision {revision}, this program needs {HEAD}: bailiwick db upgrade"


def _embedded_facts(server: EmbeddedServer) -> dict[str, str | int | None]:
    layout = server.layout
    major = layout.data_major
    if major is None:
        return {"state": "not made yet", "hint": "bailiwick db upgrade makes it"}
    idle = server.settings.idle_stop_seconds
    found = binaries_.available(server.settings.binaries)
    newest = max((b.major for b in found), default=major)
    return {
        "state": "running" if server.is_running() else "stopped (starts when it is needed)",
        "pid": postmaster_pid(layout),
        "data": str(layout.data),
        "data_version": f"PostgreSQL {major}"
        + (f"; bailiwick db upgrade-server moves it to {newest}" if newest > major else ""),
        "binaries": next((f"{b.directory} ({b.source})" for b in found if b.major == major), "none for this data"),
        "socket": str(layout.server_socket()) if server.is_running() else None,
        "log": str(layout.log),
        "idle_stop": f"{idle} seconds after its last use" if idle else "never",
    }


@db.command()
@pass_session
def upgrade(session: Session) -> None:
    """Make the database if there is none, and bring its schema up to this program."""
    app = session.app.create()
    with app.unchecked_database.bare() as conn:
        before, after = schema.upgrade(conn)
    done = f"upgraded from revision {before} to {after}" if before != after else f"up to date at revision {after}"
    click.echo(f"schema {done}")


@db.command()
@click.argument("revision", type=click.IntRange(min=0))
@yes_option
@pass_session
def downgrade(session: Session, *, revision: int, yes: bool) -> None:
    """Take the schema back to REVISION (0: remove everything). What newer tables hold is lost."""
    app = session.app
    if revision > HEAD:
        raise UsageError(f"this program knows revisions 0 to {HEAD}")
    with app.unchecked_database.bare() as conn:
        found = schema.current_revision(conn)
    if found <= revision:
        raise UsageError(f"the schema is at revision {found} already")
    _confirm(f"Take the schema from revision {found} back to {revision}? Data of newer tables is lost.", yes=yes)
    with app.unchecked_database.bare() as conn:
        before, after = schema.downgrade(conn, revision)
    click.echo(f"schema taken back from revision {before} to {after}")


@db.command("upgrade-server")
@click.option("--to", type=int, metavar="MAJOR", help="To this PostgreSQL version instead of the newest found.")
@click.option("--remove-old", is_flag=True, help="Remove the old data afterwards.")
@pass_session
def upgrade_server(session: Session, *, to: int | None, remove_old: bool) -> None:
    """Move the embedded database to a newer PostgreSQL (16 to 18, say). Others must be stopped."""
    from bailiwick.db.embedded.upgrade import upgrade_server as run_upgrade

    server = _embedded(session)
    done = run_upgrade(server, to=to)
    if done.old_data is None:
        click.echo(f"the data is of PostgreSQL {done.before} already")
        return
    click.echo(f"moved from PostgreSQL {done.before} to {done.after}")
    if remove_old:
        shutil.rmtree(done.old_data)
        click.echo(f"removed {done.old_data}")
    else:
        click.echo(f"the old data is still in {done.old_data}; remove it when all is well", err=True)


@db.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@pass_session
def backup(session: Session, *, file: Path | None, force: bool) -> None:
    """Save the whole database in one compressed FILE (default: bailiwick-<time>.dump here).

    Page bodies and images are files beside the database and not part of it.
    """
    from bailiwick.db.backup import backup as run_backup

    target = file or Path(time.strftime("bailiwick-%Y%m%d-%H%M%S.dump", time.gmtime()))
    if target.exists() and not force:
        raise UsageError(f"{target} exists already", hint="--force replaces it")
    database = session.app.database

    def progress(done: int) -> None:
        click.echo(f"\r{size(done)} written", err=True, nl=False)

    written = run_backup(database, target, progress=progress)
    click.echo(f"{target}: {size(written)}")


@db.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--remove-old", is_flag=True, help="Do not keep the database that was there before.")
@yes_option
@pass_session
def restore(session: Session, *, file: Path, remove_old: bool, yes: bool) -> None:
    """Replace the database by the backup in FILE. The one before is kept under another name."""
    from bailiwick.db.backup import drop_database
    from bailiwick.db.backup import restore as run_restore
    from bailiwick.ledger.events import Act, Subject, record
    from bailiwick.ledger.reader import rebase

    app = session.app.create()
    _confirm(f"Replace the database by {file}?", yes=yes)
    done = run_restore(app.unchecked_database, file)
    with app.database.begin() as conn:
        rebase(conn)
        record(conn, app.actor(conn), Subject("database", "bailiwick"), Act("restore", reason=f"from {file.name}"))
    click.echo(f"restored from {file} (schema revision {done.revision_in_file}, now {done.revision})")
    if remove_old:
        drop_database(app.unchecked_database, done.kept_as)
        click.echo("the database before is removed")
    else:
        click.echo(f"the database before is kept as {done.kept_as}", err=True)


@db.command()
@pass_session
def stop(session: Session) -> None:
    """Stop the embedded server now. It starts again when it is needed."""
    was_running = _embedded(session).stop()
    click.echo("stopped" if was_running else "it was not running")


def _embedded(session: Session) -> EmbeddedServer:
    server = session.app.unchecked_database.server
    if not isinstance(server, EmbeddedServer):
        raise UsageError("the database is not ours to stop or upgrade", hint="it is set by [database] url")
    return server


def _confirm(question: str, *, yes: bool) -> None:
    if not yes and not click.confirm(question, err=True):
        raise click.Abort
