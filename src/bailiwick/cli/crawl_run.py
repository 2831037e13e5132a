"""The crawl itself, in the child of the small parent: seeds to a job, an engine at work, what came of it."""

from dataclasses import dataclass
from pathlib import Path

import click

from bailiwick.app import App
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import warn
from bailiwick.cli.context import Session
from bailiwick.cli.crawl_display import display
from bailiwick.cli.crawl_parsing import Parsing, finish
from bailiwick.cli.crawl_seeds import BATCH, admit_seeds, start_pages, tell_refused
from bailiwick.cli.crawl_summary import summarise, summarise_parsed
from bailiwick.crawl import jobs
from bailiwick.crawl.engine import Engine, Wanted
from bailiwick.crawl.jobs import Job, JobOptions
from bailiwick.crawl.outcomes import StopReason
from bailiwick.crawl.seeds import Admitted, StartPage, by_names, may_start
from bailiwick.net.guard import Resolve
from bailiwick.pipeline.supervisor import INTERRUPTED
from bailiwick.pipeline.tally import Tally
from bailiwick.pipeline.worker import Order, work
from bailiwick.registry.explain import explain_refusal
from bailiwick.registry.lease_views import claimable

DISK_FULL, NOTHING_TO_DO, LIMIT_REACHED = 1, 3, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of one command."""

    seeds: tuple[str, ...]
    options: JobOptions
    profile: str
    resolves: tuple[Resolve, ...]
    user_agent: str | None
    time_seconds: float | None
    is_dry: bool
    stays: bool
    quiet: bool
    as_json: bool
    exit_code: bool
    tally: Tally | None = None
    """What the parse process beside this one has done; None: nothing is parsed."""
    output: str | None = None


def run(session: Session, asked: Asked, parent: int | None) -> int:
    """Do what was asked for, as long as the parent lives. Returns the exit code."""
    app = session.app.create()
    if not asked.is_dry:
        app.patiently(lambda: app.settings)
    wanted = _jobs(session, app, asked)
    if asked.is_dry:
        return 0
    if wanted is not None and not wanted:
        return _parse_what_waits(app, asked)
    _warn_without_contact(app, asked.user_agent)
    ids = [job.id for job in wanted] if wanted is not None else None
    parsing = Parsing(app, asked.tally, ids) if asked.tally is not None else None
    order = Order(
        Wanted(
            ids,
            asked.time_seconds,
            stays=asked.stays,
            is_too_much=parsing.is_too_much if parsing is not None else None,
            is_parsed=parsing is not None,
        ),
        asked.resolves,
        asked.user_agent,
        parent,
    )
    engine, interrupted = work(app, order, lambda running: display(running, parsing, quiet=asked.quiet))
    if parsing is not None and not interrupted:
        interrupted = not finish(parsing, quiet=asked.quiet)
    summarise(engine.progress, asked.tally, as_json=asked.as_json)
    if asked.output is not None and ids is not None and not interrupted:
        _export(session, asked.output, ids)
    return _code(engine, interrupted=interrupted, exit_code=asked.exit_code)


def _export(session: Session, output: str, job_ids: list[int]) -> None:
    """The pages of these jobs' domains, as they are now."""
    from bailiwick.cli.export import format_of, to_path
    from bailiwick.query.export.rows import Which
    from bailiwick.query.export.service import Request

    with session.app.database.read() as conn:
        domains = jobs.domain_ids(conn, job_ids)
    done = to_path(session, Request("pages", format_of(output), Which(domains)), Path(output), force=False)
    session.say(f"{done.rows - done.missing:,} pages written to {output}")


def _parse_what_waits(app: App, asked: Asked) -> int:
    """Nothing is to be fetched; but an earlier crawl may have been stopped before its pages were parsed."""
    if asked.tally is not None and (parsing := Parsing(app, asked.tally, None)).look():
        if not finish(parsing, quiet=asked.quiet):
            return INTERRUPTED
        summarise_parsed(asked.tally)
        return 0
    return NOTHING_TO_DO if asked.exit_code else 0


def _code(engine: Engine, *, interrupted: bool, exit_code: bool) -> int:
    if interrupted:
        return INTERRUPTED
    if engine.stopped_for is StopReason.STORAGE_FULL:
        return DISK_FULL
    if not exit_code:
        return 0
    limits = {"page_budget", "request_budget", "time_budget", "depth_limit", "known_pages_cap"}
    if limits & engine.progress.reasons.keys():
        return LIMIT_REACHED
    return 0 if engine.progress.pages else NOTHING_TO_DO


def _warn_without_contact(app: App, user_agent: str | None) -> None:
    crawl_settings = app.settings.crawl
    if not (user_agent or crawl_settings.contact or crawl_settings.user_agent):
        what = "crawl.contact is not set, so sites cannot tell who crawls them"
        warn([f"{what}: bailiwick settings set crawl.contact you@example.org"])


# Seeds


def _jobs(session: Session, app: App, asked: Asked) -> list[Job] | None:
    """The job that wants the seeds; none where nothing of them can be crawled. None without seeds: whatever is due."""
    if not asked.seeds:
        if asked.is_dry:
            _tell_due(app)
        elif asked.options.given():
            raise UsageError("these options are for seeds", hint="name domains to crawl with them, or leave them out")
        return None
    pages = list(start_pages(app, asked.seeds))
    if asked.is_dry:
        _tell_dry(app, pages)
        return []
    admitted = admit_seeds(app, pages, profile=asked.profile)
    tell_refused(admitted)
    if not admitted.domains:
        return []
    return [_ensure_job(app, pages, admitted, asked, session)]


def _ensure_job(app: App, pages: list[StartPage], admitted: Admitted, asked: Asked, session: Session) -> Job:
    ids = [domain.id for domain in admitted.domains]
    name = jobs.job_name([page.name.name for page in pages])
    starts_at_home = any(page.path == "/" for page in pages)
    options = asked.options if starts_at_home else asked.options.model_copy(update={"starts_at_home": False})

    def ensure() -> tuple[Job | None, Job]:
        with app.database.begin() as conn:
            return jobs.find(conn, name), jobs.ensure(conn, name, ids, options, app.actor(conn))

    known, job = app.patiently(ensure)
    if known is not None and known.state == "running":
        session.say(f"going on with job {job.id} ({job.name})")
    return job


def _tell_due(app: App) -> None:
    with app.database.read() as conn:
        ready = claimable(conn)
    click.echo(f"{sum(ready.values()):,} domains are due" + "".join(f", {n:,} {state}" for state, n in ready.items()))


def _tell_dry(app: App, pages: list[StartPage]) -> None:
    with app.database.read() as conn:
        for start in range(0, len(pages), BATCH):
            part = pages[start : start + BATCH]
            known = by_names(conn, [page.name for page in part])
            for page in part:
                domain = known.get(page.name.name)
                if domain is None:
                    says = "would be admitted and crawled"
                elif may_start(domain):
                    says = "would be crawled"
                else:
                    refused = explain_refusal(domain)
                    says = f"would not be crawled: {refused.says}" + (f"  ({refused.change})" if refused.change else "")
                click.echo(f"{page.name}{page.path if page.path != '/' else ''} {says}")
