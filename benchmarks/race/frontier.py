"""`frontier`: how many new URLs the real flush takes a second, with few and with many known pages.

Batches are made before the clock runs: only `Desk.flush` is measured, which is the transaction with its durable commit
(and the call that would sync bodies, of which there are none). What is added stays: the table grows meanwhile. This
process is on the client's core, the database server on the other.
"""

import argparse
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bailiwick.crawl.desk import Desk, Opened
from bailiwick.crawl.results import Batch
from bailiwick.model.urls import hash_of
from benchmarks.race.known import admit_domains, check_room, fill
from benchmarks.race.meters import Cores, on_core
from benchmarks.race.ours import AGENT, Project, project
from benchmarks.race.report import Report, settings_line, table
from benchmarks.svg import lines

FEW = 100_000
MANY_DOMAINS = 100
LINKS_A_FLUSH = 5_000
WANTED = {"one domain": 50_000, "100 domains": 8_000}


@dataclass
class Measured:
    """New URLs of so many domains a flush, at so many known pages."""

    known: int
    what: str
    client_us: float = 0.0
    """CPU microseconds a URL, of the client and of the database server."""
    database_us: float = 0.0
    new: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.new / sum(self.seconds)

    @property
    def curve(self) -> list[tuple[float, float]]:
        """URLs a second over the seconds that were measured, ten flushes a point."""
        points, at = [], 0.0
        for n in range(0, len(self.seconds), 10):
            some = self.seconds[n : n + 10]
            at += sum(some)
            points.append((at, LINKS_A_FLUSH * len(some) / sum(some)))
        return points


def frontier(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """New URLs a second that the flush takes: half of the known pages in one domain, half over 100 others."""
    check_room(scratch, options.known + FEW)
    report = Report("frontier", options.out)
    report.begin(cores)
    found: list[Measured] = []
    with project(scratch, "ours", core=cores.other) as ours, on_core(cores.client):
        print(settings_line(ours.shown()))
        for known in dict.fromkeys((min(FEW, options.known), options.known)):
            found += _measure(ours, known, options.seconds)
        report.facts |= {"settings": ours.shown(), "links_a_flush": LINKS_A_FLUSH}
    report.samples += [asdict(one) | {"new_urls_a_second": one.rate} for one in found]
    table(
        ("new URLs", "known pages", "URLs/s", "flush ms, median", "client us/URL", "database us/URL"),
        [
            (one.what, f"{one.known:,}", f"{one.rate:,.0f}", f"{statistics.median(one.seconds) * 1000:.1f}",
             f"{one.client_us:.1f}", f"{one.database_us:.1f}")
            for one in found
        ],
    )  # fmt: skip
    for one in found:
        share = 1 if one.known <= FEW else 2
        wish = WANTED[one.what] // share
        what = f"{one.what}, {one.known:,} known pages"
        report.wanted(what, f"at least {wish:,} URLs a second", f"{one.rate:,.0f}", is_met=one.rate >= wish)
    curves = {f"{one.what}, {one.known:,} known": one.curve for one in found}
    report.end(lines("New URLs that a flush takes", curves, x_label="seconds", y_label="new URLs a second"))


def _measure(ours: Project, known: int, seconds: float) -> list[Measured]:
    """Fresh domains for each size, so that every lease is new."""
    with ours.app() as app:
        # Names that no operator shares: only so many domains of one are leased at once.
        one = admit_domains(app, [f"single{known}.test"])
        many = admit_domains(app, [f"many{known}x{n}.test" for n in range(MANY_DOMAINS)])
        fill(ours, one, known // 2)
        fill(ours, many, known // 2 // MANY_DOMAINS)
        desk = Desk(app.database, app.settings, app.body_store, agent=AGENT)
        opened = {held.lease.domain_id: held for held in desk.claim(len(one) + len(many), None)}
        groups = (("one domain", one), ("100 domains", many))
        return [
            _flushes(desk, ours, [opened[domain_id] for domain_id in ids], Measured(known, what), seconds)
            for what, ids in groups
        ]


def _flushes(desk: Desk, ours: Project, held: list[Opened], found: Measured, limit_seconds: float) -> Measured:
    server, client, number = ours.database.cpu_seconds(), 0.0, 0
    while sum(found.seconds) < limit_seconds:
        number += 1
        batches = [_batch(one, number, LINKS_A_FLUSH // len(held)) for one in held]
        begun, mine = time.perf_counter(), time.process_time()
        answers = desk.flush(batches)
        found.seconds.append(time.perf_counter() - begun)
        client += time.process_time() - mine
        found.new += sum(answer.new_pages for answer in answers.values())
    found.client_us = client / found.new * 1e6
    found.database_us = (ours.database.cpu_seconds() - server) / found.new * 1e6
    return found


def _batch(held: Opened, number: int, count: int) -> Batch:
    """Links that nobody knows yet."""
    paths = [f"/archive/{number}/the-story-{n}-of-the-harbour.html" for n in range(count)]
    links = [(hash_of(path), path, 2, hash_of("/")) for path in paths]
    return Batch(held.lease.domain_id, held.lease.lease_no, held.run.run_id, number, [], links, [])
