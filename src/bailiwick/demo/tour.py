"""What the tour shows. Every step runs the real program, as a user would."""

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bailiwick.base.errors import BailiwickError
from bailiwick.base.settings import DatabaseSettings
from bailiwick.db.embedded.server import EmbeddedServer

Echo = Callable[[str], None]


def run_tour(directory: Path, echo: Echo) -> None:
    """Walk through the product in this directory. Raises when a step does not do what it should."""
    echo("# Is this machine ready?")
    _step(directory, echo, "doctor")
    echo("# A real PostgreSQL, made and started by the first command that needs it.")
    _step(directory, echo, "db", "upgrade")
    _step(directory, echo, "db", "status")
    echo("# Settings have a value, an origin and an author.")
    _step(directory, echo, "settings", "set", "outbox.keep_days", "30", "--reason", "we like to look back")
    _step(directory, echo, "settings", "show", "--changed")
    echo("# A domain is submitted, reviewed and approved; every decision has its author and its reason.")
    _step(directory, echo, "domain", "submit", "foodbank.org", "--context", "State food bank directory")
    _step(directory, echo, "domain", "submit", "https://WWW.München.de/rathaus", "shop.example.com")
    _step(directory, echo, "domain", "approve", "foodbank.org")
    _step(directory, echo, "domain", "reject", "shop.example.com", "--reason", "off topic")
    _step(directory, echo, "domain", "list")
    _step(directory, echo, "explain", "shop.example.com")
    echo("# kill -9 of the database server loses nothing.")
    _kill_server(directory, echo)
    _step(directory, echo, "events")
    echo("# One file holds it all.")
    _step(directory, echo, "db", "backup", "tour.dump")
    _step(directory, echo, "status")
    _step(directory, echo, "db", "stop")
    echo("# That is the ground it all stands on; crawling comes on top of it. The web interface comes later, too.")


def _step(directory: Path, echo: Echo, *arguments: str) -> None:
    shown = " ".join(f'"{a}"' if " " in a else a for a in arguments)
    echo(f"$ bailiwick {shown}")
    done = _bailiwick(directory, arguments)
    echo(done.stdout)
    if done.returncode != 0:
        raise BailiwickError(f"bailiwick {shown} ended with exit code {done.returncode}")


def _bailiwick(directory: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bailiwick", "--home", str(directory), *arguments],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def _kill_server(directory: Path, echo: Echo) -> None:
    server = EmbeddedServer(directory / ".bailiwick", DatabaseSettings())
    echo("$ kill -9 $(postgres)")
    if not server.stop(mode=signal.SIGKILL):
        raise BailiwickError("there was no server to kill")
    echo("")
