"""Where the embedded server's files are, and why there."""

import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.errors import PlaceError
from bailiwick.db.embedded.users import ServerUser

SYSTEM_DIRECTORY = Path("/var/lib/bailiwick")
PORT = 5432
# The kernel's limit for a socket's path is 108 bytes (104 on macOS) with its end; `/.s.PGSQL.5432.lock` takes 19.
_LONGEST_SOCKET_DIRECTORY = 84
_POINTER = "pg.location"
_CURRENT = "current"


@dataclass(frozen=True, slots=True)
class Layout:
    """The directory of one embedded server. Everything of it lies in here, but for a socket whose path is too long."""

    directory: Path
    moved: bool = False

    @property
    def data(self) -> Path:
        """The live data directory. An upgrade switches to another one by replacing one small file."""
        try:
            return self.directory / (self.directory / _CURRENT).read_text().strip()
        except FileNotFoundError:
            return self.directory / "data"

    def switch_data(self, name: str) -> None:
        """Make another data directory the live one, at once or not at all."""
        half = self.directory / f"{_CURRENT}.part"
        half.write_text(name + "\n")
        with half.open() as file:
            os.fsync(file.fileno())
        half.rename(self.directory / _CURRENT)

    @property
    def lock(self) -> Path:
        return self.directory / "lock"

    @property
    def running(self) -> Path:
        return self.directory / "running"

    @property
    def users(self) -> Path:
        return self.directory / "users"

    @property
    def watchdog(self) -> Path:
        return self.directory / "watchdog"

    @property
    def log(self) -> Path:
        return self.directory / "server.log"

    @property
    def initialised(self) -> bool:
        return (self.data / "PG_VERSION").exists()

    @property
    def data_major(self) -> int | None:
        """The PostgreSQL major version that wrote the data; None where there is none yet."""
        try:
            return int((self.data / "PG_VERSION").read_text().strip())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise PlaceError(
                f"cannot read {self.data}/PG_VERSION: {error}",
                hint="the data directory is damaged or belongs to another user; restore a backup: bailiwick db restore",
            ) from error

    def socket_directory(self, user: ServerUser) -> Path:
        """A directory for the socket that only the server's user (and root) can enter, with a path short enough."""
        inside = self.directory / "socket"
        if len(os.fsencode(inside)) <= _LONGEST_SOCKET_DIRECTORY:
            _make_private(inside, user)
            return inside
        digest = hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:12]
        shared = Path(tempfile.gettempdir())
        if len(os.fsencode(shared)) > _LONGEST_SOCKET_DIRECTORY - 40:
            shared = Path("/tmp")  # noqa: S108 - the directory below is private and checked
        for attempt in range(100):
            candidate = shared / f"bailiwick-{user.uid}-{digest}-{attempt}"
            if _make_private(candidate, user):
                return candidate
        raise PlaceError(f"no usable socket directory in {shared}", hint="somebody else owns all names tried there")

    def server_socket(self) -> Path:
        """The socket directory that the running server says it uses."""
        try:
            told = (self.data / "postmaster.pid").read_text().splitlines()[4]
        except (OSError, IndexError):
            told = ""
        # While it starts, the line is not there yet, or empty.
        return Path(told) if told.startswith("/") else self.directory / "socket"


def find_layout(data_root: Path) -> Layout:
    """The server's directory for a project: inside it, or where it was put because the server's user cannot get in."""
    pointer = data_root / _POINTER
    if pointer.exists():
        return Layout(Path(pointer.read_text().strip()), moved=True)
    return Layout(data_root / "pg")


def make_layout(data_root: Path, user: ServerUser) -> Layout:
    """Like `find_layout`, and make the directory. Parent directories are never opened up: rather the data moves."""
    layout = find_layout(data_root)
    if layout.moved or layout.directory.is_dir() or user.can_reach(data_root):
        _make_directory(layout.directory, user)
        return layout
    digest = hashlib.sha256(os.fsencode(data_root.resolve())).hexdigest()[:12]
    layout = Layout(SYSTEM_DIRECTORY / digest, moved=True)
    SYSTEM_DIRECTORY.mkdir(mode=0o755, parents=True, exist_ok=True)
    _make_directory(layout.directory, user)
    (data_root / _POINTER).write_text(f"{layout.directory}\n")
    return layout


def _make_directory(path: Path, user: ServerUser) -> None:
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        user.own(path)
    except OSError as error:
        raise PlaceError(
            f"cannot create {path}: {error.strerror}",
            hint="the directory must be writable for the user who runs this command",
        ) from error


def _make_private(path: Path, user: ServerUser) -> bool:
    """Make the directory, or take it if it is already exactly that: a directory, closed, and the server's own."""
    try:
        path.mkdir(mode=0o700)
        user.own(path)
    except FileExistsError:
        pass
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user.uid and stat.S_IMODE(found.st_mode) == 0o700
