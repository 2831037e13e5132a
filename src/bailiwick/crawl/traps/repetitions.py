"""Repetition: relative links that lack their slash, on a server that answers them all (/a/b/a/b/a/b)."""

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.memory import Kind, Tallies, key_of
from bailiwick.crawl.traps.shapes import Folder, most_of

_TWICE = key_of(Kind.TWICE, "")


class Repetitions:
    """A plain repetition is refused at sight; a path with a name twice in it once those have brought no new text.

    Tally of all paths with a name twice: new, dup and run count texts.
    """

    def __init__(self, tallies: Tallies, settings: TrapsSettings) -> None:
        self._tallies, self._settings = tallies, settings

    def refuse(self, folder: Folder, last: str) -> bool:
        names, limit = (*folder.names, last) if last else folder.names, self._settings.max_repeats
        most = most_of(names)
        return most > limit or (most > 1 and (self._is_closed() or repeats_in(names) >= limit))

    def learn(self, head: str, *, is_known_text: bool) -> None:
        if most_of(tuple(filter(None, head.split("/")))) > 1:
            self._tallies.at(_TWICE).learn(is_known_text=is_known_text)

    def _is_closed(self) -> bool:
        tally = self._tallies.get(_TWICE)
        return tally is not None and tally.run >= self._settings.repeat_run and tally.dup > 4 * tally.new


def repeats_in(names: tuple[str, ...]) -> int:
    """How often in a row the same sequence of names comes, at most; of numbers alone it does not count."""
    return max((_run(names, size) for size in range(1, len(names) // 2 + 1)), default=1)


def _run(names: tuple[str, ...], size: int) -> int:
    """The most times in a row that a sequence of this many names comes."""
    most = same = 0
    for at in range(size, len(names)):
        same = same + 1 if names[at] == names[at - size] else 0
        if same >= size and not all(name.isdigit() for name in names[at - size + 1 : at + 1]):
            most = max(most, same // size)
    return most + 1
