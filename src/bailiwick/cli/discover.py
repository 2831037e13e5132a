"""`bailiwick discover`: ask search engines, judge what they bring, keep what is worth a look."""

from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.candidate import show_candidates
from bailiwick.cli.context import Session, json_option, pass_session, profile_option, text
from bailiwick.cli.output import Row, printable, show_facts, show_rows, stamp
from bailiwick.cli.progress import Advance, progress

if TYPE_CHECKING:
    from bailiwick.discover.sessions import FailedCall, Order
    from bailiwick.discover.sessions import Session as Kept
    from bailiwick.model.profiles import Profile
    from bailiwick.pipeline.discovery import Discovered

_NEEDS_NO_QUERY = ("links", "file")
_SHOWN = 10
_SHOWN_FAILURES = 100


@click.command()
@click.argument("queries", metavar="[QUERY…]", nargs=-1, type=text)
@click.option(
    "--queries",
    "query_file",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Queries, one a line; - reads them.",
)
@click.option(
    "--set",
    "values",
    type=text,
    multiple=True,
    metavar="NAME=VALUE",
    help="Fill {NAME} in queries; several times: each.",
)
@click.option(
    "--engine",
    "engines",
    type=text,
    multiple=True,
    metavar="NAME",
    help="links, file:PATH, searxng, tavily, perplexity, browserbase, brave. Default: links, and searxng if set up.",
)
@profile_option
@click.option(
    "--limit",
    "per_query",
    type=click.IntRange(0, 1_000_000),
    default=100,
    show_default=True,
    help="Most results of each engine for each query; 0: all there are.",
)
@click.option("--threshold", type=click.FloatRange(0, 1), help="Confidence that makes a candidate, not the profile's.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked, and ask nobody.")
@click.option("--sessions", "shows", flag_value="sessions", help="List the sessions so far instead.")
@click.option(
    "--session",
    "session_id",
    type=click.IntRange(1, 2**62),
    metavar="ID",
    help="Show what one session came to instead, and which engines did not answer.",
)
@click.option("--engines", "shows", flag_value="engines", help="List the engines instead, with today's use.")
@json_option
@pass_session
def discover(  # noqa: PLR0913 - one option each
    session: Session,
    *,
    queries: tuple[str, ...],
    query_file: TextIO | None,
    values: tuple[str, ...],
    engines: tuple[str, ...],
    profile: str,
    per_query: int,
    threshold: float | None,
    dry_run: bool,
    shows: str | None,
    session_id: int | None,
    as_json: bool,
) -> None:
    """Find new domains: ask search engines, and judge what they bring before a page is fetched.

    \b
    bailiwick discover "community grants bulgaria" --engine searxng --engine links --profile funding
    bailiwick discover --queries queries.txt --set country=Bulgaria --set country=Romania --engine brave
    bailiwick discover --engine file:results.csv --profile funding --limit 0

    Results that reach the profile's threshold become candidates; their domains wait for approval. A domain that was
    judged in the last 30 days is passed over, so running it again is safe. An interrupted session is gone on with by
    the same command. {year} in a query is this year unless it is set.
    """
    if shows is not None:
        (_list_sessions if shows == "sessions" else _list_engines)(session, as_json=as_json)
        return
    if session_id is not None:
        _show_session(session, session_id, as_json=as_json)
        return
    order, wanted = _order(session, (*queries, *_lines(query_file)), values, engines, profile, per_query, threshold)
    if dry_run:
        _show_plan(session, order, as_json=as_json)
        return
    found = _run(session, order, wanted)
    _show(session, found, as_json=as_json)


def _lines(file: TextIO | None) -> list[str]:
    from bailiwick.discover.templates import read_queries

    try:
        return read_queries(file) if file is not None else []
    except UnicodeDecodeError as error:
        raise UsageError(f"the queries are not UTF-8: {error}") from None


def _order(
    session: Session,
    queries: tuple[str, ...],
    values: tuple[str, ...],
    engines: tuple[str, ...],
    profile: str,
    per_query: int,
    threshold: float | None,
) -> "tuple[Order, Profile]":
    from bailiwick.base.clock import SystemClock
    from bailiwick.discover.sessions import Order
    from bailiwick.discover.templates import filled
    from bailiwick.model.profile_files import load_profile

    app = session.app.create()
    chosen = tuple(dict.fromkeys(engines)) or _usual_engines(session)
    given: dict[str, list[str]] = {}
    for one in values:
        name, is_set, value = one.partition("=")
        if not is_set or not name or not value.strip():
            raise UsageError(f"{one!r} sets nothing", hint="--set country=Bulgaria")
        given.setdefault(name, []).append(value.strip())
    given.setdefault("year", [str(SystemClock().now().year)])
    asked = filled(queries, given)
    if not asked:
        if any(name.partition(":")[0] not in _NEEDS_NO_QUERY for name in chosen):
            raise UsageError("there is no query", hint='bailiwick discover "community grants bulgaria"')
        asked = [""]
    wanted = load_profile(profile, app.place.profiles)
    least = wanted.judge_threshold if threshold is None else threshold
    return Order(tuple(asked), chosen, profile, least, per_query), wanted


def _usual_engines(session: Session) -> tuple[str, ...]:
    is_set_up = session.app.bootstrap.tree.searxng.base_url is not None
    return ("links", "searxng") if is_set_up else ("links",)


def _show_plan(session: Session, order: "Order", *, as_json: bool) -> None:
    pages = [f"{name} ({_requests(session, name, order.per_query)})" for name in order.engines]
    facts: Row = {
        "queries": list(order.queries) if as_json else f"{len(order.queries):,}: " + "; ".join(order.queries[:5]),
        "engines": list(order.engines) if as_json else ", ".join(pages),
        "profile": order.profile,
        "threshold": order.threshold,
    }
    show_facts(facts, as_json=as_json)


def _requests(session: Session, name: str, per_query: int) -> str:
    """How often an engine would be asked for a query, retries not counted."""
    engine = session.app.search_engine(name)
    if name.partition(":")[0] in _NEEDS_NO_QUERY:
        return "asks nobody"
    if engine.most_pages is None:
        return "a request for every page, until there are enough"
    most = min(-(-per_query // engine.page_size), engine.most_pages) if per_query else engine.most_pages
    return "1 request a query" if most == 1 else f"at most {most} requests a query"


def _run(session: Session, order: "Order", wanted: "Profile") -> "Discovered":
    from bailiwick.pipeline.discovery import Watch, discover

    with progress("asking", total=len(order.queries) * len(order.engines)) as asked, ExitStack() as later:
        bars: list[Advance] = []

        def judged(done: int, of: int) -> None:
            if not bars:  # only now it is known how much there is to judge
                bars.append(later.enter_context(progress("judging", total=of)))
            bars[0](done)

        return discover(session.app, order, wanted, Watch(asked=lambda done, _of: asked(done), judged=judged))


def _show(session: Session, found: "Discovered", *, as_json: bool) -> None:
    from bailiwick.discover import candidates, sessions

    app = session.app
    with app.database.read() as conn:
        which = candidates.Which(state="pending_crawl", session_id=found.session.id)
        best = candidates.ranked(conn, which, limit=_SHOWN)
        now = sessions.get(conn, found.session.id)
    if as_json:
        show_facts({**_row(now), "problems": list(found.problems)}, as_json=True)
        return
    if found.goes_on:
        session.say(f"went on with session {found.session.id}, which was interrupted")
    for problem in found.problems:
        click.echo(f"warning: {printable(problem)}", err=True)
    show_candidates(best, empty="no result reached the threshold")
    stats = found.stats
    told = [
        f"session {found.session.id}: {stats.total_processed:,} pages of {stats.results:,} results",
        f"{stats.candidates_created:,} candidates",
        f"{stats.skipped_low_confidence:,} below {found.session.order.threshold:g}",
        f"{stats.skipped_domain_already_processed:,} of domains judged before",
        f"{stats.skipped_blacklisted:,} blacklisted",
        *([f"{stats.failures:,} failed"] if stats.failures else []),
        *([f"{sum(stats.refused.values()):,} no pages ({_refused(stats.refused)})"] if stats.refused else []),
        *([f"cost {stats.cost:.2f}"] if stats.cost else []),
    ]
    session.say(", ".join(told))
    if stats.domains_proposed:
        session.say(f"{stats.domains_proposed:,} new domains wait for approval: bailiwick domain approve NAME")
    if stats.candidates_created > len(best):
        session.say(f"all of them: bailiwick candidate list --session {found.session.id}")


def _refused(refused: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(refused.items(), key=lambda one: -one[1]))


def _list_sessions(session: Session, *, as_json: bool) -> None:
    from bailiwick.discover import sessions

    with session.app.database.read() as conn:
        found = sessions.latest(conn, limit=50)
    rows = [_row(one) for one in found]
    columns = ("id", "state", "profile", "queries", "engines", "candidates", "started_at")
    show_rows(
        rows
        if as_json
        else [{**row, "queries": _short(row["queries"]), "engines": _short(row["engines"])} for row in rows],
        columns,
        as_json=as_json,
        empty="there was no session yet",
    )


def _show_session(session: Session, session_id: int, *, as_json: bool) -> None:
    from bailiwick.discover import sessions

    with session.app.database.read() as conn:
        row = _row(sessions.get(conn, session_id))
        failures = [_failure(call) for call in sessions.failed_calls(conn, session_id, limit=_SHOWN_FAILURES)]
    if as_json:
        show_facts({**row, "failures": [dict(failure) for failure in failures]}, as_json=True)
        return
    facts = {name: _short(value) if isinstance(value, list) else value for name, value in row.items()}
    stats = facts.pop("stats")
    counted = {name: value for name, value in stats.items() if value} if isinstance(stats, dict) else {}
    show_facts({**facts, **counted}, as_json=False)
    show_rows(failures, ("at", "engine", "query", "page", "outcome", "status", "why"), as_json=False, empty="")


def _failure(call: "FailedCall") -> Row:
    return {**asdict(call), "at": stamp(call.at)}


def _list_engines(session: Session, *, as_json: bool) -> None:
    from bailiwick.app import SEARCH_ENGINES
    from bailiwick.base.errors import SettingsError
    from bailiwick.discover.gates import Usage, usage

    app = session.app
    asked: dict[str, Usage] = {}
    if app.place.exists or app.bootstrap.tree.database.url is not None:
        with app.database.read() as conn:
            asked = usage(conn)
    rows: list[Row] = [{"engine": name, "state": "ready", "note": "asks nobody"} for name in ("links", "file:PATH")]
    for name in SEARCH_ENGINES:
        settings, today = getattr(app.bootstrap.tree, name), asked.get(name, Usage())
        try:
            app.search_engine(name)
            state = "ready"
        except SettingsError as error:
            state = error.message
        row: Row = {"engine": name, "state": state, "calls_today": today.calls, "cost_today": round(today.cost, 6)}
        rows.append({**row, "calls_a_day": settings.requests_per_day, "calls_a_minute": settings.requests_per_minute})
    show_rows(rows, ("engine", "state", "calls_today", "calls_a_day", "cost_today"), as_json=as_json, empty="")


def _short(listed: object) -> str:
    texts = [str(one) for one in listed] if isinstance(listed, list) else []
    return (texts[0] if texts else "")[:50] + (f" and {len(texts) - 1:,} more" if len(texts) > 1 else "")


def _row(one: "Kept") -> Row:
    return {
        "id": one.id,
        "state": one.state,
        "profile": one.order.profile,
        "queries": list(one.order.queries),
        "engines": list(one.order.engines),
        "limit": one.order.per_query,
        "threshold": one.order.threshold,
        "candidates": one.stats.candidates_created,
        "started_by": one.started_by,
        "started_at": stamp(one.started_at),
        "finished_at": stamp(one.finished_at) if one.finished_at else None,
        "stats": one.stats.model_dump(),
    }
