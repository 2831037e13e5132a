"""The server process: one socket, one event loop, until it is told to stop."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn

from bailiwick.app import App
from bailiwick.pipeline.process import prepare_process
from bailiwick.web.site import Serving, Site, make_site

_GRACE_SECONDS = 5
_ORPHAN_SECONDS = 1.0


def serve(app: App, bound: socket.socket, serving: Serving, *, parent: int | None = None) -> None:
    """Serve until SIGINT or SIGTERM, or until the parent is gone. What is being answered then gets a few seconds."""
    site = Site(app, serving)
    config = uvicorn.Config(
        make_site(site),
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=app.settings.web.behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=30,
        limit_concurrency=2000,
    )
    prepare_process()  # a look through all that is loaded would keep everybody waiting for a tenth of a second
    server = _Server(config, site)
    runner_factory = config.get_loop_factory()
    with asyncio.Runner(loop_factory=runner_factory) as runner:
        runner.run(_serve(server, bound, parent))


async def _serve(server: "_Server", bound: socket.socket, parent: int | None) -> None:
    watch = asyncio.create_task(_stop_with_parent(server, parent)) if parent is not None else None
    try:
        await server.serve(sockets=[bound])
    finally:
        if watch is not None:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch


async def _stop_with_parent(server: "_Server", parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(_ORPHAN_SECONDS)
    server.stop()


class _Server(uvicorn.Server):
    """One that ends its live streams when it stops: it waits for every connection, and these go on."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    def stop(self) -> None:
        """In order; told twice, at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._site.publisher.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ours instead of uvicorn's, which raises the signal once more at the end: a stop is no error."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.stop)
        yield
