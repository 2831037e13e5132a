"""`bailiwick run`: executions of jobs, with what became of each domain."""

import click

from bailiwick.base.amounts import size
from bailiwick.base.errors import NotFoundError
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.job import run_row
from bailiwick.cli.output import Row, show_facts, show_rows, stamp
from bailiwick.crawl import jobs, runs

_COLUMNS = ("id", "job", "started", "ended", "domains", "open", "pages", "errors", "fetched")
_PARTS = ("domain", "pages", "budget", "depth", "errors", "stopped", "ended")


@click.group()
def run() -> None:
    """See runs of jobs, and why each domain stopped."""


@run.command("list")
@click.option("--job", "named", type=text, metavar="JOB", help="Runs of this job alone.")
@click.option("--after", type=click.IntRange(min=1), metavar="ID", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session, ctx: click.Context, *, named: str | None, after: int | None, limit: int, as_json: bool
) -> None:
    """List runs, the newest first."""
    with session.app.database.read() as conn:
        job_id = jobs.get(conn, named).id if named else None
        rows = [_row(one) for one in runs.listing(conn, job_id=job_id, limit=limit, before_id=after)]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="no runs")
    say_more(session, ctx, rows, "id")


@run.command()
@click.argument("run_id", metavar="ID", type=click.IntRange(min=1))
@click.option("--after", type=text, metavar="NAME", default="", help="Go on after this domain: the next page.")
@limit_option
@json_option
@pass_session
def show(session: Session, *, run_id: int, after: str, limit: int, as_json: bool) -> None:
    """Show a run, domain by domain, with stop reasons."""
    with session.app.database.read() as conn:
        found = runs.listing(conn, run_id=run_id, limit=1)
        if not found:
            raise NotFoundError(f"there is no run {run_id}", hint="bailiwick run list shows them")
        rows = [run_row(part) for part in runs.domains_of(conn, [run_id], limit=limit, after=after)]
    if as_json:
        show_facts({**_row(found[0]), "domains_of_run": [dict(row) for row in rows]}, as_json=True)
        return
    show_facts(_row(found[0]), as_json=False)
    click.echo()
    show_rows(rows, _PARTS, as_json=False, empty="no domain has begun yet")
    if len(rows) == limit:
        session.say(f"more: bailiwick run show {run_id} --limit {limit} --after {rows[-1]['domain']}")


def _row(one: runs.Run) -> Row:
    return {
        "id": one.id,
        "job": one.job,
        "started": stamp(one.started_at),
        "ended": stamp(one.ended_at) if one.ended_at else None,
        "domains": one.domains,
        "open": one.open_domains,
        "pages": one.pages_done,
        "errors": one.errors,
        "fetched": size(one.bytes_fetched),
        "bytes": one.bytes_fetched,
    }
