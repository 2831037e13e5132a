"""The web interface at a million domains: the time of every page, and the CPU of 200 open dashboards. `make bench-web`.

The real server (`bailiwick serve --no-worker`) on an embedded database of its own, asked over loopback by a member who
is logged in: one request at a time on one connection, the clock around the whole of it. Nothing fails when a figure is
not met: each ends with a line that says what was wanted and what was measured. Raw samples and a plot go to `--out`.
`--keep DIR` makes the rows there once and finds them the next time. A small try:
`python -m benchmarks.web --domains 20000 --huge 2000 --seconds 5 --dashboards 20`.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psutil
from sqlalchemy import text

from bailiwick.accounts.members import find, local_admin
from bailiwick.accounts.sessions import open_session
from bailiwick.db.engine import Database
from benchmarks import web_live
from benchmarks.embedded import embedded
from benchmarks.svg import Bar, bars
from benchmarks.web_pages import OFTEN, Page, every_page
from benchmarks.web_rows import SUBMITTER, fill

WANTED_MS, WANTED_SHARE = 150.0, 0.20
STREAMS_A_SESSION = 20
Samples = dict[str, list[float]]


def main() -> None:
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers and rows are removed then, too
    loads = [os.getloadavg()]
    print(f"cores: {os.cpu_count()}, load before: {show_load(loads[0])}")
    with registry(options) as database, server(database) as (address, process):
        token = logged_in(database, None)
        measured: dict[str, object] = {}
        if options.only != "live":
            pages = every_page(database)
            tokens = {"admin": token, "submitter": logged_in(database, SUBMITTER)}
            cpu = sum(process.cpu_times()[:2])
            samples = measure(pages, address, tokens, most=options.times)
            cpu = sum(process.cpu_times()[:2]) - cpu
            loads.append(os.getloadavg())
            report(pages, samples, options.out)
            asked = sum(map(len, samples.values()))
            print(f"CPU of the server: {cpu / asked * 1000:.1f} ms a request, {asked:,} requests")
            measured["milliseconds"] = samples
        if options.only != "pages":
            measured["dashboards"] = watch(database, address, process, options)
        loads.append(os.getloadavg())
    print(f"load after: {show_load(loads[-1])}")
    keep(
        options,
        {"domains": options.domains, "cores": os.cpu_count()},
        measured | {f"loads_{options.only or 'all'}": loads},
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", type=int, default=1_000_000)
    parser.add_argument("--huge", type=int, default=200_000, help="pages of a very large domain")
    parser.add_argument("--dashboards", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60, help="how long they are open")
    parser.add_argument("--times", type=int, default=OFTEN, help="requests of a page at most")
    parser.add_argument("--only", choices=("pages", "live"), help="one of the two parts")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the rows there, or take those that are there")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), metavar="DIR")
    return parser.parse_args()


def keep(options: argparse.Namespace, about: dict[str, object], measured: dict[str, object]) -> None:
    """Write the samples; a run of one part leaves those of the other."""
    file = options.out / "web.json"
    known = json.loads(file.read_text()) if options.only and file.exists() else {}
    file.write_text(json.dumps(known | about | measured, separators=(",", ":")).replace('],"', '],\n"') + "\n")


@contextmanager
def registry(options: argparse.Namespace) -> Iterator[Database]:
    """An embedded server, as a user gets it, full of rows."""
    with embedded(options.keep) as (database, is_new):
        if is_new:
            fill(database, domains=options.domains, huge=options.huge)
        freshen(database)
        yield database


def freshen(database: Database) -> None:
    """Leases and workers of rows that were made long ago are alive again."""
    with database.bare() as conn:
        conn.execute(text("update workers set seen_at = bailiwick_now() + interval '1 hour'"))
        conn.execute(
            text("update crawl_queue set wake_at = bailiwick_now() + (1800 + domain_id % 3600) * interval '1 second' "
                 "where worker is not null and wake_at < bailiwick_now() + interval '20 minutes'")
        )  # fmt: skip
    with database.connect() as raw:
        raw.autocommit = True
        raw.execute("vacuum analyze crawl_queue, workers, sessions, members")


@contextmanager
def server(database: Database) -> Iterator[tuple[str, psutil.Process]]:
    """`bailiwick serve` on these rows: its address, and the process that answers."""
    home = database.server.data_root.parent  # type: ignore[union-attr]
    program = Path(sys.executable).with_name("bailiwick")
    command = [str(program), "--home", str(home), "serve", "--no-worker", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as started:
        try:
            assert started.stderr is not None
            said = ""
            while not (found := re.search(r"Bailiwick is at (\S+)", said)):
                line = started.stderr.readline()
                assert line, f"the server ended: {said}"
                said += line
            [answering] = psutil.Process(started.pid).children()
            address = found[1].removeprefix("http://")
            while True:
                try:
                    ask(HTTPConnection(address), "/healthz", "")
                    break
                except OSError:
                    time.sleep(0.1)
            yield address, answering
        finally:
            started.terminate()


def logged_in(database: Database, name: str | None) -> str:
    """The word for the cookie of a new session: of this member, or of the admin who runs this."""
    with database.begin() as conn:
        actor = local_admin(conn) if name is None else find(conn, name)
        return open_session(conn, actor, device=None, user_agent="benchmark", address="127.0.0.1").token


# Pages


def measure(pages: Sequence[Page], address: str, tokens: dict[str, str], *, most: int) -> Samples:
    """Milliseconds of each request. All pages once, then all again: a page's samples are minutes apart.

    Of a page that was asked a few times only, one hiccup of the machine is the p95: if it is beyond the limit, the page
    is asked as often as the others. The first samples count as well.
    """
    found: Samples = defaultdict(list)
    conn = HTTPConnection(address)

    def again(page: Page) -> None:
        turn = len(found[page.label])
        found[page.label].append(ask(conn, page.paths[turn % len(page.paths)], tokens[page.who]))

    for turn in range(min(most, OFTEN)):
        for page in pages:
            if turn < page.times:
                again(page)
    for turn in range(min(most, OFTEN)):
        for page in pages:
            if turn >= page.times and p95(found[page.label][: page.times]) >= WANTED_MS:
                again(page)
    return dict(found)


def ask(conn: HTTPConnection, path: str, token: str) -> float:
    begun = time.perf_counter()
    conn.request("GET", path, headers={"Cookie": f"bailiwick={token}", "Accept-Encoding": "gzip"})
    answer = conn.getresponse()
    answer.read()
    milliseconds = (time.perf_counter() - begun) * 1000
    assert answer.status == 200, (path, answer.status)
    return round(milliseconds, 1)


def report(pages: Sequence[Page], samples: Samples, out: Path) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        groups[page.group].append(page.label)
    rows = []
    print("\n| page | pages | n | p50 ms | p95 ms | max ms | the slowest page's p95 ms |\n|" + " --- |" * 7)
    for group, labels in groups.items():
        together = [sample for label in labels for sample in samples[label]]
        slowest = max(labels, key=lambda label: p95(samples[label]))
        which = f" ({slowest})" if len(labels) > 1 else ""
        rows.append(Bar(group, p95(samples[slowest])))
        print(
            f"| {group} | {len(labels)} | {len(together)} | {statistics.median(together):.1f} | {p95(together):.1f} "
            f"| {max(together):.1f} | {p95(samples[slowest]):.1f}{which} |"
        )
    over = [label for label in samples if p95(samples[label]) >= WANTED_MS]
    for label in sorted(over, key=lambda label: -p95(samples[label]))[:40]:
        print(f"too slow: {label}: {' '.join(map(str, samples[label]))}")
    worst = max(p95(some) for some in samples.values())
    met = "met" if worst < WANTED_MS else f"not met by {len(over)} of {len(samples)} pages"
    print(f"\nevery page's p95: wanted under {WANTED_MS:.0f} ms, measured {worst:.1f} ms at most: {met}")
    hasty = [page.label for page in pages if p95(samples[page.label][: page.times]) >= WANTED_MS]
    print(
        f"by their first samples alone: not met by {len(hasty)}; those asked less often were asked up to {OFTEN} times"
    )
    print(f"of which the client and an empty answer: {statistics.median(samples['/healthz']):.1f} ms")
    title = "The slowest page of each kind at a million domains"
    out.mkdir(parents=True, exist_ok=True)
    (out / "web.svg").write_text(bars(title, rows, unit="p95 of milliseconds a request; wanted: under 150"))


def p95(samples: Sequence[float]) -> float:
    """The smallest sample that 95 in 100 do not exceed; of fewer than twenty, the largest."""
    return sorted(samples)[max(0, -(-len(samples) * 95 // 100) - 1)]


# Dashboards


def watch(database: Database, address: str, process: psutil.Process, options: argparse.Namespace) -> dict[str, object]:
    sessions = -(-options.dashboards // STREAMS_A_SESSION)
    tokens = [logged_in(database, None) for _ in range(sessions)]
    seen = web_live.watch(
        database, address, process, [tokens[n % sessions] for n in range(options.dashboards)], options.seconds
    )
    share = seen.server_cpu / seen.seconds
    met = "met" if share < WANTED_SHARE else "not met"
    print(f"\n{options.dashboards} open dashboards for {seen.seconds:.0f} s, figures new every 2 s")
    print(f"  CPU of the server: wanted under {WANTED_SHARE:.0%} of a core, measured {share:.1%}: {met}")
    print(f"  CPU of the database: {seen.database_cpu / seen.seconds:.1%} of a core, the figures' writer included")
    print(f"  without dashboards: server {seen.idle_server:.1%}, database {seen.idle_database:.1%}")
    print(f"  updates a dashboard: {min(seen.tiles)} to {max(seen.tiles)}, {sum(seen.received) / 1e6:.1f} MB in all")
    print(f"  updates of {len(seen.domains)} that also watch a domain: {min(seen.domains)} to {max(seen.domains)}")
    return {
        "seconds": round(seen.seconds, 2), "server_cpu": round(seen.server_cpu, 2), "share": round(share, 4),
        "database_cpu": round(seen.database_cpu, 2), "idle_server": seen.idle_server,
        "idle_database": seen.idle_database, "tiles": seen.tiles, "domains": seen.domains,
    }  # fmt: skip


def show_load(load: tuple[float, float, float]) -> str:
    return " ".join(f"{value:.1f}" for value in load)


if __name__ == "__main__":
    main()
