"""Gzip, undone where the bytes are in it."""

import zlib
from collections.abc import Generator, Iterator

_PIECE_BYTES = 1 << 16
_MAGIC = b"\x1f\x8b"
_MOST_MEMBERS = 1_000


class UnpackError(ValueError):
    """The bytes began as gzip, and do not go on so."""


class Unpacker:
    """Undoes gzip where the first bytes are its magic; other bytes come out as they went in.

    Pieces of 64 KiB come out, whatever goes in. Members one after the other are one file (RFC 1952 section 2.2); what
    follows them and is none is left alone. What came before a fault comes out before it is raised.
    """

    def __init__(self) -> None:
        self._held = b""
        self._state: zlib._Decompress | None = None
        self._members = 0
        self._is_passing = False
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the end of what is packed was seen."""
        return self._state is None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes are, unpacked; UnpackError."""
        for start in range(0, len(data), _PIECE_BYTES):
            yield from self._unpacked(data[start : start + _PIECE_BYTES])

    def close(self) -> Iterator[bytes]:
        """What was held back: a file of one byte."""
        if self._held and not self._members:
            yield self._held

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        data = self._held + data
        self._held = b""
        while data and not self._is_over:
            if self._is_passing:
                yield data
                return
            if self._state is not None:
                data = yield from self._inflated(data, self._state)
            elif len(data) < len(_MAGIC):
                self._held = data
                return
            else:
                self._begin(is_gzip=data.startswith(_MAGIC))

    def _begin(self, *, is_gzip: bool) -> None:
        if not is_gzip:
            self._is_passing = self._members == 0
            self._is_over = not self._is_passing
            return
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise UnpackError("gzip: too many members")
        self._state = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _inflated(self, data: bytes, state: "zlib._Decompress") -> Generator[bytes, None, bytes]:
        """Yields what the member holds, returns what is beyond it."""
        out = b""
        while data or len(out) == _PIECE_BYTES:  # a full piece: there may be more of the same input
            before = state.copy()
            try:
                out = state.decompress(data, _PIECE_BYTES)
            except zlib.error as error:
                yield from _up_to_the_fault(before, data)
                raise UnpackError(f"gzip: {error}") from error
            if out:
                yield out
            if state.eof:
                self._state = None
                return state.unused_data
            data = state.unconsumed_tail
        return b""


def _up_to_the_fault(state: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """zlib gives nothing of a call that fails: so, byte by byte."""
    for position in range(len(data)):
        try:
            yield state.decompress(data[position : position + 1])
        except zlib.error:
            return
