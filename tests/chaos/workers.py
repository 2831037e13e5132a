"""Worker processes: real `bailiwick crawl` commands, each a small parent and the engine that is its child."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.cli.tools import PROGRAM, environment
from tests.e2e.tools import Land

_GAVE_UP = "giving up"


@dataclass(frozen=True)
class End:
    """A command that ended by itself."""

    code: int
    said: str

    @property
    def is_well(self) -> bool:
        """Done, or its parent has seen more crashes in five minutes than it stands for."""
        return self.code == 0 or (self.code == 1 and _GAVE_UP in self.said)


@dataclass
class Crew:
    """So many commands that want the same; who ends with work left is started again by the driver."""

    land: Land
    names: list[str]
    env: dict[str, str]
    count: int
    ends: list[End] = field(default_factory=list)
    killed: int = 0
    """Commands that were killed with their engine."""
    _commands: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _offspring: list[psutil.Process] = field(default_factory=list)
    _started: int = 0

    def fill(self) -> None:
        """Start as many as are missing."""
        self.collect()
        while len(self._commands) < self.count:
            self._started += 1
            with self._voice(self._started).open("wb") as voice:
                command = subprocess.Popen(
                    [PROGRAM, "crawl", *self.names, "--no-parse", "--depth", "all", "--max-pages", "0", "--resolve",
                     self.land.running.resolve],
                    cwd=self.land.home, env=environment(**(self.land.env | self.env)),
                    stdin=subprocess.DEVNULL, stdout=voice, stderr=voice,
                )  # fmt: skip
            self._commands[self._started] = command

    def collect(self) -> None:
        """Note how those ended that have."""
        for number, command in list(self._commands.items()):
            if command.poll() is not None:
                del self._commands[number]
                if command.returncode >= 0:
                    self.ends.append(End(command.returncode, self._voice(number).read_text(errors="replace")))

    @property
    def is_empty(self) -> bool:
        self.collect()
        return not self._commands

    def has(self, engine: int) -> bool:
        """Whether this process is the engine of one of the commands."""
        with suppress(psutil.Error):
            return psutil.Process(engine).ppid() in {command.pid for command in self._commands.values()}
        return False

    def engines(self) -> list[int]:
        """Every engine that runs now, whether it holds a lease or is only starting."""
        found: list[int] = []
        for command in self._commands.values():
            with suppress(psutil.Error):
                found += [child.pid for child in psutil.Process(command.pid).children()]
        return found

    def kill(self, engine: int, *, with_parent: bool) -> None:
        """SIGKILL; the parent first, so that it starts nothing again."""
        with suppress(psutil.Error):
            process = psutil.Process(engine)
            self._offspring += process.children()
            if with_parent:
                os.kill(process.ppid(), signal.SIGKILL)
                self.killed += 1
        with suppress(ProcessLookupError):
            os.kill(engine, signal.SIGKILL)

    def left_behind(self) -> list[int]:
        """Children of killed engines that are still there after a while."""
        deadline = time.monotonic() + 5
        while (alive := [process.pid for process in self._offspring if _is_there(process)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.1)
        return alive

    def end(self) -> None:
        """End what is left: only after a run that failed."""
        for command in self._commands.values():
            for engine in _children(command.pid):
                with suppress(psutil.NoSuchProcess):
                    engine.kill()
            command.kill()
            command.wait(10)
        for process in self._offspring:
            with suppress(psutil.Error):
                process.kill()

    def _voice(self, number: int) -> Path:
        return self.land.home / f"command-{number}.log"


def _is_there(process: psutil.Process) -> bool:
    """By its own start, not by its number: in a long run that may be somebody else's, even a thread's."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []
