"""The small parent, with real processes."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]


class Family:
    """One program under a supervisor, and all that it has written so far."""

    def __init__(
        self, out: Path, *arguments: str, pause: float = 0.05, before: Callable[[], object] | None = None
    ) -> None:
        self._out = out
        with out.open("wb") as written:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.pipeline.family", str(pause), *arguments], cwd=ROOT, stdout=written,
                stderr=written, preexec_fn=before,  # noqa: PLW1509 - this test has no threads
            )  # fmt: skip

    @property
    def text(self) -> str:
        return self._out.read_text()

    def pids(self, part: str) -> list[int]:
        """Of each time that the part was started."""
        return [int(found) for found in re.findall(rf"^{part} (\d+)$", self.text, re.MULTILINE)]

    def wait_for(self, is_so: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + 20
        while not is_so():
            assert time.monotonic() < deadline, f"{what}: {self.text}"
            time.sleep(0.01)

    def started(self, part: str, times: int = 1) -> int:
        """The pid of the part, once it was started so often."""
        self.wait_for(lambda: len(self.pids(part)) >= times, f"{part} was not started {times} times")
        return self.pids(part)[times - 1]

    def code(self) -> int:
        return self.process.wait(20)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # it starts nothing more
            for child in psutil.Process(self.process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            self.process.kill()
            self.process.wait(10)


Start = Callable[..., Family]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    families: list[Family] = []

    def one(*arguments: str, pause: float = 0.05, before: Callable[[], object] | None = None) -> Family:
        families.append(Family(tmp_path / f"{len(families)}.txt", *arguments, pause=pause, before=before))
        return families[-1]

    yield one
    for family in families:
        family.end()


def test_a_part_that_is_killed_is_started_again_and_the_others_stay(start: Start) -> None:
    family = start("main=stay", "one=stay", "two=stay")
    main, one, two = (family.started(part) for part in ("main", "one", "two"))
    os.kill(one, signal.SIGKILL)
    family.started("one", 2)
    os.kill(main, signal.SIGSEGV)
    family.started("main", 2)
    assert family.pids("two") == [two]
    assert psutil.pid_exists(two)
    assert "the one died (SIGKILL); nothing is lost, starting it again" in family.text
    assert "the main died (SIGSEGV)" in family.text


@pytest.mark.parametrize("code", [0, 3])
def test_the_end_of_the_first_part_ends_all_with_its_code(start: Start, code: int) -> None:
    family = start("other=stay", "never=stay")
    family.end()
    family = start(f"main=exit:{code}", "one=stay", "two=stubborn")
    assert family.code() == code
    for part in ("one", "two"):
        for pid in family.pids(part):
            assert not psutil.pid_exists(pid)


def test_another_part_that_ends_by_itself_is_started_again_after_a_pause(start: Start) -> None:
    family = start("main=stay", "worker=exit:3", pause=0.3)
    begun = time.monotonic()
    family.started("worker", 3)
    assert time.monotonic() - begun >= 0.6
    assert "the worker died (exit code 3); nothing is lost, starting it again" in family.text
    assert len(family.pids("main")) == 1
    assert family.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_once_to_each_part(start: Start, number: signal.Signals) -> None:
    family = start("main=stay:0.2", "worker=stay:0.2")
    family.started("main")
    family.started("worker")
    family.process.send_signal(number)
    assert family.code() == 0
    for part in ("main", "worker"):
        assert family.text.count(f"{part} got {number.name}\n") == 1
    assert len(family.pids("worker")) == 1


def test_a_stop_during_the_pause_starts_nothing_again(start: Start) -> None:
    family = start("main=stay", "worker=exit:1", pause=60)
    family.wait_for(lambda: "the worker died" in family.text, "the worker did not end")
    family.started("main")
    family.process.send_signal(signal.SIGTERM)
    assert family.code() == 0
    assert len(family.pids("worker")) == 1


def test_a_part_without_hope_is_given_up_and_the_first_goes_on(start: Start) -> None:
    family = start("main=stay", "worker=exit:1", pause=0)
    family.wait_for(lambda: "giving up" in family.text, "it never gave up")
    assert len(family.pids("worker")) == 11
    assert family.process.poll() is None
    family.process.send_signal(signal.SIGTERM)
    assert family.code() == 0


def test_a_first_part_without_hope_ends_all(start: Start) -> None:
    family = start("main=die", "worker=stay")
    assert family.code() == 1
    assert "the main died 11 times in 300 seconds (SIGKILL): giving up" in family.text
    assert not psutil.pid_exists(family.pids("worker")[-1])


def test_it_works_where_nobody_is_told_of_dead_children(start: Start) -> None:
    family = start("main=stay", "one=stay", before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    os.kill(family.started("one"), signal.SIGKILL)
    family.started("one", 2)
    family.process.send_signal(signal.SIGTERM)
    assert family.code() == 0


def test_children_sleep_and_wake_with_the_parent(start: Start) -> None:
    family = start("main=stay")
    child = psutil.Process(family.started("main"))
    family.process.send_signal(signal.SIGTSTP)
    family.wait_for(lambda: child.status() == psutil.STATUS_STOPPED, "it did not stop")
    family.wait_for(lambda: psutil.Process(family.process.pid).status() == psutil.STATUS_STOPPED, "the parent did not")
    family.process.send_signal(signal.SIGCONT)
    family.wait_for(lambda: child.status() != psutil.STATUS_STOPPED, "it did not wake")
