"""Patience has a limit, and none for what is no passing fault."""

from collections.abc import Callable

import pytest

from bailiwick.base.clock import FakeClock
from bailiwick.base.errors import BailiwickError, ServerMissingError, UsageError
from bailiwick.base.retry import retrying


def _failing(times: int, error: BailiwickError) -> Callable[[], str]:
    left = iter([error] * times)

    def work() -> str:
        for fault in left:
            raise fault
        return "done"

    return work


def test_it_goes_on_when_the_fault_passes() -> None:
    clock, said = FakeClock(), list[str]()
    assert retrying(_failing(3, ServerMissingError("gone")), clock=clock, limit_seconds=60, say=said.append) == "done"
    assert said == ["gone; trying again"]
    assert clock.monotonic() == pytest.approx(0.2 + 0.4 + 0.8)


def test_it_gives_up_at_the_limit() -> None:
    clock = FakeClock()
    with pytest.raises(ServerMissingError, match="gone"):
        retrying(_failing(10_000, ServerMissingError("gone")), clock=clock, limit_seconds=60)
    assert 50 <= clock.monotonic() <= 60


def test_what_is_not_retryable_is_raised_at_once() -> None:
    clock = FakeClock()
    with pytest.raises(UsageError):
        retrying(_failing(1, UsageError("wrong")), clock=clock, limit_seconds=60)
    assert clock.monotonic() == 0
