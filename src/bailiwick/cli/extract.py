"""`bailiwick extract`: everything that one page gives. The first thing a developer tries."""

import asyncio
import json
import mimetypes
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import JsonValue

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session, profile_option
from bailiwick.cli.output import printable

if TYPE_CHECKING:
    from bailiwick.extract.page import Body, Extracted
    from bailiwick.model.content import Unread
    from bailiwick.model.images import FoundImage

_MOST_BYTES = 100_000_000
_SHOWN_IMAGES = 10
_SHOWN_CHARS = 1500
_ELSEWHERE = "https://example.invalid/"


@click.command()
@click.argument("source", metavar="FILE|URL")
@click.option("--url", metavar="U", help="Of a file: the address that it has on the web.")
@profile_option
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@json_option
@pass_session
def extract(
    session: Session, *, source: str, url: str | None, profile: str, resolves: tuple[str, ...], as_json: bool
) -> int:
    """Show everything that one page gives: content, markdown, relevance with its reason, items.

    A FILE (- is standard input) needs no database, and nothing is kept. A URL is fetched for you: its robots.txt and
    the pace of its host hold, nothing is fetched from a domain that was rejected, and the trail tells of it.

    \b
    bailiwick extract page.html --url https://example.org/page --json
    bailiwick extract https://example.org/call-2026.pdf --profile funding
    """
    from bailiwick.model.content import Unread

    body = body_of(session, source, url, profile, resolves)
    found = asyncio.run(_extract(session, body))
    if as_json:
        click.echo(json.dumps(_facts(found, body.url), ensure_ascii=False))
    elif isinstance(found, Unread):
        click.echo(f"error: no content: {found.why} ({found.outcome})", err=True)
    else:
        _show(found)
    return 1 if isinstance(found, Unread) else 0


def body_of(session: Session, source: str, url: str | None, profile: str, resolves: tuple[str, ...]) -> "Body":
    """The page that a person named: a file, standard input, or fetched for him."""
    if not source.startswith(("http://", "https://")):
        return _from_file(source, url, profile)
    if url is not None:
        raise UsageError("--url is for files", hint="an address needs no other one")
    return _fetched(session, source, profile, resolves)


def _from_file(source: str, url: str | None, profile: str) -> "Body":
    from bailiwick.extract.page import Body

    if source == "-":
        data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        path = Path(source)
        if not path.is_file():
            raise UsageError(f"there is no file {source}", hint="an address starts with https:// or http://")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{source} has more than {_MOST_BYTES:,} bytes")
    kind = mimetypes.guess_type(source)[0] or ""
    return Body(data, kind, url or _ELSEWHERE, profile)


def _fetched(session: Session, url: str, profile: str, resolves: tuple[str, ...]) -> "Body":
    from bailiwick.extract.page import Body
    from bailiwick.net.guard import Resolve
    from bailiwick.pipeline.single import fetch

    app = session.app.create()
    answer = fetch(app, url, tuple(Resolve.parse(text) for text in resolves))
    return Body(answer.body or b"", answer.headers.get("content-type", ""), answer.url, profile)


async def _extract(session: Session, body: "Body") -> "Extracted | Unread":
    """In a child process: within the limits of time and memory that hold for every page."""
    from bailiwick.pipeline.parsing import pool_of

    app = session.app
    app.say_what_is_missing()
    pool = pool_of(app, app.bootstrap.tree, size=1)
    try:
        [found] = await pool.extract([body])
    finally:
        pool.close()
    return found


def _facts(found: "Extracted | Unread", url: str) -> dict[str, JsonValue]:
    from bailiwick.model.content import Unread

    if isinstance(found, Unread):
        return {"url": url, "outcome": found.outcome.value, "error": found.why}
    content: dict[str, JsonValue] = {name: _plain(value) for name, value in asdict(found.content).items()}
    return {
        "url": url,
        "outcome": "parsed",
        **content,
        "relevance": {name: _plain(value) for name, value in asdict(found.relevance).items()}
        if found.relevance
        else None,
        "markdown": found.markdown,
        "items": [{name: _plain(value) for name, value in asdict(item).items()} for item in found.items],
        "images": [{name: _plain(value) for name, value in asdict(image).items()} for image in _images(found)],
        "rejects": [{name: _plain(value) for name, value in asdict(reject).items()} for reject in found.rejects],
    }


def _images(found: "Extracted") -> "list[FoundImage]":
    return found.images.found if found.images is not None else []


def _plain(value: object) -> JsonValue:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _show(found: "Extracted") -> None:
    content, relevance = found.content, found.relevance
    facts = {
        "title": content.title,
        "description": content.description,
        "language": content.language,
        "author": content.author,
        "published": content.published_at and f"{content.published_at:%Y-%m-%d %H:%M}",
        "modified": content.modified_at and f"{content.modified_at:%Y-%m-%d %H:%M}",
        "canonical": content.canonical,
        "words": f"{content.words:,} ({content.kind})",
        "relevance": relevance
        and f"{relevance.score:.2f}, {'yes' if relevance.is_relevant else 'no'}: {relevance.reason}",
        "content hash": content.content_hash.hex(),
    }
    for name, value in facts.items():
        if value:
            click.echo(f"{click.style(name.ljust(12), bold=True)}  {printable(str(value))}")
    for item in found.items:
        click.echo(f"{click.style(item.kind.ljust(12), bold=True)}  confidence {item.confidence:.2f}, {item.extractor}")
        for name, data in item.data.items():
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            sure = f"{item.fields[name]:.2f}" if name in item.fields else ""
            click.echo(f"        {sure.rjust(4)}  {name}: {printable(' '.join(text.split())[:200])}")
    images = _images(found)
    for image in images[:_SHOWN_IMAGES]:
        told = f"{image.kind}, {image.url}" + (f" ({image.alt})" if image.alt else "")
        click.echo(f"{click.style('image'.ljust(12), bold=True)}  {printable(told[:300])}")
    if len(images) > _SHOWN_IMAGES:
        click.echo(f"{' ' * 12}  … and {len(images) - _SHOWN_IMAGES:,} more images (--json shows all)")
    for reject in found.rejects:
        what = f"{reject.kind} {reject.field or ''}".strip()
        click.echo(
            f"{click.style('refused'.ljust(12), bold=True)}  {what} {printable(reject.value[:60])!r}: {reject.why}"
        )
    shown = found.markdown if found.markdown is not None else content.text
    click.echo("")
    click.echo("\n".join(printable(line) for line in shown[:_SHOWN_CHARS].splitlines()))
    if len(shown) > _SHOWN_CHARS:
        click.echo(f"… and {len(shown) - _SHOWN_CHARS:,} more characters (--json shows all)")
