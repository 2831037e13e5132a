"""What changed: the history of contents, and the difference between two of them as people read it."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from bailiwick.base.errors import NotFoundError
from bailiwick.extract.queue import SQL

NEWEST = 2**63 - 1
_MOST_LINES = 20_000
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")


@dataclass(frozen=True, slots=True)
class Change:
    """One page that holds something else than before."""

    id: int
    seen_at: datetime
    domain: str
    path: str
    snapshot_id: int
    previous_id: int
    title: str | None
    words: int
    words_before: int | None
    is_relevant: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changes: of one domain, of one page, since a time, of relevant pages alone."""

    domain_id: int | None = None
    path_hash: int | None = None
    since: datetime | None = None
    only_relevant: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """One content of a page, and since when it was there."""

    id: int
    seen_at: datetime
    snapshot_id: int
    previous_id: int | None
    title: str | None
    words: int
    is_relevant: bool


def latest(conn: Connection, wanted: Wanted, *, limit: int, before: int = NEWEST) -> list[Change]:
    """A page of changes, the newest first."""
    values = {
        "domain_id": wanted.domain_id,
        "path_hash": wanted.path_hash,
        "since": wanted.since,
        "only_relevant": wanted.only_relevant,
        "before": before,
        "limit": limit,
    }
    return [
        Change(
            row.id, row.seen_at, row.name, row.path, row.snapshot_id, row.previous_id, row.title, row.words,
            row.words_before, row.is_relevant,
        )
        for row in conn.exec_driver_sql(SQL["changes"], values)
    ]  # fmt: skip


def versions(conn: Connection, domain_id: int, path_hash: int, *, limit: int, before: int = NEWEST) -> list[Version]:
    """What one page held, the newest first."""
    values = {"domain_id": domain_id, "path_hash": path_hash, "limit": limit, "before": before}
    return [
        Version(row.id, row.seen_at, row.snapshot_id, row.previous_id, row.title, row.words, row.is_relevant)
        for row in conn.exec_driver_sql(SQL["page_history"], values)
    ]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A sentence or line: `+` is new, `-` is gone, a space stands beside them; `…` leaves some out."""

    sign: str
    text: str


def difference(conn: Connection, before_id: int, after_id: int, *, around: int = 1) -> list[DiffLine]:
    """From one snapshot to the other, sentence by sentence. NotFoundError if one is gone."""
    rows = {row.id: row for row in conn.exec_driver_sql(SQL["texts"], {"ids": [before_id, after_id]})}
    for wanted in (before_id, after_id):
        if wanted not in rows:
            raise NotFoundError(f"there is no snapshot {wanted} any more")
    old, new = rows[before_id], rows[after_id]
    titles = [] if old.title == new.title else [DiffLine("-", old.title or ""), DiffLine("+", new.title or "")]
    return titles + list(diff_lines(old.text, new.text, around=around))


def diff_lines(old: str, new: str, *, around: int = 1) -> Iterator[DiffLine]:
    """Sentence by sentence: a paragraph in which one changed is not shown as a whole."""
    a, b = _sentences(old), _sentences(new)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=len(a) + len(b) > 2000)
    for number, group in enumerate(matcher.get_grouped_opcodes(around)):
        if number:
            yield DiffLine("…", "")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from (DiffLine(" ", line) for line in a[i1:i2])
            else:
                yield from (DiffLine("-", line) for line in a[i1:i2])
                yield from (DiffLine("+", line) for line in b[j1:j2])


def _sentences(text: str) -> list[str]:
    found = [part.strip() for line in text.splitlines() for part in _SENTENCE_END.split(line)]
    return [part for part in found if part][:_MOST_LINES]
