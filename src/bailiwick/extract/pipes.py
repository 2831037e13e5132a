"""How much the pipes between a parse worker and its children hold. What would wait for room is not begun."""

import fcntl
import mmap
from contextlib import suppress

_WANTED_BYTES = 1 << 20
"""The most that Linux gives to everybody."""
_LEAST_BYTES = 4096
"""What every system gives."""
_SLACK = 4
"""Pages of memory that one message may leave half empty."""


def widen(pipe: int) -> None:
    """As far as the system lets us: the pipes of one user may not grow for ever."""
    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _WANTED_BYTES)


def pages_in(pipe: int) -> int:
    """How many pages of memory a pipe has, which is what it counts by."""
    with suppress(OSError, AttributeError):
        return int(fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)) // mmap.PAGESIZE
    return _LEAST_BYTES // mmap.PAGESIZE


def pages_of(length: int) -> int:
    """How many of them a message takes at most."""
    return length // mmap.PAGESIZE + _SLACK
