"""What a guard remembers, in bounded room: whether something was seen, and the tallies of families."""

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from enum import IntEnum, auto
from typing import Self
from zlib import compress, crc32, decompress

MAX_FAMILIES = 1_400
_BYTES = 8_192
_PER_GENERATION = 4_000
"""With four bits each, a generation is at most a fifth full: one in 400 is taken for known without being so."""
_MOST = 0xFFFF
_TALLY = struct.Struct("<I4H")
_MASK = (1 << 64) - 1


class Kind(IntEnum):
    """What a key stands for: the same text of another kind is another key."""

    FETCHED = auto()
    ADMITTED = auto()
    YIELD = auto()
    TOKEN = auto()
    REST = auto()
    DATES = auto()
    DATE_WIDTH = auto()
    VOUCHED = auto()
    PARAMETER = auto()
    COMBINATION = auto()
    COMBINATION_AGAIN = auto()
    FACET_NAMES = auto()
    FACET_PATH = auto()
    FACET_FOLDER = auto()
    FOLDER = auto()
    OWN = auto()
    FAMILY = auto()
    LEVEL = auto()
    TWICE = auto()


def key_of(kind: Kind, text: str) -> int:
    """32 bits, the same in every process. CRC because it is by far the fastest; nobody's safety depends on it."""
    return crc32(text.encode("utf-8", "replace"), kind)


class Memory:
    """A set that forgets: two Bloom filters, of which the older is dropped when the younger is full.

    It remembers at least the last 4,000 keys that were added or found again.
    """

    __slots__ = ("_count", "_now", "_old")

    def __init__(self) -> None:
        self._now = self._old = bytearray()  # made on use: most domains have no trap and few pages
        self._count = 0

    def has(self, key: int) -> bool:
        bits = _bits(key)
        return _holds(self._now, *bits) or _holds(self._old, *bits)

    def has_lately(self, key: int) -> bool:
        """It was added or found again since the last time that something was forgotten."""
        return _holds(self._now, *_bits(key))

    def add(self, key: int) -> bool:
        """Whether it is new. What is not is kept for longer."""
        bits = _bits(key)
        if _holds(self._now, *bits):
            return False
        is_new = not _holds(self._old, *bits)
        if not self._now or self._count >= _PER_GENERATION:
            self._now, self._old, self._count = bytearray(_BYTES), self._now, 0
        for bit in bits:
            self._now[bit >> 3] |= 1 << (bit & 7)
        self._count += 1
        return is_new

    def to_json(self) -> str:
        return _packed(self._count.to_bytes(2, "little") + self._now + self._old)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises ValueError for what is no such text."""
        raw = _unpacked(text)
        if len(raw) not in (2, 2 + _BYTES, 2 + 2 * _BYTES):
            raise ValueError(f"a memory is no {len(raw):,} bytes")
        memory = cls()
        memory._count = int.from_bytes(raw[:2], "little")
        memory._now, memory._old = bytearray(raw[2 : 2 + _BYTES]), bytearray(raw[2 + _BYTES :])
        return memory


def _bits(key: int) -> tuple[int, int, int, int]:
    mixed = (key ^ key >> 31) * 0x9E3779B97F4A7C15 & _MASK
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 & _MASK
    return mixed & 0xFFFF, mixed >> 16 & 0xFFFF, mixed >> 32 & 0xFFFF, mixed >> 48


def _holds(filled: bytearray, a: int, b: int, c: int, d: int) -> bool:
    # Written out: this is half of what a link with parameters costs.
    return (
        len(filled) > 0
        and filled[a >> 3] >> (a & 7) & 1 == 1
        and filled[b >> 3] >> (b & 7) & 1 == 1
        and filled[c >> 3] >> (c & 7) & 1 == 1
        and filled[d >> 3] >> (d & 7) & 1 == 1
    )


@dataclass(slots=True)
class Tally:
    """What is known of a family; what each number counts is its rule's to say. They stop at 65,535."""

    found: int = 0
    """Admitted against its budget."""
    new: int = 0
    """Yields."""
    dup: int = 0
    """Fetched in vain."""
    run: int = 0
    """In vain one after another, until now."""

    def spend(self) -> None:
        self.found = min(self.found + 1, _MOST)

    def spend_in_row(self) -> None:
        self.spend()
        self.run = min(self.run + 1, _MOST)

    def credit(self) -> None:
        self.new = min(self.new + 1, _MOST)

    def debit(self) -> None:
        self.dup = min(self.dup + 1, _MOST)

    def learn(self, *, is_known_text: bool) -> None:
        """One more page was fetched: with a text of its own, or in vain."""
        if is_known_text:
            self.debit()
            self.run = min(self.run + 1, _MOST)
        else:
            self.credit()
            self.run = 0


class Tallies:
    """Tallies by key. When there is no more room, the quarter that counted least is forgotten."""

    __slots__ = ("_tallies",)

    def __init__(self) -> None:
        self._tallies: dict[int, Tally] = {}

    def __len__(self) -> int:
        return len(self._tallies)

    def items(self) -> Iterator[tuple[int, Tally]]:
        return iter(self._tallies.items())

    def get(self, key: int) -> Tally | None:
        return self._tallies.get(key)

    def at(self, key: int) -> Tally:
        tally = self._tallies.get(key)
        if tally is None:
            if len(self._tallies) >= MAX_FAMILIES:
                self._forget()
            tally = self._tallies[key] = Tally()
        return tally

    def _forget(self) -> None:
        by_use = sorted(self._tallies, key=lambda key: sum(astuple(self._tallies[key])))
        for key in by_use[: MAX_FAMILIES // 4]:
            del self._tallies[key]

    def to_json(self) -> str:
        return _packed(b"".join(_TALLY.pack(key, t.found, t.new, t.dup, t.run) for key, t in self._tallies.items()))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises ValueError for what is no such text."""
        raw = _unpacked(text)
        if len(raw) % _TALLY.size or len(raw) > MAX_FAMILIES * _TALLY.size:
            raise ValueError(f"tallies are no {len(raw):,} bytes")
        tallies = cls()
        tallies._tallies = {key: Tally(*numbers) for key, *numbers in _TALLY.iter_unpack(raw)}
        return tallies


def _packed(raw: bytes | bytearray) -> str:
    return b64encode(compress(raw, 1)).decode()


def _unpacked(text: str) -> bytes:
    from zlib import error

    try:
        return decompress(b64decode(text, validate=True))
    except error as damage:
        raise ValueError(str(damage)) from None
