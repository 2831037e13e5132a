"""The same done to Scrapy with JOBDIR, as far as its design allows: one process, killed and started again until it ends
by itself. Once with SIGKILL, and once with SIGINT, after which it ends in order: that is what JOBDIR is made for.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bailiwick.demo.web.answers import NOT_PAGES
from bailiwick.demo.web.running import Running, serve
from tests.chaos.web import SITEMAP, Ground, make_ground

_SPIDER = Path(__file__).with_name("scrapy_spider.py")
_DELAY_SECONDS = 0.1
_PAGES = 1_200
_LIVES = (1.5, 4.0)
"""Seconds from its first request to the blow, from and to."""
_LIMIT_SECONDS = 400.0


@dataclass
class Tally:
    """What came of one way of ending it."""

    blow: str
    wanted: int
    blows: int = 0
    with_open: int = 0
    reachable: int = 0
    answered: int = 0
    stored: int = 0
    lost: int = 0
    doubled: int = 0
    """Lines in its output beyond the first for a page."""
    ended_by_itself: bool = False
    seconds: float = 0.0


def main(options: argparse.Namespace) -> int:
    python = options.peer_python
    found = python.exists() and subprocess.run([python, "-c", "import scrapy"], capture_output=True, check=False)
    if not found or found.returncode:
        print(f"no Scrapy at {python}: make bench-crawl installs it")
        return 0
    version = subprocess.run(
        [python, "-c", "import scrapy; print(scrapy.__version__)"], capture_output=True, text=True, check=True
    ).stdout.strip()
    ground = make_ground(options.pages or _PAGES, seed=options.seed, noise=False)
    tallies = [
        _hit(ground, python, blow, kills=options.kills, seed=options.seed) for blow in (signal.SIGKILL, signal.SIGINT)
    ]
    for tally in tallies:
        print(json.dumps(asdict(tally)))
    options.out.mkdir(parents=True, exist_ok=True)
    whole = {"scrapy": version, "seed": options.seed, "runs": [asdict(tally) for tally in tallies]}
    (options.out / "chaos-scrapy.json").write_text(json.dumps(whole, indent=1) + "\n")
    return 0


def _hit(ground: Ground, python: Path, blow: signal.Signals, *, kills: int, seed: int) -> Tally:
    dice, tally, start = random.Random(seed), Tally(blow.name, kills), time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="bailiwick-chaos-"))
    try:
        with serve(ground.web) as running:
            urls = [running.url(host) for host in ground.hosts]
            command = [python, _SPIDER, scratch / "job", scratch / "out", str(_DELAY_SECONDS), *urls]
            while not tally.ended_by_itself and time.monotonic() - start < _LIMIT_SECONDS:
                life = dice.uniform(*_LIVES) if tally.blows < kills else None
                _live(command, running, tally, blow=blow, seconds=life)
            _count(tally, ground, running, scratch / "out")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    tally.seconds = round(time.monotonic() - start, 1)
    return tally


def _live(
    command: list[object], running: Running, tally: Tally, *, blow: signal.Signals, seconds: float | None
) -> None:
    """One process: to its end, or for so long after its first request and then until a request is open."""
    requests = len(running.log.entries())
    process = subprocess.Popen([str(part) for part in command], stdout=sys.stderr)
    limit, hit_at = time.monotonic() + _LIMIT_SECONDS, float("inf")
    try:
        while process.poll() is None and time.monotonic() < limit:
            if seconds is not None and hit_at == float("inf") and len(running.log.entries()) > requests:
                hit_at = time.monotonic() + seconds
            is_open = bool(running.log.open_requests())
            if time.monotonic() >= hit_at + (0 if is_open else 2):
                process.send_signal(blow)
                process.wait(60)
                tally.blows += 1
                tally.with_open += is_open
                return
            time.sleep(0.005)
        tally.ended_by_itself = process.poll() is not None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def _count(tally: Tally, ground: Ground, running: Running, out: Path) -> None:
    lines = Counter(_page(url) for url in (out.read_text().splitlines() if out.exists() else ()))
    stored = {page for page in lines if page in ground.reachable}
    tally.reachable, tally.stored = len(ground.reachable), len(stored)
    tally.answered = len({page for page in running.log.answered_200() if page[1] not in (NOT_PAGES | {SITEMAP})})
    tally.lost = len(ground.reachable - stored)
    tally.doubled = sum(count - 1 for page, count in lines.items() if page in ground.reachable)


def _page(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return str(parts.hostname), parts.path + (f"?{parts.query}" if parts.query else "")
