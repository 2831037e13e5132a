"""`bailiwick serve` in processes of its own, and what it says."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil

from tests.cli.tools import PROGRAM, environment


class Serving:
    """One server: its parent process, and the files that it writes to."""

    def __init__(self, home: Path, *options: str, before: tuple[str, ...] = (), **env: str) -> None:
        self._home, self._number = home, len(list(home.glob("serve-*.out")))
        with self._file("out").open("wb") as out, self._file("err").open("wb") as err:
            self.process = subprocess.Popen(
                [PROGRAM, *before, "serve", "--port", "0", *options], cwd=home, stdout=out, stderr=err,
                stdin=subprocess.DEVNULL, env=environment(**env),
            )  # fmt: skip

    @property
    def out(self) -> str:
        return self._file("out").read_text()

    @property
    def err(self) -> str:
        return self._file("err").read_text()

    @property
    def address(self) -> str:
        """Where it is; waits until it says so."""
        said = "Bailiwick is at (.*)"
        wait_for(lambda: re.search(said, self.err), self)
        return re.findall(said, self.err)[-1]

    @property
    def link(self) -> str:
        """The path of the one-time link that it printed."""
        wait_for(lambda: "/welcome/" in self.out, self)
        return self.out.partition(self.address)[2].strip()

    def children(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children()
        return []

    def part(self, count: int = 3) -> psutil.Process:
        """The child that was started last, once there are so many: web, worker, parse."""
        wait_for(lambda: len(self.children()) == count, self)
        return max(self.children(), key=lambda child: child.pid)

    def ready(self) -> "Serving":
        with httpx.Client(base_url=self.address) as client:
            assert client.get("/readyz", timeout=30).status_code == 200
        return self

    def stop(self, number: signal.Signals = signal.SIGINT, *, seconds: float = 30) -> int:
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # it starts nothing again
            for child in self.children():
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            self.process.kill()
        self.process.wait(20)

    def _file(self, kind: str) -> Path:
        return self._home / f"serve-{self._number}.{kind}"


def wait_for(is_so: Callable[[], object], serving: Serving, *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"never came true; {serving.err}"
        time.sleep(0.05)


@contextmanager
def serving(home: Path, *options: str, before: tuple[str, ...] = (), **env: str) -> Iterator[Serving]:
    """A server until the end of the block; what is left of it then is killed."""
    started = Serving(home, *options, before=before, **env)
    try:
        yield started
    finally:
        started.end()
