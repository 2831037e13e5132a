"""`bailiwick crawl`: fetch what is wanted, watch it, stop it, go on."""

import os
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import warn
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.crawl_seeds import BATCH, admit_seeds, start_pages, tell_refused
from bailiwick.cli.domain_submit import profile_option

if TYPE_CHECKING:
    from bailiwick.app import App
    from bailiwick.crawl.engine import Engine
    from bailiwick.crawl.jobs import Job, JobOptions
    from bailiwick.crawl.seeds import Admitted, StartPage

NOTHING_TO_DO, LIMIT_REACHED = 3, 4
BUDGET = click.IntRange(0, 10**12)


class Depth(click.ParamType[int]):
    """A number of links from the start page, or `all`."""

    name = "N|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from bailiwick.crawl.jobs import ALL_DEPTHS

        text = str(value).lower()
        if text == "all":
            return ALL_DEPTHS
        if text.isascii() and text.isdigit() and int(text[:5]) <= 1000:
            return int(text)
        raise self.fail(f"{value!r} is neither a number from 0 to 1000 nor all", param, ctx)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options of one command."""

    seeds: tuple[str, ...]
    options: "JobOptions"
    profile: str
    is_dry: bool
    as_json: bool


@click.command()
@click.argument("seeds", metavar="[SEED…]", nargs=-1)
@click.option("--max-pages", type=BUDGET, metavar="N", help="Pages of each domain; 0 is all of them.")
@click.option("--depth", type=Depth(), metavar="N|all", help="Links from the start page; 0 is the start page only.")
@click.option("--delay", type=click.FloatRange(0, 86400), metavar="S", help="Seconds between two requests to a domain.")
@click.option("--max-requests", type=BUDGET, metavar="N", help="Requests to each domain; 0 is no limit.")
@click.option(
    "--time", "time_seconds", type=click.FloatRange(min=0.1), metavar="S", help="Seconds for the whole command."
)
@click.option(
    "--scope",
    type=click.Choice(["domain", "site"]),
    default="domain",
    show_default=True,
    help="site: hosts of the same site are admitted and crawled, too.",
)
@profile_option
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@click.option("--user-agent", metavar="UA", help="Who to say we are, instead of Bailiwick and crawl.contact.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be crawled, and what not and why.")
@click.option("--daemon", is_flag=True, help="Do not end: wait for what becomes due.")
@click.option("--exit-code", is_flag=True, help="End with 3 if there was nothing to do, with 4 if a limit was reached.")
@json_option
@click.pass_context
@pass_session
def crawl(  # noqa: PLR0913 - one for each option
    session: Session,
    ctx: click.Context,
    *,
    seeds: tuple[str, ...],
    max_pages: int | None,
    depth: int | None,
    delay: float | None,
    max_requests: int | None,
    time_seconds: float | None,
    scope: str,
    profile: str,
    resolves: tuple[str, ...],
    user_agent: str | None,
    is_dry: bool,
    daemon: bool,
    exit_code: bool,
    as_json: bool,
) -> int:
    """Crawl domains: fetch their pages politely, store them, follow their links.

    SEEDS are domains, URLs, or files of them (- is standard input). What you type is admitted: it needs no review.
    Without seeds, whatever is due is crawled. Stop it at any moment (Ctrl-C); the same command goes on where it was.

    \b
    bailiwick crawl example.org                     1,000 pages, 3 links deep, 2 seconds between requests
    bailiwick crawl seeds.txt --max-pages 0 --depth all
    bailiwick crawl https://example.org/docs/ --depth 1 --delay 5
    bailiwick crawl                                 go on with what is due
    """
    from bailiwick.net.guard import Resolve

    addresses = tuple(Resolve.parse(text) for text in resolves)
    _check(user_agent, delay, time_seconds)
    asked = _Asked(seeds, job_options(max_pages, depth, delay, max_requests, scope), profile, is_dry, as_json)
    if not is_dry:
        from bailiwick.pipeline.supervisor import supervise

        ended = supervise(lambda text: click.echo(text, err=True))
        if ended is not None:
            return ended
    parent = None if is_dry else os.getppid()
    app = session.app.create()
    jobs = _jobs(session, app, asked)
    if is_dry:
        return 0
    if jobs is not None and not jobs:
        return NOTHING_TO_DO if exit_code else 0
    _warn_without_contact(app, user_agent)
    from bailiwick.cli.crawl_display import display
    from bailiwick.cli.crawl_summary import summarise
    from bailiwick.crawl.engine import Wanted
    from bailiwick.pipeline.worker import Order, work

    wanted = Wanted([job.id for job in jobs] if jobs is not None else None, time_seconds, stays=daemon)
    quiet = bool(ctx.find_root().params["quiet"])
    engine, interrupted = work(
        app, Order(wanted, addresses, user_agent, parent), lambda running: display(running, quiet=quiet)
    )
    summarise(engine.progress, as_json=as_json)
    return _code(engine, interrupted=interrupted, exit_code=exit_code)


def _check(user_agent: str | None, *numbers: float | None) -> None:
    if user_agent is not None and not (user_agent.strip() and user_agent.isprintable() and user_agent.isascii()):
        raise UsageError("--user-agent is one line of printable ASCII", hint="Bailiwick (+you@example.org)")
    if any(number is not None and not isfinite(number) for number in numbers):
        raise UsageError("--delay and --time are numbers of seconds")


def job_options(
    max_pages: int | None, depth: int | None, delay: float | None, max_requests: int | None, scope: str
) -> "JobOptions":
    """The options that were given, for a job."""
    from bailiwick.crawl.jobs import JobOptions

    given: dict[str, object] = {
        "max_pages": max_pages, "max_depth": depth, "delay_seconds": delay, "max_requests": max_requests,
    }  # fmt: skip
    kept = {name: value for name, value in given.items() if value is not None}
    return JobOptions.model_validate(kept | ({"scope": scope} if scope != "domain" else {}))


def _code(engine: "Engine", *, interrupted: bool, exit_code: bool) -> int:
    if interrupted:
        from bailiwick.pipeline.supervisor import INTERRUPTED

        return INTERRUPTED
    if not exit_code:
        return 0
    limits = {"page_budget", "request_budget", "time_budget", "depth_limit", "known_pages_cap"}
    if limits & engine.progress.reasons.keys():
        return LIMIT_REACHED
    return 0 if engine.progress.pages else NOTHING_TO_DO


def _warn_without_contact(app: "App", user_agent: str | None) -> None:
    crawl_settings = app.settings.crawl
    if not (user_agent or crawl_settings.contact or crawl_settings.user_agent):
        what = "crawl.contact is not set, so sites cannot tell who crawls them"
        warn([f"{what}: bailiwick settings set crawl.contact you@example.org"])


# Seeds


def _jobs(session: Session, app: "App", asked: _Asked) -> "list[Job] | None":
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


def _ensure_job(app: "App", pages: "list[StartPage]", admitted: "Admitted", asked: _Asked, session: Session) -> "Job":
    from bailiwick.crawl import jobs

    ids = [domain.id for domain in admitted.domains]
    name = jobs.job_name([page.name.name for page in pages])
    starts_at_home = any(page.path == "/" for page in pages)
    options = asked.options if starts_at_home else asked.options.model_copy(update={"starts_at_home": False})
    with app.database.begin() as conn:
        known = jobs.find(conn, name)
        job = jobs.ensure(conn, name, ids, options, app.actor(conn))
    if known is not None and known.state == "running":
        session.say(f"going on with job {job.id} ({job.name})")
    return job


def _tell_due(app: "App") -> None:
    from bailiwick.registry.lease_views import claimable

    with app.database.read() as conn:
        ready = claimable(conn)
    click.echo(f"{sum(ready.values()):,} domains are due" + "".join(f", {n:,} {state}" for state, n in ready.items()))


def _tell_dry(app: "App", pages: "list[StartPage]") -> None:
    from bailiwick.crawl.seeds import by_names, may_start
    from bailiwick.registry.explain import explain_refusal

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
