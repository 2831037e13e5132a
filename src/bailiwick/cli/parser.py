"""`bailiwick parser`: page objects of one's own for single sites, and how they do."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from pydantic import JsonValue

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more
from bailiwick.cli.output import Row, printable, show_rows, stamp

if TYPE_CHECKING:
    from bailiwick.app import App
    from bailiwick.extract.page import Body, Extracted
    from bailiwick.extract.parsers.facts import ParserFacts, Survey
    from bailiwick.extract.parsers.listing import Rate
    from bailiwick.model.content import Unread

T = TypeVar("T")
_SHOWN_CHARS = 200
_LISTS = {
    "parsers": (("name", "pattern", "kind", "version", "from", "success"), "no site parsers: see docs/guides"),
    "domains": (("domain", "parser", "version", "success", "state", "last"), "no site parser was tried yet"),
    "failed": (("page", "parser", "version", "outcome", "why", "at"), "no site parser failed"),
}


@click.group()
def parser() -> None:
    """See and try site parsers: page objects of your own for single sites.

    They are web-poet page objects in files parsers/*.py beside bailiwick.toml, or in installed packages (entry points
    bailiwick.parsers). On the pages that they are for they take the place of the built-in extractor of that kind.
    """


@parser.command("list")
@click.option("--domains", "which", flag_value="domains", help="How each does on each domain, by version.")
@click.option("--failed", "which", flag_value="failed", help="Pages on which a parser failed the last time, and why.")
@click.option("--domain", metavar="D", help="With --domains and --failed: only of this domain.")
@click.option("--after", metavar="KEY", help="With --domains and --failed: go on after this row's key.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session,
    ctx: click.Context,
    *,
    which: str | None,
    domain: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List site parsers with their success; ends with 1 if one cannot be loaded or used, and says why.

    \b
    bailiwick parser list
    bailiwick parser list --domains
    bailiwick parser list --failed --domain shop.example
    """
    if which is None:
        if domain or after:
            raise UsageError("--domain and --after go with --domains or --failed")
        return _show_parsers(session, limit, as_json=as_json)
    rows = _tried(session.app, which, domain, limit, after)
    columns, empty = _LISTS[which]
    show_rows(rows, columns, as_json=as_json, empty=empty)
    say_more(session, ctx, rows, "key")
    return 0


@parser.command()
@click.argument("source", metavar="URL|FILE")
@click.option("--url", metavar="U", help="Of a file: the address that it has on the web. It decides which parser runs.")
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@json_option
@pass_session
def test(session: Session, *, source: str, url: str | None, resolves: tuple[str, ...], as_json: bool) -> int:
    """Try the parser that a page has: which one it is, what it gives, what of that is refused.

    A FILE (- is standard input) needs no database. A URL is fetched for you, as by `bailiwick extract`. Nothing is
    kept, and nothing is counted. Ends with 1 if no parser is for the page, or it fails.

    \b
    bailiwick parser test page.html --url https://shop.example/item/7
    bailiwick parser test https://shop.example/item/7 --json
    """
    from bailiwick.cli.extract import body_of
    from bailiwick.model.content import Unread
    from bailiwick.model.items import ParserOutcome

    if not source.startswith(("http://", "https://")) and url is None:
        raise UsageError("of a file the address is needed, too", hint="bailiwick parser test FILE --url URL")
    survey = session.app.site_parsers
    body = body_of(session, source, url, "general", resolves)
    found = asyncio.run(_run(session.app, body))
    if isinstance(found, Unread):
        raise UsageError(f"there is no content to parse: {found.why} ({found.outcome})")
    if as_json:
        click.echo(json.dumps(_facts(found, body.url), ensure_ascii=False))
    else:
        _show(found, survey, body.url)
    is_good = bool(found.tries) and all(one.outcome is ParserOutcome.SUCCEEDED for one in found.tries)
    return 0 if is_good else 1


def _show_parsers(session: Session, limit: int, *, as_json: bool) -> int:
    from bailiwick.extract.parsers.survey import survey

    found = survey(session.place.parsers)
    rates = _rates(session.app) if found.parsers else {}
    rows = [_row(one, rates.get((one.name, one.version)), session.place.root) for one in found.parsers[:limit]]
    columns, empty = _LISTS["parsers"]
    if rows or not found.faults:
        show_rows(rows, columns, as_json=as_json, empty=f"{empty}/site-parsers.md")
    for fault in found.faults:
        click.echo(f"error: {fault}", err=True)
    for one in found.parsers:
        if one.refused is not None:
            click.echo(f"error: {one.name} is not used: {one.refused}", err=True)
    if len(found.parsers) > limit:
        session.say(f"{len(found.parsers) - limit:,} more: --limit {len(found.parsers)}")
    return 1 if found.faults or len(found.usable) < len(found.parsers) else 0


def _rates(app: "App") -> "dict[tuple[str, int], Rate]":
    """None where there is no database: the list needs none."""
    from bailiwick.extract.parsers.listing import rates

    if app.bootstrap.tree.database.url is None and not app.place.exists:
        return {}
    with app.database.read() as conn:
        return rates(conn)


def _row(one: "ParserFacts", rate: "Rate | None", root: Path) -> Row:
    where = Path(one.where)
    return {
        "name": one.name,
        "pattern": ", ".join(one.patterns) or "every page",
        "kind": one.kind,
        "version": one.version,
        "from": str(where.relative_to(root)) if where.is_relative_to(root) else one.where,
        "success": _success(rate) if one.refused is None else None,
        "tried": rate.tried if rate else 0,
        "succeeded": rate.succeeded if rate else 0,
        "refused": one.refused,
    }


def _success(rate: "Rate | None") -> str | None:
    return f"{rate.share:.0%} of {rate.tried:,}{', halved' if rate.is_fallen else ''}" if rate else None


def _tried(app: "App", which: str, domain: str | None, limit: int, after: str | None) -> list[Row]:
    from bailiwick.cli.acting import find_named
    from bailiwick.extract.parsers.listing import FIRST_FAILURE, FIRST_RATE, failures, rates_by_domain

    with app.database.read() as conn:
        domain_id = find_named(conn, domain, app).id if domain else None
        if which == "domains":
            start = _key(after, (int, str, int), FIRST_RATE)
            return [
                {
                    "domain": one.domain,
                    "parser": one.rate.parser,
                    "version": one.rate.version,
                    "success": f"{one.rate.share:.0%} of {one.rate.tried:,}",
                    "state": "halved" if one.rate.is_fallen else "good",
                    "last": stamp(one.last_tried_at),
                    "tried": one.rate.tried,
                    "succeeded": one.rate.succeeded,
                    "key": json.dumps(one.key),
                }
                for one in rates_by_domain(conn, domain_id, limit=limit, after=start)
            ]
        start_failed = _key(after, (int, int, str), FIRST_FAILURE)
        return [
            {
                "page": f"{one.domain}{one.path}",
                "parser": one.parser,
                "version": one.version,
                "outcome": one.outcome,
                "why": one.why,
                "at": stamp(one.tried_at),
                "key": json.dumps(one.key),
            }
            for one in failures(conn, domain_id, limit=limit, after=start_failed)
        ]


def _key(given: str | None, types: tuple[type, ...], first: T) -> T:
    """A key is written as the JSON of its parts."""
    if given is None:
        return first
    try:
        parts = json.loads(given)
    except json.JSONDecodeError:
        parts = None
    if not isinstance(parts, list) or [type(part) for part in parts] != list(types):
        raise UsageError(f"{given!r} is no key of this list", hint="copy it from the line that begins with more:")
    key: T = tuple(parts)  # type: ignore[assignment]
    return key


async def _run(app: "App", body: "Body") -> "Extracted | Unread":
    from dataclasses import replace

    from bailiwick.pipeline.parsing import pool_of

    kinds = {one.kind for one in app.site_parsers.usable if one.kind is not None}
    pool = pool_of(app, app.bootstrap.tree, size=1)
    try:
        [found] = await pool.extract([replace(body, kinds=sorted(kinds))])
    finally:
        pool.close()
    return found


def _facts(found: "Extracted", url: str) -> dict[str, JsonValue]:
    names = {one.parser for one in found.tries}
    return {
        "url": url,
        "parsers": [
            {"parser": one.parser, "version": one.version, "kind": one.kind, "outcome": one.outcome, "why": one.why}
            for one in found.tries
        ],
        "items": [
            {"kind": item.kind, "extractor": item.extractor, "version": item.version, "confidence": item.confidence,
             "data": item.data}
            for item in found.items
        ],
        "rejects": [
            {"kind": one.kind, "field": one.field, "value": one.value, "why": one.why}
            for one in found.rejects if one.extractor in names
        ],
    }  # fmt: skip


def _show(found: "Extracted", survey: "Survey", url: str) -> None:
    for one in found.tries:
        click.echo(f"{click.style(one.parser, bold=True)} version {one.version} for {one.kind}: {one.outcome}")
        if one.why:
            click.echo(f"  {printable(one.why)}")
        for reject in found.rejects:
            if reject.extractor == one.parser and reject.field is not None:
                click.echo(f"  refused: {reject.field} = {printable(reject.value[:_SHOWN_CHARS])}: {reject.why}")
    if not found.tries:
        click.echo(f"no parser is for {printable(url)}", err=True)
        for known in survey.usable[:20]:
            click.echo(f"  {known.name} is for {', '.join(known.patterns) or 'every page'}", err=True)
        return
    for item in found.items:
        own = any(one.parser == item.extractor for one in found.tries)
        whose = "" if own else f" (of the built-in extractor {item.extractor}, in its place)"
        click.echo(f"{click.style(item.kind, bold=True)}, confidence {item.confidence:.2f}{whose}")
        for name, value in item.data.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"  {name}: {printable(text[:_SHOWN_CHARS])}")
