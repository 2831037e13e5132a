"""Where the embedded server's files are, and why there."""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.errors import PlaceError
from bailiwick.db.embedded.files import make_open_directory, open_private
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
        except OSError as error:
            raise _closed(self.directory, error) from error

    def switch_data(self, name: str) -> None:
        """Make another data directory the live one, at once or not at all."""
        half = self.directory / f"{_CURRENT}.part"
        with os.fdopen(open_private(half, truncate=True), "w") as file:
            file.write(name + "\n")
            file.flush()
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
        # A comma parts two hosts for libpq, and there is no way to quote it.
        if len(os.fsencode(inside)) <= _LONGEST_SOCKET_DIRECTORY and "," not in str(inside):
            _make_private(inside, user)
            return inside
        shared = Path(tempfile.gettempdir())
        if len(os.fsencode(shared)) > _LONGEST_SOCKET_DIRECTORY - 40:
            shared = Path("/tmp")  # noqa: S108 - the directory below is private and checked
        for attempt in range(100):
            candidate = shared / f"bailiwick-{user.uid}-{_digest(self.directory)}-{attempt}"
            if _make_private(candidate, user):
                return candidate
        raise PlaceError(f"no usable socket directory in {shared}", hint="somebody else owns all names tried there")

    def server_socket(self) -> Path:
        """The socket directory of the running server: inside, or the one outside that the server says it uses."""
        try:
            told = (self.data / "postmaster.pid").read_text().splitlines()[4]
        except (OSError, IndexError):
            told = ""
        # While it starts, the line is not there yet, or empty. In a copied project it names the original's server.
        return Path(told) if _digest(self.directory) in told else self.directory / "socket"


def find_layout(data_root: Path) -> Layout:
    """The server's directory for a project: inside it, or where it was put because the server's user cannot get in."""
    try:
        directory = Path((data_root / _POINTER).read_text().strip())
    except FileNotFoundError:
        return Layout(data_root / "pg")
    except OSError as error:
        raise _closed(data_root, error) from error
    if directory.parent != SYSTEM_DIRECTORY:
        raise PlaceError(f"{data_root / _POINTER} names {directory}", hint=f"it must be below {SYSTEM_DIRECTORY}")
    return Layout(directory, moved=True)


def owner_of(data_root: Path) -> int:
    """The uid that the data belongs to, or will; root's own (0) is for nobody in particular."""
    for path in (find_layout(data_root).directory, data_root):
        try:
            return path.stat().st_uid
        except OSError:
            continue
    return 0


def make_layout(data_root: Path, user: ServerUser) -> Layout:
    """Like `find_layout`, and make the directory. Parent directories are never opened up: rather the data moves."""
    layout = find_layout(data_root)
    if layout.moved or layout.directory.is_dir() or user.can_reach(data_root):
        _make_directory(layout.directory, user)
        return layout
    if not user.switched:
        raise PlaceError(f"{data_root} is closed to user {user.name}", hint="run this as its owner, or as root")
    layout = Layout(SYSTEM_DIRECTORY / _digest(data_root), moved=True)
    make_open_directory(SYSTEM_DIRECTORY)
    _make_directory(layout.directory, user)
    (data_root / _POINTER).write_text(f"{layout.directory}\n")
    return layout


def _make_directory(path: Path, user: ServerUser) -> None:
    try:
        _make_private(path, user)
    except OSError as error:
        raise PlaceError(
            f"cannot create {path}: {error.strerror}",
            hint="the directory must be writable for the user who runs this command",
        ) from error


def _digest(directory: Path) -> str:
    return hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:12]


def _closed(directory: Path, error: OSError) -> PlaceError:
    return PlaceError(
        f"cannot look into {directory}: {error.strerror}", hint="run this as the user whose data it is, or as root"
    )


def _make_private(path: Path, user: ServerUser) -> bool:
    """Make the directory, or take it if it is already exactly that: a directory, closed, and the server's own."""
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    # Empty and root's: just made, now or by somebody who was killed before the next line.
    if user.switched and path.lstat().st_uid == 0 and not any(path.iterdir()):
        user.own(path)
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user.uid and stat.S_IMODE(found.st_mode) == 0o700
