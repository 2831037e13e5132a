"""A few numbers that the processes of one command share: what is to be parsed, and how far that is."""

import mmap
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiwick.extract.writing import Written

_NUMBERS = struct.Struct("=qqqqq")
_UNTOLD, _ALL = 0, -1


class Tally:
    """Made before the processes part. Each number has one writer, and is whole at any moment."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _NUMBERS.size)

    def order(self, jobs: Sequence[int] | None) -> None:
        """Say what is to be parsed: pages of one job, or all."""
        struct.pack_into("=q", self._shared, 0, _ALL if jobs is None else jobs[0])

    @property
    def is_ordered(self) -> bool:
        return self._read()[0] != _UNTOLD

    @property
    def jobs(self) -> list[int] | None:
        job = self._read()[0]
        return None if job == _ALL else [job]

    def add(self, written: "Written") -> None:
        """Count what was parsed since last time."""
        _, *before = self._read()
        more = (written.pages, written.relevant, written.items, written.unread)
        new = [a + b for a, b in zip(before, more, strict=True)]
        struct.pack_into("=qqqq", self._shared, 8, *new)

    @property
    def pages(self) -> int:
        return self._read()[1]

    @property
    def relevant(self) -> int:
        return self._read()[2]

    @property
    def items(self) -> int:
        return self._read()[3]

    @property
    def unread(self) -> int:
        return self._read()[4]

    def _read(self) -> tuple[int, ...]:
        return _NUMBERS.unpack_from(self._shared, 0)
