"""Reads issuer and end of a certificate (X.509, RFC 5280) out of its bytes.

Python decodes only certificates that it could verify; the others are those that one wants to know about.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from bailiwick.score.facts.known import plain

_Item: TypeAlias = tuple[int, bytes]
"""Tag and content."""

_SEQUENCE, _OID, _VERSION, _UTC_TIME, _TIME = 0x30, 0x06, 0xA0, 0x17, 0x18
_ORGANISATION, _COMMON_NAME = bytes.fromhex("55040a"), bytes.fromhex("550403")
_CODECS = {
    0x0C: "utf-8", 0x12: "ascii", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1C: "utf-32-be", 0x1E: "utf-16-be",
}  # fmt: skip
"""Of the kinds of strings."""


@dataclass(frozen=True, slots=True)
class Read:
    """Out of a certificate."""

    issuer: str | None
    """The organisation, or the common name where there is none."""
    not_after: datetime | None


def read_certificate(der: bytes) -> Read:
    """What can be read; None for what cannot."""
    try:
        fields = list(_items(_content(_content(der, _SEQUENCE), _SEQUENCE)))
        if fields[0][0] == _VERSION:
            fields = fields[1:]
        # serial number, algorithm, issuer, validity, subject …
        issuer, validity = fields[2][1], fields[3][1]
        return Read(_name(issuer), _moment(list(_items(validity))[1]))
    except (ValueError, IndexError):
        return Read(None, None)


def _items(data: bytes) -> Iterator[_Item]:
    at = 0
    while at < len(data):
        tag, start, end = _head(data, at)
        yield tag, data[start:end]
        at = end


def _content(data: bytes, tag: int) -> bytes:
    found, start, end = _head(data, 0)
    if found != tag:
        raise ValueError(f"tag {found:#x}, not {tag:#x}")
    return data[start:end]


def _head(data: bytes, at: int) -> tuple[int, int, int]:
    """(tag, where its content starts, where it ends)."""
    if len(data) < at + 2:
        raise ValueError("cut off")
    length, start = data[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        if not 1 <= size <= 4:
            raise ValueError("a length that no certificate has")
        length, start = int.from_bytes(data[start : start + size]), start + size
    if start + length > len(data):
        raise ValueError("cut off")
    return data[at], start, start + length


def _name(data: bytes) -> str | None:
    named: dict[bytes, str] = {}
    for _, group in _items(data):
        for tag, pair in _items(group):
            parts = list(_items(pair)) if tag == _SEQUENCE else []
            if len(parts) == 2 and parts[0][0] == _OID and (text := _text(parts[1])):
                named.setdefault(parts[0][1], text)
    return named.get(_ORGANISATION) or named.get(_COMMON_NAME)


def _text(item: _Item) -> str | None:
    codec = _CODECS.get(item[0])
    return plain(item[1].decode(codec, "replace")) if codec else None


def _moment(item: _Item) -> datetime | None:
    tag, content = item
    form = {_UTC_TIME: "%y%m%d%H%M%SZ", _TIME: "%Y%m%d%H%M%SZ"}.get(tag)
    if form is None:
        return None
    moment = datetime.strptime(content.decode("ascii", "replace"), form).replace(tzinfo=UTC)
    # Two digits mean 1950 to 2049; Python thinks of 1969 to 2068.
    return moment.replace(year=moment.year - 100) if tag == _UTC_TIME and moment.year >= 2050 else moment
