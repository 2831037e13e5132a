"""Advisory file locks with a limit on every wait."""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bailiwick.base.errors import PlaceError, ServerMissingError
from bailiwick.db.embedded.files import open_private

_POLL_SECONDS = 0.05


def open_lock(path: Path) -> int:
    """A descriptor to lock on; the file is made if it is missing. Never inherited by accident."""
    return open_private(path)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock if it is free."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return False
        raise PlaceError(
            f"this file system has no locks: {error.strerror}",
            hint="put the data on a local disk, or use a PostgreSQL server by [database] url",
        ) from error
    return True


def unlock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_held(path: Path) -> bool:
    """Whether any process holds the exclusive lock on this file."""
    if not path.exists():
        return False
    descriptor = open_lock(path)
    try:
        # Shared, so that two who look at the same time do not take each other for the holder.
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def wait_for_lock(
    descriptor: int, *, shared: bool = False, limit_seconds: float, waiting: Callable[[], None] | None = None
) -> bool:
    """Take the lock, waiting at most that long; `waiting` is called once when it has to wait."""
    deadline = time.monotonic() + limit_seconds
    told = False
    while not try_lock(descriptor, shared=shared):
        if time.monotonic() >= deadline:
            return False
        if not told and waiting is not None:
            told = True
            waiting()
        time.sleep(_POLL_SECONDS)
    return True


@contextmanager
def held(path: Path, *, limit_seconds: float, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """The exclusive lock on a file for the length of a block."""
    descriptor = open_lock(path)
    try:
        if not wait_for_lock(descriptor, limit_seconds=limit_seconds, waiting=waiting):
            raise ServerMissingError(
                f"another process has held {path} for {limit_seconds:.0f} seconds",
                hint="it is starting or stopping the server; try again, or see what holds it with: fuser " + str(path),
            )
        yield
    finally:
        os.close(descriptor)
