"""Families: pages of one folder, whatever the numbers in it, with the same parameter names."""

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, Tally, key_of
from bailiwick.crawl.traps.rules import Refusal
from bailiwick.crawl.traps.shapes import Folder

_MOST_CLOSED = 256


class Families:
    """The last and most patient rules: they know nothing of a page but its folder and its text.

    Tally of a folder: found = pages found on a page of the same folder; new = pages with new texts. Tallies of a family
    and of a level (a first folder, so and so deep): new, dup and run count texts.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapsSettings) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings
        self._closed: dict[int, None] = {}

    @property
    def is_any_closed(self) -> bool:
        return bool(self._closed)

    def refuse_closed(self, path: str, folder: Folder) -> Refusal | None:
        is_closed = bool(self._closed) and any(key in self._closed for key in _keys(path, folder))
        return Refusal.DUPLICATE_FAMILY if is_closed else None

    def refuse_own(self, path: str, folder: Folder) -> Refusal | None:
        """A link that was found on a page of the same folder."""
        tally = self._tallies.at(folder.key)
        budget = self._settings.family_pages + self._settings.family_growth * tally.new
        if 2 * tally.found > budget:
            # Only now is it worth while to know which links were counted before.
            own = key_of(Kind.OWN, path)
            if self._memory.has(own):
                return None
            if tally.found >= budget:
                return Refusal.FAMILY_BUDGET
            self._memory.add(own)
        tally.spend()
        return None

    def learn(self, path: str, folder: Folder, *, is_known_text: bool) -> None:
        family, level = _keys(path, folder)
        for key, run in ((family, self._settings.duplicate_run), (level, 2 * self._settings.duplicate_run)):
            tally = self._tallies.at(key)
            tally.learn(is_known_text=is_known_text)
            self._close(key, tally, run)
        if not is_known_text:
            self._tallies.at(folder.key).credit()

    def _close(self, key: int, tally: Tally, run: int) -> None:
        if tally.run >= run and 4 * tally.dup >= tally.new:
            self._closed[key] = None
            if len(self._closed) > _MOST_CLOSED:
                del self._closed[next(iter(self._closed))]
        else:
            self._closed.pop(key, None)

    def to_json(self) -> list[int]:
        """The closed ones; all else is in the tallies."""
        return list(self._closed)

    def read_json(self, state: object) -> None:
        """Raises ValueError for what is no such state."""
        if not isinstance(state, list) or not all(isinstance(key, int) for key in state):
            raise ValueError("not a list of keys")
        self._closed = dict.fromkeys(state)


def _keys(path: str, folder: Folder) -> tuple[int, int]:
    head, _, query = path.partition("?")
    last = head[head.rfind("/") + 1 :]
    numbers = "#" if any(map(str.isdigit, last)) else ""
    family = f"{folder.pattern}{numbers}?{names_in(query)}" if query else f"{folder.pattern}{numbers}"
    level = f"{'/'.join(folder.names[:1])}/{len(folder.names)}"
    return key_of(Kind.FAMILY, family), key_of(Kind.LEVEL, level)


def names_in(query: str) -> str:
    return "&".join(sorted({part.partition("=")[0] for part in query.split("&")}))
