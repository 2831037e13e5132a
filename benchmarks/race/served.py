"""The race's web server as its client sees it: where it is, what its log says, how fast it could be."""

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.race.meters import Cores, on_core
from benchmarks.race.pages import Size

ROOT = Path(__file__).parents[2]
ADDRESS = "127.0.0.1"
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Hit:
    """One request, by the server's log."""

    at: float
    """Seconds of the monotonic clock, which all processes share."""
    host: str
    path: str
    status: int

    @property
    def is_page(self) -> bool:
        return self.status == 200 and self.path != "/robots.txt"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the log says about pages that were asked for in some time."""

    distinct: int
    """Pages that were answered."""
    doubled: int
    """Answers beyond the first of each page."""


@dataclass(frozen=True)
class Served:
    """A web that is served right now."""

    port: int
    log: Path
    size: Size
    process: psutil.Process

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}/"

    @property
    def resolve(self) -> str:
        """For `--resolve`: every host is here."""
        return f"*:{self.port}:{ADDRESS}"

    def hits(self, since: float = 0.0) -> list[Hit]:
        """What was asked for since a moment of the monotonic clock. A line that is being written is left out."""
        rows = (line.split("\t") for line in self.log.read_text().split("\n")[:-1])
        found = (Hit(float(at), host, path, int(status)) for at, host, path, status in rows)
        return [hit for hit in found if hit.at >= since]

    def cpu_seconds(self) -> float:
        return sum(self.process.cpu_times()[:2])


def seen(hits: Sequence[Hit]) -> Seen:
    asked = Counter((hit.host, hit.path) for hit in hits if hit.is_page)
    return Seen(len(asked), asked.total() - len(asked))


@contextmanager
def serving(size: Size, cores: Cores, scratch: Path) -> Iterator[Served]:
    """Serve a site from a process on the other core until the block ends."""
    log = scratch / "web.log"
    command = [
        sys.executable, "-m", "benchmarks.race.web", "--log", log, "--core", cores.other,
        "--pages", size.pages, "--links", size.links, "--bytes", size.page_bytes,
    ]  # fmt: skip
    process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        port = int(process.stdout.readline())  # type: ignore[union-attr]
        yield Served(port, log, size, psutil.Process(process.pid))
    finally:
        process.communicate(timeout=20)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How fast the server answers a client that does nothing with the answers."""

    pages_per_second: float
    client_pages_per_cpu_second: float
    server_pages_per_cpu_second: float

    def __str__(self) -> str:
        return (
            f"ceiling: a bare aiohttp loop gets {self.pages_per_second:,.0f} pages a second "
            f"({self.client_pages_per_cpu_second:,.0f} a CPU-second of its own); "
            f"the server could answer {self.server_pages_per_cpu_second:,.0f} a second"
        )


def ceiling(web: Served, cores: Cores, *, pages: int = 5_000) -> Ceiling:
    """Ask for so many pages from the client's core."""
    with on_core(cores.client):
        started, mine, its = time.perf_counter(), time.process_time(), web.cpu_seconds()
        with asyncio.Runner(loop_factory=_new_loop) as runner:
            runner.run(_ask_for(web, pages))
        seconds, mine = time.perf_counter() - started, time.process_time() - mine
        its = max(web.cpu_seconds() - its, 0.01)  # the kernel counts in hundredths
    return Ceiling(pages / seconds, pages / mine, pages / its)


async def _ask_for(web: Served, pages: int) -> None:
    import aiohttp

    numbers = iter(range(pages))
    async with aiohttp.ClientSession() as session:

        async def ask() -> None:
            for number in numbers:
                async with session.get(f"{web.url}known/{number}") as answer:
                    await answer.read()

        await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))


def _new_loop() -> asyncio.AbstractEventLoop:
    import uvloop

    return uvloop.new_event_loop()
