"""`bailiwick lease`: who is crawling what, and how to end that from outside. Specification 002 section 7.4."""

import click
from sqlalchemy import Connection

from bailiwick.base.errors import NotFoundError
from bailiwick.cli.acting import for_each_domain, reason_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, text
from bailiwick.cli.output import Row, more_rows, show_rows, stamp
from bailiwick.ledger.events import Actor
from bailiwick.registry import lease_views as views
from bailiwick.registry.leases import Rules, revoke
from bailiwick.registry.records import Domain

_WORKER = ("worker", "leases", "earliest_expiry", "expired")
_LEASE = ("domain", "expires", "expired", "wanted", "crashes")


@click.group()
def lease() -> None:
    """See who crawls which domains, and end leases."""


@lease.command("list")
@click.option("--worker", type=text, help="The leases of this worker, domain by domain.")
@click.option("--after", type=text, metavar="NAME", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session, ctx: click.Context, *, worker: str | None, after: str | None, limit: int, as_json: bool
) -> None:
    """List leases by worker, with the earliest expiry, and how many domains could be leased now.

    Expired leases are of workers that did not come back; the next claim takes them over.
    """
    with session.app.database.read() as conn:
        if worker:
            rows, ready = _leases(conn, worker, limit=limit, after=after), {}
        else:
            rows = _workers(conn, limit=limit, after=after)
            ready = views.claimable(conn) if after is None else {}
    columns = _LEASE if worker else _WORKER
    show_rows(rows, columns, as_json=as_json, empty=f"{worker} has no leases" if worker else "no leases")
    _show_claimable(ready, as_json=as_json)
    if rows and (more := more_rows(ctx, rows, str(rows[-1][columns[0]]))):
        session.say(f"more: {more}")


@lease.command()
@click.argument("name")
@reason_option
@pass_session
def release(session: Session, *, name: str, reason: str | None) -> int:
    """End a domain's lease. What its worker still sends is refused; another one may go on at once."""
    settings = session.app.settings
    rules = Rules(settings.lease, settings.priority)

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        if not revoke(conn, domain, actor, rules, reason=reason):
            raise NotFoundError(f"{domain.name} is not leased", hint="bailiwick lease list shows the leases")
        return f"{domain.name}: the lease of {domain.row['worker']} is ended"

    return for_each_domain(session, [name], deed)


def _workers(conn: Connection, *, limit: int, after: str | None) -> list[Row]:
    return [
        {
            "worker": w.worker,
            "leases": w.leases,
            "earliest_expiry": stamp(w.earliest_expiry),
            "expired": w.expired,
        }
        for w in views.by_worker(conn, limit=limit, after=after)
    ]


def _leases(conn: Connection, worker: str, *, limit: int, after: str | None) -> list[Row]:
    return [
        {
            "domain": one.domain,
            "worker": one.worker,
            "expires": stamp(one.expires_at),
            "expired": one.is_expired,
            "wanted": one.wanted,
            "crashes": one.crashes,
        }
        for one in views.of_worker(conn, worker, limit=limit, after=after)
    ]


def _show_claimable(ready: dict[str, int], *, as_json: bool) -> None:
    rows: list[Row] = [{"crawl": crawl, "claimable": count} for crawl, count in ready.items()]
    if not rows:
        return
    if not as_json:
        click.echo()
    show_rows(rows, ("crawl", "claimable"), as_json=as_json, empty="")
    if sum(ready.values()) >= views.CLAIMABLE_CAP:
        click.echo(f"counted up to {views.CLAIMABLE_CAP:,}; there may be more", err=True)
