"""Between the workers and their database: lets COMMIT through, waits until it is done, and hangs up instead of
saying so.

It speaks just enough of PostgreSQL's protocol (version 3) to see where a message ends and what a transaction does.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

PORT_FILE = ".s.PGSQL.5432"
_STOP_SECONDS = 10.0
_MARKS = {"flush": b"insert into fetch_log", "claim": b"flush_no = case when j.taken"}
"""What a transaction is for, by a statement that only it has."""


@dataclass
class _Talk:
    """What one connection has said in its transaction so far."""

    kind: str | None = None
    commits: bool = False


@dataclass
class CommitProxy:
    """One server's double. `arm` may be called from any thread."""

    server_socket: Path
    directory: Path
    dropped: Counter[str] = field(default_factory=Counter)
    """Answers to COMMIT that nobody got, by what the transaction was for."""
    _armed: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, kind: str) -> None:
        """Drop the next connection right after the COMMIT of such a transaction: flush or claim."""
        assert kind in _MARKS
        with self._lock:
            self._armed[kind] += 1

    def _fires(self, kind: str | None) -> bool:
        with self._lock:
            if kind is None or not self._armed[kind]:
                return False
            self._armed[kind] -= 1
            self.dropped[kind] += 1
            return True

    async def serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it or it is dropped."""
        try:
            server, to_server = await asyncio.open_unix_connection(str(self.server_socket / PORT_FILE))
        except OSError:
            to_client.close()
            return
        talk = _Talk()
        ways = [
            asyncio.create_task(self._up(client, to_server, talk)),
            asyncio.create_task(self._down(server, to_client, talk)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_server.close()
            to_client.close()

    async def _up(self, client: asyncio.StreamReader, to_server: asyncio.StreamWriter, talk: _Talk) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            size = await client.readexactly(4)  # the first message has no type
            to_server.write(size + await client.readexactly(int.from_bytes(size, "big") - 4))
            while True:
                kind, whole, body = await _message(client)
                if kind == b"Q" and body.rstrip(b"\0").upper() == b"COMMIT":
                    talk.commits = True
                elif kind in b"PQ":
                    talk.kind = next((name for name, mark in _MARKS.items() if mark in body), talk.kind)
                to_server.write(whole)
                await to_server.drain()

    async def _down(self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter, talk: _Talk) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                kind, whole, body = await _message(server)
                if talk.commits and kind == b"C" and body == b"COMMIT\0" and self._fires(talk.kind):
                    return
                if kind == b"Z" and body == b"I":
                    talk.kind, talk.commits = None, False
                to_client.write(whole)
                await to_client.drain()


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes, bytes]:
    """Type, the whole message, its body."""
    head = await reader.readexactly(5)
    body = await reader.readexactly(int.from_bytes(head[1:], "big") - 4)
    return head[:1], head + body, body


@contextmanager
def between(server_socket: Path, directory: Path) -> Iterator[CommitProxy]:
    """A proxy in a thread of this process, on a socket in this new directory."""
    directory.mkdir()
    proxy = CommitProxy(server_socket, directory)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="commit-proxy", daemon=True)
    thread.start()
    listener = asyncio.run_coroutine_threadsafe(
        asyncio.start_unix_server(proxy.serve, str(directory / PORT_FILE)), loop
    ).result(_STOP_SECONDS)
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(_close(listener), loop).result(_STOP_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_STOP_SECONDS)
        loop.close()


async def _close(listener: asyncio.Server) -> None:
    listener.close()
    talks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in talks:
        task.cancel()
    await asyncio.gather(*talks, return_exceptions=True)
