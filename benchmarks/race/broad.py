"""`broad`: many hosts at a polite pace in one process."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby, pairwise
from pathlib import Path

from bailiwick.demo.web.sites import made_up_names
from benchmarks.race.contenders import Course, Lap
from benchmarks.race.meters import Cores
from benchmarks.race.ours import project
from benchmarks.race.pages import Size
from benchmarks.race.report import Report, settings_line, table
from benchmarks.race.served import Hit, serving
from benchmarks.svg import lines

WANTED_PAGES, WANTED_MB = 300, 600
_STEP_SECONDS = 5.0


def broad(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """Many hosts at a delay in one process, for a given time; the database server is on the other core."""
    report = Report("broad", options.out)
    report.begin(cores)
    with serving(Size(options.pages), cores, scratch) as web, project(scratch, "ours", core=cores.other) as ours:
        seeds = ours.home / "seeds.txt"
        seeds.write_text("".join(f"{name}:{web.port}\n" for name in made_up_names(options.hosts)))
        print(settings_line(ours.shown()))
        limits = ("--depth", "all", "--max-pages", "0", "--delay", str(options.delay), "--time", str(options.seconds))
        spent, database = ours.crawl(web, cores, str(seeds), *limits)
        lap = Lap.of("Bailiwick", Course(web, cores, scratch), spent, database)
        hits = web.hits(spent.started)
        verified = ours.verify()
        report.facts |= {"settings": ours.shown(), "verify": verified}
    gap = closest(hits)
    rates = _rates(hits, spent.started)
    report.facts |= {"hosts": options.hosts, "delay_seconds": options.delay, "seconds": options.seconds}
    report.facts |= {"closest_seconds": gap, "pages_per_second": rates, "hosts_asked": len({hit.host for hit in hits})}
    report.samples.append(asdict(lap) | {"pages_per_cpu_second": lap.pages_per_cpu_second})
    table(
        ("hosts", "pages", "twice", "seconds", "pages/s", "client CPU s", "database CPU s", "pages/CPU-s", "peak MB"),
        [(
            f"{len({hit.host for hit in hits}):,} of {options.hosts:,}", f"{lap.pages:,}", f"{lap.doubled:,}",
            f"{lap.wall_seconds:.1f}", f"{lap.pages / lap.wall_seconds:,.0f}", f"{lap.client_cpu_seconds:.1f}",
            f"{lap.database_cpu_seconds:.1f}", f"{lap.pages_per_cpu_second:,.1f}", f"{lap.peak_mb:.0f}",
        )],
    )  # fmt: skip
    print(f"storage verify: {verified}")
    measured = f"{lap.pages_per_cpu_second:,.0f} pages a CPU-second"
    is_fast = lap.pages_per_cpu_second >= WANTED_PAGES
    report.wanted("client and database", f"at least {WANTED_PAGES} pages a CPU-second", measured, is_met=is_fast)
    is_small = lap.peak_mb <= WANTED_MB
    report.wanted("memory of our client", f"at most {WANTED_MB} MB", f"{lap.peak_mb:.0f} MB", is_met=is_small)
    print(f"closest two requests to a host, as the server read them: {gap:.3f} s (delay {options.delay:g} s)")
    title = f"{options.hosts:,} hosts, {options.delay:g} s apart, one process"
    report.end(lines(title, {"pages a second": rates}, x_label="seconds", y_label="pages a second"))


def closest(hits: Sequence[Hit]) -> float:
    """The least number of seconds between two requests to the same host."""
    ordered = sorted((hit.host, hit.at) for hit in hits)
    gaps = (
        after - before
        for _, some in groupby(ordered, key=lambda one: one[0])
        for (_, before), (_, after) in pairwise(some)
    )
    return min(gaps, default=float("inf"))


def _rates(hits: Sequence[Hit], started: float) -> list[tuple[float, float]]:
    """Pages a second, every few seconds."""
    counts = Counter(int((hit.at - started) // _STEP_SECONDS) for hit in hits if hit.is_page)
    steps = range(max(counts, default=0) + 1)
    return [((n + 0.5) * _STEP_SECONDS, counts[n] / _STEP_SECONDS) for n in steps]
