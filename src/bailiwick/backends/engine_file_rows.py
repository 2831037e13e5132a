"""Rows of a file of search results: CSV, JSON lines, a JSON list, or a saved answer of an engine.

Told apart by what is in the file, not by its name. Read as a stream: memory does not grow with the rows.
"""

import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TextIO, TypeAlias

from bailiwick.backends.engine_http import Json, bounded_hit
from bailiwick.ports import EngineHit

MAX_LINE_CHARS = 1_000_000
MAX_DOCUMENT_CHARS = 16_000_000
_MOST_LINES_OF_A_RECORD = 100
_CHUNK_CHARS = 1_000_000

_SPELLINGS = {
    "url": ("url", "link", "href", "uri", "address", "pageurl", "resulturl", "website", "webpage"),
    "title": ("title", "name", "headline", "pagetitle", "resulttitle"),
    "snippet": ("snippet", "description", "content", "text", "summary", "abstract", "body"),
    "position": ("position", "rank", "pos"),
    "query": ("query", "q", "keyword", "keywords", "searchterm", "searchquery"),
}
_LISTS = ("results", "organic_results", "organic", "items", "data")
_NOT_ALNUM = re.compile(r"[^a-z0-9]")
_SEPARATORS = re.compile(r"[\s,]*")
_NEXT_OBJECT = re.compile(r"(?:\n[ \t]*|\},[ \t]*)\{")
_DELIMITERS = ",;\t|"
_SAID = {f"sep={delimiter}" for delimiter in _DELIMITERS}


@dataclass(frozen=True, slots=True)
class Row:
    """One result, and the query that the file says it answers (None: it says nothing)."""

    line: int
    hit: EngineHit
    query: str | None


@dataclass(frozen=True, slots=True)
class Reject:
    """A line that is no result, and why."""

    line: int
    why: str


Read: TypeAlias = Iterator[Row | Reject]
_Lines: TypeAlias = Iterator[tuple[int, str | None]]
"""Numbered from 1; None is a line that is too long to be read."""


class UnusableFileError(Exception):
    """Nothing in the file is a result; the text says why."""


def read_rows(stream: TextIO) -> Read:
    """Rows and rejected lines, in the order of the file. UnusableFileError if it is of no known kind."""
    first = _first_char(stream)
    if first == "[":
        return iter(_Elements(stream))
    return _of_objects(stream) if first == "{" else _of_csv(_numbered(stream))


def _first_char(stream: TextIO) -> str:
    while chunk := stream.read(_CHUNK_CHARS):
        text = chunk.lstrip()
        if text:
            stream.seek(0)
            return text[0]
    raise UnusableFileError("the file is empty")


def _numbered(stream: TextIO) -> _Lines:
    number = 0
    while line := stream.readline(MAX_LINE_CHARS + 1):
        number += 1
        if len(line) <= MAX_LINE_CHARS or line.endswith(("\n", "\r")):
            yield number, line
            continue
        while (rest := stream.readline(MAX_LINE_CHARS)) and not rest.endswith(("\n", "\r")):
            pass
        yield number, None


def _of_objects(stream: TextIO) -> Read:
    """An object a line; or one object over many lines, which is a saved answer."""
    for _, line in _numbered(stream):
        if line is None or line.strip():
            break
    if line is None or not _is_json(line):
        stream.seek(0)
        text = stream.read(MAX_DOCUMENT_CHARS + 1)
        if len(text) <= MAX_DOCUMENT_CHARS and _is_json(text):
            return _of_value(1, _loads(text))
    stream.seek(0)
    return _of_lines(_numbered(stream))


def _of_lines(lines: _Lines) -> Read:
    for number, line in lines:
        if line is None:
            yield Reject(number, f"is longer than {MAX_LINE_CHARS:,} characters")
        elif line.strip():
            try:
                yield from _of_value(number, _loads(line.rstrip()))
            except ValueError as error:
                yield Reject(number, f"is not JSON: {error}")


class _Elements:
    """The elements of a JSON list out of a stream. Behind a broken one it goes on where the next object seems to be."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._text, self._pos, self._line = stream, "", 0, 1

    def __iter__(self) -> Read:
        self._fill()
        self._go_to(self._text.index("[") + 1)
        while True:
            separators = _SEPARATORS.match(self._text, self._pos)
            self._go_to(separators.end() if separators else self._pos)
            value, end, fault = self._decoded()
            if (fault or end == len(self._text)) and self._fill():
                continue  # it may go on in what was not read yet
            if not fault:
                yield from _of_value(self._line, value)
                self._go_to(end)
            elif self._text.startswith("]", self._pos):
                return
            else:
                line, why = self._line, f"is not JSON: {fault}" if self._pos < len(self._text) else "ends too early"
                goes_on = self._skip()
                yield Reject(line, why if goes_on else f"{why}; what follows it is not read")
                if not goes_on:
                    return

    def _decoded(self) -> tuple[Json, int, str]:
        try:
            value, end = _DECODER.raw_decode(self._text, self._pos)
        except (ValueError, RecursionError) as error:
            return None, self._pos, getattr(error, "msg", "nested too deeply")
        return value, end, ""

    def _go_to(self, pos: int) -> None:
        self._line += self._text.count("\n", self._pos, pos)
        self._pos = pos

    def _fill(self) -> bool:
        """Read on; False at the end of the file, or where one element is longer than a line may be."""
        chunk = self._stream.read(_CHUNK_CHARS) if len(self._text) - self._pos <= MAX_LINE_CHARS else ""
        if chunk:
            self._text, self._pos = self._text[self._pos :] + chunk, 0
        return bool(chunk)

    def _skip(self) -> bool:
        while True:
            found = _NEXT_OBJECT.search(self._text, self._pos)
            self._go_to(found.end() - 1 if found else len(self._text))
            if found or not self._fill():
                return found is not None


_DECODER = json.JSONDecoder()


def _loads(text: str) -> Json:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _is_json(text: str) -> bool:
    try:
        _loads(text)
    except ValueError:
        return False
    return True


def _of_value(line: int, value: Json) -> Read:
    """The rows of one JSON value: a result, a list of them, or an answer with such a list in it."""
    for found in _listed(value):
        if isinstance(found, dict):
            yield _row(line, {_plain(name): _text(cell) for name, cell in found.items()})
        else:
            yield Reject(line, "is no object")


def _listed(value: Json) -> Sequence[Json]:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or any(_plain(name) in _SPELLINGS["url"] for name in value):
        return [value]
    web = value.get("web")
    for place in (value, web if isinstance(web, dict) else {}):
        for name in _LISTS:
            if isinstance(place.get(name), list):
                rows: list[Json] = place[name]
                return rows
    return [value]


def _row(line: int, cells: Mapping[str, str]) -> Row | Reject:
    """A row out of cells by their plain names; of several spellings of a field the first that is filled counts."""

    def cell(field: str) -> str | None:
        there = [cells[name] for name in _SPELLINGS[field] if name in cells]
        return next(filter(None, there), "") if there else None

    url = (cell("url") or "").strip()
    if not url:
        return Reject(line, "has no url")
    hit = bounded_hit(url, cell("title") or "", cell("snippet") or "", _position(cell("position")))
    return Row(line, hit, (cell("query") or "").strip() or None)


def _position(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 and int(text) > 0 else None


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    """`Result URL`, `result_url` and `resultUrl` are one name."""
    return _NOT_ALNUM.sub("", name.lower()[:100])


def _of_csv(lines: _Lines) -> Read:
    csv.field_size_limit(MAX_LINE_CHARS)  # for the whole process; by itself it is less than a line may have
    delimiter, names, ahead = _header(lines)
    waiting = deque(ahead)
    while (taken := waiting.popleft() if waiting else next(lines, None)) is not None:
        number, first = taken
        if first is None:
            yield Reject(number, f"is longer than {MAX_LINE_CHARS:,} characters")
            continue
        record, is_closed = _record(first, lines, waiting)
        reader = csv.reader(record, delimiter=delimiter, strict=not is_closed)
        try:
            for cells in reader:
                if any(cells):
                    yield _row(number + reader.line_num - 1, dict(zip(names, cells, strict=False)))
        except csv.Error as error:
            yield Reject(number, f"is not CSV: {error}")


def _record(first: str, lines: _Lines, waiting: "deque[tuple[int, str | None]]") -> tuple[list[str], bool]:
    """The lines of a record, and whether its quotes are closed. If they are not, all but the first line wait again."""
    record, later, quotes, chars = [first], [], first.count('"'), len(first)
    while quotes % 2 and len(record) < _MOST_LINES_OF_A_RECORD and chars <= MAX_LINE_CHARS:
        taken = waiting.popleft() if waiting else next(lines, None)
        if taken is None:
            break
        later.append(taken)
        if taken[1] is None:
            break
        record.append(taken[1])
        quotes, chars = quotes + taken[1].count('"'), chars + len(taken[1])
    if quotes % 2 == 0:
        return record, True
    waiting.extendleft(reversed(later))
    return [first], False


def _header(lines: _Lines) -> tuple[str, list[str], list[tuple[int, str | None]]]:
    """(delimiter, plain names of the columns, lines that were read too far). A file may begin with a URL at once."""
    said, number = "", 0
    for number, line in lines:  # noqa: B007
        text = (line or "").strip("\ufeff \r\n")
        if text.lower() in _SAID:
            said = text[4]
        elif text:
            break
    else:
        raise UnusableFileError("the file is empty")
    if text.lower().startswith(("http://", "https://")):
        return said or ("\t" if "\t" in text else ","), ["url", "title", "snippet"], [(number, line)]
    for delimiter in said or _DELIMITERS:
        try:
            names = [_plain(cell.strip()) for cell in next(csv.reader([text], delimiter=delimiter), [])]
        except csv.Error:
            continue
        if set(names) & set(_SPELLINGS["url"]):
            return delimiter, names, []
    raise UnusableFileError(f"no column of its first line is called url, link or href: {text[:80]!r}")
