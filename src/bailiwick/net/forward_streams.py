"""Bytes through the forward proxy: carried piece by piece, counted and timed."""

import asyncio
import re
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from bailiwick.net.forward_heads import Framing, MessageError, Unmeasured

_PIECE_BYTES = 1 << 16
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_MOST_TRAILER_LINES = 100
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 1 << 20
_END_OF_HEAD = b"\r\n\r\n"
_NO_GOODBYE = struct.pack("ii", 1, 0)


class TooMuchError(Exception):
    """More was carried than one connection may carry."""


class LongHeadError(MessageError):
    """The head is longer than heads may be."""


class Meter:
    """Counts what is carried, and ends what takes too much, too long, or is silent for too long."""

    def __init__(
        self, patience: asyncio.Timeout, *, idle_seconds: float, total_seconds: float, total_bytes: int,
        count: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._patience = patience
        self._idle_seconds = idle_seconds
        self._ends_at = asyncio.get_running_loop().time() + total_seconds
        self._left = total_bytes
        self._count = count
        patience.reschedule(self._ends_at)

    def carried(self, size: int) -> None:
        """So many bytes came in, from whichever side: the silence is over."""
        self._count(size)
        self._left -= size
        if self._left < 0:
            raise TooMuchError
        self.renew()

    def renew(self) -> None:
        """Something happened: the silence is counted from now on."""
        if not self._patience.expired():
            now = asyncio.get_running_loop().time()
            self._patience.reschedule(min(self._ends_at, now + self._idle_seconds))


class Stream:
    """One connection, both directions."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)  # sent means handed over, so that a slow reader is noticed
        self.reader = reader
        self.was_told = False
        """Whether anything was sent that cannot be taken back."""
        self._writer = writer

    async def send(self, data: bytes, *, is_interim: bool = False) -> None:
        self.was_told |= not is_interim
        self._writer.write(data)
        await self._writer.drain()

    async def read_head(self) -> bytes:
        """Up to the empty line; MessageError if there is none."""
        try:
            return await self.reader.readuntil(_END_OF_HEAD)
        except asyncio.LimitOverrunError as error:
            raise LongHeadError("The head is too long.") from error
        except asyncio.IncompleteReadError as error:
            raise MessageError("The head breaks off.") from error

    def end(self) -> None:
        """Nothing more will be sent."""
        with suppress(OSError, RuntimeError):
            self._writer.write_eof()

    async def linger(self) -> None:
        """Let the other side take the last bytes: closing on unread data would destroy them."""
        self.end()
        with suppress(OSError):
            async with asyncio.timeout(_LINGER_SECONDS):
                left = _LINGER_BYTES
                while left > 0 and (piece := await self.reader.read(_PIECE_BYTES)):
                    left -= len(piece)

    def reset(self) -> None:
        """Hang up so that the other side sees it: what was cut off must not look whole."""
        with suppress(OSError):
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_GOODBYE)
        self.abort()

    def abort(self) -> None:
        self._writer.transport.abort()


async def tunnel(one: Stream, other: Stream, meter: Meter) -> None:
    """Both ways, until both have ended; OSError if it ends otherwise."""
    broken = False
    try:
        async with asyncio.TaskGroup() as ways:
            ways.create_task(_carry_on(one, other, meter))
            ways.create_task(_carry_on(other, one, meter))
    except* (OSError, TooMuchError):
        broken = True
    if broken:
        raise ConnectionAbortedError("the tunnel broke down")


async def carry_body(source: Stream, sink: Stream, framing: Framing, meter: Meter) -> None:
    """A body, framed as it was; MessageError if it breaks off or its chunks are none."""
    try:
        if framing is Unmeasured.CHUNKED:
            await _carry_chunks(source, sink, meter)
        elif isinstance(framing, int):
            await _carry_exactly(source, sink, framing, meter)
        else:
            await _carry_all(source, sink, meter)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise MessageError("The body is broken.") from error


async def _carry_on(source: Stream, sink: Stream, meter: Meter) -> None:
    await _carry_all(source, sink, meter)
    sink.end()


async def _carry_all(source: Stream, sink: Stream, meter: Meter) -> None:
    while piece := await source.reader.read(_PIECE_BYTES):
        meter.carried(len(piece))
        await sink.send(piece)


async def _carry_exactly(source: Stream, sink: Stream, size: int, meter: Meter) -> None:
    while size > 0:
        piece = await source.reader.read(min(size, _PIECE_BYTES))
        if not piece:
            raise asyncio.IncompleteReadError(b"", size)
        size -= len(piece)
        meter.carried(len(piece))
        await sink.send(piece)


async def _carry_chunks(source: Stream, sink: Stream, meter: Meter) -> None:
    """Chunks without their extensions, and the trailers dropped (RFC 9112 section 7.1)."""
    while size := await _chunk_size(source, meter):
        await sink.send(b"%x\r\n" % size)
        await _carry_exactly(source, sink, size, meter)
        if await source.reader.readexactly(2) != b"\r\n":
            raise MessageError("The body is broken.")
        await sink.send(b"\r\n")
    for _ in range(_MOST_TRAILER_LINES):
        line = await source.reader.readuntil(b"\r\n")
        meter.carried(len(line))
        if line == b"\r\n":
            await sink.send(b"0\r\n\r\n")
            return
    raise MessageError("The body is broken.")


async def _chunk_size(source: Stream, meter: Meter) -> int:
    line = await source.reader.readuntil(b"\r\n")
    meter.carried(len(line))
    found = _CHUNK_LINE.fullmatch(line)
    if found is None:
        raise MessageError("The body is broken.")
    return int(found[1], 16)
