"""Links that were offered before need no second look: remembered for all open domains together, in fixed room."""

import secrets
from array import array
from collections.abc import Iterable
from itertools import filterfalse

from bailiwick.model.urls import LinkBase

_SLOTS = 1 << 20
_DEPTHS = 1023
"""Ten bits of a slot are the depth; the other 54 are the link's hash, of which the lowest bits chose the slot."""
_MOST_WRITTEN = 200_000
"""Links as they are written, of all open domains: some 25 MB. One more, and all of them are forgotten."""


class Met(dict[str, int]):
    """Links as they are written at one place, and the depth at which each was met there."""

    __slots__ = ("deepest",)

    def __init__(self) -> None:
        super().__init__()
        self.deepest = 0


class SeenTable:
    """One slot a link: a newer one takes the place of an older. What is forgotten is offered to the database again."""

    __slots__ = ("mask", "most_written", "room", "slots", "written")

    def __init__(self, slots: int = _SLOTS, *, most_written: int = _MOST_WRITTEN) -> None:
        self.slots = array("q", bytes(8 * slots))
        self.mask = slots - 1
        self.most_written = self.room = most_written
        self.written: dict[tuple[int, str], Met] = {}
        """By slice and place."""

    def place(self, key: tuple[int, str]) -> Met:
        """What was met there."""
        met = self.written.get(key)
        if met is None:
            met = self.written[key] = Met()
            self.take_room()
        return met

    def take_room(self) -> None:
        self.room -= 1
        if self.room < 0:
            self.written.clear()
            self.room = self.most_written


class SeenLinks:
    """What one slice has seen. Whatever others put into the table, or an earlier slice, is none of its.

    It knows links as they lead somewhere (`add`) and as they are written (`meet`): the pages of a site share most of
    their links, and what is known as it stands there need not be taken apart again.
    """

    __slots__ = ("_mask", "_salt", "_slots", "_table")

    def __init__(self, table: SeenTable) -> None:
        self._table, self._slots, self._mask = table, table.slots, table.mask
        self._salt = secrets.randbits(63)

    def add(self, path: str, depth: int) -> bool:
        """Whether it is new: not seen before at this depth or above."""
        key = hash(path) ^ self._salt
        at = key & self._mask
        held = self._slots[at]
        if held >> 10 == key >> 10 and held & _DEPTHS <= depth:
            return False
        self._slots[at] = key & ~_DEPTHS | (depth if depth < _DEPTHS else _DEPTHS)
        return True

    def forget(self, path: str) -> None:
        key = hash(path) ^ self._salt
        at = key & self._mask
        if self._slots[at] >> 10 == key >> 10:
            self._slots[at] = 0

    def unmet(self, hrefs: Iterable[str], base: LinkBase, depth: int) -> list[str]:
        """Those that were not met at this depth or above in a place where they mean the same."""
        at_origin, in_folder, far = self._met(base.origin), self._met(base.folder), depth + 1
        if at_origin.deepest <= depth and in_folder.deepest <= depth:  # no need to look at each one's depth: the rule
            return list(filterfalse(in_folder.__contains__, filterfalse(at_origin.__contains__, hrefs)))
        return [href for href in hrefs if at_origin.get(href, far) > depth and in_folder.get(href, far) > depth]

    def meet(self, href: str, base: LinkBase, depth: int) -> None:
        """All that there is to do about this link is done."""
        place = base.place_of(href)
        if place is not None:
            met = self._met(place)
            if href not in met:
                self._table.take_room()
            met[href] = depth
            met.deepest = max(met.deepest, depth)

    def _met(self, place: str) -> Met:
        return self._table.place((self._salt, place))
