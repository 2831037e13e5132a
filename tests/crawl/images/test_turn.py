"""The images of a slice: two lines, how many at once, and how long a slice waits for them."""

from bailiwick.crawl.images.facts import ImageDue, ImageOutlook, ImageResult
from bailiwick.crawl.images.turn import SliceImages
from bailiwick.model.images import ImageOutcome


def due(number: int, host: str = "own") -> ImageDue:
    return ImageDue(number, f"https://{host}/{number}.png", 0)


def made(*, is_wanted: bool = True, awaits_parsing: bool = True) -> SliceImages:
    return SliceImages(is_wanted=is_wanted, is_own=lambda url: "//own/" in url, awaits_parsing=awaits_parsing)


def outlook(*dues: ImageDue, next_in: float | None = None, unparsed: int = 0) -> ImageOutlook:
    return ImageOutlook(list(dues), next_in, unparsed)


def test_not_wanted_is_not_looked_for() -> None:
    images = made(is_wanted=False)
    assert not images.wants_look(0)
    assert not images.keep_waiting(0)


def test_other_hosts_hold_up_nobody() -> None:
    images = made()
    images.offer(outlook(*(due(n, "cdn") for n in range(9)), due(100)), 0)
    started = [one for _ in range(20) if (one := images.next(2)) is not None]
    assert [one.url_hash for one in started] == [100, 0, 1, 2, 3]
    assert images.wants_look(1.0), "its own line is empty"


def test_what_is_at_hand_is_not_taken_twice() -> None:
    images = made()
    images.offer(outlook(due(1), due(2)), 0)
    one = images.next(5)
    assert one is not None
    images.add(ImageResult(one, ImageOutcome.STORED))
    images.offer(outlook(due(1), due(2), due(3)), 1)
    assert images.held == 3
    assert [result.due.url_hash for result in images.take()] == [1]
    images.offer(outlook(due(1), due(2), due(3)), 2)
    assert images.held == 3, "what is being written still waits in the database"
    images.flushed()
    images.offer(outlook(due(2), due(3)), 3)
    assert [images.next(5), images.next(5), images.next(5)] == [due(2), due(3), None]


def test_a_slice_waits_for_what_is_parsed_as_long_as_that_moves() -> None:
    images = made()
    assert images.keep_waiting(0), "nobody has looked yet"
    for second in range(100):
        images.offer(outlook(unparsed=200 - second), second)
    assert images.keep_waiting(120)
    assert not images.keep_waiting(160), "nothing moved for a minute"
    images.offer(outlook(), 170)
    assert not images.keep_waiting(170)


def test_nobody_parses_beside() -> None:
    images = made(awaits_parsing=False)
    images.offer(outlook(unparsed=50), 0)
    assert not images.keep_waiting(0)


def test_a_slice_waits_for_a_retry_that_comes_soon() -> None:
    images = made()
    images.offer(outlook(next_in=20.0), 0)
    assert images.keep_waiting(0)
    images.offer(outlook(next_in=3600.0), 0)
    assert not images.keep_waiting(0)


def test_hosts_that_stay_busy_are_not_waited_for_without_end() -> None:
    images = made()
    images.offer(outlook(due(1, "cdn")), 0)
    for minute in range(1, 30):
        one = images.next(1)
        assert one is not None
        images.add(ImageResult(one, ImageOutcome.WAITING, wait_seconds=60, tried=False, at=60.0 * minute))
        images.take()
        images.flushed()
        images.offer(outlook(next_in=60.0), 60.0 * minute)
        if not images.keep_waiting(60.0 * minute):
            break
        images.offer(outlook(due(1, "cdn")), 60.0 * (minute + 1))
    assert minute == 10


def test_given_back_it_is_still_waiting() -> None:
    images = made()
    images.offer(outlook(due(1)), 0)
    one = images.next(1)
    assert one is not None
    images.give_back(one)
    images.offer(outlook(due(1)), 1)
    assert images.next(1) == due(1)
