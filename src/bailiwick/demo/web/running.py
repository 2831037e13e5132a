"""Serving in a thread of this process: `with serve(web) as running:`."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bailiwick.demo.web.answers import Origins
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.server import ADDRESS, IDLE_SECONDS, Server
from bailiwick.demo.web.sites import Web

_STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Running:
    """A web that is served right now."""

    web: Web
    log: RequestLog
    origins: Origins

    @property
    def port(self) -> int:
        return self.origins.http or 80

    @property
    def tls_port(self) -> int:
        """The same one, unless TLS was given its own."""
        return self.origins.https or 443

    @property
    def resolve(self) -> str:
        """For `bailiwick crawl --resolve`: every host name with this port is on loopback."""
        return f"*:{self.port}:{ADDRESS}"

    def name(self, host: str) -> str:
        """The domain name of a host of this web, as Bailiwick writes it."""
        return f"{host}:{self.port}"

    def url(self, host: str, path: str = "/", *, scheme: str = "http") -> str:
        return self.origins.url(host, path, scheme=scheme)


@contextmanager
def serve(
    web: Web,
    *,
    tls: ssl.SSLContext | None = None,
    port: int = 0,
    tls_port: int | None = None,
    log: RequestLog | None = None,
    idle_seconds: float = IDLE_SECONDS,
) -> Iterator[Running]:
    """Serve a web on loopback until the block ends; ports as for `Server.start`. Raises OSError when one is taken."""
    log = log or RequestLog()
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, name="local-web", daemon=True)
    thread.start()
    server = Server(web, log, tls=tls, idle_seconds=idle_seconds)
    try:
        started = asyncio.run_coroutine_threadsafe(_start(server, port, tls_port), loop)
        yield Running(web, log, started.result())
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(_STOP_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_STOP_SECONDS)
        loop.close()
        log.close()


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's, where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _start(server: Server, port: int, tls_port: int | None) -> Origins:
    return server.start(port=port, tls_port=tls_port)
