"""`race`: ours and the peers on one site, in turn, round after round; the median of each counts."""

import argparse
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.flames import flames
from benchmarks.race.contenders import (
    OURS,
    SCRAPY,
    STORING,
    WHOLE_SITE,
    Contender,
    Course,
    Lap,
    all_contenders,
    parsing_lap,
)
from benchmarks.race.meters import Cores, run_measured
from benchmarks.race.ours import Project, crawl_command, project
from benchmarks.race.pages import Size
from benchmarks.race.report import Report, settings_line, table
from benchmarks.race.served import ceiling, serving
from benchmarks.svg import Bar, bars

WANTED_RATIO, STRETCH_RATIO, WANTED_MB = 10, 15, 120


def race(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """Ours, Scrapy with JOBDIR and Crawlee on the same site, each on one core: pages per CPU-second and memory."""
    report = Report("race", options.out)
    report.begin(cores)
    told: dict[str, str] = {}

    def at_end(ours: Project) -> None:
        told.update(ours.shown(), verify=ours.verify())

    with serving(Size(options.pages), cores, scratch) as web:
        highest = ceiling(web, cores, pages=options.pages)
        print(highest)
        course = Course(web, cores, scratch)
        contenders = all_contenders(options.peers_python, stores=options.scrapy_stores, at_end=at_end)
        for contender in contenders:
            print(f"{contender.name}: {contender.how}")
        laps = _run(contenders, course, options.rounds)
        parsing = None if options.no_parsing else parsing_lap(course)
        if options.profile:
            _profile(course, options.out)
    verified = told.pop("verify")
    print(settings_line(told))
    report.facts |= {"pages": options.pages, "ceiling": asdict(highest), "settings": told, "verify": verified}
    report.facts["how"] = {contender.name: contender.how for contender in contenders}
    report.samples += [asdict(lap) | {"pages_per_cpu_second": lap.pages_per_cpu_second} for lap in laps]
    medians = [_median([lap for lap in laps if lap.contender == contender.name]) for contender in contenders]
    _tell(medians, laps)
    if parsing is not None:
        print(f"{parsing.contender}, one lap: {parsing.pages_per_cpu_second:,.1f} pages a CPU-second")
        report.samples.append(asdict(parsing) | {"pages_per_cpu_second": parsing.pages_per_cpu_second})
    print(f"storage verify: {verified}")
    _judge(report, medians, laps, options.pages)
    report.end(_plot(medians, options.pages))


def _run(contenders: Sequence[Contender], course: Course, rounds: int) -> list[Lap]:
    laps = []
    for number in range(1, rounds + 1):
        for contender in contenders:
            lap = contender.lap(course)
            laps.append(lap)
            print(f"round {number}, {lap.contender}: {lap.pages_per_cpu_second:,.1f} pages a CPU-second")
    return laps


def _median(laps: Sequence[Lap]) -> Lap:
    """The lap in the middle, as it was."""
    return sorted(laps, key=lambda lap: lap.pages_per_cpu_second)[(len(laps) - 1) // 2]


def _tell(medians: Sequence[Lap], laps: Sequence[Lap]) -> None:
    header = ("median of each", "pages", "twice", "seconds", "client CPU s", "database CPU s", "peak MB",
              "pages/CPU-s", "samples")  # fmt: skip
    rows = []
    for lap in medians:
        samples = [one.pages_per_cpu_second for one in laps if one.contender == lap.contender]
        rows.append((
            lap.contender, f"{lap.pages:,}", f"{lap.doubled:,}", f"{lap.wall_seconds:.1f}",
            f"{lap.client_cpu_seconds:.2f}", f"{lap.database_cpu_seconds:.2f}", f"{lap.peak_mb:.0f}",
            f"{lap.pages_per_cpu_second:,.1f}", " ".join(f"{sample:,.1f}" for sample in samples),
        ))  # fmt: skip
    table(header, rows)


def _judge(report: Report, medians: Sequence[Lap], laps: Sequence[Lap], pages: int) -> None:
    by_name = {lap.contender: lap for lap in medians}
    ours = by_name[OURS]
    for name, lap in by_name.items():
        ratio = ours.pages_per_cpu_second / lap.pages_per_cpu_second
        if name == SCRAPY:
            wish = f"at least {WANTED_RATIO} times (stretch {STRETCH_RATIO})"
            report.wanted(f"{OURS} / {name}", wish, f"{ratio:.1f} times", is_met=ratio >= WANTED_RATIO)
        elif name != OURS:
            fairer = " (both keep bodies)" if name == STORING else ""
            print(f"{OURS} / {name}: {ratio:.1f} times{fairer}")
    peak = statistics.median(lap.peak_mb for lap in laps if lap.contender == OURS)
    report.wanted("memory of our client", f"at most {WANTED_MB} MB", f"{peak:.0f} MB", is_met=peak <= WANTED_MB)
    for name in by_name:
        mine = [lap for lap in laps if lap.contender == name]
        found = " ".join(f"{lap.pages:,}+{lap.doubled}" for lap in mine)
        is_whole = all(lap.pages == pages and not lap.doubled for lap in mine)
        report.wanted(f"{name}, pages + asked again", f"{pages:,}+0 each time", found, is_met=is_whole)


def _plot(medians: Sequence[Lap], pages: int) -> str:
    rows = [Bar(lap.contender, lap.pages_per_cpu_second, f"({lap.peak_mb:.0f} MB)") for lap in medians]
    title = f"Pages per CPU-second, database server included ({pages:,} pages)"
    return bars(title, rows, unit="median; peak memory of the client behind it")


def _profile(course: Course, out: Path) -> None:
    """One more lap of ours under py-spy, which does not count."""
    beside = Path(sys.executable).with_name("py-spy")
    program = str(beside) if beside.exists() else shutil.which("py-spy")
    if program is None:
        print("py-spy is not installed: no profile")
        return
    stacks = course.scratch / "stacks.txt"
    with project(course.scratch, "profiled", core=course.cores.client) as ours:
        command = [program, "record", "-r", "250", "-f", "raw", "-o", stacks, "--subprocesses", "--",
                   *crawl_command(course.web, course.web.url, *WHOLE_SITE)]  # fmt: skip
        spent = run_measured(command, core=course.cores.client, cwd=ours.home, env=ours.env, output=ours.said)
        if spent.code:
            print(f"py-spy failed: {ours.said.read_text()[-300:]}")
            return
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "race-profile.svg"
    picture.write_text(flames("Where the time of a crawl goes", stacks.read_text().splitlines()))
    print(f"profile: {picture}")
