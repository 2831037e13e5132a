"""Results in a file of JSON lines, as search engines' exports have them: each line a case, or why it is none."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.discovery import (
    MAX_SNIPPET_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    Case,
    SearchResult,
    Sighting,
)
from bailiwick.model.results import plain_text
from bailiwick.model.urls import PageUrl

MAX_LINE_BYTES = 1_000_000
_URL, _TITLE, _SNIPPET = ("url", "link", "href"), ("title", "name"), ("snippet", "description", "content", "text")
_MAX_POSITION = 1_000_000


@dataclass(frozen=True, slots=True)
class Read:
    """A line that can be judged."""

    line: int
    case: Case
    page: PageUrl


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that cannot be, and why."""

    line: int
    why: str


Line: TypeAlias = Read | Refused


def read_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    """Empty lines are skipped, all others are told of. Never raises for what a line holds."""
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            yield _line(number, raw)


def _line(number: int, raw: bytes) -> Line:
    row = _object(raw)
    if isinstance(row, str):
        return Refused(number, row)
    url = _text(row, _URL).strip()
    if not url or len(url) > MAX_URL_CHARS:
        return Refused(number, f"a URL of more than {MAX_URL_CHARS:,} characters" if url else "no url")
    try:
        page = PageUrl.parse(url)
    except NameRefusedError as error:
        return Refused(number, error.message)
    return Read(number, Case.of(_result(row, url), page.domain, sightings=_sightings(row)), page)


def _object(raw: bytes) -> dict[str, JsonValue] | str:
    """The object that a line holds, or why it holds none."""
    if len(raw) > MAX_LINE_BYTES:
        return f"longer than {MAX_LINE_BYTES:,} bytes"
    try:
        row: JsonValue = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return "no JSON"
    return row if isinstance(row, dict) else "no JSON object"


def _result(row: Mapping[str, JsonValue], url: str) -> SearchResult:
    title, snippet = _text(row, _TITLE), _text(row, _SNIPPET)
    return SearchResult(url, plain_text(title, MAX_TITLE_CHARS), plain_text(snippet, MAX_SNIPPET_CHARS))


def _sightings(row: Mapping[str, JsonValue]) -> tuple[Sighting, ...]:
    """Where the file says that an engine put it, if it does."""
    engine, query, position = row.get("engine"), row.get("query"), row.get("position")
    if not isinstance(engine, str) or isinstance(position, bool) or not isinstance(position, int):
        return ()
    place = min(max(position, 1), _MAX_POSITION)
    return (Sighting(plain_text(engine, 60), plain_text(query, 500) if isinstance(query, str) else "", place),)


def _text(row: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := row.get(key), str) and value.strip()), "")
