"""Pace and turns, on a loop whose time passes only while everybody sleeps: exact moments, and no waiting."""

import asyncio
import itertools
import selectors
import socket
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.net.gates import LONGEST_HOLD_SECONDS, Pace, Turn, retry_after, retry_seconds


class TimelessSelector(selectors.DefaultSelector):
    """Waits for nothing: what would have been waited is added to the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("everybody waits, and nobody will ever wake them")
        self.now += timeout
        return super().select(0)


def run(story: Callable[[Callable[[], float]], Coroutine[Any, Any, None]]) -> None:
    """Let it happen, with the clock."""
    selector = TimelessSelector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(story(loop.time))


def seconds(value: float) -> Any:
    return pytest.approx(value, abs=0.01)


@given(delay=st.floats(0, 1e4), hold=st.floats(0, 1e4), passed=st.floats(0, 2e4), held_first=st.booleans())
def test_the_wait_keeps_both_promises(*, delay: float, hold: float, passed: float, held_first: bool) -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(delay, now=now), now()
        turn = await pace.turn()
        if held_first:
            pace.hold_off(hold)
        turn.sent()
        if not held_first:
            pace.hold_off(hold)
        await asyncio.sleep(passed)
        assert now() + pace.wait_seconds() == seconds(max(start + delay, start + hold, now()))

    run(story)


def test_the_delay_lies_between_the_moments_of_writing() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(2.0, now=now)
        written = []
        for connecting in (0.0, 5.0, 0.5):
            turn = await pace.turn()
            await asyncio.sleep(connecting)
            turn.sent()
            written.append(now())
            assert pace.last_sent == now()
        # The second one got its turn at 2 and was written at 7: the third waits until 9, not 4.
        assert [moment - written[0] for moment in written] == [seconds(0), seconds(7), seconds(9.5)]

    run(story)


def test_the_first_request_waits_for_nobody_unless_told_to() -> None:
    async def story(now: Callable[[], float]) -> None:
        start = now()
        assert Pace(60.0, now=now).wait_seconds() == 0
        (await Pace(60.0, now=now).turn()).sent()
        assert now() == start
        late = Pace(2.0, first_after_seconds=30.0, now=now)
        (await late.turn()).sent()
        assert now() - start == seconds(30)
        (await late.turn()).sent()
        assert now() - start == seconds(32)

    run(story)


@pytest.mark.parametrize("late", [0.0, 0.001])
def test_who_comes_as_the_delay_ends_allows_for_what_is_still_on_its_way(late: float) -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(2.0, now=now), now()
        (await pace.turn()).sent()
        await asyncio.sleep(2.0 + late)
        (await pace.turn()).sent()
        assert now() - start == pytest.approx(2.002, abs=1e-6)

    run(story)


def test_turns_that_are_wanted_at_once_come_one_after_the_other_in_order() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(1.0, now=now), now()
        written: list[tuple[int, float]] = []

        async def one(number: int) -> None:
            turn = await pace.turn()
            await asyncio.sleep(0.25)  # connecting
            turn.sent()
            written.append((number, now() - start))
            await asyncio.sleep(10)  # the answer takes its time, and is nobody's business

        await asyncio.gather(*(one(number) for number in range(5)))
        assert [number for number, _ in written] == [0, 1, 2, 3, 4]
        assert [moment for _, moment in written] == [seconds(0.25 + 1.25 * number) for number in range(5)]

    run(story)


def test_only_one_turn_is_open_at_a_time() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(0.0, now=now)
        turn = await pace.turn()
        waiting = asyncio.ensure_future(pace.turn())
        await asyncio.sleep(100)
        assert not waiting.done()
        turn.sent()
        (await waiting).sent()

    run(story)


def test_what_was_not_tried_costs_no_delay_and_what_was_costs_one() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(3.0, now=now)
        (await pace.turn()).give_up(tried=False)
        assert pace.wait_seconds() == 0
        assert pace.last_sent == float("-inf")
        (await pace.turn()).give_up(tried=True)
        assert pace.wait_seconds() == seconds(3)
        assert pace.last_sent == now()

    run(story)


def test_a_turn_is_ended_once() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(2.0, now=now)
        turn = await pace.turn()
        assert turn.is_open
        turn.sent()
        assert not turn.is_open
        sent_at = pace.last_sent
        other = asyncio.ensure_future(pace.turn())
        await asyncio.sleep(2.5)
        assert other.done()
        turn.give_up(tried=True)  # after `sent`, and with another turn open: neither moves the clock nor frees the lock
        turn.sent()
        assert pace.last_sent == sent_at
        third = asyncio.ensure_future(pace.turn())
        await asyncio.sleep(50)
        assert not third.done()
        other.result().sent()
        (await third).sent()

    run(story)


def test_a_pause_that_the_host_asks_for_holds_for_those_that_wait_already() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(1.0, now=now), now()
        (await pace.turn()).sent()
        waiting = asyncio.ensure_future(pace.turn())
        await asyncio.sleep(0.5)
        pace.hold_off(60.0)
        pace.hold_off(5.0)  # a shorter one does not shorten it
        (await waiting).sent()
        assert now() - start == seconds(60.5)
        (await pace.turn()).sent()
        assert now() - start == seconds(61.5)

    run(story)


def test_a_new_delay_holds_from_the_last_request_on() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(1.0, now=now), now()
        (await pace.turn()).sent()
        pace.delay_seconds = 10.0
        (await pace.turn()).sent()
        assert now() - start == seconds(10)

    run(story)


@pytest.mark.parametrize("queued", [False, True])
def test_who_is_cancelled_while_waiting_holds_up_nobody(*, queued: bool) -> None:
    """Cancelled in its delay, and cancelled behind somebody who is in theirs."""

    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(10.0, now=now), now()
        (await pace.turn()).sent()
        first, second = (asyncio.ensure_future(pace.turn()) for _ in range(2))
        await asyncio.sleep(1)
        gone, stays = (second, first) if queued else (first, second)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        turn: Turn = await stays
        assert now() - start == seconds(10)  # the one that went away took no turn with it
        turn.sent()
        (await pace.turn()).sent()
        assert now() - start == seconds(20)

    run(story)


def test_many_that_come_and_go_never_write_closer_than_the_delay() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(1.0, now=now)
        written: list[float] = []

        async def one(number: int) -> None:
            turn = await pace.turn()
            try:
                await asyncio.sleep(number % 4 * 0.3)
                if number % 5 == 0:
                    return
                turn.sent()
                written.append(now())
            finally:
                turn.give_up(tried=number % 2 == 0)

        tasks = [asyncio.ensure_future(one(number)) for number in range(60)]
        for number in range(0, 60, 7):
            await asyncio.sleep(0.4)
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        gaps = [after - before for before, after in itertools.pairwise(written)]
        assert len(written) > 30
        assert min(gaps) > 0.999
        assert pace.wait_seconds() <= 1.0

    run(story)


def test_real_time_passes_by_the_real_clock() -> None:
    async def story() -> float:
        pace = Pace(0.05)
        (await pace.turn()).sent()
        before = asyncio.get_running_loop().time()
        (await pace.turn()).sent()
        return asyncio.get_running_loop().time() - before

    assert 0.049 < asyncio.run(story()) < 1


@given(base=st.floats(0, 86_400), retries=st.integers(-1, 10_000), random=st.floats(0, 1))
def test_a_retry_waits_four_times_as_long_give_or_take_a_fifth(*, base: float, retries: int, random: float) -> None:
    waits = retry_seconds(base, retries, random)
    plain = min(base * 4.0 ** min(max(retries, 0), 20), LONGEST_HOLD_SECONDS / 1.2)
    assert 0.8 * plain <= waits * 1.000001
    assert waits <= 1.2 * plain * 1.000001
    assert waits <= LONGEST_HOLD_SECONDS * 1.000001


def test_retries_of_one_moment_come_back_apart() -> None:
    assert [retry_seconds(5, retries, 0.5) for retries in range(4)] == [5, 20, 80, 320]
    assert [retry_seconds(5, 0, random) for random in (0.0, 0.25, 0.75, 1.0)] == [4.0, 4.5, 5.5, 6.0]
    assert retry_seconds(5, 1_000, 0.0) < retry_seconds(5, 1_000, 1.0)


def test_a_place_is_free_when_the_answer_is_in() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(0.0, most_at_once=2, now=now), now()
        under_way: list[int] = []
        most: list[int] = []

        async def one(number: int) -> None:
            turn = await pace.turn()
            try:
                turn.sent()
                under_way.append(number)
                most.append(len(under_way))
                await asyncio.sleep(3)
            finally:
                under_way.remove(number)
                turn.give_up(tried=True)
                turn.give_up(tried=True)  # a second time frees no second place

        await asyncio.gather(*(one(number) for number in range(6)))
        assert max(most) == 2
        assert now() - start == seconds(9)

    run(story)


def test_who_is_cancelled_while_waiting_leaves_no_place_taken() -> None:
    async def story(now: Callable[[], float]) -> None:
        pace = Pace(10.0, most_at_once=2, now=now)
        first = await pace.turn()
        first.sent()
        waiting = [asyncio.ensure_future(pace.turn()) for _ in range(3)]
        await asyncio.sleep(1)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        first.give_up(tried=True)
        for _ in range(4):
            (await pace.turn()).give_up(tried=True)

    run(story)


def test_a_turn_ends_when_the_host_asks_for_a_pause_meanwhile() -> None:
    """It was given before, and its connection took a while to open."""

    async def story(now: Callable[[], float]) -> None:
        pace, start = Pace(1.0, now=now), now()
        turn = await pace.turn()
        pace.hold_off(30.0)
        assert not turn.is_open
        turn.give_up(tried=False)
        again = await pace.turn()
        assert again.is_open
        assert now() - start == seconds(30)

    run(story)


def test_a_reserved_moment_is_good_for_a_while_only() -> None:
    async def story(now: Callable[[], float]) -> None:
        turn = await Pace(0.0, first_after_seconds=5.0, now=now).turn(good_for_seconds=2.0)
        await asyncio.sleep(1.9)
        assert turn.is_open
        await asyncio.sleep(0.2)
        assert not turn.is_open

    run(story)


def test_the_delay_counts_from_the_moment_of_writing_on_a_busy_loop() -> None:
    """uvloop writes after whatever else is ready: the delay starts when the bytes are out, not at the decision."""

    async def story() -> list[float]:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
        arrivals = []
        pace = Pace(0.2)
        for busy_seconds in (0.1, 0.0):
            turn = await pace.turn()
            turn.sent()
            transport.write(b"request")
            time.sleep(busy_seconds)  # a large page is parsed in the same round
            turn.give_up(tried=True)
            arrivals.append(await asyncio.to_thread(_arrival, theirs))
        transport.close()
        theirs.close()
        return arrivals

    first, second = uvloop.run(story())
    assert second - first > 0.199


def _arrival(end: socket.socket) -> float:
    end.recv(100)
    return time.monotonic()


@pytest.mark.parametrize("hours_off", [-1, 0, 1])
def test_a_date_in_retry_after_is_meant_by_the_servers_clock(hours_off: int) -> None:
    """Ours may be wrong by hours; only where the server does not tell its time does it count."""
    date, until = "Mon, 05 Jan 2026 10:00:00 GMT", "Mon, 05 Jan 2026 10:00:30 GMT"
    ours = datetime(2026, 1, 5, 10 + hours_off, tzinfo=UTC)
    assert retry_after(until, ours, date) == 30
    assert retry_after(until, ours, "nonsense") == max(30 - 3600 * hours_off, 0)
    assert retry_after("30", ours, date) == 30
