"""Content codings, undone piece by piece: what comes out is bounded, whatever goes in."""

import zlib
from typing import Protocol

ACCEPTED = "gzip, deflate, br, zstd"
_PIECE = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_MEMBERS = 1_000
_ZSTD_STEP = 64
"""Bytes of zstd fed at a time. One step's output cannot be bounded, but four bytes hold 128 KB at most: 2 MB a step."""


class CodingError(ValueError):
    """The coding is unknown, or the bytes are not in it."""


class Decoder(Protocol):
    @property
    def is_complete(self) -> bool:
        """Whether the coded data came to its end; so does nothing at all."""
        ...

    def feed(self, data: bytes, most: int) -> bytes:
        """Decode more input, to at most `most` bytes (1 or more) and a little; CodingError."""
        ...


def decoder(coding: str) -> Decoder | None:
    """The decoder for a Content-Encoding value; None where nothing is to be done."""
    name = coding.strip().lower()
    if name in ("", "identity"):
        return None
    if name in ("gzip", "x-gzip"):
        return _Gzip()
    if name == "deflate":
        return _Deflate()
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise CodingError(f"unknown content coding {coding[:40]!r}")


class _Gzip:
    """Members one after the other are one text (RFC 1952 section 2.2); what is no member is left alone."""

    def __init__(self) -> None:
        self._state = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 0
        self.is_complete = True

    def feed(self, data: bytes, most: int) -> bytes:
        out = [_inflate(self._state, data, most)]
        left = most - len(out[0])
        while self._state.eof and left > 0 and self._state.unused_data.startswith(_GZIP_MAGIC):
            self._members += 1
            if self._members >= _MOST_MEMBERS:
                raise CodingError("gzip: too many members")
            rest = self._state.unused_data
            self._state = zlib.decompressobj(zlib.MAX_WBITS | 16)
            out.append(_inflate(self._state, rest, left))
            left -= len(out[-1])
        self.is_complete = self._state.eof
        return b"".join(out)


class _Deflate:
    """The zlib format; half of the servers that say deflate leave its wrapper out (RFC 9110 section 8.4.1.2)."""

    def __init__(self) -> None:
        self._state = zlib.decompressobj()
        self._first = b""
        self._is_known = False
        self.is_complete = True

    def feed(self, data: bytes, most: int) -> bytes:
        if not self._is_known:
            self._first += data
            data = self._first
            self.is_complete = False
            if len(data) < 2:  # the wrapper is known by two bytes
                return b""
            self._is_known = True
            if data[0] & 0x0F != zlib.DEFLATED or int.from_bytes(data[:2], "big") % 31:
                self._state = zlib.decompressobj(-zlib.MAX_WBITS)
        out = _inflate(self._state, data, most)
        self.is_complete = self._state.eof
        return out


def _inflate(state: "zlib._Decompress", data: bytes, most: int) -> bytes:
    try:
        return state.decompress(data, most)
    except zlib.error as error:
        raise CodingError(str(error)) from error


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._state = brotli.Decompressor()
        self._error = brotli.error
        self.is_complete = True

    def feed(self, data: bytes, most: int) -> bytes:
        try:
            out = bytearray(self._state.process(data, output_buffer_limit=min(most, _PIECE)))
            while len(out) < most and not self._state.can_accept_more_data() and not self._state.is_finished():
                out += self._state.process(b"", output_buffer_limit=_PIECE)
        except self._error as error:
            raise CodingError(f"brotli: {error}") from error
        self.is_complete = self._state.is_finished()
        return bytes(out)


class _Zstd:
    """Frames one after the other are one text (RFC 8878 section 3)."""

    def __init__(self) -> None:
        import zstandard

        # A window of 8 MB is what RFC 9659 allows on the web.
        self._frames = zstandard.ZstdDecompressor(max_window_size=1 << 23)
        self._state = self._frames.decompressobj(write_size=_PIECE)
        self._error = zstandard.ZstdError
        self.is_complete = True

    def feed(self, data: bytes, most: int) -> bytes:
        out: list[bytes] = []
        length = 0
        try:
            for start in range(0, len(data), _ZSTD_STEP):
                rest = data[start : start + _ZSTD_STEP]
                while rest:
                    if self._state.eof:
                        self._state = self._frames.decompressobj(write_size=_PIECE)
                    out.append(self._state.decompress(rest))
                    length += len(out[-1])
                    rest = self._state.unused_data
                if length > most:
                    break
        except self._error as error:
            raise CodingError(f"zstd: {error}") from error
        self.is_complete = self._state.eof
        return b"".join(out)
