"""The server of the local web: HTTP/1.1 on loopback, light enough to share two cores with a crawler.

One port speaks plain HTTP and TLS, told apart by the first byte, unless TLS is given a port of its own. Ordinary
answers are one `write` in the callback that received the request.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Coroutine
from dataclasses import dataclass

from bailiwick.demo.web.answers import DEFAULT_PORTS, Origins
from bailiwick.demo.web.arrivals import ask_for_arrivals
from bailiwick.demo.web.connections import TLS_FIRST_BYTE, Connection, Desk
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.sites import Web

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 60.0
_HANDSHAKE_SECONDS = 10.0
_BACKLOG = 4_096


@dataclass(frozen=True, slots=True)
class Speech:
    """What a port speaks; with a context and `plain`, the first byte of each connection decides."""

    plain: bool
    tls: ssl.SSLContext | None


class Server:
    """Answers for a web. Made, started and closed inside one event loop."""

    def __init__(
        self,
        web: Web,
        log: RequestLog,
        *,
        tls: ssl.SSLContext | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._desk = Desk(web, log, DEFAULT_PORTS)
        self._tls = tls
        self._idle_seconds = idle_seconds
        self._listeners: list[socket.socket] = []
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, *, port: int = 0, tls_port: int | None = None) -> Origins:
        """Listen on 127.0.0.1 only. Port 0 takes a free one; without a port of its own TLS shares the other's."""
        if self._tls is None:
            plain = self._listen(port, Speech(plain=True, tls=None))
            self._desk.origins = Origins(plain, plain)
        elif tls_port is None:
            both = self._listen(port, Speech(plain=True, tls=self._tls))
            self._desk.origins = Origins(both, both)
        else:
            plain = self._listen(port, Speech(plain=True, tls=None))
            self._desk.origins = Origins(plain, self._listen(tls_port, Speech(plain=False, tls=self._tls)))
        self._run(self._end_idle_ones())
        return self._desk.origins

    async def close(self) -> None:
        """Stop listening, hang up everywhere."""
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.remove_reader(listener.fileno())
            listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while self._connections:
            # Again and again: one that was being accepted joins late.
            for connection in list(self._connections):
                connection.hang_up()
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # for what these had still been answering

    def _listen(self, port: int, speech: Speech) -> int:
        listener = socket.create_server((ADDRESS, port), backlog=_BACKLOG)
        listener.setblocking(False)
        ask_for_arrivals(listener)
        self._listeners.append(listener)
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept, listener, speech)
        return int(listener.getsockname()[1])

    def _accept(self, listener: socket.socket, speech: Speech) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # nobody waits any more, the client is gone, or there are no files left for now
                return
            client.setblocking(False)
            self._run(self._greet(client, speech))

    async def _greet(self, client: socket.socket, speech: Speech) -> None:
        """Find out what the client speaks, and hand it to a connection."""
        loop = asyncio.get_running_loop()
        try:
            secure = speech.tls is not None and (not speech.plain or await self._begins_tls(client))
            await loop.connect_accepted_socket(
                lambda: Connection(self._desk, "https" if secure else "http", self._connections),
                client,
                ssl=speech.tls if secure else None,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS if secure else None,
            )
        except OSError:  # it hung up, said nothing in time, or does not trust us
            client.close()
        except asyncio.CancelledError:
            client.close()
            raise

    async def _begins_tls(self, client: socket.socket) -> bool:
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(client.fileno(), readable.set)
        try:
            async with asyncio.timeout(self._idle_seconds):
                await readable.wait()
        finally:
            loop.remove_reader(client.fileno())
        return client.recv(1, socket.MSG_PEEK) == TLS_FIRST_BYTE

    async def _end_idle_ones(self) -> None:
        while True:
            await asyncio.sleep(self._idle_seconds / 10)
            earliest = time.monotonic() - self._idle_seconds
            for connection in list(self._connections):
                if connection.is_idle and connection.heard_at < earliest:
                    connection.hang_up()

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
