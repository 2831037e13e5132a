"""The fake clock moves only when told to."""

from datetime import timedelta

import pytest

from bailiwick.base.clock import FakeClock, SystemClock


def test_sleep_moves_both_hands() -> None:
    clock = FakeClock()
    start = clock.now()
    clock.sleep(90)
    assert clock.now() - start == timedelta(seconds=90)
    assert clock.monotonic() == 90
    with pytest.raises(ValueError, match="back"):
        clock.sleep(-1)


def test_the_systems_clock_is_in_utc() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    before = clock.monotonic()
    clock.sleep(0)
    assert clock.monotonic() >= before
