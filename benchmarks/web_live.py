"""Many open dashboards at once, and somebody who changes what they show."""

import asyncio
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path

import psutil
from sqlalchemy import text

from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from benchmarks.registry import busy_seconds
from benchmarks.web_rows import CLEAN, FIGURES, HUGE

EVERY_SECONDS = 2.0
SETTLING_SECONDS, IDLE_SECONDS = 5.0, 10.0
ALSO_A_DOMAIN = 10
"""One in so many dashboards watches a domain, too."""


@dataclass
class Client:
    """One open page and what it got."""

    domain: str | None
    tiles: int = 0
    domains: int = 0
    received: int = 0


@dataclass(frozen=True)
class Watched:
    """What it took, and what arrived; shares are of one core."""

    seconds: float
    server_cpu: float
    database_cpu: float
    idle_server: float
    idle_database: float
    tiles: list[int] = field(default_factory=list)
    domains: list[int] = field(default_factory=list)
    received: list[int] = field(default_factory=list)


def watch(database: Database, address: str, process: psutil.Process, tokens: Sequence[str], seconds: float) -> Watched:
    """Open one stream a token, for so long, while figures change."""
    spawn = multiprocessing.get_context("spawn")
    stop = spawn.Event()
    writer = spawn.Process(target=write, args=(database.server.data_root, stop))  # type: ignore[union-attr]
    writer.start()
    try:
        return asyncio.run(_watch(database, address, process, tokens, seconds))
    finally:
        stop.set()
        writer.join()


def write(data: Path, stop: Event) -> None:
    """What a hundred workers do to the rows that dashboards show."""
    told = f"""
        update workers as w set figures = {FIGURES}, seen_at = bailiwick_now() + interval '1 hour'
        from (select name, pid as n from workers) as known where known.name = w.name"""
    progress = "update domain_progress set pages_crawled = pages_crawled + 7 where domain_id <= 100"
    step = 0
    with Database(data, Settings()) as database:
        while not stop.wait(EVERY_SECONDS):
            step += 1
            with database.begin() as conn:
                conn.execute(text(told), {"step": step})
                conn.execute(text(progress))


async def _watch(
    database: Database, address: str, process: psutil.Process, tokens: Sequence[str], seconds: float
) -> Watched:
    idle_server, idle_database, idle = await _spent(database, process, IDLE_SECONDS)
    clients = [Client(None if n % ALSO_A_DOMAIN else (HUGE, CLEAN)[n // ALSO_A_DOMAIN % 2]) for n in range(len(tokens))]
    follow = [asyncio.create_task(_follow(address, *pair)) for pair in zip(clients, tokens, strict=True)]
    await asyncio.sleep(SETTLING_SECONDS)
    for client in clients:
        client.tiles = client.domains = client.received = 0
    server_cpu, database_cpu, took = await _spent(database, process, seconds)
    found = Watched(
        took, server_cpu, database_cpu, round(idle_server / idle, 4), round(idle_database / idle, 4),
        [client.tiles for client in clients], [client.domains for client in clients if client.domain],
        [client.received for client in clients],
    )  # fmt: skip
    for task in follow:
        assert not task.done(), task
        task.cancel()
    await asyncio.gather(*follow, return_exceptions=True)
    return found


async def _spent(database: Database, process: psutil.Process, seconds: float) -> tuple[float, float, float]:
    """CPU seconds of the server and of the database within so long, and how long it was."""
    begun, cpu, (_, busy) = time.perf_counter(), sum(process.cpu_times()[:2]), busy_seconds(database)
    await asyncio.sleep(seconds)
    took = time.perf_counter() - begun
    return sum(process.cpu_times()[:2]) - cpu, busy_seconds(database)[1] - busy, took


async def _follow(address: str, client: Client, token: str) -> None:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
    topics = "topic=tiles" + (f"&topic=domain:{client.domain}" if client.domain else "")
    head = (
        f"GET /live?{topics} HTTP/1.1\r\nHost: {address}\r\nCookie: bailiwick={token}\r\nAccept-Encoding: gzip\r\n\r\n"
    )
    writer.write(head.encode())
    status = await reader.readline()
    assert b" 200 " in status, status
    try:
        while True:
            event = await reader.readuntil(b"\n\n")
            client.received += len(event)
            client.tiles += b"event: tiles\n" in event
            client.domains += b"event: domain:" in event
    finally:
        writer.close()
