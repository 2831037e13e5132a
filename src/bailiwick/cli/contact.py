"""`bailiwick contact`: by whom and what pages can be reached, and forgetting it."""

from collections.abc import Sequence

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.cli.acting import find_named, reason_option, yes_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.extract import forgetting, item_listing
from bailiwick.extract.item_listing import FoundItem
from bailiwick.model.items import ItemKind
from bailiwick.model.search import PageKey
from bailiwick.model.urls import PageUrl, UrlRules, hash_of

_COLUMNS = ("name", "role", "email", "telephone", "page")
_CHUNK = 200
_STAYS = (
    "what stays: texts of pages and their stored bodies, and what was exported before; "
    "bailiwick domain purge NAME removes all that was collected from a domain"
)


@click.group()
def contact() -> None:
    """List contacts that pages give, and forget personal data."""


@contact.command("list")
@click.option("--domain", metavar="D", help="Only of this domain.")
@click.option("--page", metavar="URL", help="Only of this page.")
@click.option("--after", type=int, default=0, metavar="ID", help="Go on after this one.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session, ctx: click.Context, *, domain: str | None, page: str | None, after: int, limit: int, as_json: bool
) -> None:
    """List contacts of what pages hold now: e-mail, telephone, person and role, with their page."""
    app = session.app
    with app.database.read() as conn:
        found = _of_page(conn, app, page) if page else _of_domain(conn, app, domain, limit=limit, after=after)
    rows = [_row(one) for one in found if one.id > after][:limit]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="there are no contacts")
    say_more(session, ctx, rows, "id")


@contact.command()
@click.argument("values", metavar="EMAIL|PHONE|NAME…", nargs=-1, required=True, type=text)
@reason_option
@yes_option
@pass_session
def forget(session: Session, *, values: tuple[str, ...], reason: str | None, yes: bool) -> None:
    """Forget personal data: remove it from items of all history, and keep it from coming back.

    Contacts with one of the values are removed; out of other items and evidence of evaluations the value is taken.
    Search and messages to listeners lose it too. Only a keyed hash is remembered. Texts of pages and stored bodies
    stay as they are.
    """
    app = session.app
    meant = forgetting.understood(values)
    with app.database.read() as conn:
        found = forgetting.preview(conn, meant)
    asked = f"Forget {_told(len(meant), 'value')} in {_told(found.items, 'item')} of {_told(len(found.pages), 'page')}?"
    if not yes and not click.confirm(asked, err=True):
        raise click.Abort
    with app.database.begin() as conn:
        done = forgetting.forget(conn, meant, app.actor(conn), reason=reason)
        _index_again(conn, app, sorted(done.pages))
    cleaned = f"; {_told(done.evaluations, 'evaluation')} cleaned of it" if done.evaluations else ""
    click.echo(
        f"forgotten: {_told(done.items_removed, 'item')} removed, {done.items_changed:,} changed, "
        f"on {_told(len(done.pages), 'page')}{cleaned}"
    )
    session.say(_STAYS)


def _index_again(conn: Connection, app: App, pages: Sequence[PageKey]) -> None:
    """In the same transaction: nobody finds by search what is gone."""
    from bailiwick.query.documents import documents_of

    for start in range(0, len(pages), _CHUNK):
        part = pages[start : start + _CHUNK]
        app.search_index.replace(conn, part, documents_of(conn, part))


def _of_page(conn: Connection, app: App, url: str) -> list[FoundItem]:
    page = PageUrl.parse(url, rules=UrlRules(allow_private=True))
    domain = find_named(conn, page.domain.name, app)
    found = item_listing.items_of_page(conn, domain.id, hash_of(page.path))
    return sorted((one for one in found if one.kind == ItemKind.CONTACT), key=lambda one: one.id)


def _of_domain(conn: Connection, app: App, domain: str | None, *, limit: int, after: int) -> list[FoundItem]:
    domain_id = find_named(conn, domain, app).id if domain else None
    kind = ItemKind.CONTACT.value
    return item_listing.items(conn, domain_id, kind, limit=limit, after=(kind, after))


def _row(one: FoundItem) -> Row:
    return {
        "id": one.id,
        **{name: one.data.get(name) for name in ("name", "role", "email", "telephone")},
        "page": f"{one.domain}{one.path}",
        "confidence": one.confidence,
        "first_seen_at": stamp(one.first_seen_at),
    }


def _told(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
