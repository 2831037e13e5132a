"""Sitemaps and feeds, read piece by piece: bytes as they arrive in, entries out. Memory is bounded, whatever comes.

The steps: gzip is undone where the bytes are in it; the outcome is cut into blocks of one size, so that a file gives
the same entries in whatever pieces it arrives; a block becomes text, and one of the formats reads it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiwick.net.sitemap_formats import BrokenError, Entry, EntryKind, Format, format_of
from bailiwick.net.sitemap_gzip import Unpacker, UnpackError

if TYPE_CHECKING:
    from webencodings import IncrementalDecoder

__all__ = ["Entry", "EntryKind", "SitemapLimits", "SitemapReader"]

_BLOCK_BYTES = 1 << 16
_UTF16 = {b"<\0": "utf-16le", b"\0<": "utf-16be"}
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """Those of sitemaps.org. Bytes are counted decompressed; of compressed ones no more are read."""

    most_bytes: int = 50 * 1024 * 1024
    most_entries: int = 50_000


class _FullError(Exception):
    """There are more entries than are taken."""


class _CutError(_FullError):
    """There are more bytes than are taken."""


class SitemapReader:
    """Reads one file. It never raises, whatever the bytes: `is_broken` and `is_full` say why the entries ended early.

    To go on with a file some other time, keep `cursor`, and feed a new reader the file from its start, after
    `skip(cursor)`.
    """

    def __init__(self, limits: SitemapLimits | None = None) -> None:
        self.is_broken = False
        self.is_full = False
        self._limits = limits or SitemapLimits()
        self._skipped = 0
        self._seen = 0
        self._found: list[Entry] = []
        self._raw_bytes = self._bytes = 0
        self._unpacker = Unpacker()
        self._block = bytearray()
        self._decoder: IncrementalDecoder | None = None
        self._format: Format | None = None
        self._is_closed = False

    @property
    def is_done(self) -> bool:
        """Whether no more entries can come: the rest need not be fetched."""
        return self.is_broken or self.is_full or self._is_closed

    @property
    def cursor(self) -> int:
        """How many entries were taken, by this reader and before."""
        return max(self._seen, self._skipped)

    def skip(self, count: int) -> None:
        """Do not deliver the first `count` entries of the file: they were taken before."""
        self._skipped = count

    def feed(self, data: bytes) -> list[Entry]:
        """The entries that are complete by now. They may lag behind by a block (64 KiB)."""
        return self._delivered_by(lambda: self._take(data))

    def close(self) -> list[Entry]:
        """The file has ended, by itself or because its transfer broke off: the last entries."""
        entries = self._delivered_by(self._finish)
        self._is_closed = True
        self._format = None
        return entries

    def _delivered_by(self, step: Callable[[], None]) -> list[Entry]:
        try:
            if not self.is_done:
                step()
        except (BrokenError, UnpackError):
            self.is_broken = True
        except _FullError:
            self.is_full = True
        found, self._found = self._found, []
        return found

    def _take(self, data: bytes) -> None:
        room = self._limits.most_bytes - self._raw_bytes
        self._raw_bytes += len(data)
        try:
            for piece in self._unpacker.feed(data[:room]):
                self._take_piece(piece)
            if len(data) > room:
                raise _CutError
        except (UnpackError, _CutError):
            self._read(bytes(self._block), is_last=False)
            raise

    def _finish(self) -> None:
        for piece in self._unpacker.close():
            self._take_piece(piece)
        self._read(bytes(self._block), is_last=True)
        if self._format is not None:
            self._format.close()
        if not self._unpacker.is_complete:
            raise UnpackError("gzip: the end is missing")

    def _take_piece(self, piece: bytes) -> None:
        """Some bytes of the file itself."""
        room = self._limits.most_bytes - self._bytes
        self._bytes += len(piece)
        self._block += piece[:room]
        while len(self._block) >= _BLOCK_BYTES:
            self._read(bytes(self._block[:_BLOCK_BYTES]), is_last=False)
            del self._block[:_BLOCK_BYTES]
        if len(piece) > room:
            raise _CutError

    def _read(self, block: bytes, *, is_last: bool) -> None:
        if self._decoder is None:
            self._decoder = _decoder_for(block)
        text: str = self._decoder.decode(block, final=is_last)
        if self._format is None:
            text = text.lstrip("\ufeff \t\r\n")
            if not text:
                return
            self._format = format_of(text, self._deliver)
        self._format.feed(text)

    def _deliver(self, entry: Entry) -> None:
        if self._seen >= self._limits.most_entries:
            raise _FullError
        self._seen += 1
        if self._seen > self._skipped:
            self._found.append(entry)


def _decoder_for(start: bytes) -> "IncrementalDecoder":
    """By the byte order mark if there is one, else by the XML declaration, else UTF-8; bad bytes are replaced.

    A declaration that could be read as ASCII is not in UTF-16, whatever it says.
    """
    import webencodings

    label = _UTF16.get(start[:2])
    if label is None:
        declared = _DECLARED.match(start)
        found = webencodings.lookup(declared[1].decode("ascii")) if declared else None
        label = found.name if found and not found.name.startswith("utf-16") else "utf-8"
    return webencodings.IncrementalDecoder(label, "replace")
