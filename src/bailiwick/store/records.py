"""One record of a pack: a fixed header, then one zstd frame that holds head and body.

    magic 7 · version 1 · domain_id 8 · path_hash 8 · head length 4 · body length 4 · frame length 4 ·
    crc32 of the frame 4 · SHA-256 of the body 32 · crc32 of all this 4                     (76 bytes, little endian)

A pack can be read without the database: each record says whose it is and how long it is.
"""

import struct
import zlib
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import local

import zstandard

from bailiwick.base.errors import BodyDamagedError
from bailiwick.ports import StoredBody

MAGIC = b"\x89BWrec\n"
VERSION = 1
MAX_CONTENT_BYTES = 1_200_000_000
"""Head and body of one record: more than any setting allows, and little enough to be held in memory."""

_FIELDS = struct.Struct("<7sBqqIIII32s")
_CHECK = struct.Struct("<I")
HEADER_BYTES = _FIELDS.size + _CHECK.size


@dataclass(frozen=True, slots=True)
class Header:
    """What a record says about itself."""

    domain_id: int
    path_hash: int
    head_bytes: int
    body_bytes: int
    frame_bytes: int
    frame_crc: int
    body_hash: bytes

    @property
    def record_bytes(self) -> int:
        return HEADER_BYTES + self.frame_bytes

    @property
    def content_bytes(self) -> int:
        return self.head_bytes + self.body_bytes


class Packer:
    """Makes records. Not for two threads at once: the compressor has a state."""

    def __init__(self, level: int) -> None:
        self._compressor = zstandard.ZstdCompressor(level=level)

    def pack(self, stored: StoredBody, body_hash: bytes | None = None) -> bytes:
        if len(stored.head) + len(stored.body) > MAX_CONTENT_BYTES:
            raise ValueError(f"a body of {len(stored.body):,} bytes could not be read back")
        frame = self._compressor.compress(b"".join((stored.head, stored.body)))
        header = Header(
            stored.domain_id,
            stored.path_hash,
            len(stored.head),
            len(stored.body),
            len(frame),
            zlib.crc32(frame),
            body_hash or sha256(stored.body).digest(),
        )
        return _record(header, frame)


def with_domain(record: bytes, domain_id: int) -> bytes:
    """The same body as another domain's: of a page that was merged into it. BodyDamagedError as `unpack`."""
    header, _ = _checked(record)
    return _record(replace(header, domain_id=domain_id), record[HEADER_BYTES:])


def read_header(data: bytes) -> Header | None:
    """The header at the beginning of these bytes; None if that is no header of ours."""
    if len(data) < HEADER_BYTES or not data.startswith(MAGIC):
        return None
    if _CHECK.unpack_from(data, _FIELDS.size)[0] != zlib.crc32(data[: _FIELDS.size]):
        return None
    _, version, *fields = _FIELDS.unpack_from(data)
    return Header(*fields) if version == VERSION else None


def unpack(record: bytes) -> StoredBody:
    """What was stored. BodyDamagedError unless every byte is as it was written."""
    header, content = _checked(record)
    head, body = content[: header.head_bytes], content[header.head_bytes :]
    if sha256(body).digest() != header.body_hash:
        raise BodyDamagedError("its SHA-256 differs")
    return StoredBody(header.domain_id, header.path_hash, head, body)


def _checked(record: bytes) -> tuple[Header, bytes]:
    header = read_header(record)
    if header is None:
        raise BodyDamagedError("its header is damaged")
    if header.record_bytes != len(record):
        raise BodyDamagedError(f"it is {header.record_bytes:,} bytes long and not {len(record):,}")
    return header, _content(memoryview(record)[HEADER_BYTES:], header)


def _record(header: Header, frame: bytes) -> bytes:
    fields = _FIELDS.pack(
        MAGIC,
        VERSION,
        header.domain_id,
        header.path_hash,
        header.head_bytes,
        header.body_bytes,
        header.frame_bytes,
        header.frame_crc,
        header.body_hash,
    )
    return b"".join((fields, _CHECK.pack(zlib.crc32(fields)), frame))


def _content(frame: memoryview, header: Header) -> bytes:
    if zlib.crc32(frame) != header.frame_crc:
        raise BodyDamagedError("its checksum differs")
    if header.content_bytes > MAX_CONTENT_BYTES:
        raise BodyDamagedError(f"it claims to hold {header.content_bytes:,} bytes")
    try:
        # The decompressor allocates what the frame claims: that must be what the header says.
        if zstandard.frame_content_size(frame) != header.content_bytes:
            raise BodyDamagedError("its lengths differ")
        return _own.decompressor.decompress(frame)
    except zstandard.ZstdError as error:
        raise BodyDamagedError(f"it cannot be decompressed: {error}") from error


class _Own(local):
    """A decompressor for each thread: it has a state, and to make one takes twice as long as a page of 40 KB."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_own = _Own()
