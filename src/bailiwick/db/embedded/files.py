"""Files and directories beside the data, made so that neither a link nor the umask leads astray."""

import os
import stat
from pathlib import Path

from bailiwick.base.errors import PlaceError


def open_private(path: Path, *, truncate: bool = False) -> int:
    """A descriptor to read and write a file, made if it is missing; closed to others, never inherited by accident.

    The server's user owns the directory and could put a link there: root must not be led to another file by it. What
    root makes belongs to that user too, who may come without root the next time.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PlaceError(
            f"cannot open {path}: {error.strerror}",
            hint="the data directory must be writable for the user who runs this",
        ) from error
    if os.geteuid() == 0:
        _hand_over(descriptor, path)
    if truncate:
        os.ftruncate(descriptor, 0)
    return descriptor


def make_open_directory(path: Path) -> None:
    """Make a directory of ours that every user can pass through, whatever the umask says."""
    try:
        path.mkdir()
        path.chmod(0o755)
    except FileExistsError:
        return
    except OSError as error:
        raise PlaceError(f"cannot create {path}: {error.strerror}", hint="make it, or set [database] url") from error


def _hand_over(descriptor: int, path: Path) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(descriptor)
        raise PlaceError(f"{path} is also another file", hint="remove it: somebody has put a link there")
    owner = path.parent.stat()
    os.fchown(descriptor, owner.st_uid, owner.st_gid)
