"""`bailiwick domain list` and `top`: filtered, sorted, page by page. Specification 002 section 10.2."""

from datetime import UTC, datetime

import click
from pydantic import JsonValue
from sqlalchemy import RowMapping

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Look, Row, show_rows, stamp
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry.listing import Filter, Sort, list_domains, list_sites

_COLUMNS = ("domain", "approval", "crawl", "pages", "images", "yield", "last_crawled")
_FIELDS = (
    "approval", "standing", "crawl", "site", "source", "profile", "is_trusted", "priority_score", "seed_rank",
    "pages_crawled", "pages_discovered", "images_stored", "image_yield_rate",
    "first_seen_at", "last_crawled_at", "next_crawl_after",
)  # fmt: skip


@click.command("list")
@click.option("--crawl", "--status", "crawl", type=click.Choice(CRAWL.states), help="Only in this crawl state.")
@click.option("--approval", type=click.Choice(APPROVAL.states), help="Only in this approval state.")
@click.option("--standing", type=click.Choice(STANDING.states), help="Only of this standing.")
@click.option("--site", type=text, help="Only of this site (example.org has www2.example.org too).")
@click.option("--source", type=text, help="Only from this import.")
@click.option("--prefix", type=text, help="Only names that begin so.")
@click.option(
    "--sort", type=click.Choice([s.value for s in Sort]), default="name", show_default=True,
    help="The order; values go from high to low, and domains that have none are left out.",
)  # fmt: skip
@click.option("--by", type=click.Choice(["site"]), help="Count domains by site instead.")
@click.option("--after", type=text, metavar="NAME", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session,
    ctx: click.Context,
    /,
    *,
    sort: str,
    by: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
    **filters: str | None,
) -> None:
    """List domains, filtered and sorted, page by page.

    Under a domain that something stands against, the reason is shown. PAGES are those fetched of those known; YIELD
    is stored images a page.
    """
    which = Filter(**filters)
    if by is not None:
        if sort != Sort.NAME:
            raise UsageError("sites are in the order of their names", hint="leave --sort out")
        _list_sites(session, ctx, which, limit=limit, after=after, as_json=as_json)
        return
    with session.app.database.read() as conn:
        rows = [domain_row(row) for row in list_domains(conn, which, sort=Sort(sort), limit=limit, after=after)]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="no such domains", look=_LOOK)
    say_more(session, ctx, rows, "domain")


@click.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most this many rows.")
@json_option
@pass_session
def top(session: Session, *, limit: int, as_json: bool) -> None:
    """List the domains that yield most: stored images a page."""
    with session.app.database.read() as conn:
        rows = [domain_row(row) for row in list_domains(conn, Filter(), sort=Sort.YIELD, limit=limit)]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="no domain has yielded anything yet", look=_LOOK)


def domain_row(row: RowMapping) -> Row:
    """A row of `domains` as it is listed for machines."""
    fields: dict[str, JsonValue] = {name: plain(row[name]) for name in _FIELDS}
    return {"domain": plain(row["name"]), **fields, "reason": _reason(row)}


def plain(value: object) -> JsonValue:
    """A column's value as JSON has it."""
    if isinstance(value, datetime):
        return stamp(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is no column's value")


def minutes(value: JsonValue) -> str | None:
    """A stamp for people: to the minute."""
    return f"{datetime.fromisoformat(value).astimezone(UTC):%Y-%m-%d %H:%M}" if isinstance(value, str) else None


def _reason(row: RowMapping) -> str | None:
    """Why a domain is not crawled, where somebody or something gave a reason."""
    if row["standing"] == "blacklisted":
        return f"blacklisted: {row['blacklist_reason']}"
    if row["approval"] in ("rejected", "suspended"):
        return f"{row['review_reason']}"
    return f"{row['block_reason']}" if row["crawl"] in ("blocked", "unreachable") else None


def _cells(row: Row) -> Row:
    rate = row["image_yield_rate"]
    return {
        **row,
        "pages": f"{row['pages_crawled']}/{row['pages_discovered']}",
        "images": row["images_stored"],
        "yield": None if not isinstance(rate, float) else f"{rate:.2f}" if 0 < rate < 1 else f"{rate:.1f}",
        "last_crawled": minutes(row["last_crawled_at"]),
    }


_LOOK = Look(cells=_cells, below=lambda row: f"reason: {row['reason']}" if row["reason"] else None)


def _list_sites(
    session: Session, ctx: click.Context, which: Filter, *, limit: int, after: str | None, as_json: bool
) -> None:
    with session.app.database.read() as conn:
        rows: list[Row] = [
            {"site": s.site, "domains": s.domains, "approved": s.approved, "pages_crawled": s.pages_crawled}
            for s in list_sites(conn, which, limit=limit, after=after)
        ]
    show_rows(rows, ("site", "domains", "approved", "pages_crawled"), as_json=as_json, empty="no such domains")
    say_more(session, ctx, rows, "site")
