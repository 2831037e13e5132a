"""What a process that crawls or serves for hours asks of its system and its interpreter."""

import asyncio
import ctypes
import gc
import os
import resource
from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 16 << 20
_LARGE_BYTES = 1 << 20
_COLLECT_AFTER = 10_000
_ORPHAN_SECONDS = 1.0


def prepare_process(*, large_bytes: int = _LARGE_BYTES) -> None:
    """To be called once, when everything is imported. Blocks of `large_bytes` and more go back when they are freed."""
    _raise_file_limit()
    _keep_freed_memory(large_bytes)
    # What is loaded by now stays: it need not be looked through again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 5, 10)


async def until_orphaned(parent: int) -> None:
    """Until this process has another parent than this one: that is gone."""
    while os.getppid() == parent:
        await asyncio.sleep(_ORPHAN_SECONDS)


def _raise_file_limit() -> None:
    """As many open files as the system allows: a thousand domains are a few thousand sockets."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _keep_freed_memory(large_bytes: int) -> None:
    """Keep the room of one page's parse tree for the next one: giving it back costs a page fault for every 4 KB.

    GNU's allocator only; others have no such function, or do as they please.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, large_bytes)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
