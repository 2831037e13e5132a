"""A real `bailiwick serve` of the wheel, on a web of our own."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bailiwick.demo.web.running import Running
from tests.cli.tools import environment

_START_SECONDS = 60
_STOP_SECONDS = 30


@dataclass(frozen=True)
class Served:
    """A server that runs, and what it crawls."""

    address: str
    first_link: str
    """Sets the operator's name and password; works once."""
    running: Running
    program: "Program"

    def name(self, host: str) -> str:
        """The domain of a host of the local web."""
        return self.running.name(host)

    def requests_to(self, host: str) -> int:
        """How often the crawl has asked this host."""
        return self.running.log.requests[host]


@dataclass(frozen=True)
class Program:
    """The unpacked wheel, in a project of its own."""

    wheel: Path
    home: Path
    database_url: str

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "bailiwick", *arguments]

    @property
    def env(self) -> dict[str, str]:
        return environment(
            PYTHONPATH=str(self.wheel),
            BAILIWICK_DATABASE_URL=self.database_url,
            BAILIWICK_CRAWL_CONTACT="tests@example.org",
        )

    def run(self, *arguments: str) -> str:
        """One command to its good end: what it printed."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.home, env=self.env, check=False, capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done
        return done.stdout

    @contextmanager
    def serve(self, running: Running) -> Iterator[Served]:
        """The server with its worker. It has to stop in order, and to have had nothing to complain about."""
        said = self.home / "said.txt"
        with said.open("w") as out:
            process = subprocess.Popen(
                self.command("serve", "--port", "0", "--resolve", running.resolve), cwd=self.home, env=self.env,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        try:
            link = _first_link(process, said)
            yield Served(link.partition("/welcome/")[0], link, running, self)
            process.send_signal(signal.SIGINT)
            assert process.wait(_STOP_SECONDS) == 0, said.read_text()
        finally:
            _end(process)
        complaints = [line for line in said.read_text().splitlines() if re.search(r"error|warning|Traceback", line)]
        assert not complaints, complaints


def _first_link(process: "subprocess.Popen[bytes]", said: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while not (found := re.search(r"http://\S+/welcome/\S+", said.read_text())):
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.05)
    return found[0]


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    parent = psutil.Process(process.pid)
    for one in [*parent.children(recursive=True), parent]:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait(_STOP_SECONDS)
