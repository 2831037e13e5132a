"""`bailiwick review`: URLs that no band decided about, and what people make of them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, cast

import click
from sqlalchemy import Connection

from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import find_named, for_each, reason_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Look, show_facts, show_rows, stamp
from bailiwick.cli.review_bands import bands
from bailiwick.cli.review_show import COLUMNS, DECIDED_COLUMNS, below, cells, detail_row, entry_row, show_detail
from bailiwick.cli.times import moment
from bailiwick.ledger.events import Actor
from bailiwick.review import decisions, listing, queue
from bailiwick.review.detail import detail
from bailiwick.review.figures import LATELY, figures
from bailiwick.review.listing import Cursor, Entry, Order, State, Which

if TYPE_CHECKING:
    from pydantic import JsonValue

    from bailiwick.base.review_sections import ReviewSettings

_ids_argument = click.argument("ids", metavar="ID…", nargs=-1, required=True, type=click.IntRange(1, 2**62))
_ORDERS = ("age", "information", "score")
_BATCH = 500
_ALL = 1_000_000_000


@click.group()
def review() -> None:
    """Decide about evaluated URLs that wait for a person: the review queue."""


review.add_command(bands)


@review.command("list")
@click.option("--state", type=click.Choice(["waiting", "approved", "rejected", "reviewed"]), default="waiting",
              show_default=True, help="Those that wait, or those that people decided about.")  # fmt: skip
@click.option("--band", type=text, help="Only of this band.")
@click.option("--older-than", "--min-age", "before", type=moment, metavar="TIME", help="Only queued before: 7d, a day.")
@click.option("--job", "job", type=text, metavar="JOB", help="Only of this job, by its number or name.")
@click.option("--domain", type=text, metavar="D", help="Only of this domain.")
@click.option("--min-score", "least", type=click.FloatRange(0, 1), help="Only from this confidence on.")
@click.option("--max-score", "most", type=click.FloatRange(0, 1), help="Only up to this confidence.")
@click.option("--stale", is_flag=True, help="Only those that wait for too long.")
@click.option("--audit", "kind", flag_value="audit", help="Only audits: what a band has decided, and people look at.")
@click.option("--no-audit", "kind", flag_value="review", help="No audits.")
@click.option("--order", type=click.Choice(_ORDERS), help="What comes first. Default: the setting review.order.")
@click.option("--after", type=text, metavar="CURSOR", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(  # noqa: PLR0913 - one option each
    session: Session,
    ctx: click.Context,
    *,
    state: str,
    band: str | None,
    before: datetime | None,
    job: str | None,
    domain: str | None,
    least: float | None,
    most: float | None,
    stale: bool,
    kind: str | None,
    order: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List the queue: what waits longest first, or what is most uncertain, or scores highest."""
    app = session.app
    if least is not None and most is not None and least > most:
        raise UsageError(f"no score is from {least:g} to {most:g}", hint="--min-score 0.5 --max-score 0.6")
    by = cast("Order", order or app.settings.review.order)
    cursor = _cursor(after, is_time=state != "waiting" or by == "age")
    with app.database.read() as conn:
        which = Which(
            cast("State", state), band, listing.job_id(conn, job) if job else None,
            find_named(conn, domain, app).id if domain else None, least, most, True if stale else None,
            None if kind is None else kind == "audit", before,
        )  # fmt: skip
        found = listing.entries(conn, which, order=by, limit=limit, after=cursor)
    rows = [entry_row(entry, by) for entry in found]
    columns = COLUMNS if state == "waiting" else DECIDED_COLUMNS
    show_rows(rows, columns, as_json=as_json, empty=f"nothing is {state}", look=Look(cells, below))
    say_more(session, ctx, rows, "cursor")


@review.command()
@click.argument("entry_id", metavar="ID", type=click.IntRange(1, 2**62))
@json_option
@pass_session
def show(session: Session, *, entry_id: int, as_json: bool) -> None:
    """Show one entry: what was found out about it, layer by layer with proofs, and decisions on its domain."""
    with session.app.database.read() as conn:
        _show(conn, listing.get(conn, entry_id), as_json=as_json)


@review.command("next")
@click.option("--order", type=click.Choice(["age", "information"]), help="Default: the setting review.order.")
@json_option
@pass_session
def next_(session: Session, *, order: Literal["age", "information"] | None, as_json: bool) -> None:
    """Take the first that nobody holds, and show it. What you hold already comes first."""
    app = session.app
    settings = app.settings.review
    with app.database.begin() as conn:
        entry = queue.claim_next(conn, app.actor(conn), settings, order=order)
        if entry is None:
            session.say("nothing waits for you")
            return
        _show(conn, entry, as_json=as_json)
    session.say(f'yours for {settings.claim_minutes:g} minutes: bailiwick review approve {entry.id} [--notes "…"]')
    session.say(f'or bailiwick review reject {entry.id} --notes "…", or bailiwick review release {entry.id}')


@review.command()
@_ids_argument
@click.option("--take-over", "takes_over", is_flag=True, help="Also what another reviewer holds now (admins).")
@pass_session
def claim(session: Session, *, ids: tuple[int, ...], takes_over: bool) -> int:
    """Take entries, so that nobody else decides about them meanwhile."""

    def deed(conn: Connection, entry: Entry, actor: Actor) -> str:
        held = queue.claim(conn, entry.id, actor, session.app.settings.review, takes_over=takes_over)
        until = stamp(held.claimed_until) if held.claimed_until else ""
        return f"entry {held.id} ({held.name}) is yours until {until}"

    return _each(session, ids, deed)


@review.command()
@_ids_argument
@pass_session
def release(session: Session, *, ids: tuple[int, ...]) -> int:
    """Give entries back to the other reviewers."""

    def deed(conn: Connection, entry: Entry, actor: Actor) -> str:
        return f"entry {queue.release(conn, entry.id, actor).id} ({entry.name}) is free"

    return _each(session, ids, deed)


@review.command()
@_ids_argument
@click.option("--notes", type=text, help="Why.")
@pass_session
def approve(session: Session, *, ids: tuple[int, ...], notes: str | None) -> int:
    """Approve URLs that wait."""
    settings = session.app.settings.review
    return _each(session, ids, lambda c, e, a: _told(session, decisions.approve(c, e, a, settings, notes=notes)))


@review.command()
@_ids_argument
@click.option("--notes", type=text, required=True, help="Why (required).")
@pass_session
def reject(session: Session, *, ids: tuple[int, ...], notes: str) -> int:
    """Reject URLs that wait."""
    settings = session.app.settings.review
    return _each(session, ids, lambda c, e, a: _told(session, decisions.reject(c, e, a, settings, notes=notes)))


@review.command()
@_ids_argument
@pass_session
def undo(session: Session, *, ids: tuple[int, ...]) -> int:
    """Take back what you decided in the last minutes (review.undo_minutes)."""
    settings = session.app.settings.review
    return _each(session, ids, lambda c, e, a: _told(session, decisions.undo(c, e.id, a, settings)))


@review.command()
@click.argument("ids", metavar="[ID…]", nargs=-1, type=click.IntRange(1, 2**62))
@click.option("--overflow", is_flag=True, help="Take in URLs that found the queue full, the oldest first.")
@click.option("--limit", type=click.IntRange(1, _ALL), help="With --overflow: at most this many.")
@reason_option
@pass_session
def requeue(session: Session, *, ids: tuple[int, ...], overflow: bool, limit: int | None, reason: str | None) -> int:
    """Let decided URLs wait again (admins, with a --reason), or take in what found the queue full (--overflow)."""
    if overflow == bool(ids):
        raise UsageError("give IDs, or --overflow", hint='bailiwick review requeue 17 --reason "…"')
    if overflow:
        return _take_in(session, limit or _ALL)
    if not (reason or "").strip():
        raise UsageError("requeue needs a reason", hint='say why: --reason "…"')
    settings, why = session.app.settings.review, reason or ""
    return _each(session, ids, lambda c, e, a: _told(session, decisions.requeue(c, e.id, a, settings, reason=why)))


@review.command()
@pass_session
def stale(session: Session) -> None:
    """Mark what waits for too long (review.auto_review_timeout_days). The scheduler does so once a day."""
    from bailiwick.review.stale import run_once

    marked = run_once(session.app.database, session.app.settings.review).marked
    if marked is None:
        raise UsageError(
            "no time is set after which a URL is stale", hint="bailiwick settings set review.auto_review_timeout_days 7"
        )
    click.echo(f"{marked:,} URLs are stale now that were not before")


@review.command()
@json_option
@pass_session
def stats(session: Session, *, as_json: bool) -> None:
    """Show the queue in figures: how many wait, what came of the rest, who decided lately."""
    with session.app.database.read() as conn:
        now = figures(conn)
    reviewers: list[JsonValue] = [
        {"name": one.name, "approved": one.approved, "rejected": one.rejected} for one in now.reviewers
    ]
    facts: dict[str, JsonValue] = {
        "waiting": now.waiting,
        "queue_size_limit": session.app.settings.review.queue_size_limit,
        "stale": now.stale,
        "claimed": now.claimed,
        "audits": {"waiting": now.audits.waiting, "agreed": now.audits.agreed, "overruled": now.audits.overruled},
        "oldest": stamp(now.oldest) if now.oldest else None,
        "results": {status: {**reasons} for status, reasons in now.results.items()},
        f"decided_in_{LATELY.days}_days": reviewers,
    }
    show_facts(facts, as_json=as_json)


def _take_in(session: Session, limit: int) -> int:
    from bailiwick.cli.bands import bands_of
    from bailiwick.review.routing import take_in_overflow

    app, queued, approved = session.app, 0, 0
    of_profile, settings = bands_of(app), app.settings.review
    while queued + approved < limit:
        most = min(_BATCH, limit - queued - approved)
        with app.database.begin() as conn:
            done = take_in_overflow(conn, of_profile, settings, app.actor(conn), limit=most)
        if not done.queued + done.approved:
            break
        queued, approved = queued + done.queued, approved + done.approved
    trusted = f", {approved:,} approved: their domains are trusted by now" if approved else ""
    click.echo(f"{queued:,} URLs were taken into the queue{trusted}")
    return 0


def _show(conn: Connection, entry: Entry, *, as_json: bool) -> None:
    whole = detail(conn, entry)
    if as_json:
        show_rows([detail_row(whole)], (), as_json=True, empty="")
    else:
        show_detail(whole)


def _each(session: Session, ids: Sequence[int], deed: Callable[[Connection, Entry, Actor], str]) -> int:
    app = session.app

    def act(given: str) -> str:
        with app.database.begin() as conn:
            return deed(conn, listing.get(conn, int(given)), app.actor(conn))

    return for_each([str(one) for one in ids], act)


def _told(session: Session, entry: Entry) -> str:
    if entry.state == "waiting":
        return f"entry {entry.id} ({entry.name}) waits again"
    settings: ReviewSettings = session.app.settings.review
    notes = f": {entry.reviewer_notes}" if entry.reviewer_notes else ""
    own = ", self-approved" if entry.is_self_approved else ""
    grace = f" (undo within {settings.undo_minutes:g} minutes)" if settings.undo_minutes else ""
    return f"entry {entry.id} ({entry.name}) is {entry.state}{own}{notes}{grace}"


def _cursor(given: str | None, *, is_time: bool) -> Cursor | None:
    if given is None:
        return None
    value, _, number = given.rpartition(":")
    try:
        place = datetime.fromisoformat(value) if is_time else float(value)
        if isinstance(place, datetime) and place.tzinfo is None:
            raise ValueError("a time of no zone")
        return place, int(number)
    except ValueError:
        raise UsageError(
            f"{given!r} is no place in this list", hint="--after as the list says at its end, in the same --order"
        ) from None
