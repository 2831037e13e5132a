"""`bailiwick url list`: pages that cannot be read, and pages that never pay off."""

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, say_more
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.extract import listing
from bailiwick.extract.listing import FIRST, Key

_COLUMNS = {
    "unread": ("page", "outcome", "error", "at"),
    "unproductive": ("page", "profile", "fetches", "last_fetched"),
}
_EMPTY = {
    "unread": "every page that was parsed could be read",
    "unproductive": "no page that was fetched of late is unproductive",
}


def show(
    session: Session,
    ctx: click.Context,
    which: str,
    *,
    domain: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """One page of the list."""
    app = session.app
    start = _key(after)
    with app.database.read() as conn:
        domain_id = find_named(conn, domain, app).id if domain else None
        if which == "unread":
            rows = _unread(conn, domain_id, limit, start)
        else:
            rows = _unproductive(conn, app, domain_id, limit, start)
    show_rows(rows, _COLUMNS[which], as_json=as_json, empty=_EMPTY[which])
    say_more(session, ctx, rows, "key")


def _unread(conn: Connection, domain_id: int | None, limit: int, after: Key) -> list[Row]:
    return [
        {
            "page": f"{page.domain}{page.path}",
            "outcome": page.outcome,
            "error": page.error,
            "at": stamp(page.parsed_at),
            "key": _written(page.key),
        }
        for page in listing.unread(conn, domain_id, limit=limit, after=after)
    ]


def _unproductive(conn: Connection, app: App, domain_id: int | None, limit: int, after: Key) -> list[Row]:
    days = app.settings.parse.unproductive_after_days
    wanted = {name: [kind.value for kind in profile.extractors] for name, profile in app.profiles().items()}
    found = listing.unproductive(conn, domain_id, wanted, days=days, limit=limit, after=after)
    return [
        {
            "page": f"{page.domain}{page.path}",
            "profile": page.profile,
            "fetches": page.fetches,
            "last_fetched": stamp(page.last_fetched_at),
            "key": _written(page.key),
        }
        for page in found
    ]


def _written(key: Key) -> str:
    return f"{key[0]}:{key[1]}"


def _key(text: str | None) -> Key:
    if text is None:
        return FIRST
    domain_id, _, path_hash = text.partition(":")
    try:
        return (int(domain_id), int(path_hash))
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no key of this list", hint="copy it from the line that begins with more:"
        ) from error
