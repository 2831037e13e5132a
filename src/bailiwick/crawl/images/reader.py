"""The parent of the process that decodes: bytes in, facts or a small copy out, or why there is none."""

import asyncio
import json
import sys
from importlib.util import find_spec

from bailiwick.base.children import end_child
from bailiwick.base.sections import ImageSettings
from bailiwick.crawl.images.child import ANSWERED, ASKED
from bailiwick.crawl.images.decoding import ImageFault
from bailiwick.model.images import ImageFacts, ImageOutcome

_ATTEMPTS = 2
_GRACE_SECONDS = 5.0


def is_available() -> bool:
    """Whether the library that decodes is installed."""
    return find_spec("PIL") is not None


class ImageReader:
    """One child at a time, made on use and thrown away when it dies or hangs. Close it."""

    def __init__(self, settings: ImageSettings) -> None:
        self._settings = settings
        self._grace_seconds = _GRACE_SECONDS
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def facts(self, data: bytes) -> ImageFacts:
        """What the image is. ImageFault says why it cannot be kept."""
        told, _ = await self._asked(data, 0)
        return ImageFacts(**told)  # type: ignore[arg-type]

    async def small_copy(self, data: bytes, side: int) -> bytes:
        """The image encoded anew, as WebP. ImageFault says why it cannot be shown."""
        _, copy = await self._asked(data, side)
        return copy

    async def close(self) -> None:
        async with self._turn:
            await self._drop()

    async def _asked(self, data: bytes, side: int) -> tuple[dict[str, object], bytes]:
        async with self._turn:
            for _ in range(_ATTEMPTS):  # twice: somebody may have killed it from outside
                child = self._child or await self._start()
                try:
                    async with asyncio.timeout(self._settings.decode_seconds + self._grace_seconds):
                        told, copy = await _exchange(child, data, side)
                except TimeoutError:
                    await self._drop()
                    break
                except (OSError, EOFError, asyncio.IncompleteReadError):
                    await self._drop()
                    continue
                except BaseException:
                    await self._drop()  # it still owes an answer, which must not become the next image's
                    raise
                if "outcome" in told:
                    raise ImageFault(ImageOutcome(str(told["outcome"])), str(told["why"]))
                return told, copy
        raise ImageFault(ImageOutcome.UNREADABLE, "its decoder died over it, or took too long")

    async def _start(self) -> asyncio.subprocess.Process:
        limits = self._settings
        self._child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bailiwick.crawl.images.child",
            str(limits.decode_seconds), str(limits.decode_memory_bytes), str(limits.max_pixels),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us alone
        )  # fmt: skip
        return self._child

    async def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await end_child(child)


async def _exchange(child: asyncio.subprocess.Process, data: bytes, side: int) -> tuple[dict[str, object], bytes]:
    if child.stdin is None or child.stdout is None:
        raise EOFError
    child.stdin.write(ASKED.pack(side, len(data)))
    child.stdin.write(data)
    await child.stdin.drain()
    lengths = ANSWERED.unpack(await child.stdout.readexactly(ANSWERED.size))
    told = json.loads(await child.stdout.readexactly(lengths[0]))
    return told, await child.stdout.readexactly(lengths[1])
