"""`bailiwick search`: find pages and items by their words."""

import sys
from datetime import datetime
from decimal import Decimal, InvalidOperation

import click

from bailiwick.base.clock import SystemClock
from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session, text
from bailiwick.cli.output import Row, printable, show_rows, stamp
from bailiwick.cli.progress import progress
from bailiwick.cli.times import moment_option
from bailiwick.model.items import ItemKind
from bailiwick.model.search import (
    MAX_MATCHES,
    PAGE,
    Facet,
    Hit,
    Offer,
    OfferFilter,
    SearchAnswer,
    SearchQuery,
    marked,
)

_KINDS = (PAGE, *(kind.value for kind in ItemKind))
_HIGHEST = 10**15
_FEED_SECONDS = 5.0
"""Longest time that a search spends on what came in since the last one."""


class PriceRange(click.ParamType[tuple[Decimal | None, Decimal | None]]):
    """10..100, with one of the ends left out if it is open; 10 alone is exactly that."""

    name = "price"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Decimal | None, Decimal | None]:
        low, dots, high = str(value).partition("..")
        try:
            first = Decimal(low) if low else None
            last = Decimal(high) if high else first if not dots else None
        except InvalidOperation:
            first = last = None
        ends = [end for end in (first, last) if end is not None]
        if not ends or any(not end.is_finite() or not 0 <= end <= _HIGHEST for end in ends) or ends != sorted(ends):
            self.fail(f"{value!r} is no range of prices: write 10..100, 10.. or ..100", param, ctx)
        return first, last


@click.command()
@click.argument("words", nargs=-1, type=text, metavar="[TEXT]…")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only these: pages, or items of a kind."
)
@click.option("--domain", "domains", multiple=True, type=text, help="Only of this domain; may be given more than once.")
@click.option("--language", "languages", multiple=True, type=text, help="Only in this language, such as en.")
@click.option(
    "--price",
    "prices",
    type=PriceRange(),
    help="Only products that cost so much: 10..100, 10.. or ..100, in any currency.",
)
@click.option("--currency", "currencies", multiple=True, type=text, help="Only products priced in this, such as EUR.")
@click.option("--in-stock", is_flag=True, help="Only products that can be had.")
@click.option("--brand", "brands", multiple=True, type=text, help="Only products of this brand.")
@click.option("--category", "categories", multiple=True, type=text, help="Only products of this category.")
@click.option("--relevant", is_flag=True, help="Only what is relevant by its profile.")
@moment_option("--since", "Only what was published, or else first seen, since then: 2026-03-01, or 7d for seven days.")
@click.option(
    "--facets",
    is_flag=True,
    help="Count the matches, too: by kind, domain, language, and what products are like; with --json in a last line.",
)
@click.option("--limit", type=click.IntRange(1, MAX_MATCHES), default=20, show_default=True, help="At most this many.")
@click.option("--after", type=click.IntRange(0, MAX_MATCHES), default=0, help="Leave out so many: the next page.")
@click.option("--rebuild", is_flag=True, help="Make the index anew from what was parsed.")
@json_option
@pass_session
def search(  # noqa: PLR0913 - one option each
    session: Session,
    *,
    words: tuple[str, ...],
    domains: tuple[str, ...],
    relevant: bool,
    facets: bool,
    rebuild: bool,
    as_json: bool,
    kinds: tuple[str, ...],
    languages: tuple[str, ...],
    prices: "tuple[Decimal | None, Decimal | None] | None",
    currencies: tuple[str, ...],
    in_stock: bool,
    brands: tuple[str, ...],
    categories: tuple[str, ...],
    since: datetime | None,
    limit: int,
    after: int,
) -> None:
    """Find pages and items by their words.

    All words count. "A row of words" finds them in a row, grant OR loan one of them, -student leaves out, fund* finds
    every word that begins so. Put the text into quotes, as in 'grant -student'.

    Products are found by what they cost, too; without a text they come by their price, the lowest first:

    \b
    bailiwick search kettle --kind product --price 10..100 --in-stock --facets
    """
    low, high = prices or (None, None)
    wanted = OfferFilter(low, high, currencies, in_stock, brands, categories)
    is_offer = wanted != OfferFilter() or kinds == (ItemKind.PRODUCT,)
    if is_offer and kinds not in ((), (ItemKind.PRODUCT,)):
        raise UsageError("prices, stock, brands and categories are those of products", hint="--kind product")
    if not words and not is_offer and not rebuild:
        raise UsageError(
            "there is nothing to look for", hint='bailiwick search TEXT, such as "research grant" -student'
        )
    _rebuild(session) if rebuild else _feed(session)
    if not words and not is_offer:
        return
    query = SearchQuery(
        text=" ".join(words),
        kinds=kinds,
        domain_ids=_domain_ids(session, domains),
        languages=languages,
        only_relevant=relevant,
        since=since,
        limit=limit,
        after=after,
        facets=_facets(is_offer=is_offer) if facets else (),
        offer=wanted if is_offer else None,
    )
    answer = session.app.search_index.search(query)
    _show(answer, as_json=as_json)
    if as_json and facets:
        show_rows([_counts(answer)], (), as_json=True, empty="")
    _summary(session, query, answer)


def _facets(*, is_offer: bool) -> tuple[Facet, ...]:
    general = (Facet.KIND, Facet.DOMAIN, Facet.LANGUAGE)
    return (Facet.BRAND, Facet.CATEGORY, Facet.DOMAIN, Facet.AVAILABILITY) if is_offer else general


def _feed(session: Session) -> None:
    """Bring in what waits, for a few seconds at most."""
    from bailiwick.query.feed import run_once

    app, clock = session.app, SystemClock()
    database, index, keep_days = app.database, app.search_index, app.settings.outbox.keep_days
    end = clock.monotonic() + _FEED_SECONDS
    while True:
        done = run_once(database, index, keep_days=keep_days)
        if done.is_rebuilt and done.pages:
            session.say(f"the search index was made of {done.pages:,} pages")
        if done.is_busy:
            session.say("somebody else is bringing the index up to date: the newest pages may be missing")
        if not done.is_more_left:
            return
        if clock.monotonic() > end:
            session.say("there is more to be indexed than fits into this search; it goes on with the next one")
            return


def _rebuild(session: Session) -> None:
    from bailiwick.query.feed import rebuild

    with progress("building the search index", total=None) as advance:
        done = rebuild(session.app.database, session.app.search_index, say_done=advance, force=True)
    session.say(f"the search index was made of {done.pages:,} pages")


def _domain_ids(session: Session, given: tuple[str, ...]) -> tuple[int, ...]:
    from bailiwick.cli.acting import find_named

    with session.app.database.read() as conn:
        return tuple(find_named(conn, name, session.app).id for name in given)


def _show(answer: SearchAnswer, *, as_json: bool) -> None:
    if as_json:
        show_rows(map(_row, answer.hits), (), as_json=True, empty="")
        return
    for nr, hit in enumerate(answer.hits):
        if nr:
            click.echo()
        _show_hit(hit)


def _show_hit(hit: Hit) -> None:
    is_terminal = sys.stdout.isatty()
    title = click.style(printable(hit.title) or "(no title)", bold=True)
    kind = "" if hit.kind == PAGE else f"  [{hit.kind}]"
    click.echo(f"{title}{kind}")
    click.echo(f"  {click.style(printable(hit.url), fg='cyan')}")
    if hit.offer is not None and (told := _told(hit.offer)):
        click.echo(f"  {printable(told)}")
    pieces = (
        click.style(printable(part.text), fg="yellow", bold=True)
        if part.is_match and is_terminal
        else printable(part.text)
        for part in hit.snippet
    )
    snippet = "".join(pieces)
    if snippet.strip():
        click.echo(f"  {snippet}")


def _told(offer: Offer) -> str:
    """What a product costs and is, in a line."""
    price = f"{offer.price:f} {offer.currency or ''}".strip() if offer.price is not None else None
    stock = offer.availability.replace("_", " ") if offer.availability else None
    return " · ".join(part for part in (price, stock, offer.brand, offer.category) if part)


def _row(hit: Hit) -> Row:
    """For machines: `parts` are [text, whether it matched], the snippet piece by piece."""
    return {
        "kind": hit.kind,
        "url": hit.url,
        "domain": hit.domain,
        "title": hit.title,
        "snippet": marked(hit.snippet, "", ""),
        "parts": [[part.text, part.is_match] for part in hit.snippet],
        "language": hit.language,
        "is_relevant": hit.is_relevant,
        "at": stamp(hit.at),
        "rank": round(hit.rank, 6),
        **(_facts(hit.offer) if hit.offer is not None else {}),
    }


def _counts(answer: SearchAnswer) -> Row:
    return {
        "total": answer.total,
        "is_capped": answer.is_capped,
        "facets": {facet.value: [list(count) for count in counts] for facet, counts in answer.facets.items()},
    }


def _facts(offer: Offer) -> Row:
    return {
        "price": f"{offer.price:f}" if offer.price is not None else None,
        "currency": offer.currency,
        "availability": offer.availability,
        "brand": offer.brand,
        "category": offer.category,
    }


def _summary(session: Session, query: SearchQuery, answer: SearchAnswer) -> None:
    if not answer.has_words:
        session.say("there is no word to look for: only exclusions, or words that are everywhere")
        return
    matches = "match" if answer.total == 1 else "matches"
    total = f"more than {answer.total:,} {matches}" if answer.is_capped else f"{answer.total:,} {matches}"
    shown = f", shown {query.after + 1:,} to {query.after + len(answer.hits):,}" if answer.hits else ""
    session.say(f"{total}{shown}" if answer.total else "nothing found")
    for facet, counts in answer.facets.items():
        if not counts:
            continue
        of = f" (of the first {answer.total:,})" if answer.is_capped else ""
        session.say(f"{facet}{of}: " + ", ".join(f"{printable(value)} {count:,}" for value, count in counts))
