"""What the tour shows. Every step runs the real program, as a user would, on a web of our own on loopback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from bailiwick.base.errors import BailiwickError
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sample import sample_web

Echo = Callable[[str], None]
_KILL_AFTER_SECONDS = 2.5
_STEP_SECONDS = 300


def run_tour(directory: Path, echo: Echo) -> None:
    """Walk through the product in this directory. Raises when a step does not do what it should."""
    with serve(sample_web()) as running:
        _tour(directory, echo, running)


def _tour(directory: Path, echo: Echo, running: Running) -> None:
    names = [running.name(host) for host in running.web.hosts]
    seeds = directory / "seeds.txt"
    seeds.write_text("# the sample web\n" + "".join(f"{name}\n" for name in names))
    local = ("--resolve", running.resolve)
    first = names[0]

    echo("# Is this machine ready?")
    _step(directory, echo, "doctor")
    echo("# A crawl, from nothing: the first command makes a real PostgreSQL and stores every page.")
    _step(directory, echo, "settings", "set", "crawl.contact", "you@example.org", makes=True)
    _step(directory, echo, "crawl", first, "--max-pages", "20", "--delay", "0.1", *local, live=True)
    echo("# A whole list, with a kill -9 in the middle of it. A small parent starts the engine again; nothing is lost.")
    _killed_crawl(directory, echo, "crawl", "seeds.txt", "--max-pages", "0", "--delay", "0.05", *local)
    echo("# The same command once more: what is done is not done again, and what cannot be crawled says why.")
    _step(directory, echo, "crawl", "seeds.txt", "--max-pages", "0", "--delay", "0.05", *local, live=True)
    _step(directory, echo, "run", "list")
    _step(directory, echo, "domain", "list")
    _step(directory, echo, "storage", "verify")
    echo("# Every domain is governed: submitted, reviewed, approved, suspended; each decision has author and reason.")
    _step(directory, echo, "domain", "submit", "https://WWW.München.de/rathaus", "--context", "City hall")
    _step(directory, echo, "domain", "suspend", first, "--reason", "they asked us to pause")
    _step(directory, echo, "explain", first)
    _step(directory, echo, "events", "--limit", "8")
    echo("# One screen for all of it, one file to take away.")
    _step(directory, echo, "status")
    _step(directory, echo, "db", "backup", "tour.dump")
    _step(directory, echo, "db", "stop")
    echo("# The web interface comes later. docs/tutorial.md goes on from here.")


def _step(directory: Path, echo: Echo, *arguments: str, live: bool = False, makes: bool = False) -> None:
    """One command, shown with its output; a `live` one has the terminal for itself, if there is one."""
    if makes and not (directory / ".bailiwick").exists():
        _step(directory, echo, "db", "upgrade")
    shown = _say(echo, arguments)
    if live and sys.stdout.isatty():
        code = subprocess.run(
            _command(directory, arguments), cwd=directory, timeout=_STEP_SECONDS, check=False
        ).returncode
    else:
        done = subprocess.run(
            _command(directory, arguments), cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=_STEP_SECONDS, check=False,
        )  # fmt: skip
        echo(done.stdout)
        code = done.returncode
    _expect(shown, code)


def _killed_crawl(directory: Path, echo: Echo, *arguments: str) -> None:
    """The same, but its engine is killed after a while."""
    shown = _say(echo, arguments)
    live = sys.stdout.isatty()
    process = subprocess.Popen(
        _command(directory, arguments), cwd=directory, stdin=subprocess.DEVNULL, text=True,
        stdout=None if live else subprocess.PIPE, stderr=None if live else subprocess.STDOUT,
    )  # fmt: skip
    time.sleep(_KILL_AFTER_SECONDS)
    engines = psutil.Process(process.pid).children() if process.poll() is None else []
    for engine in engines:
        os.kill(engine.pid, signal.SIGKILL)
    said, _ = process.communicate(timeout=_STEP_SECONDS)
    if said:
        echo(said)
    _expect(shown, process.returncode)
    if not engines:
        raise BailiwickError("the crawl was over before it could be killed")


def _say(echo: Echo, arguments: Sequence[str]) -> str:
    shown = " ".join(f'"{a}"' if " " in a or "*" in a else a for a in arguments)
    echo(f"$ bailiwick {shown}")
    return shown


def _command(directory: Path, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "bailiwick", "--home", str(directory), *arguments]


def _expect(shown: str, code: int) -> None:
    if code != 0:
        raise BailiwickError(f"bailiwick {shown} ended with exit code {code}")
