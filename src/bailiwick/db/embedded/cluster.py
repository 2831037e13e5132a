"""A data directory: made all at once or not at all, and configured by us."""

import os
import secrets
import shutil
from pathlib import Path

from bailiwick.base.errors import BailiwickError, ServerMissingError
from bailiwick.db.embedded.binaries import Binaries
from bailiwick.db.embedded.files import open_private
from bailiwick.db.embedded.layout import PORT, Layout
from bailiwick.db.embedded.users import ServerUser, client_user

DATABASE = "bailiwick"
ROLE = "bailiwick"

# Durability is never traded for speed: fsync, synchronous_commit and full_page_writes stay on.
_CONFIGURATION = """\
# Written by bailiwick at every start: changes made here are lost. Put your own into postgresql.conf.
listen_addresses = ''
port = {port}
unix_socket_directories = '"{socket}"'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = '128MB'
max_wal_size = '2GB'
min_wal_size = '80MB'
checkpoint_timeout = '15min'
wal_compression = off
fsync = on
synchronous_commit = on
full_page_writes = on
random_page_cost = 1.1
jit = off
idle_in_transaction_session_timeout = '60s'
lc_messages = 'C'
timezone = 'UTC'
log_timezone = 'UTC'
logging_collector = off
log_line_prefix = '%m [%p] '
log_min_error_statement = panic
log_checkpoints = off
log_startup_progress_interval = '1s'
"""
_FIRST_WITH_IO_METHOD = 18
# By the process that needs it, which tells the system beforehand: searching from the disk takes half as long as with
# workers, from memory as long.
_READING = "io_method = 'sync'\n"


def initialise(layout: Layout, binaries: Binaries, user: ServerUser, *, running: int, name: str = "data") -> Path:
    """Make a new data directory under this name; it appears complete or not at all.

    initdb holds the `running` lock too: it may outlive a killed parent, and the next start must wait for its end.
    """
    _remove_halves(layout, name)
    half = layout.directory / f"{name}.{secrets.token_hex(4)}.part"
    result = user.run(
        [
            binaries.tool("initdb"),
            *(
                "-D",
                half,
                "-U",
                ROLE,
                "--auth=peer",
                "--encoding=UTF8",
                "--data-checksums",
                "--no-instructions",
            ),
            *_locale(binaries.major),
        ],
        pass_fds=(running,),
    )
    if result.returncode != 0:
        shutil.rmtree(half, ignore_errors=True)
        raise explain_failure(result.stdout, f"cannot make a data directory in {layout.directory}")
    with os.fdopen(open_private(half / "postgresql.conf"), "a") as file:
        file.write("\ninclude 'bailiwick.conf'\n")
    _write_private(half / "bailiwick.conf", "")
    final = layout.directory / name
    half.rename(final)
    return final


def configure(data: Path, socket: Path, user: ServerUser) -> None:
    """Write what we decide about the server: its settings, and who may connect (its owner)."""
    escaped = str(socket).replace("\\", "\\\\").replace("'", "''").replace('"', '""')
    reading = _READING if int((data / "PG_VERSION").read_text(encoding="ascii")) >= _FIRST_WITH_IO_METHOD else ""
    _write_private(data / "bailiwick.conf", _CONFIGURATION.format(port=PORT, socket=escaped) + reading)
    _write_private(data / "pg_hba.conf", "local all all peer map=owner\n")
    # Root may become anybody: who starts the server as its owner need not shut root out.
    names = dict.fromkeys((client_user(), user.name, "root"))
    _write_private(data / "pg_ident.conf", "".join(f'owner "{name}" {ROLE}\n' for name in names))


def explain_failure(output: str, what: str) -> BailiwickError:
    """PostgreSQL's own words on why it did not work, turned into an error with a hint."""
    for pattern, message, hint in _FAILURES:
        if pattern in output:
            return ServerMissingError(f"{what}: {message}", hint=hint)
    lines = [line for line in output.strip().splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "error:", "ERROR"))]
    return ServerMissingError(f"{what}: {(telling or lines or ['no reason given'])[-1].strip()}")


_DISK_HINT = "make room, or raise the limit (df -h, ulimit -f); nothing that was committed is lost"
_FAILURES = (
    ("No space left on device", "the disk is full", _DISK_HINT),
    ("File too large", "a file could not grow: the disk quota or file size limit is reached", _DISK_HINT),
    ("File size limit exceeded", "a file could not grow: the file size limit is reached", _DISK_HINT),
    ("Disk quota exceeded", "the disk quota is used up", _DISK_HINT),
    (
        "could not look up effective user ID",
        "the user who runs it has no name on this machine",
        "add the user to /etc/passwd, or set [database] url",
    ),
    (
        "database files are incompatible with server",
        "the data directory is of another PostgreSQL version",
        "bailiwick db upgrade-server moves the data to the newest version found here",
    ),
    (
        "Permission denied",
        "permission denied",
        "the data directory must be writable for the user who runs this command",
    ),
    (
        "Cannot allocate memory",
        "there is not enough memory",
        "free some memory, or set [database] url",
    ),
)


def _locale(major: int) -> tuple[str, ...]:
    """Byte order for sorting (the same on every machine and carrier), Unicode for upper and lower case."""
    if major >= 17:
        return ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
    return (
        "--lc-collate=C",
        "--lc-ctype=C.UTF-8",
        "--lc-messages=C",
        "--lc-monetary=C",
        "--lc-numeric=C",
        "--lc-time=C",
    )


def _remove_halves(layout: Layout, name: str) -> None:
    for half in layout.directory.glob(f"{name}.*.part"):
        shutil.rmtree(half, ignore_errors=True)


def _write_private(path: Path, text: str) -> None:
    half = path.with_name(path.name + ".part")
    with os.fdopen(open_private(half, truncate=True), "w", encoding="utf-8") as file:
        file.write(text)
    half.rename(path)
