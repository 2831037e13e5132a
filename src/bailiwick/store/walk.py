"""From record to record through a pack, without the database, past whatever a crash or a bad disk left there."""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from bailiwick.store.files import CHUNK_BYTES, Label
from bailiwick.store.records import HEADER_BYTES, MAGIC, Header, read_header


@dataclass(frozen=True, slots=True)
class Found:
    """A whole record, and where it begins."""

    offset: int
    header: Header


def walk(descriptor: int, *, start: int = Label.SIZE, end: int | None = None) -> Iterator[Found]:
    """Every whole record, in order. OSError if the disk cannot be read.

    The frame of each is checked, too: a record that was torn by a crash has its header, and the next writer's records
    lie where the rest of it should be. For the same reason its length is no hint where to go on: the next header is
    looked for right behind its beginning. A page can be made to contain what looks like a record, so that one inside
    of a torn record is found here; nothing refers to it, and it cannot hide a real one.
    """
    at, end = start, os.fstat(descriptor).st_size if end is None else end
    while at + HEADER_BYTES <= end:
        header = read_header(os.pread(descriptor, HEADER_BYTES, at))
        if header and at + header.record_bytes <= end and _is_whole(descriptor, at + HEADER_BYTES, header):
            yield Found(at, header)
            at += header.record_bytes
        else:
            at = _next_magic(descriptor, at + 1, end)


def _is_whole(descriptor: int, at: int, header: Header) -> bool:
    check, end = 0, at + header.frame_bytes
    while at < end:
        chunk = os.pread(descriptor, min(CHUNK_BYTES, end - at), at)
        if not chunk:
            return False
        check, at = zlib.crc32(chunk, check), at + len(chunk)
    return check == header.frame_crc


def _next_magic(descriptor: int, at: int, end: int) -> int:
    """Where the next header may begin; the end if there is none."""
    while at < end:
        chunk = os.pread(descriptor, CHUNK_BYTES, at)
        if (found := chunk.find(MAGIC)) >= 0:
            return min(at + found, end)
        if len(chunk) < CHUNK_BYTES:
            break
        at += len(chunk) - len(MAGIC) + 1
    return end
