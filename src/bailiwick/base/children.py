"""Child processes that are ended at once and never left behind."""

import asyncio
from contextlib import suppress


async def end_child(child: asyncio.subprocess.Process) -> int:
    """Kill it and wait until it is gone; its exit code.

    Whoever is cancelled meanwhile still waits: a killed child does not take long, and one that nobody has waited for
    stays behind with its pipes.
    """
    if child.returncode is None:
        with suppress(ProcessLookupError):
            child.kill()
    waiting = asyncio.ensure_future(child.wait())
    is_cancelled = False
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        raise asyncio.CancelledError
    return waiting.result()
