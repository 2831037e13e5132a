"""`soak`: a long crawl of many hosts, looked at all the time: does anything grow?"""

import argparse
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from bailiwick.demo.web.sites import made_up_names
from benchmarks.race.meters import Cores, start_pinned
from benchmarks.race.ours import Project, crawl_command, project
from benchmarks.race.pages import Size
from benchmarks.race.report import Report, settings_line, table
from benchmarks.race.served import Served, seen, serving
from benchmarks.svg import lines

WANTED_GROWTH = 0.2
_LOOK_SECONDS = 2.0
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a crawl that goes on."""

    seconds: float
    pages: int
    resident_mb: float
    """Of the engine."""
    open_files: int
    connections: int
    """To the database."""
    database_bytes: int

    @property
    def database_bytes_per_page(self) -> float:
        return self.database_bytes / max(self.pages, 1)


def soak(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """So many hosts with so many pages each, all of them; samples of memory, files and database size."""
    report = Report("soak", options.out)
    report.begin(cores)
    with serving(Size(options.pages), cores, scratch) as web, project(scratch, "ours", core=cores.other) as ours:
        print(settings_line(ours.shown()))
        samples = _crawl(ours, web, cores, options)
        got, verified = seen(web.hits()), ours.verify()
        report.facts |= {"settings": ours.shown(), "verify": verified}
    wanted = options.hosts * options.pages
    report.facts |= {"hosts": options.hosts, "pages_a_host": options.pages, "distinct": got.distinct}
    report.facts["delay_seconds"] = options.delay
    report.facts["doubled"] = got.doubled
    report.samples += [asdict(one) for one in samples]
    _tell(samples)
    print(f"storage verify: {verified}")
    report.wanted("pages", f"{wanted:,}, none twice", f"{got.distinct:,}, {got.doubled:,} twice",
                  is_met=(got.distinct, got.doubled) == (wanted, 0))  # fmt: skip
    _judge(report, samples, wanted)
    early = _at(samples, wanted // 10)
    curves = {
        "resident memory": [(one.pages, one.resident_mb / early.resident_mb) for one in samples],
        "open files": [(one.pages, one.open_files / early.open_files) for one in samples],
        "database bytes a page": [
            (one.pages, one.database_bytes_per_page / early.database_bytes_per_page)
            for one in samples
            if one.pages >= wanted // 20  # an empty database has a size, too
        ],
    }
    told = f"times what it was at {early.pages:,} pages ({early.resident_mb:.0f} MB, {early.open_files:,} files)"
    report.end(lines(f"{wanted:,} pages of {options.hosts:,} hosts", curves, x_label="pages", y_label=told))


def _crawl(ours: Project, web: Served, cores: Cores, options: argparse.Namespace) -> list[Sample]:
    seeds = ours.home / "seeds.txt"
    seeds.write_text("".join(f"{name}:{web.port}\n" for name in made_up_names(options.hosts)))
    command = crawl_command(web, str(seeds), "--depth", "all", "--max-pages", "0", "--delay", str(options.delay))
    with ours.said.open("wb") as file:
        process = start_pinned(command, core=cores.client, cwd=ours.home, env=ours.env, output=file.fileno())
    started, samples = time.monotonic(), []
    while process.poll() is None:
        if time.monotonic() - started > options.seconds:
            process.terminate()
            process.wait(60)
            print("broken off: the time is over")
            break
        with suppress(psutil.Error, IndexError):
            samples.append(_look(process, ours, time.monotonic() - started))
        time.sleep(_LOOK_SECONDS)
    return samples


def _look(process: "subprocess.Popen[bytes]", ours: Project, seconds: float) -> Sample:
    engine = psutil.Process(process.pid).children()[0]
    with ours.database.connect() as conn:
        row = conn.execute(
            "select (select coalesce(sum(pages_crawled), 0) from domain_progress),"
            " pg_database_size(current_database()),"
            " (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())"
        ).fetchone()
    pages, size, connections = (int(str(value)) for value in row or (0, 0, 0))
    return Sample(seconds, pages, engine.memory_info().rss / 1e6, engine.num_fds(), connections, size)


def _tell(samples: Sequence[Sample]) -> None:
    step = max(len(samples) // _SHOWN, 1)
    table(
        ("seconds", "pages", "resident MB", "open files", "connections", "database MB", "bytes a page"),
        [
            (f"{s.seconds:.0f}", f"{s.pages:,}", f"{s.resident_mb:.0f}", f"{s.open_files:,}", f"{s.connections}",
             f"{s.database_bytes / 1e6:,.0f}", f"{s.database_bytes_per_page:,.0f}")
            for s in [*samples[step - 1 :: step], samples[-1]]
        ],
    )  # fmt: skip


def _judge(report: Report, samples: Sequence[Sample], pages: int) -> None:
    """Against the tenth part of it, when all hosts are open."""
    early, late = _at(samples, pages // 10), _at(samples, pages)
    for what, before, after in (
        ("resident memory, MB", early.resident_mb, late.resident_mb),
        ("open files", early.open_files, late.open_files),
        ("connections to the database", early.connections, late.connections),
        ("database bytes a page", early.database_bytes_per_page, late.database_bytes_per_page),
    ):
        grown = after / max(before, 1e-9) - 1
        wish = f"at most {WANTED_GROWTH:.0%} more at {late.pages:,} pages than at {early.pages:,}"
        report.wanted(what, wish, f"{before:,.0f}, then {after:,.0f} ({grown:+.0%})", is_met=grown <= WANTED_GROWTH)


def _at(samples: Sequence[Sample], pages: int) -> Sample:
    """The sample nearest to so many pages."""
    return min(samples, key=lambda one: abs(one.pages - pages))
