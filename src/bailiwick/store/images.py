"""The files of images: one a content, named by its SHA-256, whole and durable before anybody hears of it.

A lock on the directory (shared to store, exclusive to remove) keeps a sweep from removing a file that somebody has just
found to be there already.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import get_ident

from bailiwick.store.files import disk_faults, make_directory, make_durable, sync_directory, write_at

_NAME = re.compile(r"([0-9a-f]{64})\.[a-z]{2,5}")
_PART = re.compile(r"\.[0-9a-f]{64}\.\d+-\d+\.part")
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file that lies there."""

    path: Path
    digest: bytes
    size: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class ImageFiles:
    """The images of one directory. Any number of processes may use it."""

    directory: Path
    copies: Path | None = None
    """Where small copies of them are kept for the web interface: they go with their image."""

    def path_of(self, digest: bytes, suffix: str) -> str:
        """Where an image lies in the directory."""
        name = digest.hex()
        return f"{name[:2]}/{name}.{suffix}"

    def put(self, data: bytes, digest: bytes, suffix: str) -> str:
        """Keep it; returns its path in the directory. Twice is harmless. DiskLowError, PlaceError."""
        path = self.path_of(digest, suffix)
        target = self.directory / path
        make_directory(self.directory)
        make_directory(target.parent)
        with disk_faults(target), self._locked(fcntl.LOCK_SH):
            if target.is_file() and target.stat().st_size == len(data):
                os.utime(target)  # young again: a sweep leaves it alone until its row is written
            else:
                _write(target, data, digest)
        return path

    def get(self, path: str) -> bytes | None:
        """The bytes; None if they are not here."""
        if not _NAME.fullmatch(path.rpartition("/")[2]):
            return None
        with suppress(FileNotFoundError), disk_faults(self.directory / path, "read"):
            return (self.directory / path).read_bytes()
        return None

    def is_sound(self, path: str, digest: bytes) -> bool | None:
        """Whether the file is what its name says; None if it is missing."""
        data = self.get(path)
        return None if data is None else sha256(data).digest() == digest

    def files(self) -> Iterator[ImageFile]:
        """All that lie here. What writers that were killed left behind is removed on the way, after an hour."""
        now = time.time()
        for folder in sorted(self.directory.glob("[0-9a-f][0-9a-f]")):
            for entry in sorted(folder.iterdir()):
                with suppress(FileNotFoundError):
                    found = entry.stat()
                    if match := _NAME.fullmatch(entry.name):
                        yield ImageFile(entry, bytes.fromhex(match[1]), found.st_size, now - found.st_mtime)
                    elif _PART.fullmatch(entry.name) and now - found.st_mtime > 3600:
                        entry.unlink()

    def remove(self, file: Path, *, older_than_seconds: float) -> bool:
        """Remove one, if it is still as old as that. Says whether it is gone."""
        with self._locked(fcntl.LOCK_EX), suppress(FileNotFoundError):
            if time.time() - file.stat().st_mtime < older_than_seconds:
                return False
            file.unlink()
        self._drop_copies(file.stem)
        return True

    def copy_of(self, digest: bytes, side: int) -> Path:
        """Where the copy of an image is, that has so many pixels a side at most."""
        if self.copies is None:
            raise ValueError("no copies are kept of these images")
        return self.copies / digest.hex()[:2] / f"{digest.hex()}-{side}.webp"

    def _drop_copies(self, name: str) -> None:
        if self.copies is not None:
            for copy in (self.copies / name[:2]).glob(f"{name}-*.webp"):
                copy.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        descriptor = os.open(self.directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)


def _write(target: Path, data: bytes, digest: bytes) -> None:
    """Under another name first: whoever sees the file sees all of it."""
    part = target.with_name(f".{digest.hex()}.{os.getpid()}-{get_ident()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        write_at(descriptor, data, 0)
        make_durable(descriptor)
    finally:
        os.close(descriptor)
    part.rename(target)
    sync_directory(target.parent)
