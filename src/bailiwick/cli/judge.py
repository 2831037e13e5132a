"""`bailiwick judge`: what the judges say of search results in a file. No database, nothing is kept."""

import heapq
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session, profile_option
from bailiwick.cli.output import Look, Row, printable, show_rows

if TYPE_CHECKING:
    from bailiwick.judge.panel import Panel
    from bailiwick.judge.reading import Line, Read
    from bailiwick.model.discovery import Judgment

_BATCH = 500
_SHOWN_RESULTS, _SHOWN_REFUSALS = 50, 20
_REMEMBERED_PAGES = 2_000_000


@dataclass(slots=True)
class _Counts:
    judged: int = 0
    to_crawl: int = 0
    refused: int = 0
    seen: set[int] = field(default_factory=set)
    repeated: int = 0


@click.command()
@click.argument("file", metavar="FILE|-")
@profile_option
@click.option("--threshold", type=click.FloatRange(0, 1), help="Confidence from which on to crawl (the profile's).")
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Judge deadlines as of this day.")
@click.option("--limit", type=click.IntRange(1), help="Show so many: the best (50), or with --json the first (all).")
@json_option
@pass_session
def judge(
    session: Session,
    *,
    file: str,
    profile: str,
    threshold: float | None,
    today: datetime | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Judge search results from a file: confidence, and each judge's score and reason.

    FILE (- is standard input) holds a JSON object a line: url, title, snippet; engine and position if known. Nothing is
    fetched, no database is needed, nothing is kept. A line that cannot be judged is told of with its number.

    \b
    echo '{"url": "https://example.org/grants", "title": "Small grants for artists"}' > results.jsonl
    bailiwick judge results.jsonl --profile funding
    bailiwick judge results.jsonl --profile funding --json | jq -c '[.confidence_score, .url]'
    """
    from bailiwick.judge.panel import Panel
    from bailiwick.judge.reading import read_lines
    from bailiwick.model.profile_files import load_profile

    chosen = load_profile(profile, session.place.profiles)
    _say_what_is_missing(session, has_topic=chosen.topic is not None)
    panel = Panel(chosen, (today or datetime.now(UTC)).date(), threshold=threshold)
    counts = _Counts()
    with _opened(file) as stream:
        rows = _judged(panel, read_lines(_lines(stream)), counts)
        if as_json:
            for row in islice(rows, limit):
                click.echo(json.dumps(row, ensure_ascii=False))
        else:
            _show(rows, limit or _SHOWN_RESULTS)
    _sum_up(session, counts)


def _opened(file: str) -> "nullcontext[BinaryIO] | BinaryIO":
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    if not Path(file).is_file():
        raise UsageError(f"there is no file {file}", hint="- reads standard input")
    return Path(file).open("rb")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Line by line; of one that is longer than any may be, only as much is kept as shows that."""
    from bailiwick.judge.reading import MAX_LINE_BYTES

    while line := stream.readline(MAX_LINE_BYTES + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES)
        yield line


def _judged(panel: "Panel", lines: "Iterator[Line]", counts: _Counts) -> Iterator[Row]:
    from bailiwick.judge.reading import Read

    while batch := list(islice(lines, _BATCH)):
        read = [line for line in batch if isinstance(line, Read)]
        for line in batch:
            if not isinstance(line, Read):
                _tell_refused(counts, line.line, line.why)
        for one, judgment in zip(read, panel.judge([line.case for line in read]), strict=True):
            _count(counts, one, judgment)
            yield _row(one, judgment)


def _tell_refused(counts: _Counts, line: int, why: str) -> None:
    counts.refused += 1
    if counts.refused <= _SHOWN_REFUSALS:
        click.echo(f"line {line:,} is not judged: {printable(why)[:200]}", err=True)


def _count(counts: _Counts, read: "Read", judgment: "Judgment") -> None:
    counts.judged += 1
    counts.to_crawl += judgment.should_crawl
    page = hash(read.page)
    counts.repeated += page in counts.seen
    if len(counts.seen) < _REMEMBERED_PAGES:
        counts.seen.add(page)


def _row(read: "Read", judgment: "Judgment") -> Row:
    result = read.case.result
    return {"line": read.line, "url": result.url, "title": result.title, **judgment.model_dump(mode="json")}


def _show(rows: Iterator[Row], most: int) -> None:
    best = heapq.nsmallest(most, rows, key=lambda row: (-_confidence(row), row["line"]))
    show_rows(
        best,
        ("confidence", "crawl", "url", "title"),
        as_json=False,
        empty="nothing to judge",
        look=Look(cells=_cells, below=lambda row: str(row["reasoning"])),
    )


def _cells(row: Row) -> Row:
    from bailiwick.judge.telling import two_decimals

    crawl = "yes" if row["should_crawl"] else "no"
    return {
        "confidence": two_decimals(_confidence(row)),
        "crawl": crawl,
        "url": str(row["url"])[:80],
        "title": str(row["title"])[:80],
    }


def _confidence(row: Row) -> float:
    return float(str(row["confidence_score"]))


def _sum_up(session: Session, counts: _Counts) -> None:
    told = [f"judged {counts.judged:,} results, {counts.to_crawl:,} of them to be crawled"]
    if counts.repeated:
        told.append(f"pages that came before: {counts.repeated:,}")
    if counts.refused:
        told.append(f"lines not judged: {counts.refused:,}")
    session.say("; ".join(told))


def _say_what_is_missing(session: Session, *, has_topic: bool) -> None:
    from bailiwick.evidence.embedding import shipped_embedder

    if has_topic and shipped_embedder() is None:
        session.say("note: the judge meaning is not heard; pip install 'bailiwick[content]'")
