"""Serving in a process of its own: `python -m bailiwick.demo.web --hosts 100 --pages 50`.

One line of JSON on standard output says where: port, tls_port, hosts, resolve. Ends on SIGTERM, SIGINT, or
(`--until-eof`) when its standard input is closed, as happens when whoever started it dies.
"""

import argparse
import asyncio
import json
import os
import resource
import signal
import ssl
import threading
from pathlib import Path

from bailiwick.demo.web.behaviours import delayed, validators
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.running import Running, new_loop
from bailiwick.demo.web.sample import sample_web
from bailiwick.demo.web.server import Server
from bailiwick.demo.web.sites import Web


def main() -> None:
    options = _options()
    _allow_many_files()
    log = RequestLog(options.log, keep=0)
    loop = new_loop()
    try:
        loop.run_until_complete(_serve(options, log))
    finally:
        loop.close()
        log.close()


async def _serve(options: argparse.Namespace, log: RequestLog) -> None:
    web = _web(options)
    server = Server(web, log, tls=_tls(options))
    origins = server.start(port=options.port, tls_port=options.tls_port)
    running = Running(web, log, origins)
    ended = _until_told(until_eof=options.until_eof)
    said = {"port": running.port, "tls_port": running.tls_port, "hosts": web.hosts, "resolve": running.resolve}
    os.write(1, json.dumps(said).encode() + b"\n")
    await ended.wait()
    await server.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bailiwick.demo.web", description="Serve a local web on loopback.")
    add = parser.add_argument
    add("--sample", action="store_true", help="the sample web of the demo, in place of a generated one")
    add("--hosts", type=int, default=1, help="host names")
    add("--pages", type=int, default=50, help="pages a host")
    add("--links", type=int, default=8, help="links a page, about")
    add("--bytes", type=int, default=1_500, help="bytes a page, about")
    add("--seed", type=int, default=0, help="another seed, another web")
    add("--no-noise", action="store_true", help="only plain links within the host")
    add("--latency", type=float, default=0.0, metavar="SECONDS", help="before every answer")
    add("--validators", action="store_true", help="ETag and Last-Modified, answered with 304")
    add("--log", type=Path, metavar="FILE", help="append two lines of JSON a request to this file")
    add("--port", type=int, default=0, help="0 takes a free one")
    add("--tls-port", type=int, help="a port of its own for TLS; without it both share one")
    add("--tls-pem", type=Path, metavar="FILE", help="key and certificates: speak TLS, too")
    add("--until-eof", action="store_true", help="end when standard input is closed")
    return parser.parse_args()


def _web(options: argparse.Namespace) -> Web:
    web = (
        sample_web()
        if options.sample
        else Web.generate(
            options.seed,
            hosts=options.hosts,
            pages_per_host=options.pages,
            links_per_page=options.links,
            page_bytes=options.bytes,
            noise=not options.no_noise,
        )
    )
    behaviours = [validators()] if options.validators else []
    if options.latency:
        behaviours.append(delayed(options.latency))
    if behaviours:
        for site in web.sites.values():
            site.behave_everywhere(*site.everywhere, *behaviours)
    return web


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    if options.tls_pem is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.tls_pem)
    return context


def _until_told(*, until_eof: bool) -> asyncio.Event:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)

    def read_to_the_end() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    if until_eof:  # a thread, because not every kind of standard input can be waited for by a loop
        threading.Thread(target=read_to_the_end, daemon=True).start()
    return ended


def _allow_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    main()
