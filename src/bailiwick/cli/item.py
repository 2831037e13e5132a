"""`bailiwick item`: what was extracted from pages, where it comes from, and what was refused."""

import json

import click

from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more
from bailiwick.cli.output import Row, printable, show_rows, stamp
from bailiwick.extract import item_listing
from bailiwick.extract.item_listing import FoundItem, PriceAt
from bailiwick.model.items import ItemKind
from bailiwick.model.urls import PageUrl, UrlRules, hash_of

_SHOWN_CHARS = 200
_domain_option = click.option("--domain", metavar="D", help="Only of this domain.")
_FIRST = ":0"


@click.group()
def item() -> None:
    """See items: products, services, contacts and whatever else pages describe."""


@item.command("list")
@click.option("--kind", type=click.Choice([kind.value for kind in ItemKind]), help="Only items of this kind.")
@_domain_option
@click.option("--after", default=_FIRST, metavar="KIND:ID", help="Go on after this one.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_items(
    session: Session, ctx: click.Context, *, kind: str | None, domain: str | None, after: str, limit: int, as_json: bool
) -> None:
    """List items of what pages hold now, by kind and in the order in which they were found."""
    cursor = _cursor(after)
    app = session.app
    with app.database.read() as conn:
        domain_id = find_named(conn, domain, app).id if domain else None
        found = item_listing.items(conn, domain_id, kind, limit=limit, after=cursor)
    rows = [_row(one) for one in found]
    show_rows(rows, ("kind", "title", "confidence", "page"), as_json=as_json, empty="there are no items")
    say_more(session, ctx, rows, "cursor")


def _cursor(text: str) -> item_listing.Cursor:
    kind, _, number = text.rpartition(":")
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise UsageError(f"{text!r} is no place in the list", hint="--after product:1234, as the list says at its end")
    return kind, int(number)


@item.command("show")
@click.argument("url", metavar="URL")
@json_option
@pass_session
def show_items(session: Session, *, url: str, as_json: bool) -> None:
    """Show the items of a page: each field with how sure it is, what found it, and how its price went."""
    app = session.app
    page = PageUrl.parse(url, rules=UrlRules(allow_private=True))
    with app.database.read() as conn:
        domain = find_named(conn, page.domain.name, app)
        found = item_listing.items_of_page(conn, domain.id, hash_of(page.path))
        prices = item_listing.prices_of_page(conn, domain.id, hash_of(page.path), limit=50)
    if not found:
        raise NotFoundError(f"there are no items of {page}", hint=f"bailiwick explain {page}")
    if as_json:
        history = {"price_history": [_price_row(price) for price in prices]}
        for one in found:
            more = history if one.kind == ItemKind.PRODUCT else {}
            click.echo(json.dumps({**_row(one), **more}, ensure_ascii=False))
        return
    for one in found:
        _show(one, prices if one.kind == ItemKind.PRODUCT and one.position == 0 else [])


@item.command("rejects")
@_domain_option
@click.option("--after", type=int, default=0, metavar="ID", help="Go on after this one.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_rejects(
    session: Session, ctx: click.Context, *, domain: str | None, after: int, limit: int, as_json: bool
) -> None:
    """List values that pages give and the schema of their kind refuses: prices, ratings, currencies."""
    app = session.app
    with app.database.read() as conn:
        domain_id = find_named(conn, domain, app).id if domain else None
        found = item_listing.rejects(conn, domain_id, limit=limit, after=after)
    rows: list[Row] = [
        {
            "id": one.id,
            "kind": one.kind,
            "field": one.field,
            "value": one.value if as_json else one.value[:60],
            "reason": one.reason,
            "page": f"{one.domain}{one.path}",
            "extractor": one.extractor,
            "extractor_version": one.extractor_version,
            "at": stamp(one.created_at),
        }
        for one in found
    ]
    show_rows(rows, ("kind", "field", "value", "reason", "page"), as_json=as_json, empty="nothing was refused")
    say_more(session, ctx, rows, "id")


def _row(one: FoundItem) -> Row:
    return {
        "id": one.id,
        "cursor": f"{one.kind}:{one.id}",
        "kind": one.kind,
        "title": one.title,
        "confidence": one.confidence,
        "page": f"{one.domain}{one.path}",
        "position": one.position,
        "data": {**one.data},
        "fields": {**one.fields},
        "extractor": one.extractor,
        "extractor_version": one.extractor_version,
        "snapshot": one.snapshot_id,
        "first_seen_at": stamp(one.first_seen_at),
        "updated_at": stamp(one.updated_at),
    }


def _price_row(price: PriceAt) -> Row:
    return {
        "at": stamp(price.seen_at),
        "price": f"{price.price:f}" if price.price is not None else None,
        "currency": price.currency,
        "availability": price.availability,
    }


def _show(one: FoundItem, prices: list[PriceAt]) -> None:
    click.echo(f"{click.style(one.kind, bold=True)}  {printable(one.title)}")
    click.echo(
        f"  confidence {one.confidence:.2f}, by {one.extractor} {one.extractor_version}, from snapshot "
        f"{one.snapshot_id}, found {stamp(one.first_seen_at)}, changed {stamp(one.updated_at)}"
    )
    width = max(len(name) for name in one.data)
    for name, value in one.data.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        sure = f"{one.fields[name]:.2f}" if name in one.fields else "    "
        click.echo(f"  {sure}  {name.ljust(width)}  {printable(' '.join(text.split())[:_SHOWN_CHARS])}")
    for price in prices:
        amount = f"{price.price:f} {price.currency or ''}".strip() if price.price is not None else "no price"
        click.echo(f"  {stamp(price.seen_at)}  {amount}  {(price.availability or '').replace('_', ' ')}".rstrip())
