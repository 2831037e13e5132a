"""Registries on loopback: RDAP and WHOIS servers that answer as they are told, well or badly."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvloop
from aiohttp import web

from bailiwick.base.review_sections import ScoreSettings
from bailiwick.db.engine import Database
from bailiwick.net.guard import Guard, Resolve
from bailiwick.score.facts.finding import FactFinder
from tests.net.inside import Names

Story = Callable[[], Coroutine[Any, Any, None]]
Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def run(story: Story) -> None:
    """On the loop that the program uses, for half a minute at most."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(story(), 30))


def rdap_body(name: str, **changes: Any) -> dict[str, Any]:
    """An answer as registries give it; `None` leaves a member out."""
    body = {
        "objectClassName": "domain",
        "ldhName": name.upper(),
        "events": [
            {"eventAction": "registration", "eventDate": "2014-03-02T10:11:12Z"},
            {"eventAction": "expiration", "eventDate": "2031-03-02T10:11:12.5Z"},
        ],
        "entities": [
            person("registrar", fn="Good Names Inc."),
            person("registrant", fn="", org="Rowing Club of Ghent"),
        ],
    }
    return {key: value for key, value in {**body, **changes}.items() if value is not None}


def person(role: str, **cards: str) -> dict[str, Any]:
    """An entity with a vCard (RFC 7095)."""
    lines = [["version", {}, "text", "4.0"], *([key, {}, "text", value] for key, value in cards.items())]
    return {"objectClassName": "entity", "roles": [role], "vcardArray": ["vcard", lines]}


class RdapServer:
    """Answers by path; every path that is not known is a 404. `/dns.json` is the list of servers."""

    def __init__(self) -> None:
        self.port = 0
        self.paths: dict[str, Respond | object] = {}
        self.asked: list[tuple[float, str, str]] = []
        """When, host, path."""

    def list_servers(self, *ends: str, url: str = "http://rdap.{end}:{port}/") -> None:
        services = [[[end], [url.format(end=end, port=self.port)]] for end in ends]
        self.paths["/dns.json"] = {"version": "1.0", "services": services}

    def about(self, name: str, answer: Respond | object) -> None:
        self.paths[f"/domain/{name}"] = answer

    def names(self) -> list[str]:
        return [path.removeprefix("/domain/") for _, _, path in self.asked if path.startswith("/domain/")]

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((time.monotonic(), request.host.partition(":")[0], request.path))
        answer = self.paths.get(request.path)
        if answer is None:
            return web.Response(status=404)
        return await answer(request) if callable(answer) else web.json_response(answer)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["RdapServer"]:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._respond)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.port = runner.addresses[0][1]
            yield self
        finally:
            await runner.cleanup()


@asynccontextmanager
async def listening(serve: Serve, **how: Any) -> AsyncIterator[int]:
    """A server of any protocol; what it still does at the end is ended."""
    tasks: set[asyncio.Task[None]] = set()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.close()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.get_running_loop().create_task(served(reader, writer)))

    server = await asyncio.start_server(accepted, "127.0.0.1", 0, **how)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class WhoisServer:
    """Answers by the name that it is asked for; every other is not known to it."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers: dict[str, Answer] = dict(answers or {})
        self.asked: list[tuple[float, str]] = []
        self.port = 0

    def names(self) -> list[str]:
        return [name for _, name in self.asked]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readline()).decode().strip()
        self.asked.append((time.monotonic(), name))
        answer = self.answers.get(name, b"No match for domain.\r\n")
        if callable(answer):
            await answer(writer)
        else:
            writer.write(answer)
            await writer.drain()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["WhoisServer"]:
        async with listening(self._serve) as self.port:
            yield self


def here(*ports: int) -> Guard:
    """The guard, for which every host is on this machine at these ports, and inside or nowhere at all others."""
    return Guard(resolves=tuple(Resolve.parse(f"*:{port}:127.0.0.1") for port in ports))


def settings_of(rdap_port: int, whois_port: int, **changes: Any) -> ScoreSettings:
    given = {
        "registry_delay_seconds": 0,
        "registry_timeout_seconds": 5,
        "rdap_bootstrap_url": f"http://iana.test:{rdap_port}/dns.json",
        "whois_server": f"whois.iana.test:{whois_port}",
    }
    return ScoreSettings(**{**given, **changes})


@asynccontextmanager
async def finder_of(
    database: Database, rdap_port: int, whois_port: int, *more_ports: int, **changes: Any
) -> AsyncIterator[FactFinder]:
    """A finder whose registries are these servers; `trust` is for TLS, the rest are settings."""
    how = {key: changes.pop(key) for key in ("trust", "dns") if key in changes}
    how.setdefault("dns", Names())
    finder = FactFinder(
        database, here(rdap_port, whois_port, *more_ports), settings_of(rdap_port, whois_port, **changes), **how
    )
    try:
        yield finder
    finally:
        await finder.close()


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()
