"""`bailiwick notify`: messages to people: what is under way, what failed, and whether they arrive at all."""

import asyncio

import click
from pydantic import JsonValue

from bailiwick.base.errors import NotAllowedError, UsageError
from bailiwick.cli.acting import tell
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Row, show_facts, show_rows, stamp
from bailiwick.ledger import deliveries
from bailiwick.ledger.deliveries import STATES, Channel, Delivery
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role

_COLUMNS = ("id", "channel", "kind", "recipient", "title", "state", "tries", "when", "error")
_ROUND_SECONDS = 600.0


@click.group()
def notify() -> None:
    """See and send what people are told: of decisions, and when many URLs wait for review.

    `bailiwick serve` and every crawl send what waits; without them, run `bailiwick notify send` now and then.
    """


@notify.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those that are waiting, sent or failed.")
@click.option("--after", type=click.IntRange(1, 2**62), metavar="ID", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session, ctx: click.Context, *, state: str | None, after: int | None, limit: int, as_json: bool
) -> None:
    """List messages, the newest first: sent, waiting (with what went wrong so far), failed."""
    with session.app.database.read() as conn:
        rows = [_row(found) for found in deliveries.listing(conn, state=state, limit=limit, before_id=after)]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="there are no such messages")
    say_more(session, ctx, rows, "id")


@notify.command()
@json_option
@pass_session
def send(session: Session, *, as_json: bool) -> int:
    """Send what is due now. Ends with 1 if something could not be sent; it is tried again later."""
    from bailiwick.pipeline.delivering import run_once

    done = asyncio.run(run_once(session.app, seconds=_ROUND_SECONDS))
    facts: dict[str, JsonValue] = {"sent": done.sent, "failed": done.failed, "given_up": done.given_up}
    show_facts(facts, as_json=as_json)
    if done.failed:
        session.say("bailiwick notify list shows what went wrong")
    return int(done.failed > 0)


@notify.command()
@click.argument("ids", metavar="[ID]…", nargs=-1, type=click.IntRange(1, 2**62))
@click.option("--all", "everything", is_flag=True, help="All that failed.")
@pass_session
def retry(session: Session, *, ids: tuple[int, ...], everything: bool) -> int:
    """Let messages that failed be tried anew."""
    if bool(ids) == everything:
        raise UsageError("name messages, or --all", hint="bailiwick notify list --state failed")
    app = session.app
    with app.database.begin() as conn:
        _require_admin(app.actor(conn))
        found = deliveries.retry(conn, None if everything else ids)
    click.echo(f"{len(found):,} {'message is' if len(found) == 1 else 'messages are'} tried again")
    missing = sorted(set(ids) - set(found))
    for one in missing:
        click.echo(f"error: message {one} has not failed, or is a test", err=True)
    return int(bool(missing))


@notify.command()
@click.argument("channel", type=click.Choice(("email", "slack", "other")))
@click.option("--to", type=text, metavar="MAIL", help="Of email: to whom, instead of email_recipient.")
@pass_session
def test(session: Session, *, channel: Channel, to: str | None) -> int:
    """Send a message at once, to see whether it arrives. Ends with 1 if not."""
    from bailiwick.pipeline.delivering import send_test

    app = session.app
    with app.database.begin() as conn:
        _require_admin(app.actor(conn))
    failed = 0
    for recipient in _recipients(session, channel, to):
        reply = asyncio.run(send_test(app, channel, recipient))
        whom = f"{channel} {recipient}" if recipient else channel
        if reply.is_sent:
            click.echo(f"{whom}: sent")
        else:
            failed += 1
            tell(UsageError(f"{whom}: {reply.why}"), about=whom)
    return int(failed > 0)


def _recipients(session: Session, channel: Channel, to: str | None) -> list[str | None]:
    if to is not None and channel != "email":
        raise UsageError("--to is for e-mail", hint="bailiwick notify test email --to somebody@example.org")
    if channel == "slack":
        return [None]
    if channel == "other":
        others: list[str | None] = list(session.app.notifier().others)
        if not others:
            raise UsageError("no further services are set", hint="notify.urls_env names the variable that holds them")
        return others
    whom = to or session.app.settings.review.notifications.email_recipient
    if whom is None:
        raise UsageError("to whom?", hint="--to MAIL, or set review.notifications.email_recipient")
    return [whom]


def _row(found: Delivery) -> Row:
    when = {"waiting": found.next_at, "sent": found.sent_at}.get(found.state) or found.created_at
    return {
        "id": found.id,
        "channel": found.channel,
        "kind": found.kind,
        "recipient": found.recipient,
        "title": found.title,
        "body": found.body,
        "state": found.state,
        "tries": found.tries,
        "when": stamp(when),
        "created_at": stamp(found.created_at),
        "error": found.error,
    }


def _require_admin(actor: Actor) -> None:
    if actor.role is not Role.ADMIN:
        raise NotAllowedError(f"{actor.name} ({actor.role}) may not do this", hint="this takes the role admin")
