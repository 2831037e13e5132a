"""WARC/1.1 (ISO 28500): stored answers as `response` records, each a gzip member of its own, `warcinfo` first.

Bodies are stored with their content coding removed, so the recorded headers are made to fit: Content-Encoding and
Transfer-Encoding go by another name (X-Archive-Orig-…, as other archives do it), Content-Length tells the stored
length. Set-Cookie is left out: with credentials in the settings it may be a live session of ours.
"""

import base64
import gzip
import hashlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bailiwick import __version__
from bailiwick.base.errors import BodyDamagedError, NotFoundError
from bailiwick.ports import BodyRef, BodyStore, StoredBody
from bailiwick.query.export.rows import Rows

_RENAMED = (b"content-encoding", b"transfer-encoding", b"content-length")
_SECRET = (b"set-cookie", b"set-cookie2")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? \d{3}")


@dataclass
class Warc:
    """Rows are (url, fetched_at, pack, offset, length). A body that is gone by now is counted and left out."""

    store: BodyStore
    finish: Callable[[Path, Path], None] | None = None
    missing: int = field(default=0, init=False)

    def header(self) -> bytes:
        about = f"software: Bailiwick/{__version__}\r\nformat: WARC File Format 1.1\r\nconformsTo: {_STANDARD}\r\n"
        fields = {
            "WARC-Type": "warcinfo",
            "WARC-Date": _date(datetime.now(UTC)),
            "Content-Type": "application/warc-fields",
        }
        return _record(fields, about.encode())

    def encode(self, rows: Rows) -> bytes:
        return b"".join(self._response(str(url), at, BodyRef(*place)) for url, at, *place in rows)  # type: ignore[arg-type]

    def _response(self, url: str, at: object, ref: BodyRef) -> bytes:
        try:
            stored = self.store.get(ref)
        except (NotFoundError, BodyDamagedError):
            self.missing += 1
            return b""
        fields = {
            "WARC-Type": "response",
            "WARC-Target-URI": url,
            "WARC-Date": _date(at if isinstance(at, datetime) else datetime.now(UTC)),
            "WARC-Payload-Digest": _digest(stored.body),
            "Content-Type": "application/http;msgtype=response",
        }
        return _record(fields, fitting_head(stored) + stored.body)


_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


def fitting_head(stored: StoredBody) -> bytes:
    """Status line and headers that are true of the stored body."""
    status, *lines = re.split(rb"\r?\n", stored.head.rstrip(b"\r\n"))
    kept = [status if _STATUS.match(status) else b"HTTP/1.1 200 OK"]
    dropped = False
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            # A folded line belongs to the one before it.
            if not dropped:
                kept.append(line)
            continue
        name = line.partition(b":")[0].strip().lower()
        dropped = not name or name in _SECRET
        if not dropped:
            kept.append(b"X-Archive-Orig-" + line if name in _RENAMED else line)
    kept.append(b"Content-Length: %d" % len(stored.body))
    return b"\r\n".join(kept) + b"\r\n\r\n"


def _record(fields: dict[str, str], block: bytes) -> bytes:
    full = {
        **fields,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in full.items())
    return gzip.compress(f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n", compresslevel=6)


def _digest(data: bytes) -> str:
    """As every reader of WARC files knows it; it is no protection."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _date(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
