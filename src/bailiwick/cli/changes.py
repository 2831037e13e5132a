"""`bailiwick changes`: which pages hold something else than before, and what."""

import json
from datetime import datetime

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import NotFoundError
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more
from bailiwick.cli.output import Row, printable, show_rows, stamp
from bailiwick.cli.times import moment_option
from bailiwick.extract import changes as history
from bailiwick.extract.changes import Change, DiffLine, Version, Wanted
from bailiwick.model.urls import PageUrl, UrlRules, hash_of

_COLORS = {"+": "green", "-": "red"}


@click.command()
@click.argument("what", metavar="[DOMAIN|URL]", required=False)
@moment_option("--since", "Only from this time on: 2026-03-01, 7d.")
@click.option("--relevant", is_flag=True, help="Only pages that are relevant for their profile.")
@click.option("--versions", is_flag=True, help="Of a URL: all that it held, instead of the last difference.")
@click.option("--after", type=int, metavar="ID", help="Go on after this change.")
@limit_option
@json_option
@click.pass_context
@pass_session
def changes(  # noqa: PLR0913 - one for each option
    session: Session,
    ctx: click.Context,
    *,
    what: str | None,
    since: datetime | None,
    relevant: bool,
    versions: bool,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show which pages hold something else than before, and what.

    Without an argument, or of a domain: the pages that changed, the newest change first. Of a URL: what changed in it
    last, sentence by sentence. Noise is no change: times of rendering, tokens, counters, advertisements.

    \b
    bailiwick changes                            of all domains
    bailiwick changes example.org --since 2026-11-01
    bailiwick changes https://example.org/prices
    """
    app = session.app
    before = after if after is not None else history.NEWEST
    with app.database.read() as conn:
        page = _page(what)
        if what is not None and page is not None:
            found_of_it = _versions(conn, app, page, limit=limit, before=before)
            _show_page(conn, page, found_of_it, versions=versions, as_json=as_json)
            return
        domain_id = find_named(conn, what, app).id if what else None
        found = history.latest(conn, Wanted(domain_id, None, since, relevant), limit=limit, before=before)
    rows = [_row(change) for change in found]
    show_rows(rows, ("at", "page", "words", "title"), as_json=as_json, empty="nothing has changed")
    say_more(session, ctx, rows, "id")


def _page(what: str | None) -> PageUrl | None:
    """The page, if the argument names more than a domain."""
    if not what or "/" not in what.partition("://")[2 if "://" in what else 0].rstrip("/"):
        return None
    return PageUrl.parse(what, rules=UrlRules(allow_private=True))


def _row(change: Change) -> Row:
    grown = change.words - (change.words_before or 0)
    return {
        "id": change.id,
        "at": stamp(change.seen_at),
        "page": f"{change.domain}{change.path}",
        "words": f"{change.words:,} ({grown:+,})",
        "title": change.title,
        "is_relevant": change.is_relevant,
        "snapshot": change.snapshot_id,
        "previous": change.previous_id,
    }


def _versions(conn: Connection, app: App, page: PageUrl, *, limit: int, before: int) -> list[Version]:
    domain = find_named(conn, page.domain.name, app)
    found = history.versions(conn, domain.id, hash_of(page.path), limit=limit, before=before)
    if not found:
        raise NotFoundError(f"no content of {page} is known", hint=f"bailiwick explain {page}")
    return found


def _show_page(conn: Connection, page: PageUrl, found: list[Version], *, versions: bool, as_json: bool) -> None:
    if versions:
        rows: list[Row] = [
            {"id": v.id, "at": stamp(v.seen_at), "snapshot": v.snapshot_id, "words": v.words, "title": v.title}
            for v in found
        ]
        show_rows(rows, ("at", "snapshot", "words", "title"), as_json=as_json, empty="")
        return
    newest = found[0]
    if newest.previous_id is None:
        click.echo(f"{page} has not changed since it was seen first, {stamp(newest.seen_at)}", err=True)
        return
    lines = history.difference(conn, newest.previous_id, newest.snapshot_id)
    if as_json:
        click.echo(
            json.dumps({"page": str(page), "at": stamp(newest.seen_at), "diff": [[x.sign, x.text] for x in lines]})
        )
        return
    click.echo(f"{page} changed, seen {stamp(newest.seen_at)}:")
    for line in lines:
        click.echo(_line(line))


def _line(line: DiffLine) -> str:
    text = f"{line.sign} {printable(line.text)}".rstrip()
    return click.style(text, fg=_COLORS[line.sign]) if line.sign in _COLORS else text
