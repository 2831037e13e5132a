"""`bailiwick image`: the images that pages refer to, those that are kept, and those that look alike."""

import json
from dataclasses import dataclass

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.amounts import size
from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Look, Row, printable, show_facts, show_rows, stamp
from bailiwick.model.urls import PageUrl, UrlRules, hash_of
from bailiwick.query.images import listing
from bailiwick.query.images.listing import FIRST, NEWEST, Image, Shown, Sighting, Unstored
from bailiwick.registry.records import Domain

_IMAGES = ("id", "type", "pixels", "size", "seen", "page", "alt")
_NEAR = ("id", "bits_differ", "type", "pixels", "size", "seen", "page")
_OF_PAGE = ("position", "kind", "outcome", "image", "url", "alt")
_UNSTORED = ("outcome", "status", "url", "error")
_MOST_PLACES = 50


@click.group()
def image() -> None:
    """See the images of pages: which are kept, where they are seen, which look alike."""


@image.command("list")
@click.option("--domain", type=text, metavar="D", help="Images that pages of this domain refer to.")
@click.option("--page", type=text, metavar="URL", help="What this page refers to, in its order.")
@click.option("--near", type=text, metavar="IMAGE", help="Images that look like this one: its number or its SHA-256.")
@click.option("--unstored", is_flag=True, help="With --domain: addresses of which no image is kept, and why.")
@click.option("--after", type=int, metavar="KEY", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(  # noqa: PLR0913 - one for each option
    session: Session,
    ctx: click.Context,
    *,
    domain: str | None,
    page: str | None,
    near: str | None,
    unstored: bool,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List images, the newest first: each content once, with one of the places where it is seen.

    \b
    bailiwick image list --domain example.org
    bailiwick image list --page https://example.org/boats
    bailiwick image list --near 17                  other sizes and encodings of the same picture
    bailiwick image list --domain example.org --unstored
    """
    if sum(given is not None for given in (domain, page, near)) > 1:
        raise UsageError("--domain, --page and --near do not go together", hint="name one of them")
    if unstored and domain is None:
        raise UsageError("--unstored is told of one domain", hint="bailiwick image list --domain D --unstored")
    part = _Part(domain, page, near, unstored, after, limit)
    with session.app.database.read() as conn:
        rows, columns, empty = _rows(conn, session.app, part)
    show_rows(rows, columns, as_json=as_json, empty=empty, look=Look(_for_people))
    say_more(session, ctx, rows, "key")


@image.command()
@click.argument("given", metavar="IMAGE")
@json_option
@pass_session
def show(session: Session, *, given: str, as_json: bool) -> None:
    """Show one image: what it is, its file, where it is seen. IMAGE is its number or its SHA-256."""
    app = session.app
    with app.database.read() as conn:
        found = _named(conn, given)
        places = listing.sightings(conn, found.id, limit=_MOST_PLACES)
        alike = listing.near(conn, found, limit=_MOST_PLACES)
    facts: dict[str, str | int | None] = {
        **_facts(found),
        "file": str(app.image_files.directory / found.path),
        "stored_at": stamp(found.created_at),
    }
    if as_json:
        more = {"sightings": [_sighting(place) for place in places], "near": [one.image.id for one in alike]}
        click.echo(json.dumps(facts | more, ensure_ascii=False))
        return
    show_facts({name: value for name, value in facts.items() if value is not None}, as_json=False)
    for place in places:
        click.echo(f"seen on {printable(place.domain + place.path)} as {place.kind}: {printable(place.alt or '-')}")
    if alike:
        click.echo(f"{len(alike):,} look like it: bailiwick image list --near {found.id}")


@dataclass(frozen=True, slots=True)
class _Part:
    """Which images, and which part of their list."""

    domain: str | None
    page: str | None
    near: str | None
    unstored: bool
    after: int | None
    limit: int

    def after_or(self, start: int) -> int:
        return start if self.after is None else self.after


_List = tuple[list[Row], tuple[str, ...], str]
"""Rows, the columns that people see, and what is said of an empty list."""


def _rows(conn: Connection, app: App, part: _Part) -> _List:
    if part.near is not None:
        alike = _named(conn, part.near)
        found = listing.near(conn, alike, limit=part.limit, before=part.after_or(NEWEST))
        return [_shown(one) for one in found], _NEAR, "no other image looks like it"
    if part.page is not None:
        return _of_page(conn, app, part.page, part)
    if part.domain is not None:
        return _of_domain(conn, find_named(conn, part.domain, app), part)
    newest = listing.newest(conn, limit=part.limit, before=part.after_or(NEWEST))
    return [_shown(one) for one in newest], _IMAGES, "no images are kept"


def _of_domain(conn: Connection, domain: Domain, part: _Part) -> _List:
    if part.unstored:
        rows = listing.unstored(conn, domain.id, limit=part.limit, after=part.after_or(FIRST))
        return [_unstored(one) for one in rows], _UNSTORED, "every image that was wanted is kept"
    shown = listing.of_domain(conn, domain.id, limit=part.limit, before=part.after_or(NEWEST))
    return [_shown(one) for one in shown], _IMAGES, f"no images of {domain.name} are kept"


def _of_page(conn: Connection, app: App, given: str, part: _Part) -> _List:
    page = PageUrl.parse(given, rules=UrlRules(allow_private=app.settings.names.allow_private))
    domain_id = find_named(conn, page.domain.name, app).id
    found = listing.of_page(conn, domain_id, hash_of(page.path), limit=part.limit, after=part.after_or(-1))
    return [_sighting(one) for one in found], _OF_PAGE, f"no images are known of {page}"


def _named(conn: Connection, given: str) -> Image:
    found = listing.find(conn, given)
    if found is None:
        raise NotFoundError(f"there is no image {given}", hint="bailiwick image list shows their numbers")
    return found


def _facts(found: Image) -> dict[str, str | int | None]:
    phash = found.perceptual_hash
    return {
        "id": found.id,
        "sha256": found.sha256.hex(),
        "mime": found.mime,
        "width": found.width,
        "height": found.height,
        "file_size": found.file_size,
        "perceptual_hash": None if phash is None else f"{phash & (2**64 - 1):016x}",
    }


def _shown(one: Shown) -> Row:
    return {
        **_facts(one.image),
        "bits_differ": one.image.distance,
        "sightings": one.sightings,
        "domain": one.domain,
        "page": one.page,
        "url": one.url,
        "alt": one.alt,
        "kind": one.kind,
        "key": one.image.id,
    }


def _sighting(one: Sighting) -> dict[str, str | int | None]:
    return {
        "page": f"{one.domain}{one.path}",
        "position": one.position,
        "url": one.url,
        "alt": one.alt,
        "kind": one.kind,
        "found_in": one.found_in,
        "discovery_type": one.discovery_type,
        "first_seen": stamp(one.first_seen_at),
        "last_seen": stamp(one.last_seen_at),
        "outcome": one.outcome,
        "error": one.error,
        "image": one.image_id,
        "key": one.position,
    }


def _unstored(one: Unstored) -> Row:
    fetched = None if one.fetched_at is None else stamp(one.fetched_at)
    return {
        "outcome": one.outcome, "status": one.status, "url": one.url, "error": one.error, "fetched": fetched,
        "key": one.key,
    }  # fmt: skip


def _for_people(row: Row) -> Row:
    if "sha256" not in row:
        return row
    width, bytes_ = row["width"], row["file_size"]
    return {
        **row,
        "type": str(row["mime"]).removeprefix("image/"),
        "pixels": None if width is None else f"{width}x{row['height']}",
        "size": size(bytes_) if isinstance(bytes_, int) else None,
        "seen": row["sightings"],
    }
