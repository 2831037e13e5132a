"""One connection: requests in, answers out, one after the other, each in the log from its first moment to its last."""

import asyncio
import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from bailiwick.demo.web.answers import Answer, Delivery, Origins, Request, short_answer
from bailiwick.demo.web.arrivals import Arrival, Arrivals
from bailiwick.demo.web.heads import MAX_HEAD_BYTES, Head, parse_head
from bailiwick.demo.web.log import Entry, RequestLog
from bailiwick.demo.web.sites import Web

TLS_FIRST_BYTE = b"\x16"
"""Begins a TLS handshake, and no HTTP request."""
_END = b"\r\n\r\n"
_SLOW_PIECES = 20
_POLL_SECONDS = 0.005
_MORE = b"<p>And so it goes on, and on, and on.</p>\n" * 400
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER, on, for no time: what is closed then is reset."""
_DROP = Answer(0, delivery=Delivery(silent=True))
_READ_BYTES = 65_536


@dataclass(slots=True)
class Desk:
    """Where requests are answered and written down."""

    web: Web
    log: RequestLog
    origins: Origins
    buffer: bytearray = field(default_factory=lambda: bytearray(_READ_BYTES))
    """What a connection reads goes through here, and on at once."""

    def receive(self, head: Head, scheme: str, arrived: Arrival | None) -> tuple[Entry, Answer]:
        site = self.web.site_at(head.host)
        host = head.host if site is None else site.host
        entry = self.log.opened(host, head.path, scheme=scheme, www=host != head.host, arrived=arrived)
        if site is None:
            return entry, short_answer(404, "There is no such host on the local web.")
        if scheme not in site.schemes:
            return entry, _DROP
        if head.method not in ("GET", "HEAD"):
            return entry, short_answer(405, "This web can only be read.", {"Allow": "GET, HEAD"})
        number = self.log.asked[host, head.path]
        return entry, site.answer(Request(head.host, head.path, scheme, head.headers, number, self.origins))


class Connection(asyncio.BufferedProtocol):
    """A client's connection, kept alive until the client or the idle limit ends it."""

    def __init__(self, desk: Desk, scheme: str, connections: set["Connection"]) -> None:
        self.heard_at = time.monotonic()
        self._desk = desk
        self._scheme = scheme
        self._connections = connections
        self._received = b""
        self._arrivals: Arrivals | None = None
        self._next: Arrival | None = None
        self._arrived: Arrival | None = None
        self._entry: Entry | None = None
        self._status: int | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @property
    def is_idle(self) -> bool:
        return self._task is None

    def hang_up(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._arrivals = Arrivals(self._transport.get_extra_info("socket").fileno())

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's signature)
        self._connections.discard(self)
        if self._arrivals is not None:
            self._arrivals.close()
        if self._task is not None:
            self._task.cancel()
        self._finish(whole=False)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 (asyncio's signature)
        """Right before bytes are read."""
        if self._arrivals is not None:
            self._next = self._arrivals.next() if self._scheme == "http" else self._arrivals.last()
        return self._desk.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.heard_at = time.monotonic()
        self._received += self._desk.buffer[:nbytes]
        if self._received.startswith(TLS_FIRST_BYTE):
            self.hang_up()
        elif self._task is None:
            self._arrived = self._next
            self._serve()
        elif len(self._received) > MAX_HEAD_BYTES:
            self.hang_up()

    def _serve(self) -> None:
        """Answer what has arrived, until an answer takes its time."""
        while self._task is None and self._received and not self._transport.is_closing():
            end = self._received.find(_END)
            if max(end, len(self._received) if end < 0 else 0) > MAX_HEAD_BYTES:
                self._refuse(431)
                return
            if end < 0:
                return
            raw, self._received = self._received[:end], self._received[end + len(_END) :]
            head = parse_head(raw)
            if head is None:
                self._refuse(400)
            else:
                self._answer(head)

    def _refuse(self, status: int) -> None:
        answer = short_answer(status, "That is no request.")
        body = answer.payload()
        self._transport.write(answer.head(len(body), keep_alive=False) + body)
        self._transport.close()

    def _answer(self, head: Head) -> None:
        # What follows on the same connection waits for this answer, not for us.
        arrived, self._arrived = self._arrived, None
        self._entry, answer = self._desk.receive(head, self._scheme, arrived)
        body = answer.payload()
        if answer.delivery is not None:
            self._task = asyncio.get_running_loop().create_task(self._deliver(answer, body, answer.delivery, head))
            return
        self._status = answer.status
        start = answer.head(len(body), keep_alive=head.keep_alive)
        self._finish(whole=True)
        self._transport.write(start if head.method == "HEAD" else start + body)
        if not head.keep_alive:
            self._transport.close()

    async def _deliver(self, answer: Answer, body: bytes, delivery: Delivery, head: Head) -> None:
        """Send an answer that is late, slow or broken. Cancelled when the client hangs up."""
        await asyncio.sleep(delivery.delay_seconds)
        while delivery.until is not None and not delivery.until():
            await asyncio.sleep(_POLL_SECONDS)
        if delivery.silent:
            self.hang_up()
            return
        self._status = answer.status
        if delivery.script is None:
            await self._send(_frames(answer, body, delivery, head), delivery)
        else:
            await self._perform(delivery.script(), delivery)
        self._task = None
        if delivery.whole and head.keep_alive:
            self._serve()
        elif delivery.resets:
            self._reset()
        else:
            self._transport.close()

    async def _send(self, frames: list[bytes], delivery: Delivery) -> None:
        """The head, then the pieces of the body."""
        for n, frame in enumerate(frames):
            if n > 1:
                await asyncio.sleep(delivery.body_seconds / (len(frames) - 2))
            if n == len(frames) - 1 and not delivery.endless:
                self._finish(whole=delivery.whole)
            await self._write(frame)
        while delivery.endless:
            await self._write(_chunk(_MORE))

    async def _perform(self, script: Iterable[bytes], delivery: Delivery) -> None:
        """Write what no answer is made of."""
        for n, piece in enumerate(script):
            if n:
                await asyncio.sleep(delivery.piece_seconds)
            await self._write(piece)
        if delivery.lingers:
            await asyncio.Event().wait()  # until the client hangs up

    def _reset(self) -> None:
        # A second handle on the same socket: uvloop's transports do not let options be set.
        with socket.socket(fileno=os.dup(self._transport.get_extra_info("socket").fileno())) as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    async def _write(self, frame: bytes) -> None:
        self._transport.write(frame)
        await asyncio.sleep(0)
        await self._writable.wait()

    def _finish(self, *, whole: bool) -> None:
        """Note the end, before the last bytes go out: who has an answer finds it in the log."""
        if self._entry is not None:
            entry, self._entry = self._entry, None
            self._desk.log.done(entry, self._status, whole=whole)
        self._status = None
        self.heard_at = time.monotonic()


def _frames(answer: Answer, body: bytes, delivery: Delivery, head: Head) -> list[bytes]:
    """What is written at a time: the head first."""
    chunked = (delivery.chunked or delivery.endless) and answer.status != 304
    frames = [answer.head(None if chunked else len(body), keep_alive=head.keep_alive)]
    if head.method != "HEAD":
        pieces = _pieces(body[: delivery.cut_after_bytes], _SLOW_PIECES if delivery.body_seconds else 1)
        frames += map(_chunk, pieces) if chunked else pieces
        if chunked and not delivery.endless:
            frames.append(_chunk(b""))
    return frames


def _pieces(body: bytes, count: int) -> Iterator[bytes]:
    size = max(1, -(-len(body) // count))
    return (body[at : at + size] for at in range(0, len(body), size))


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)
