"""The images of one slice: which are at hand, which are under way, and whether the slice waits for them. No I/O."""

from collections import deque
from collections.abc import Callable

from bailiwick.crawl.images.facts import ImageDue, ImageOutlook, ImageResult
from bailiwick.model.images import ImageOutcome

_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 60.0
"""If no page of the domain was parsed for so long, its slice waits no longer: nobody parses, or far too slowly."""
_WAIT_SECONDS = 100.0
"""A slice waits so long for an image that is to be tried again; for a later one it does not."""
_LONGEST_IDLE_SECONDS = 600.0
"""Nor does it when nothing came of any image for so long: their hosts are busy, or somebody else's."""
_MOST_ELSEWHERE = 4
"""Images of other hosts at once: each waits for its host's gate."""


class SliceImages:
    """What a slice does about images. `is_wanted`: its profile has them fetched."""

    def __init__(self, *, is_wanted: bool, is_own: Callable[[str], bool], awaits_parsing: bool) -> None:
        self.is_wanted = is_wanted
        self._is_own, self._awaits_parsing = is_own, awaits_parsing
        self._own: deque[ImageDue] = deque()
        self._elsewhere: deque[ImageDue] = deque()
        self.in_flight: dict[int, bool] = {}
        """Addresses under way, and whether each is on the domain's own host."""
        self.results: list[ImageResult] = []
        self._unflushed: set[int] = set()
        self._looked_at: float | None = None
        self._unparsed = 0
        self._moved_at: float | None = None
        """When a page was parsed or an image done last, as far as was seen."""
        self._next_at: float | None = None

    def wants_look(self, now: float) -> bool:
        """Whether to read what is due: one of the two lines is empty."""
        if not self.is_wanted or (self._own and self._elsewhere):
            return False
        return self._looked_at is None or now - self._looked_at >= _LOOK_SECONDS

    def look_again(self) -> None:
        """Something may have come in: the slice does not end before that was looked at."""
        self._looked_at = None

    def offer(self, outlook: ImageOutlook, now: float) -> None:
        """What a look has shown."""
        if outlook.unparsed != self._unparsed or self._moved_at is None:
            self._moved_at = now
        self._looked_at, self._unparsed = now, outlook.unparsed
        self._next_at = None if outlook.next_in_seconds is None else now + outlook.next_in_seconds
        have = self._held()
        for due in outlook.due:
            if due.url_hash not in have:
                (self._own if self._is_own(due.url) else self._elsewhere).append(due)

    @property
    def held(self) -> int:
        """How many of those that wait in the database are known here already."""
        return len(self._held())

    def _held(self) -> set[int]:
        queued = {due.url_hash for line in (self._own, self._elsewhere) for due in line}
        return queued | self.in_flight.keys() | self._unflushed | {result.due.url_hash for result in self.results}

    def next(self, most_own: int) -> ImageDue | None:
        """The next one to ask for, if one may be started now."""
        own = sum(self.in_flight.values())
        if self._own and own < most_own:
            due = self._own.popleft()
            self.in_flight[due.url_hash] = True
            return due
        if self._elsewhere and len(self.in_flight) - own < _MOST_ELSEWHERE:
            due = self._elsewhere.popleft()
            self.in_flight[due.url_hash] = False
            return due
        return None

    def give_back(self, due: ImageDue) -> None:
        """It was not asked for after all, and still waits."""
        self.in_flight.pop(due.url_hash, None)

    def add(self, result: ImageResult) -> None:
        self.in_flight.pop(result.due.url_hash, None)
        self.results.append(result)
        if result.outcome is not ImageOutcome.WAITING:
            self._moved_at = result.at

    def take(self) -> list[ImageResult]:
        """What is to be written now."""
        results, self.results = self.results, []
        self._unflushed = {result.due.url_hash for result in results}
        return results

    def flushed(self) -> None:
        self._unflushed = set()
        self.look_again()

    def oldest_age(self, now: float) -> float:
        return now - self.results[0].at if self.results else 0.0

    def keep_waiting(self, now: float) -> bool:
        """Whether the slice has images to fetch yet, or soon will have."""
        if not self.is_wanted:
            return False
        if self._own or self._elsewhere or self.in_flight or self.results or self._unflushed or self._looked_at is None:
            return True
        idle = 0.0 if self._moved_at is None else now - self._moved_at
        if self._next_at is not None and self._next_at - now <= _WAIT_SECONDS and idle < _LONGEST_IDLE_SECONDS:
            return True
        return self._awaits_parsing and self._unparsed > 0 and idle < _PATIENCE_SECONDS


def no_images() -> SliceImages:
    """For slices whose profile wants none."""
    return SliceImages(is_wanted=False, is_own=lambda _: True, awaits_parsing=False)
