"""Links that were offered before need no second look: remembered for all open domains together, in fixed room."""

import secrets
from array import array

_SLOTS = 1 << 20
_DEPTHS = 1023
"""Ten bits of a slot are the depth; the other 54 are the link's hash, of which the lowest bits chose the slot."""


class SeenTable:
    """One slot a link: a newer one takes the place of an older. What is forgotten is offered to the database again."""

    __slots__ = ("mask", "slots")

    def __init__(self, slots: int = _SLOTS) -> None:
        self.slots = array("q", bytes(8 * slots))
        self.mask = slots - 1


class SeenLinks:
    """What one slice has seen. Whatever others put into the table, or an earlier slice, is none of its."""

    __slots__ = ("_mask", "_salt", "_slots")

    def __init__(self, table: SeenTable) -> None:
        self._slots, self._mask = table.slots, table.mask
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
