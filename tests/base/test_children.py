"""Child processes: whatever happens to the one that ends them, they are gone afterwards."""

import asyncio
import sys
from contextlib import suppress

import psutil

from bailiwick.base.children import end_child


async def a_child(code: str = "import time; time.sleep(60)") -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )


def test_it_is_gone_and_its_code_is_known() -> None:
    async def work() -> None:
        child = await a_child()
        assert await end_child(child) == -9
        assert not psutil.pid_exists(child.pid)
        assert await end_child(child) == -9, "twice is once"

    asyncio.run(work())


def test_who_ends_it_may_be_cancelled_again_and_again() -> None:
    async def work() -> None:
        child = await a_child()
        ending = asyncio.create_task(end_child(child))
        while not ending.done():
            await asyncio.sleep(0)
            ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
        assert ending.cancelled()
        assert child.returncode == -9

    asyncio.run(work())
