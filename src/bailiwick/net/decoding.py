"""Content codings, undone piece by piece: what comes out is bounded, whatever goes in."""

import zlib
from typing import Protocol

ACCEPTED = "gzip, deflate, br, zstd"
_PIECE = 1 << 18


class CodingError(ValueError):
    """The coding is unknown, or the bytes are not in it."""


class Decoder(Protocol):
    def feed(self, data: bytes, most: int) -> bytes:
        """Decode more input, to at most `most` bytes and a little; CodingError."""
        ...


def decoder(coding: str) -> Decoder | None:
    """The decoder for a Content-Encoding value; None where nothing is to be done."""
    name = coding.strip().lower()
    if name in ("", "identity"):
        return None
    if name in ("gzip", "x-gzip", "deflate"):
        return _Zlib(name)
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise CodingError(f"unknown content coding {coding[:40]!r}")


class _Zlib:
    def __init__(self, name: str) -> None:
        self._is_deflate = name == "deflate"
        self._state = zlib.decompressobj(zlib.MAX_WBITS if self._is_deflate else zlib.MAX_WBITS | 16)
        self._fresh = True

    def feed(self, data: bytes, most: int) -> bytes:
        try:
            return self._state.decompress(data, most)
        except zlib.error as error:
            if not (self._is_deflate and self._fresh):
                raise CodingError(str(error)) from error
            # Half of the servers that say deflate leave the zlib wrapper out (RFC 9110 section 8.4.1.2).
            self._state = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._raw(data, most)
        finally:
            self._fresh = False

    def _raw(self, data: bytes, most: int) -> bytes:
        try:
            return self._state.decompress(data, most)
        except zlib.error as error:
            raise CodingError(str(error)) from error


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._state = brotli.Decompressor()
        self._error = brotli.error

    def feed(self, data: bytes, most: int) -> bytes:
        try:
            out = bytearray(self._state.process(data, output_buffer_limit=min(most, _PIECE)))
            while len(out) < most and not self._state.can_accept_more_data() and not self._state.is_finished():
                out += self._state.process(b"", output_buffer_limit=_PIECE)
        except self._error as error:
            raise CodingError(f"brotli: {error}") from error
        return bytes(out)


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        # A window of 8 MB is what RFC 9659 allows on the web.
        self._state = zstandard.ZstdDecompressor(max_window_size=1 << 23).decompressobj(write_size=_PIECE)
        self._error = zstandard.ZstdError

    def feed(self, data: bytes, most: int) -> bytes:
        out = bytearray()
        try:
            for start in range(0, len(data), 1024):  # small steps: one step's output cannot be bounded
                out += self._state.decompress(data[start : start + 1024])
                if len(out) > most:
                    break
        except self._error as error:
            raise CodingError(f"zstd: {error}") from error
        return bytes(out)
