"""How rows become bytes. What is appended to a part can be cut off again at a chunk's end, whatever the format."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from bailiwick.query.export.kinds import Column, Type
from bailiwick.query.export.rows import Rows

FORMATS = ("jsonl", "csv", "parquet", "warc")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Encoder(Protocol):
    """Appends. `finish` makes the final file of the part, where that is not the part itself."""

    finish: Callable[[Path, Path], None] | None

    def header(self) -> bytes: ...

    def encode(self, rows: Rows) -> bytes: ...


@dataclass
class JsonLines:
    """One object a line, with every column; what is not known is null."""

    columns: Sequence[Column]
    finish: Callable[[Path, Path], None] | None = None

    def header(self) -> bytes:
        return b""

    def encode(self, rows: Rows) -> bytes:
        names = [column.name for column in self.columns]
        lines = (
            json.dumps(dict(zip(names, map(plain, row), strict=True)), ensure_ascii=False, separators=(",", ":"))
            for row in rows
        )
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


@dataclass
class Csv:
    """RFC 4180 with a header, UTF-8, CRLF. What is not known is empty.

    A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a return) gets a ' in front:
    these texts come from strangers' pages, and are opened by people who did not see them before.
    """

    columns: Sequence[Column]
    finish: Callable[[Path, Path], None] | None = None

    def header(self) -> bytes:
        return self._lines([[column.name for column in self.columns]])

    def encode(self, rows: Rows) -> bytes:
        types = [column.type for column in self.columns]
        return self._lines([[_cell(value, type_) for value, type_ in zip(row, types, strict=True)] for row in rows])

    def _lines(self, rows: Sequence[Sequence[str]]) -> bytes:
        file = io.StringIO(newline="")
        csv.writer(file).writerows(rows)
        return file.getvalue().encode("utf-8", "replace")


def plain(value: object) -> JsonValue:
    """A column's value as JSON has it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if value is None or isinstance(value, str | int | float | list | dict):
        return value
    raise TypeError(f"{type(value).__name__} is no column's value")


def as_json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cell(value: object, type_: Type) -> str:
    if value is None:
        return ""
    if type_ is Type.JSON:
        return as_json_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(plain(value))
    return f"'{text}" if type_ is Type.TEXT and text.startswith(_FORMULA) else text
