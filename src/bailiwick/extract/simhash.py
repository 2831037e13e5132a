"""A fingerprint of 64 bits that near duplicates share but for a few of them (Charikar's simhash over word shingles).

Every word has a CRC, the same in every process and release; neighbouring words are mixed into shingles, and each
bit of the fingerprint is what most shingles have there. The shingles are never seen by Python: they are lanes of
64 bits of one large integer, multiplied and counted all at once (40 times faster than a loop over words and bits).

Where numpy is loaded anyway (the embeddings of a profile have loaded it) it does the same in half the time. It is not
loaded for this: that takes as long as a thousand pages.

Of a long text its beginning and its end are looked at: a page of 6,000 words would take more than a millisecond.
"""

import sys
from zlib import crc32

_FIRST, _SECOND = 0x9E3779B1, 0x85EBCA6B
_LEAST_WORDS = 2
_BEGINNING_CHARS, _END_CHARS = 5_000, 1_500
_MOST_WORDS = _BEGINNING_CHARS + _END_CHARS + 1
_ONES = int.from_bytes(b"\x01" * _MOST_WORDS, "little")
_MASKS = tuple(_ONES << bit for bit in range(8))
"""Each of the eight bits of every byte; longer than most texts, which does no harm."""
_LOWER = int.from_bytes(b"\xff\xff\xff\xff\x00\x00\x00\x00" * _MOST_WORDS, "little")
"""The lower half of every lane."""
_SPACE_OR_LETTER = bytes(ord(" ") if chr(code).isspace() else ord("x") for code in range(128)) + b"x" * 128
_REMEMBERED_WORDS = 20_000
"""Distinct words whose code is remembered, a few MB: most words of a page stood on another one before."""
_REMEMBERED_BYTES = 40
_SCRIPT_WITHOUT_SPACES = 12
"""Characters a word, on average, from which on a text is taken for Chinese, Japanese or Thai: one word a character."""


def words_of(text: str) -> list[bytes]:
    """The words that are hashed, in lower case: of a long text those at its beginning and its end."""
    if len(text) > _BEGINNING_CHARS + _END_CHARS:
        text = f"{text[:_BEGINNING_CHARS]} {text[-_END_CHARS:]}"
    words = text.lower().encode("utf-8", "replace").split()
    if _is_without_spaces(text, len(words)):
        return [char.encode("utf-8", "replace") for char in text if not char.isspace()]
    return words


def word_count(text: str) -> int:
    """How many words a text has, all of it; of a script without spaces, characters."""
    if text.isascii():
        # Their beginnings are counted, not the words made: in a third of the time.
        shape = f" {text}".encode().translate(_SPACE_OR_LETTER)
        return _beginnings(shape) if "numpy" in sys.modules else shape.count(b" x")
    count = len(text.split())
    return sum(not char.isspace() for char in text) if _is_without_spaces(text, count) else count


def _is_without_spaces(text: str, words: int) -> bool:
    return len(text) > _SCRIPT_WITHOUT_SPACES * words and not text.isascii()


def simhash(words: list[bytes]) -> int:
    """Of the words of a text, signed; 0 for none."""
    if not words:
        return 0
    codes = _codes_of(words if len(words) >= _LEAST_WORDS else [*words, b""])
    found = _counted_by_numpy(codes) if "numpy" in sys.modules else _counted(codes)
    return found - (1 << 64) if found >> 63 else found


def _counted(codes: bytes) -> int:
    lanes = _shingles(codes)
    found = 0
    for place in range(8):
        column = lanes[place::8]
        bits, half = int.from_bytes(column, "little"), len(column) // 2
        for bit, mask in enumerate(_MASKS):
            if (bits & mask).bit_count() > half:
                found |= 1 << (8 * place + bit)
    return found


def distance(one: int, other: int) -> int:
    """In how many bits of 64 two fingerprints differ."""
    return ((one ^ other) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


def _codes_of(words: list[bytes]) -> bytes:
    """Eight bytes for each word, of which four are its CRC."""
    if len(_codes) > _REMEMBERED_WORDS:
        _codes.clear()
    return b"".join(map(_codes.__getitem__, words))


def _shingles(codes: bytes) -> bytes:
    """Eight bytes for each pair of neighbours."""
    row = int.from_bytes(codes, "little")
    pairs = _mixed(row, row >> 64)
    # Once more: the first mix of two words is the sum of what each adds, so that common words would decide alone.
    mixed = _mixed(pairs & _LOWER, (pairs >> 32) & _LOWER)
    return mixed.to_bytes(len(codes), "little")[:-8]


class _Codes(dict[bytes, bytes]):
    """The code of each word, as the eight bytes of a lane; made when it is first asked for, and of short ones kept."""

    def __missing__(self, word: bytes) -> bytes:
        code = crc32(word).to_bytes(8, "little")
        if len(word) <= _REMEMBERED_BYTES:
            self[word] = code
        return code


_codes = _Codes()


def _mixed(one: int, other: int) -> int:
    """Two rows of 32-bit numbers, mixed into one of 64.

    The upper half of a product of two 32-bit numbers is biased, the lower half takes from few bits: the second
    product is turned by half a lane, so that either half of a lane has one of each.
    """
    product = other * _SECOND
    return (one * _FIRST) ^ ((product & _LOWER) << 32) ^ ((product >> 32) & _LOWER)


def _counted_by_numpy(codes: bytes) -> int:
    """What `_counted` finds."""
    import numpy as np  # waits, where another thread is just loading it

    row = np.frombuffer(codes, "<u8")
    half, first, second, lower = np.uint64(32), np.uint64(_FIRST), np.uint64(_SECOND), np.uint64(0xFFFF_FFFF)
    one, other = row[:-1], row[1:]
    for _ in range(2):
        product = other * second
        mixed = (one * first) ^ (product << half) ^ (product >> half)
        one, other = mixed & lower, mixed >> half
    bits = np.unpackbits(mixed.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    most = bits.sum(axis=0, dtype=np.uint32) > len(mixed) // 2
    return int.from_bytes(np.packbits(most, bitorder="little").tobytes(), "little")


def _beginnings(shape: bytes) -> int:
    """Letters after a space."""
    import numpy as np

    is_space = np.frombuffer(shape, np.uint8) == ord(" ")
    return int(np.count_nonzero(is_space[:-1] > is_space[1:]))
