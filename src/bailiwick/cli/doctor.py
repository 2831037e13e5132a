"""`bailiwick doctor`: is everything that Bailiwick needs in order? Each finding says how to mend it."""

import platform
import resource
import socket
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import click
from sqlalchemy import text

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError
from bailiwick.base.place import Place
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_rows
from bailiwick.db import schema
from bailiwick.db.embedded import binaries
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.engine import Database
from bailiwick.db.revision import HEAD

_DNS_LIMIT_SECONDS = 3
_FILES_WANTED = 4096


class Verdict(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    verdict: Verdict
    what: str
    fix: str | None = None


@click.command()
@json_option
@pass_session
def doctor(session: Session, *, as_json: bool) -> int:
    """Check that everything Bailiwick needs is in order.

    Every line is ok, warn or fail, with the fix. Exit code 1 when something fails; being offline is a warning.
    """
    found = list(examine(session.app))
    rows: list[Row] = [{"check": f.check, "verdict": f.verdict.value, "what": f.what, "fix": f.fix} for f in found]
    show_rows(rows, ("verdict", "check", "what", "fix"), as_json=as_json, empty="")
    return 1 if any(f.verdict is Verdict.FAIL for f in found) else 0


def examine(app: App) -> Iterator[Finding]:
    """Every check, one after the other; none stops the others."""
    for name, check in (
        ("python", _python),
        ("settings", _settings),
        ("data directory", _place),
        ("disk", _disk),
        ("binaries", _binaries),
        ("database", _database),
        ("open files", _open_files),
        ("dns", _dns),
        ("certificates", _certificates),
    ):
        yield from _guarded(name, check, app)


def _guarded(name: str, check: "Callable[[App], Iterator[Finding]]", app: App) -> Iterator[Finding]:
    try:
        yield from check(app)
    except BailiwickError as error:
        yield Finding(name, Verdict.FAIL, error.message, error.hint)


def _python(_app: App) -> Iterator[Finding]:
    found = f"Python {platform.python_version()} at {sys.executable}"
    good = sys.version_info >= (3, 11)
    yield Finding(
        "python", Verdict.OK if good else Verdict.FAIL, found, None if good else "Python 3.11 or later is needed"
    )


def _settings(app: App) -> Iterator[Finding]:
    for name in app.bootstrap.unknown_environment:
        yield Finding("settings", Verdict.WARN, f"{name} in the environment is no setting", "bailiwick settings show")
    file = app.place.settings_file
    yield Finding("settings", Verdict.OK, f"{file} is read" if file.exists() else "no bailiwick.toml: defaults hold")


def _place(app: App) -> Iterator[Finding]:
    data = app.place.data
    if not data.exists():
        yield Finding("data directory", Verdict.WARN, f"{data} does not exist yet", "bailiwick db upgrade makes it")
    else:
        yield Finding("data directory", Verdict.OK, str(data))


def _disk(app: App) -> Iterator[Finding]:
    disk = app.unchecked_database.disk
    if disk is None or not app.place.exists:
        return
    state = disk.state()
    fix = "make room: writing work pauses" if state.is_low else None
    yield Finding("disk", Verdict.FAIL if state.is_low else Verdict.OK, str(state), fix)


def _binaries(app: App) -> Iterator[Finding]:
    server = app.unchecked_database.server
    if not isinstance(server, EmbeddedServer):
        return
    found = binaries.available(server.settings.binaries)
    chosen = binaries.choose(server.layout.data_major, server.settings.binaries)
    others = ", ".join(f"{b.version} ({b.source})" for b in found if b != chosen) or "none"
    yield Finding("binaries", Verdict.OK, f"PostgreSQL {chosen.version} ({chosen.source}); others: {others}")
    if server.layout.data_major is not None and found[0].major > chosen.major:
        yield Finding(
            "binaries",
            Verdict.WARN,
            f"the data could move to PostgreSQL {found[0].major}",
            "bailiwick db upgrade-server",
        )
    user = server.user
    if user.switched:
        shared = user.name == "nobody"
        yield Finding(
            "server user",
            Verdict.WARN if shared else Verdict.OK,
            f"root's server runs as {user.name}" + (", which other programs use too" if shared else ""),
            "useradd --system bailiwick" if shared else None,
        )


def _database(app: App) -> Iterator[Finding]:
    if app.bootstrap.tree.database.url is None and not app.place.exists:
        # A trial, so that a fresh machine learns whether it would work, without leaving anything behind.
        with tempfile.TemporaryDirectory(prefix="bailiwick-doctor-") as trial:
            Path(trial).chmod(0o755)
            yield from _trial(app, Path(trial))
        return
    yield from _examined(app.unchecked_database)


def _trial(app: App, directory: Path) -> Iterator[Finding]:
    place = Place(directory)
    place.create()
    with Database(place.data, app.bootstrap.tree, say=app.say) as database:
        server = database.server
        if not isinstance(server, EmbeddedServer):
            return
        try:
            database.ensure_schema()
            yield from _examined(database)
        finally:
            server.stop()


def _examined(database: Database) -> Iterator[Finding]:
    with database.bare() as conn:
        asked = datetime.now(UTC)
        version, their_time = conn.execute(text("select current_setting('server_version'), clock_timestamp()")).one()
        answered = datetime.now(UTC)
        revision = schema.current_revision(conn)
    kind = "embedded" if database.is_embedded else "by URL"
    yield Finding("database", Verdict.OK, f"PostgreSQL {version}, {kind}, answers")
    yield _schema(revision)
    off = max((asked - their_time).total_seconds(), (their_time - answered).total_seconds(), 0.0)
    good = off < 2
    yield Finding(
        "clock",
        Verdict.OK if good else Verdict.WARN,
        f"{off:.1f} seconds off the database's",
        None if good else "set the clock of both machines by NTP",
    )
    server = database.server
    if isinstance(server, EmbeddedServer):
        path = server.layout.server_socket()
        yield Finding("socket", Verdict.OK, f"{path} ({len(str(path))} characters)")


def _schema(revision: int) -> Finding:
    if revision == HEAD:
        return Finding("schema", Verdict.OK, f"revision {revision}, up to date")
    if revision > HEAD:
        what = f"revision {revision}, this program knows {HEAD}"
        return Finding("schema", Verdict.FAIL, what, "upgrade this Bailiwick installation")
    return Finding("schema", Verdict.WARN, f"revision {revision}, this program needs {HEAD}", "bailiwick db upgrade")


def _open_files(_app: App) -> Iterator[Finding]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    reachable = hard if hard != resource.RLIM_INFINITY else sys.maxsize
    what = f"{soft} open files, at most {'unlimited' if reachable == sys.maxsize else reachable}"
    if reachable < _FILES_WANTED:
        yield Finding("open files", Verdict.WARN, what, f"raise the hard limit to {_FILES_WANTED} (ulimit -Hn)")
    else:
        yield Finding("open files", Verdict.OK, what)


def _dns(app: App) -> Iterator[Finding]:
    host = app.bootstrap.tree.doctor.probe_host
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        answer = pool.submit(socket.getaddrinfo, host, 443).result(timeout=_DNS_LIMIT_SECONDS)
    except (OSError, TimeoutError) as error:
        why = str(error) or f"no answer within {_DNS_LIMIT_SECONDS} seconds"
        yield Finding("dns", Verdict.WARN, f"cannot look up {host}: {why}", "crawling the internet needs DNS")
    else:
        yield Finding("dns", Verdict.OK, f"{host} has {len({a[4][0] for a in answer})} addresses")
    finally:
        pool.shutdown(wait=False)


def _certificates(_app: App) -> Iterator[Finding]:
    context = ssl.create_default_context()
    known = len(context.get_ca_certs()) or (1 if ssl.get_default_verify_paths().capath else 0)
    if known:
        yield Finding("certificates", Verdict.OK, f"{len(context.get_ca_certs())} authorities trusted")
    else:
        fix = "install your system's ca-certificates"
        yield Finding("certificates", Verdict.WARN, "no certificate authority is trusted: https will fail", fix)
