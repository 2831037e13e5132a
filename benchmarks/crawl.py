"""How fast the crawl is, beside its peers and by itself. `make bench-crawl ARGS="race"`.

    race      ours, Scrapy with JOBDIR and Crawlee on one site of 5,000 pages: pages per CPU-second, memory
    broad     1,000 hosts at a delay of 2 s in one process
    start     the first request of a crawl whose domain has 10 million known pages
    resume    the first new page after SIGKILL
    frontier  new URLs a second that the flush takes, at 100,000 and at 10 million known pages
    soak      200,000 pages of 1,000 hosts: what grows meanwhile?
    parts     what each part of reading a page costs, by itself
    fetch     what our HTTP client costs, beside aiohttp's and beside the bare parser

The web server runs in a process of its own on the last core, the client on the first; CPU and memory are counted as
`race/meters.py` says, pages as the server's log says. Nothing fails when a figure is not met: each ends with a line
that says what was wanted and what was measured. Raw samples and a plot go to the directory of `--out`. A small try:
`python -m benchmarks.crawl race --pages 300 --rounds 1`.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from benchmarks.race.meters import Cores, choose_cores
from benchmarks.race.served import ROOT

Run: TypeAlias = Callable[[argparse.Namespace, Cores, Path], None]


def main() -> None:
    options = _options()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    cores = choose_cores()
    scratch = Path(tempfile.mkdtemp(prefix="bailiwick-race-"))
    scratch.chmod(0o755)
    try:
        options.run(options, cores, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _options() -> argparse.Namespace:
    from benchmarks.race import broad, compare, fetching, frontier, parts, soak, start

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="race|broad|start|resume|frontier|soak|parts|fetch")

    race = _prepared(commands.add_parser("race"), compare.race, pages=5_000, rounds=3)
    race.add_argument("--scrapy-stores", action="store_true", help="a further contender: Scrapy that keeps bodies")
    race.add_argument("--no-parsing", action="store_true", help="leave the lap with the parse stage out")
    race.add_argument("--profile", action="store_true", help="one more lap of ours under py-spy, if it is installed")
    peers_python = ROOT / ".venv-bench" / "bin" / "python"
    race.add_argument("--peers-python", type=Path, default=peers_python, help="an interpreter that has the peers")

    wide = _prepared(commands.add_parser("broad"), broad.broad, pages=200)
    wide.add_argument("--hosts", type=int, default=1_000)
    wide.add_argument("--seconds", type=float, default=120, help="how long the crawl goes on")
    wide.add_argument("--delay", type=float, default=2.0, help="seconds between two requests to a host")

    known = _prepared(commands.add_parser("start"), start.start, rounds=3)
    known.add_argument("--known", type=int, default=10_000_000, help="pages that are known before")

    _prepared(commands.add_parser("resume"), start.resume, pages=5_000, rounds=3)

    urls = _prepared(commands.add_parser("frontier"), frontier.frontier)
    urls.add_argument("--known", type=int, default=10_000_000, help="pages that are known before the second time")
    urls.add_argument("--seconds", type=float, default=10, help="how long each is measured")

    long = _prepared(commands.add_parser("soak"), soak.soak, pages=200)
    long.add_argument("--hosts", type=int, default=1_000)
    long.add_argument("--seconds", type=float, default=3_600, help="broken off after so long")
    long.add_argument("--delay", type=float, default=4.0, help="seconds between two requests to a host; 0: all it can")

    _prepared(commands.add_parser("parts"), parts.parts, rounds=10)
    _prepared(commands.add_parser("fetch"), fetching.fetch, pages=1_000, rounds=5)
    return parser.parse_args()


def _prepared(
    parser: argparse.ArgumentParser, run: Run, *, pages: int | None = None, rounds: int | None = None
) -> argparse.ArgumentParser:
    """A sub-command with the options that many have."""
    parser.description = run.__doc__
    parser.set_defaults(run=run)
    parser.add_argument("--out", type=Path, default=Path("bench-out"), help="directory for samples and plots")
    if pages is not None:
        parser.add_argument("--pages", type=int, default=pages, help="pages of a site")
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds)
    return parser


if __name__ == "__main__":
    main()
