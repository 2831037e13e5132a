"""Move the data to a newer PostgreSQL with that version's own pg_upgrade. The old data stays until it is removed."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.errors import DatabaseError, DiskLowError, ServerMissingError
from bailiwick.db.embedded import binaries as binaries_
from bailiwick.db.embedded import cluster
from bailiwick.db.embedded.binaries import Binaries
from bailiwick.db.embedded.layout import SYSTEM_DIRECTORY, Layout
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.embedded.users import ServerUser


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What was done. `old_data` is what can be removed once all is well."""

    before: str
    after: str
    old_data: Path | None


def upgrade_server(server: EmbeddedServer, *, to: int | None = None) -> Upgraded:
    """Upgrade in place by copying; the switch is one file's replacement, so a crash leaves old or new."""
    layout = server.layout
    major = layout.data_major
    if major is None:
        raise ServerMissingError("there is no data to upgrade yet", hint="bailiwick db upgrade makes a database")
    target = binaries_.choose(to, server.settings.binaries)
    if target.major <= major:
        if to is not None and target.major < major:
            raise DatabaseError(f"PostgreSQL cannot go back from {major} to {target.major}")
        return Upgraded(str(major), str(major), None)
    user = server.user
    with server.exclusive(layout):
        _refuse_small_disk(layout)
        old = server.binaries(layout)
        new = binaries_.reachable(target, user, SYSTEM_DIRECTORY)
        server.stop_locked(layout)
        old_data = layout.data
        name = f"data-{new.major}"
        _discard(layout.directory / name, layout)
        server.say(f"moving the data from PostgreSQL {old.version} to {new.version}")
        with server.claimed(layout) as running:
            fresh = cluster.initialise(layout, new, user, running=running, name=name)
            _pg_upgrade(layout, (old, new), (old_data, fresh), user, running=running)
            layout.switch_data(name)
    server.ensure_running()
    return Upgraded(old.version, new.version, old_data)


def _pg_upgrade(
    layout: Layout, binaries: tuple[Binaries, Binaries], data: tuple[Path, Path], user: ServerUser, *, running: int
) -> None:
    """Both pairs are old and new. The servers that pg_upgrade starts inherit `running`, should we be killed."""
    old, new = binaries
    socket = layout.socket_directory(user)
    for directory in data:
        cluster.configure(directory, socket, user)
    scratch = layout.directory / "upgrading"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    user.own(scratch)
    result = user.run(
        [
            *(new.tool("pg_upgrade"), "-b", old.directory, "-B", new.directory, "-d", data[0], "-D", data[1]),
            *("-U", cluster.ROLE, "-s", socket),
        ],
        cwd=scratch,
        pass_fds=(running,),
    )
    if result.returncode != 0:
        written, kept = data[1] / "pg_upgrade_output.d", scratch / "reports"
        with suppress(FileNotFoundError):
            written.rename(kept)  # they name what it cannot move
        shutil.rmtree(data[1], ignore_errors=True)
        reason = _reason(result.stdout.replace(str(written), str(kept)))
        raise DatabaseError(
            f"pg_upgrade failed; the old data is untouched: {reason}", hint=f"its reports are in {scratch}"
        )
    shutil.rmtree(scratch, ignore_errors=True)


def _reason(output: str) -> str:
    """What it says after its last «… ok», in one line."""
    told: list[str] = []
    for line in output.removesuffix("Failure, exiting\n").splitlines():
        told = [] if line.endswith("ok") else [*told, *line.split()]
    return " ".join(told) or "no reason given"


def _discard(leftover: Path, layout: Layout) -> None:
    """Remove what an upgrade that did not finish left behind; never the live data."""
    if leftover.exists() and leftover != layout.data:
        shutil.rmtree(leftover)


def _refuse_small_disk(layout: Layout) -> None:
    used = sum(file.lstat().st_size for file in layout.data.rglob("*") if file.is_file())
    free = shutil.disk_usage(layout.directory).free
    if free < used * 1.2:
        raise DiskLowError(
            f"the upgrade copies {used / 1e9:.1f} GB, and only {free / 1e9:.1f} GB are free", hint="make room first"
        )
