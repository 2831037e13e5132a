"""`bailiwick status`: what is going on, on one screen."""

import click
from pydantic import JsonValue
from sqlalchemy import text

from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import show_facts, stamp
from bailiwick.crawl import jobs, runs
from bailiwick.ledger import deliveries
from bailiwick.ledger.events import latest
from bailiwick.registry.overview import overview, shown

_JOBS = 20


@click.command()
@json_option
@pass_session
def status(session: Session, *, as_json: bool) -> None:
    """Show what is going on, on one screen."""
    app = session.app
    database = app.database
    with database.read() as conn:
        version = conn.execute(text("select current_setting('server_version')")).scalar_one()
        members = conn.execute(text("select count(*) from members where role <> 'system'")).scalar_one()
        last = next(iter(latest(conn, limit=1)), None)
        domains = overview(conn)
        running = jobs.listing(conn, state="running", limit=_JOBS)
        paused = jobs.listing(conn, state="paused", limit=_JOBS)
        messages = deliveries.counts(conn)
        newest = next(iter(runs.listing(conn, limit=1)), None)
    by_approval: dict[str, JsonValue] = {state: count for state, count in domains.by_approval.items() if count}
    facts: dict[str, JsonValue] = {
        "data": str(app.place.data),
        "database": f"PostgreSQL {version}, {'embedded' if database.is_embedded else 'by URL'}",
        "disk": str(database.disk.state()) if database.disk else None,
        "members": members,
        "domains": by_approval
        if as_json
        else ", ".join(f"{shown(count)} {state}" for state, count in domains.by_approval.items() if count) or "none",
        "being_crawled": domains.leased if as_json else shown(domains.leased),
        "ready": domains.ready if as_json else shown(domains.ready),
        "jobs": _jobs(running, paused, as_json=as_json),
        "messages": dict(messages) if as_json else _messages(messages),
        "newest_run": f"{newest.id} ({newest.job}): {newest.pages_done:,} pages, {newest.errors:,} errors"
        if newest
        else None,
        "last_event": f"{stamp(last.at)} {last.actor} {last.verb} {last.subject.name}" if last else None,
    }
    show_facts(facts, as_json=as_json)


def _jobs(running: list[jobs.Job], paused: list[jobs.Job], *, as_json: bool) -> JsonValue:
    """What people asked for and is not done; the standing job is always there."""
    asked = [job for job in (*running, *paused) if job.kind != jobs.STANDING]
    if as_json:
        return [{"id": job.id, "name": job.name, "state": job.state} for job in asked]
    return "; ".join(f"{job.id} {job.name} ({job.state})" for job in asked) or "none"


def _messages(counts: dict[str, int]) -> str:
    """To people, and whether they reach them."""
    told = [f"{counts['waiting']:,} waiting"] if counts["waiting"] else []
    if counts["failed"]:
        told.append(f"{counts['failed']:,} failed (bailiwick notify list --state failed)")
    return ", ".join(told) or "none wait"
