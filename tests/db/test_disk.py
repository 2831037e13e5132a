"""Writing pauses before the disk is full."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.base.clock import FakeClock
from bailiwick.base.errors import DiskLowError
from bailiwick.base.sections import StorageSettings
from bailiwick.base.settings import Settings
from bailiwick.db import disk
from bailiwick.db.disk import DiskGuard
from bailiwick.db.engine import Database

HUGE = 10**18


class _Usage:
    total = 1000 * 10**9

    def __init__(self, free: int) -> None:
        self.free = free


def _frees(monkeypatch: pytest.MonkeyPatch, amounts: Iterator[int]) -> None:
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _path: _Usage(next(amounts)))


@pytest.mark.parametrize(
    ("free", "settings", "low"),
    [
        (21 * 10**9, StorageSettings(), False),
        (19 * 10**9, StorageSettings(), True),
        (19 * 10**9, StorageSettings(min_free_percent=1), False),
        (10**9 - 1, StorageSettings(min_free_percent=0), True),
        (10**9, StorageSettings(min_free_percent=0), False),
    ],
)
def test_below_a_gigabyte_or_two_percent_is_low(
    free: int, settings: StorageSettings, low: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _frees(monkeypatch, iter([free]))
    assert DiskGuard(Path("/"), settings, FakeClock()).state().is_low is low


def test_it_looks_at_most_every_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    _frees(monkeypatch, iter([HUGE, 0]))
    guard = DiskGuard(Path("/"), StorageSettings(), clock)
    guard.check()
    guard.check()
    clock.sleep(2)
    with pytest.raises(DiskLowError, match="too little free disk"):
        guard.check()


def test_waiting_work_pauses_with_a_message_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = FakeClock(), list[str]()
    _frees(monkeypatch, iter([0, 0, 0, HUGE]))
    DiskGuard(Path("/"), StorageSettings(), clock).wait(said.append, limit_seconds=60)
    assert clock.monotonic() == 6
    assert [message.split(":")[0] for message in said] == ["paused", "there is room again"]


def test_waiting_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    _frees(monkeypatch, iter([0] * 1000))
    with pytest.raises(DiskLowError):
        DiskGuard(Path("/"), StorageSettings(), clock).wait(lambda _: None, limit_seconds=60)
    assert 60 <= clock.monotonic() <= 62


def test_a_transaction_that_writes_is_refused_and_reading_goes_on(home: Path) -> None:
    """On the real disk of this machine, with a limit above what it has."""
    data = home / ".bailiwick"
    data.mkdir()
    with Database(data, Settings(storage=StorageSettings(min_free_bytes=HUGE))) as database:
        database.ensure_schema()
        with pytest.raises(DiskLowError), database.begin():
            pass
        with database.read():
            pass


def test_long_work_pauses_until_there_is_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, said, clock = home / ".bailiwick", list[str](), FakeClock()
    data.mkdir()
    with Database(data, Settings(), say=said.append, clock=clock) as database:
        database.ensure_schema()
        said.clear()
        _frees(monkeypatch, iter([0, 0, *([HUGE] * 10)]))
        with database.begin_patiently():
            assert clock.monotonic() == 4
    assert [message.split(":")[0] for message in said] == ["paused", "there is room again"]
