"""`bailiwick candidate`: what discovery found and judged, why, and what people decide about it."""

from collections.abc import Callable, Sequence

import click
from pydantic import JsonValue
from sqlalchemy import Connection

from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import find_named, for_each
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Row, printable, show_rows, stamp
from bailiwick.discover import candidates
from bailiwick.discover.candidates import Candidate, Which
from bailiwick.ledger.events import Actor
from bailiwick.model.transitions import CANDIDATE

_ids_argument = click.argument("ids", metavar="ID…", nargs=-1, required=True, type=click.IntRange(1, 2**62))
_SNIPPET_CHARS = 160


@click.group()
def candidate() -> None:
    """See what discovery found, why it was judged as it was, and decide about it."""


@candidate.command("list")
@click.option("--state", type=click.Choice(list(CANDIDATE.states)), help="Only those in this state.")
@click.option("--session", "session_id", type=click.IntRange(1, 2**62), metavar="ID", help="Only of this session.")
@click.option("--domain", metavar="D", help="Only of this domain.")
@click.option("--min-confidence", "least", type=click.FloatRange(0, 1), help="Only from this confidence on.")
@click.option("--after", metavar="CONFIDENCE:ID", help="Go on after this one.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(  # noqa: PLR0913 - one option each
    session: Session,
    ctx: click.Context,
    *,
    state: str | None,
    session_id: int | None,
    domain: str | None,
    least: float | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List candidates, the best first, each with what speaks for it and against it."""
    app = session.app
    _follow_up(session)
    with app.database.read() as conn:
        domain_id = find_named(conn, domain, app).id if domain else None
        which = Which(state, session_id, domain_id, least)
        found = candidates.ranked(conn, which, limit=limit, after=_cursor(after))
    rows = [candidate_row(one) for one in found]
    if as_json:
        show_rows(rows, (), as_json=True, empty="")
    else:
        show_candidates(found, empty="there are no such candidates")
    say_more(session, ctx, rows, "cursor")


@candidate.command()
@click.argument("candidate_id", metavar="ID", type=click.IntRange(1, 2**62))
@json_option
@pass_session
def show(session: Session, *, candidate_id: int, as_json: bool) -> None:
    """Show one candidate: where it was found, what each judge says, what the crawl added."""
    from bailiwick.extract import item_listing
    from bailiwick.model.items import ItemKind

    _follow_up(session)
    with session.app.database.read() as conn:
        one = candidates.get(conn, candidate_id)
        contacts = item_listing.items(conn, one.domain_id, ItemKind.CONTACT, limit=20) if one.crawled_at else []
    told: list[JsonValue] = [dict(contact.data) for contact in contacts]
    if as_json:
        show_rows([{**candidate_row(one), "contacts": told}], (), as_json=True, empty="")
        return
    _show_whole(one)
    for contact in contacts:
        parts = [str(contact.data[name]) for name in ("name", "role", "email", "telephone") if contact.data.get(name)]
        click.echo(printable(f"  contact     {', '.join(parts)}"))


@candidate.command()
@_ids_argument
@pass_session
def assign(session: Session, *, ids: tuple[int, ...]) -> int:
    """Take candidates for review, so that nobody else decides about them meanwhile."""
    return _each(session, ids, lambda conn, one, actor: _told(candidates.assign(conn, one, actor)))


@candidate.command()
@_ids_argument
@pass_session
def release(session: Session, *, ids: tuple[int, ...]) -> int:
    """Give candidates back to the other reviewers."""
    return _each(session, ids, lambda conn, one, actor: _told(candidates.release(conn, one, actor)))


@candidate.command()
@_ids_argument
@click.option("--notes", type=text, help="Why, for the audit trail.")
@pass_session
def approve(session: Session, *, ids: tuple[int, ...], notes: str | None) -> int:
    """Approve candidates that were crawled. Takes those that nobody reviews yet."""
    return _each(
        session,
        ids,
        lambda conn, one, actor: _told(candidates.approve(conn, _taken(conn, one, actor), actor, notes=notes)),
    )


@candidate.command()
@_ids_argument
@click.option("--notes", type=text, required=True, help="Why, for the audit trail (required).")
@pass_session
def reject(session: Session, *, ids: tuple[int, ...], notes: str) -> int:
    """Reject candidates that were crawled. Takes those that nobody reviews yet."""
    return _each(
        session,
        ids,
        lambda conn, one, actor: _told(candidates.reject(conn, _taken(conn, one, actor), actor, notes=notes)),
    )


def _taken(conn: Connection, one: Candidate, actor: Actor) -> Candidate:
    """Who decides at once needs not take it first."""
    return candidates.assign(conn, one, actor) if one.state == "pending_review" else one


def _each(session: Session, ids: Sequence[int], deed: Callable[[Connection, Candidate, Actor], str]) -> int:
    app = session.app
    _follow_up(session)

    def act(given: str) -> str:
        with app.database.begin() as conn:
            return deed(conn, candidates.get(conn, int(given)), app.actor(conn))

    return for_each([str(one) for one in ids], act)


def _told(one: Candidate) -> str:
    notes = f": {one.review_notes}" if one.review_notes else ""
    return f"candidate {one.id} ({one.domain}{one.path}) is {one.state.replace('_', ' ')}{notes}"


def _follow_up(session: Session) -> None:
    """Candidates whose pages were crawled since move on to review."""
    from bailiwick.pipeline.following import follow_up

    if moved := follow_up(session.app):
        session.say(f"{moved:,} candidates were crawled and wait for review now")


def _cursor(given: str | None) -> candidates.Cursor | None:
    if given is None:
        return None
    confidence, _, number = given.partition(":")
    try:
        return float(confidence), int(number)
    except ValueError:
        raise UsageError(
            f"{given!r} is no place in the list", hint="--after 0.81:17, as the list says at its end"
        ) from None


def candidate_row(one: Candidate) -> Row:
    """For machines: everything but contacts, which are people's."""
    return {
        "id": one.id,
        "session": one.session_id,
        "url": one.url,
        "domain_name": one.domain,
        "approval": one.approval,
        "state": one.state,
        "confidence_score": one.confidence,
        "threshold": one.threshold,
        "title": one.title,
        "snippet": one.snippet,
        "engine": one.engine,
        "query": one.query,
        "position": one.position,
        "found_by": [dict(sighting) for sighting in one.found_by],
        "profile": one.profile,
        "judge_scores": [dict(score) for score in one.judge_scores],
        "reasoning": one.reasoning,
        "extracted_organization_name": one.organization_name,
        "extracted_program_name": one.program_name,
        "assigned_to": one.assignee,
        "reviewed_by": one.reviewer,
        "reviewed_at": stamp(one.reviewed_at) if one.reviewed_at else None,
        "review_notes": one.review_notes,
        "crawled_at": stamp(one.crawled_at) if one.crawled_at else None,
        "facts": dict(one.facts) if one.facts else None,
        "page_outcome": one.page_outcome,
        "found_at": stamp(one.found_at),
        "cursor": f"{one.confidence!r}:{one.id}",
    }


def show_candidates(found: Sequence[Candidate], *, empty: str) -> None:
    """For people: what it is, where, and what spoke for it and against it."""
    from bailiwick.judge.telling import two_decimals

    if not found:
        click.echo(empty, err=True)
    for number, one in enumerate(found):
        if number:
            click.echo()
        score = click.style(two_decimals(one.confidence), bold=True)
        click.echo(f"{score}  {click.style(printable(one.title) or '(no title)', bold=True)}  [{one.id}]")
        click.echo(f"      {click.style(printable(one.domain + one.path), fg='cyan')}  {_standing(one)}")
        for sign, scores in _for_and_against(one):
            if scores:
                click.echo(printable(f"      {sign} " + "; ".join(scores)))


def _standing(one: Candidate) -> str:
    if one.state != "pending_crawl":
        return one.state.replace("_", " ")
    if one.approval != "approved":
        return f"domain {one.approval.replace('_', ' ')}"
    return f"page {one.page_outcome.replace('_', ' ')}" if one.page_outcome else "waits for its crawl"


def _for_and_against(one: Candidate) -> list[tuple[str, list[str]]]:
    sides: dict[str, list[str]] = {"+": [], "-": []}
    for score in sorted(one.judge_scores, key=lambda score: -abs(float(str(score["score"])) - 0.5)):
        side = "+" if float(str(score["score"])) >= 0.5 else "-"
        sides[side].append(f"{score['judge_name']} {float(str(score['score'])):.2f} ({score['explanation']})")
    return list(sides.items())


def _show_whole(one: Candidate) -> None:
    click.echo(click.style(printable(one.title) or "(no title)", bold=True))
    places = ", ".join(f"{s['engine']} #{s['position']} ({s['query'] or 'no query'})" for s in one.found_by)
    facts = {
        "url": one.url,
        "state": one.state.replace("_", " ") + (f" by {one.assignee}" if one.state == "in_review" else ""),
        "domain": f"{one.domain}, {one.approval.replace('_', ' ')}",
        "snippet": one.snippet[:_SNIPPET_CHARS],
        "found by": places,
        "confidence": f"{one.confidence:.4f}, threshold {one.threshold:g}, profile {one.profile}",
        "organisation": one.organization_name,
        "programme": one.program_name,
        "page": one.page_outcome,
        "crawled": stamp(one.crawled_at) if one.crawled_at else None,
        "decided": f"{one.reviewer}, {stamp(one.reviewed_at)}" if one.reviewed_at else None,
        "notes": one.review_notes,
    }
    for name, value in facts.items():
        if value:
            click.echo(printable(f"  {name:<11} {value}"))
    for score in one.judge_scores:
        line = f"{score['score']:.2f} x {score['weight']:g}  {score['judge_name']}: {score['explanation']}"
        click.echo(printable(f"    {line}"))
    programmes = (one.facts or {}).get("programmes")
    for programme in programmes if isinstance(programmes, list) else []:
        if isinstance(programme, dict):
            told = [f"{key} {value}" for key, value in programme.items() if key not in ("name", "url")]
            click.echo(printable(f"  programme   {programme.get('name', '')}: {', '.join(told)}"))
