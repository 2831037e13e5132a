"""`bailiwick job`: what was asked for, and how to pause, resume, cancel and forget it."""

from collections.abc import Callable, Sequence

import click
from pydantic import JsonValue
from sqlalchemy import Connection

from bailiwick.cli.acting import for_each, reason_option, yes_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, profile_option, text
from bailiwick.cli.crawl_options import limited
from bailiwick.cli.crawl_seeds import admit_seeds, start_pages, tell_refused
from bailiwick.cli.output import Row, more_rows, show_facts, show_rows, stamp
from bailiwick.crawl import jobs, runs
from bailiwick.crawl.jobs import Job, JobOptions
from bailiwick.ledger.events import Actor
from bailiwick.review import listing, queue
from bailiwick.review.listing import JobEntries
from bailiwick.score import jobs as evaluation_jobs

_COLUMNS = ("id", "name", "kind", "state", "priority", "domains", "open", "pages", "urls", "left", "created")
_RUN_COLUMNS = ("domain", "pages", "budget", "depth", "errors", "stopped")
jobs_argument = click.argument("names", metavar="JOB…", nargs=-1, required=True, type=text)


@click.group()
def job() -> None:
    """Create, watch, pause, resume, cancel and delete jobs."""


@job.command()
@click.argument("seeds", metavar="SEED…", nargs=-1, required=True)
@click.option("--name", type=text, help="What to call it. Default: its first domains.")
@click.option("--priority", type=click.IntRange(1, 10), default=5, show_default=True, help="1 is the most urgent.")
@limited
@profile_option
@pass_session
def create(
    session: Session,
    *,
    seeds: tuple[str, ...],
    name: str | None,
    priority: int,
    options: Callable[[], JobOptions],
    profile: str,
) -> None:
    """Ask for a crawl of domains, URLs or files of them. Whoever crawls what is due works on it: bailiwick crawl."""
    asked = options()
    app = session.app.create()
    pages = list(start_pages(app, seeds))
    admitted = admit_seeds(app, pages, profile=profile)
    tell_refused(admitted)
    called = name or jobs.job_name([page.name.name for page in pages])
    with app.database.begin() as conn:
        ids = [domain.id for domain in admitted.domains]
        made = jobs.create(conn, called, ids, asked, app.actor(conn), priority=priority)
    click.echo(f"job {made.id} ({made.name}) wants {len(ids):,} domains")
    session.say("bailiwick crawl works on it")


@job.command("list")
@click.option("--state", type=click.Choice(["running", "paused", "finished", "cancelled"]), help="Only these.")
@click.option("--after", type=click.IntRange(min=1), metavar="ID", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session, ctx: click.Context, *, state: str | None, after: int | None, limit: int, as_json: bool
) -> None:
    """List jobs, the newest first. The standing job serves what is due without one, or was just approved."""
    with session.app.database.read() as conn:
        found = jobs.listing(conn, state=state, limit=limit, before_id=after)
        rows = [_row(conn, one) for one in found]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="no jobs")
    if rows and (more := more_rows(ctx, rows, str(rows[-1]["id"]))):
        session.say(f"more: {more}")


@job.command()
@click.argument("named", metavar="JOB", type=text)
@click.option("--after", type=text, metavar="NAME", default="", help="Go on after this domain: the next page.")
@limit_option
@json_option
@pass_session
def show(session: Session, *, named: str, after: str, limit: int, as_json: bool) -> None:
    """Show a job with its newest run, domain by domain."""
    with session.app.database.read() as conn:
        found = jobs.get(conn, named)
        facts: dict[str, JsonValue] = {**_row(conn, found), "options": found.options.given(), "by": found.created_by}
        newest = next(iter(runs.listing(conn, job_id=found.id, limit=1)), None)
        parts = runs.domains_of(conn, [newest.id], limit=limit, after=after) if newest else []
        facts |= {"run": newest.id if newest else None, "run_started": stamp(newest.started_at) if newest else None}
    rows = [run_row(part) for part in parts]
    if as_json:
        show_facts(facts | {"domains_of_run": [dict(row) for row in rows]}, as_json=True)
        return
    show_facts(facts, as_json=False)
    if rows:
        click.echo()
        show_rows(rows, _RUN_COLUMNS, as_json=False, empty="")


@job.command()
@jobs_argument
@reason_option
@pass_session
def pause(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """Pause jobs. Workers stop within seconds, what was fetched stays, and resume goes on where it was."""
    return _each(session, names, lambda c, j, a: f"job {jobs.pause(c, j, a, reason=reason).id} is paused")


@job.command()
@jobs_argument
@reason_option
@pass_session
def resume(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """Go on with paused jobs."""
    return _each(session, names, lambda c, j, a: f"job {jobs.resume(c, j, a, reason=reason).id} is running")


@job.command()
@jobs_argument
@reason_option
@pass_session
def cancel(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """End jobs for good. Workers stop within seconds; what was fetched stays."""
    cooldowns = session.app.settings.cooldown
    return _each(
        session, names, lambda c, j, a: f"job {jobs.cancel(c, j, a, cooldowns, reason=reason).id} is cancelled"
    )


@job.command()
@jobs_argument
@reason_option
@yes_option
@pass_session
def delete(session: Session, *, names: tuple[str, ...], reason: str | None, yes: bool) -> int:
    """Forget jobs that have ended, with their runs. Pages and bodies stay.

    Of an evaluation its URLs and their places in the review queue go too; what people decided stays in the events.
    """
    settings = session.app.settings.review

    def deed(conn: Connection, found: Job, actor: Actor) -> str:
        gone = listing.entries_of_job(conn, found.id)
        jobs.remove(conn, found, actor, reason=reason, details=_told(gone))
        if gone.waiting:
            queue.count_changed(conn, settings)
        entries = f" and {gone.total:,} entries of the review queue" if gone.total else ""
        more = f" with {gone.evaluated:,} evaluations{entries}" if gone.evaluated else ""
        return f"job {found.id} is deleted{more}"

    wanted = names if yes else [name for name in names if _is_meant(session, name)]
    if not wanted:
        raise click.Abort
    return _each(session, wanted, deed)


def _is_meant(session: Session, named: str) -> bool:
    """Ask before evaluations, and what waits for review or was decided there, go with their job."""
    with session.app.database.read() as conn:
        found = jobs.find(conn, named)
        gone = listing.entries_of_job(conn, found.id) if found else None
    if gone is None or not gone.evaluated:
        return True
    entries = f"{gone.evaluated:,} evaluations, {gone.waiting:,} that wait for review and {gone.reviewed:,} decided"
    return click.confirm(f"With job {named} go {entries} there. Delete it?", err=True)


def _told(gone: JobEntries) -> JsonValue:
    if not gone.evaluated:
        return None
    return {"evaluations": gone.evaluated, "review_queue": {"waiting": gone.waiting, "reviewed": gone.reviewed}}


def _each(session: Session, names: Sequence[str], deed: Callable[[Connection, Job, Actor], str]) -> int:
    app = session.app

    def act(named: str) -> str:
        with app.database.begin() as conn:
            return deed(conn, jobs.get(conn, named), app.actor(conn))

    return for_each(names, act)


def _row(conn: Connection, found: Job) -> Row:
    return {
        "id": found.id,
        "name": found.name,
        "kind": found.kind,
        "state": found.state,
        "priority": found.priority,
        **_progress(conn, found),
        "created": stamp(found.created_at),
    }


def _progress(conn: Connection, found: Job) -> Row:
    """How far it is: an evaluation in URLs, any other job in domains and pages."""
    if found.kind == jobs.EVALUATION:
        urls = evaluation_jobs.counts(conn, found.id)
        crawled = dict.fromkeys(("domains", "open", "pages"))
        return {**crawled, "urls": urls.total, "left": urls.waiting, **urls.settled}
    counts = runs.counts(conn, found.id)
    return {"domains": counts.domains, "open": counts.open_domains, "pages": counts.pages_done}


def run_row(part: runs.RunDomain) -> Row:
    """One domain's part in a run, for a table."""
    return {
        "domain": part.domain,
        "pages": part.pages_done,
        "budget": part.page_budget or None,
        "depth": part.max_depth if part.max_depth < jobs.ALL_DEPTHS else "all",
        "errors": part.errors,
        "bytes": part.bytes_fetched,
        "stopped": part.stop_reason,
        "ended": stamp(part.ended_at) if part.ended_at else None,
    }
