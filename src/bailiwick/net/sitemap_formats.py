"""The formats of lists of URLs: XML sitemaps and their indexes, RSS, Atom, plain text. Text in, entries out.

A format holds a few thousand characters at most, whatever it is fed: the record that is open, and what of a tag or a
line is not complete. What it cannot go on from it raises as `BrokenError`; the entries up to there were handed on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from xml.parsers import expat

from bailiwick.net.sitemap_values import parse_lastmod, parse_priority

LONGEST_URL = 2_048
_LONGEST_VALUE = 100
_DEEPEST = 32
_LONGEST_TAG_BYTES = 1 << 17
_MOST_ELEMENTS = 2_000_000
"""More do not fit into a sitemap of 50 MB that says something in each; empty ones would keep us busy for long."""
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_URL_LINE = re.compile(r"^[ \t]*(https?://.*)", re.IGNORECASE | re.MULTILINE)


class BrokenError(ValueError):
    """The rest cannot be read."""


class EntryKind(StrEnum):
    PAGE = "page"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL as it was written: it may be relative (to the file's own), and need not be one at all."""

    kind: EntryKind
    url: str
    lastmod: datetime | None = None
    priority: float | None = None


class Format(Protocol):
    def feed(self, text: str) -> None:
        """Read on; BrokenError."""
        ...

    def close(self) -> None:
        """There is no more; BrokenError where there should have been."""
        ...


def format_of(start: str, deliver: Callable[[Entry], None]) -> Format:
    """The reader for what starts like this, after white space. It hands every entry on as soon as it is complete."""
    return XmlFormat(deliver) if start.startswith("<") else TextFormat(deliver)


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a record is written: under which names its URL and its time are found, the best first."""

    kind: EntryKind
    urls: tuple[str, ...]
    times: tuple[str, ...]


_SITEMAP_RECORDS = {
    "url": _Shape(EntryKind.PAGE, ("loc",), ("lastmod",)),
    "sitemap": _Shape(EntryKind.SITEMAP, ("loc",), ("lastmod",)),
}
_RSS_RECORDS = {"item": _Shape(EntryKind.PAGE, ("link", "guid"), ("pubdate", "dc:date"))}
_ATOM_RECORDS = {"entry": _Shape(EntryKind.PAGE, ("link",), ("updated", "published"))}
_RECORDS = {
    "urlset": _SITEMAP_RECORDS,
    "sitemapindex": _SITEMAP_RECORDS,
    "rss": _RSS_RECORDS,
    "rdf": _RSS_RECORDS,
    "feed": _ATOM_RECORDS,
}
"""By the root element: what stands in it."""


class _Record:
    """One record while it is read. Of several values for a name the first counts, as with alternates of Atom."""

    def __init__(self, prefix: str, shape: _Shape, depth: int) -> None:
        self.depth = depth
        self._prefix = prefix
        self._shape = shape
        self._wanted = {*shape.urls, *shape.times, "priority"}
        self._values: dict[str, str] = {}
        self._open: str | None = None
        self._parts: list[str] = []
        self._room = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A child begins. Names count where they have the record's own prefix: an `image:loc` is no `loc`."""
        prefix, local = _split(name)
        field = local if prefix == self._prefix else f"{prefix}:{local}"
        if field not in self._wanted or field in self._values:
            return
        if field == "guid" and attributes.get("isPermaLink", "true").strip().lower() != "true":
            return
        if "href" in attributes:  # Atom
            if attributes.get("rel", "alternate").strip().lower() == "alternate":
                self._values[field] = attributes["href"]
            return
        self._open, self._parts = field, []
        self._room = LONGEST_URL if field in self._shape.urls else _LONGEST_VALUE

    def text(self, data: str) -> None:
        if self._open is not None and self._room >= 0:
            data = data if self._parts else data.lstrip()
            if data:
                self._room -= len(data)
                self._parts.append(data)

    def end_child(self) -> None:
        value = "".join(self._parts).strip() if self._room >= 0 else ""
        # A guid that is no URL is just an identifier, whatever its attribute says.
        if self._open is not None and value and (self._open != "guid" or _HTTP.match(value)):
            self._values[self._open] = value
        self._open, self._parts = None, []

    def entry(self) -> Entry | None:
        url = next((self._values[name].strip() for name in self._shape.urls if name in self._values), "")
        if not url or len(url) > LONGEST_URL:
            return None
        time = next((self._values[name] for name in self._shape.times if name in self._values), "")
        return Entry(self._shape.kind, url, parse_lastmod(time), parse_priority(self._values.get("priority", "")))


class XmlFormat:
    """Names are taken without their namespaces: half of the sitemaps on the web declare none, or a wrong one."""

    def __init__(self, deliver: Callable[[Entry], None]) -> None:
        self._deliver = deliver
        self._depth = self._elements = 0
        self._records: dict[str, _Shape] | None = None
        self._record: _Record | None = None
        self._fed_bytes = 0
        # The encoding was undone before: what the document declares no longer holds.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def feed(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self._fed_bytes += len(data)
        self._parse(data, is_last=False)
        # A tag, a comment or an instruction is held until it is complete: it must not be the whole file.
        if self._fed_bytes - max(self._parser.CurrentByteIndex, 0) > _LONGEST_TAG_BYTES:
            raise BrokenError("a tag does not end")

    def close(self) -> None:
        self._parse(b"", is_last=True)

    def _parse(self, data: bytes, *, is_last: bool) -> None:
        try:
            self._parser.Parse(data, is_last)
        except expat.ExpatError as error:
            raise BrokenError(str(error)) from error

    def _refuse(self, *_declared: object) -> None:
        raise BrokenError("a document type is declared: no list of URLs needs one, and its entities may be a bomb")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > _DEEPEST or self._elements > _MOST_ELEMENTS:
            raise BrokenError("nested too deep, or no end of elements")
        if self._record is not None:
            if self._depth == self._record.depth + 1:
                self._record.start(name, attributes)
            return
        prefix, local = _split(name)
        if self._records is None:
            self._records = _RECORDS.get(local)
            if self._records is None:
                raise BrokenError("no list of URLs that we know")
        elif local in self._records:
            self._record = _Record(prefix, self._records[local], self._depth)

    def _text(self, data: str) -> None:
        if self._record is not None and self._depth == self._record.depth + 1:
            self._record.text(data)

    def _end(self, _name: str) -> None:
        record = self._record
        if record is not None and self._depth == record.depth + 1:
            record.end_child()
        elif record is not None and self._depth == record.depth:
            self._record = None
            if entry := record.entry():
                self._deliver(entry)
        self._depth -= 1


def _split(name: str) -> tuple[str, str]:
    prefix, _, local = name.lower().rpartition(":")
    return prefix, local


class TextFormat:
    """One URL a line. Other lines are passed over; a text without a single URL is no list of them."""

    def __init__(self, deliver: Callable[[Entry], None]) -> None:
        self._deliver = deliver
        self._rest = ""
        self._has_urls = False

    def feed(self, text: str) -> None:
        lines, _, rest = (self._rest + text.replace("\r", "\n")).rpartition("\n")
        # A line that is too long is cut, and stays too long until its end.
        self._rest = rest.lstrip()[: 2 * LONGEST_URL]
        for url in map(str.rstrip, _URL_LINE.findall(lines)):
            if len(url) <= LONGEST_URL:
                self._has_urls = True
                self._deliver(Entry(EntryKind.PAGE, url))

    def close(self) -> None:
        self.feed("\n")
        if not self._has_urls:
            raise BrokenError("no list of URLs that we know")
