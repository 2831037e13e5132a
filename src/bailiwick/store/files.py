"""The files of packs: names, locks, what their first bytes say, and errors of the disk mapped to ours."""

import errno
import fcntl
import os
import re
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from bailiwick.base.errors import DiskLowError, PlaceError
from bailiwick.db.embedded.locks import try_lock

CHUNK_BYTES = 1 << 20
_LOCK_SECONDS, _LOCK_PAUSE_SECONDS = 30.0, 0.005
_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
_NAME = re.compile(r"(\d{8,18})\.pack")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Label:
    """The first bytes of a pack: which row of which database it belongs to.

    Two databases count their packs from 1 both. Without this, a command that is led to the wrong database would take
    the packs in its directory for that one's, and sweep them.
    """

    pack_id: int
    created_us: int

    _FORMAT = struct.Struct("<8sqq")
    _CHECK = struct.Struct("<I4x")
    _MAGIC = b"BWpack1\n"
    SIZE = _FORMAT.size + _CHECK.size

    @classmethod
    def of(cls, pack_id: int, created_at: datetime) -> Self:
        return cls(pack_id, (created_at - _EPOCH) // timedelta(microseconds=1))

    @classmethod
    def read(cls, descriptor: int) -> Self | None:
        """None if there is none that can be read: a crash or a fault of the disk."""
        data = b""
        with suppress(OSError):
            data = os.pread(descriptor, cls.SIZE, 0)
        fields, check = data[: cls._FORMAT.size], data[cls._FORMAT.size :]
        if len(data) < cls.SIZE or cls._CHECK.unpack(check)[0] != zlib.crc32(fields):
            return None
        magic, pack_id, created_us = cls._FORMAT.unpack(fields)
        return cls(pack_id, created_us) if magic == cls._MAGIC else None

    def __bytes__(self) -> bytes:
        fields = self._FORMAT.pack(self._MAGIC, self.pack_id, self.created_us)
        return fields + self._CHECK.pack(zlib.crc32(fields))


def pack_name(pack_id: int) -> str:
    return f"{pack_id:08}.pack"


def pack_files(directory: Path) -> dict[str, os.stat_result]:
    """The packs that lie here, by name. Anything else in the directory is not ours."""
    found: dict[str, os.stat_result] = {}
    with suppress(FileNotFoundError), disk_faults(directory, "read"), os.scandir(directory) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    found[entry.name] = entry.stat(follow_symlinks=False)
    return found


def highest_number(directory: Path) -> int:
    """The highest pack number in use here. A database that was restored counts from an older one."""
    return max((int(name.removesuffix(".pack")) for name in pack_files(directory)), default=0)


def make_directory(directory: Path) -> None:
    """Make the directory, closed to others: bodies may be private. Safe to call again."""
    if directory.is_dir():
        return
    with disk_faults(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_directory(directory.parent)


def create_locked(path: Path) -> int:
    """A new file, held by us. FileExistsError.

    A sweep that looks for orphans may hold it for a moment before we do: it is waited for. Going on without the lock,
    another process could take the pack over, or remove it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    give_up_at = time.monotonic() + _LOCK_SECONDS
    try:
        while not try_lock(descriptor):
            if time.monotonic() > give_up_at:
                raise PlaceError(f"somebody holds the new file {path}", hint="a sweep that hangs? try again")
            time.sleep(_LOCK_PAUSE_SECONDS)
    except PlaceError:
        os.close(descriptor)
        path.unlink()
        raise
    return descriptor


def open_locked(path: Path) -> int | None:
    """A pack that is held by us from now on; None if it is gone or somebody else holds it."""
    try:
        with disk_faults(path, "open"):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    if try_lock(descriptor) and os.fstat(descriptor).st_nlink > 0:
        return descriptor
    os.close(descriptor)
    return None


def write_at(descriptor: int, data: bytes, offset: int) -> None:
    """All of it, there. OSError when the disk takes no more."""
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view, offset = view[count:], offset + count


def make_durable(descriptor: int) -> None:
    """Return when the file's content would survive a power cut."""
    if sys.platform == "darwin":
        # There, fsync leaves the data in the drive's cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def sync_directory(directory: Path) -> None:
    """Return when the names in it would survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_faults(path: Path, doing: str = "write") -> Iterator[None]:
    """What the system says about a file becomes one of our errors; that it is missing is the caller's matter."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskLowError(
                f"no room to {doing} {path}: {error.strerror}",
                hint="make room (df -h, ulimit -f); bailiwick storage sweep removes what nothing refers to",
            ) from error
        raise PlaceError(
            f"cannot {doing} {path}: {error.strerror}", hint="the user who runs this must be able to, and the disk too"
        ) from error
