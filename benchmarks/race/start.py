"""`start` and `resume`: how soon a crawl sends something, with many known pages and after a SIGKILL."""

import argparse
import os
import signal
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.race.contenders import WHOLE_SITE
from benchmarks.race.known import admit_domains, check_room, fill
from benchmarks.race.meters import Cores, start_pinned
from benchmarks.race.ours import Project, crawl_command, project
from benchmarks.race.pages import Size
from benchmarks.race.report import Report, settings_line, table
from benchmarks.race.served import Served, seen, serving
from benchmarks.svg import Bar, bars

WANTED_SECONDS = 2.0
_KILLED_AT = 0.4
_PATIENCE_SECONDS = 120.0


def start(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """The first request of a crawl whose domain has many known pages, from the start of the process."""
    check_room(scratch, options.known)
    report = Report("start", options.out)
    report.begin(cores)
    with serving(Size(50), cores, scratch) as web, project(scratch, "ours", core=cores.client) as ours:
        print(settings_line(ours.shown()))
        name = f"known.test:{web.port}"
        with ours.app() as app:
            ids = admit_domains(app, [name])
        fill(ours, ids, options.known)
        report.facts |= {"known": options.known, "settings": ours.shown()}
        for number in range(1, options.rounds + 1):
            for is_up in (True, False):
                if not is_up:
                    ours.run("-q", "db", "stop")
                request, page = _first_request(ours, web, cores, name)
                report.samples.append({"round": number, "is_up": is_up, "request": request, "page": page})
    rows = []
    for what, is_up in (("database server running", True), ("database server stopped", False)):
        some = [sample for sample in report.samples if sample["is_up"] is is_up]
        rows += [(f"{what}: first {kind}", [float(str(one[kind])) for one in some]) for kind in ("request", "page")]
    _tell(report, rows, judged=("database server running: first request", "database server stopped: first request"))
    report.end(_plot(f"Start with {options.known:,} known pages", rows))


def _first_request(ours: Project, web: Served, cores: Cores, name: str) -> tuple[float, float]:
    """Seconds until the first request of any kind, and until the first for a page."""
    options = ("--depth", "all", "--max-pages", "20", "--delay", "0")
    spent = ours.crawl_as_it_is(web, cores, name, *options)
    hits = web.hits(spent.started)
    if spent.code or not hits:
        raise SystemExit(f"error: the crawl asked for nothing: {ours.said.read_text()[-500:]}")
    page = next((hit.at for hit in hits if hit.is_page), float("inf"))
    return hits[0].at - spent.started, page - spent.started


@dataclass(frozen=True, slots=True)
class Resumed:
    """What became of a crawl that was killed in the middle and started again."""

    killed_at_pages: int
    first_request: float
    first_new_page: float
    pages: int
    doubled: int


def resume(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """The first new page after SIGKILL of the engine and its parent, from the start of the next process."""
    report = Report("resume", options.out)
    report.begin(cores)
    found = []
    for number in range(1, options.rounds + 1):
        lap = scratch / str(number)
        lap.mkdir(mode=0o755)
        with serving(Size(options.pages), cores, lap) as web, project(lap, "ours", core=cores.client) as ours:
            once = _kill_and_resume(ours, web, cores)
            found.append(once)
            verified = ours.verify()
            report.facts |= {"pages": options.pages, "settings": ours.shown(), "verify": verified}
        report.samples.append({name: getattr(once, name) for name in Resumed.__dataclass_fields__})
        print(
            f"round {number}: killed after {once.killed_at_pages:,} pages; in the end {once.pages:,} of "
            f"{options.pages:,} were asked for, {once.doubled:,} of them again; storage verify: {verified}"
        )
    print(settings_line(report.facts["settings"]))  # type: ignore[arg-type]
    rows = [("first request", [one.first_request for one in found])]
    rows.append(("first new page", [one.first_new_page for one in found]))
    _tell(report, rows, judged=("first new page",))
    is_whole = all(one.pages == options.pages for one in found)
    pages = " ".join(f"{one.pages:,}" for one in found)
    report.wanted("pages in the end", f"{options.pages:,} each time", pages, is_met=is_whole)
    report.end(_plot(f"Resume after SIGKILL ({options.pages:,} pages)", rows))


def _kill_and_resume(ours: Project, web: Served, cores: Cores) -> Resumed:
    command = crawl_command(web, web.url, *WHOLE_SITE)
    with ours.said.open("wb") as said:
        process = start_pinned(command, core=cores.client, cwd=ours.home, env=ours.env, output=said.fileno())
    _wait(lambda: seen(web.hits()).distinct >= web.size.pages * _KILLED_AT, process.pid)
    parent = psutil.Process(process.pid)
    for one in [parent, *parent.children(recursive=True)]:  # the parent first: it would start the engine again
        with suppress(psutil.Error):
            one.send_signal(signal.SIGKILL)
    process.wait()
    before = web.hits()
    old = {hit.path for hit in before}
    spent = ours.crawl_as_it_is(web, cores, web.url, *WHOLE_SITE)
    after = web.hits(spent.started)
    new = next((hit.at for hit in after if hit.is_page and hit.path not in old), float("inf"))
    got = seen(web.hits())
    first = after[0].at if after else float("inf")
    return Resumed(seen(before).distinct, first - spent.started, new - spent.started, got.distinct, got.doubled)


def _wait(has_come: Callable[[], bool], pid: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not has_come():
        if time.monotonic() > deadline or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            raise SystemExit("error: the crawl ended before it could be killed\nhint: more --pages")
        time.sleep(0.02)


def _tell(report: Report, rows: list[tuple[str, list[float]]], *, judged: tuple[str, ...]) -> None:
    lines = [(what, f"{statistics.median(some):.2f}", " ".join(f"{one:.2f}" for one in some)) for what, some in rows]
    table(("seconds from the start of the process", "median", "samples"), lines)
    for what, some in rows:
        if what in judged:
            median = statistics.median(some)
            wish = f"within {WANTED_SECONDS:g} s"
            report.wanted(what, wish, f"{median:.2f} s", is_met=median <= WANTED_SECONDS)


def _plot(title: str, rows: list[tuple[str, list[float]]]) -> str:
    return bars(title, [Bar(what, statistics.median(some), "s") for what, some in rows], unit="seconds, median")
