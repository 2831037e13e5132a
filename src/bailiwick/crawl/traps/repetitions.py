"""Repetition: relative links that lack their slash, on a server that answers them all (/a/b/a/b/a/b)."""

from bailiwick.crawl.traps.memory import Kind, Tallies, key_of
from bailiwick.crawl.traps.rules import TrapSettings
from bailiwick.crawl.traps.shapes import most_of, repeats_in

_TWICE = key_of(Kind.TWICE, "")


class Repetitions:
    """A plain repetition is refused at sight; a path with a name twice in it once those have brought no new text.

    Tally of all paths with a name twice: new, dup and run count texts.
    """

    def __init__(self, tallies: Tallies, settings: TrapSettings) -> None:
        self._tallies, self._settings = tallies, settings

    def refuse(self, names: tuple[str, ...]) -> bool:
        most = most_of(names)
        if most < 2:
            return False
        limit = self._settings.max_repeats
        return most > limit or repeats_in(names) >= limit or self._is_closed()

    def learn(self, names: tuple[str, ...], *, is_known_text: bool) -> None:
        if most_of(names) > 1:
            self._tallies.at(_TWICE).learn(is_known_text=is_known_text)

    def _is_closed(self) -> bool:
        tally = self._tallies.get(_TWICE)
        return tally is not None and tally.run >= self._settings.repeat_run and tally.dup > 4 * tally.new
