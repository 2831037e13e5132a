"""`bailiwick domain reprioritize`, `merge` and `purge`: what goes over many domains, or removes what was collected."""

import click
from sqlalchemy import Connection, func, select

from bailiwick.base.errors import BailiwickError
from bailiwick.cli.acting import find_named, for_each_domain, reason_option, tell, yes_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session
from bailiwick.cli.output import Row, show_rows
from bailiwick.cli.progress import progress
from bailiwick.db.tables import crawl_queue
from bailiwick.ledger.events import Actor
from bailiwick.registry import merge as merging
from bailiwick.registry import priority
from bailiwick.registry.records import Domain


@click.command()
@pass_session
def reprioritize(session: Session) -> None:
    """Compute every domain's priority anew. In small batches, beside whatever else goes on."""
    app = session.app
    with app.database.read() as conn:
        last: int = conn.execute(select(func.coalesce(func.max(crawl_queue.c.domain_id), 0))).scalar_one()
    looked_at = changed = after = 0
    with progress("priorities", total=last) as advance:
        while True:
            with app.database.begin() as conn:
                counts = priority.run_once(conn, app.settings.priority, after=after)
            if counts is None:
                break
            looked_at, changed, after = looked_at + counts.looked_at, changed + counts.changed, counts.last_id
            advance(after)
    click.echo(f"{looked_at:,} domains looked at, {changed:,} have another priority now")


@click.command()
@click.option("--yes", is_flag=True, help="Do it, instead of only showing what would be done.")
@limit_option
@json_option
@pass_session
def merge(session: Session, *, yes: bool, limit: int, as_json: bool) -> int:
    """Merge domains whose names are one today. Without --yes, it only shows the plan.

    Needed after names.collapse_subdomains was changed. The earliest first sight holds, counters are summed, and the
    stricter approval wins.
    """
    app = session.app
    with app.database.read() as conn:
        planned = list(merging.plan(conn, app.settings.names))
    if yes:
        return _merge_all(session, planned)
    rows: list[Row] = [{"domain": p.source.name, "becomes": p.target.name} for p in planned[:limit]]
    show_rows(rows, ("domain", "becomes"), as_json=as_json, empty="every domain has the name that it should have")
    if planned:
        session.say(f"{len(planned):,} domains would be merged or renamed; bailiwick domain merge --yes does it")
    return 0


def _merge_all(session: Session, planned: list[merging.Planned]) -> int:
    """Each in a transaction of its own, so that one that is being crawled does not stop the others."""
    app, failed = session.app, 0
    with progress("merge", total=len(planned)) as advance:
        for number, one in enumerate(planned, start=1):
            try:
                with app.database.begin() as conn:
                    merging.merge(conn, one, app.actor(conn))
            except BailiwickError as error:
                if error.retryable:
                    raise
                failed += 1
                tell(error, about=one.source.name)
            advance(number)
    click.echo(f"{len(planned) - failed:,} domains merged or renamed, {failed:,} not")
    return int(failed > 0)


@click.command()
@click.argument("name")
@reason_option
@yes_option
@pass_session
def purge(session: Session, *, name: str, reason: str | None, yes: bool) -> int:
    """Remove all that was collected from a domain. Its record, decisions and audit trail stay."""
    app = session.app
    with app.database.read() as conn:
        domain = find_named(conn, name, app)
    pages = domain.row["pages_discovered"]
    if not yes and not click.confirm(f"Remove what was collected from {domain.name} ({pages:,} pages)?", err=True):
        raise click.Abort

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        return f"{merging.purge(conn, domain, actor, reason=reason).name}: what was collected is removed"

    return for_each_domain(session, [domain.name.name], deed)
