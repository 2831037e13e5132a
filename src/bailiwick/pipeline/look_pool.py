"""Child processes that look at pages for evaluations. One that dies over a page is replaced; the page has no score."""

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bailiwick.base.children import end_child
from bailiwick.base.sections import ParseSettings
from bailiwick.pipeline.look_child import LENGTH, Fault
from bailiwick.pipeline.looking import Assessed, Look, Seen

Answer = TypeVar("Answer", bound=BaseModel)
_GRACE_SECONDS = 5.0
_MOST_ANSWER_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Unseen:
    """A page that could not be looked at, and why."""

    why: str


class LookPool:
    """Use it in one event loop. Children are started on use and kept; close it at the end."""

    def __init__(self, size: int, settings: ParseSettings) -> None:
        self._seconds = settings.page_seconds
        self._arguments = [str(settings.page_seconds), str(settings.page_memory_bytes), str(settings.max_text_chars)]
        self._free: asyncio.LifoQueue[asyncio.subprocess.Process | None] = asyncio.LifoQueue()
        for _ in range(size):
            self._free.put_nowait(None)

    async def see(self, look: Look, body: bytes) -> Seen | Unseen:
        """The first look."""
        return await self._ask(look, body, Seen)

    async def assess(self, look: Look, body: bytes) -> Assessed | Unseen:
        """The second look: layers 2 and 3."""
        return await self._ask(look, body, Assessed)

    async def close(self) -> None:
        """End the children that are free; whoever still waits for one is cancelled by its own task."""
        while not self._free.empty():
            await _end(self._free.get_nowait())

    async def _ask(self, look: Look, body: bytes, form: type[Answer]) -> Answer | Unseen:
        child = await self._free.get()
        try:
            child = child or await self._start()
            answer = await asyncio.wait_for(_exchange(child, look, body), self._seconds + _GRACE_SECONDS)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            ended, child = child, None
            code = await _end(ended)
            return Unseen(f"it takes more than {self._seconds:.0f} s, or kills its parser ({code})")
        except BaseException:
            ended, child = child, None
            await _end(ended)
            raise
        finally:
            self._free.put_nowait(child)
        return _read(answer, form)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bailiwick.pipeline.look_child", *self._arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the parent alone
        )  # fmt: skip


async def _exchange(child: asyncio.subprocess.Process, look: Look, body: bytes) -> bytes:
    if child.stdin is None or child.stdout is None:
        raise OSError("the child has no pipes")
    message = look.model_dump_json().encode()
    child.stdin.write(LENGTH.pack(len(message)) + message + LENGTH.pack(len(body)) + body)
    await child.stdin.drain()
    (length,) = LENGTH.unpack(await child.stdout.readexactly(LENGTH.size))
    if length > _MOST_ANSWER_BYTES:
        raise OSError("the answer is too long")
    return await child.stdout.readexactly(length)


def _read(answer: bytes, form: type[Answer]) -> Answer | Unseen:
    """The child has read a stranger's page: what it says is checked like anything from outside."""
    try:
        return form.model_validate_json(answer)
    except ValidationError:
        with suppress(ValidationError):
            return Unseen(Fault.model_validate_json(answer).fault)
        return Unseen("its parser gave no sensible answer")


async def _end(child: asyncio.subprocess.Process | None) -> int | None:
    return None if child is None else await end_child(child)
