"""`bailiwick events`: the audit trail, also as it happens."""

import click

from bailiwick.base.clock import Clock, SystemClock
from bailiwick.base.errors import UsageError
from bailiwick.base.retry import retrying
from bailiwick.cli.context import Session, json_option, limit_option, pass_session
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.ledger.events import Event, Subject, latest, since
from bailiwick.ledger.reader import Cursor, end_cursor

_POLL_SECONDS = 0.5
_PATIENCE_SECONDS = 600  # with a database that was stopped or restarted
_COLUMNS = ("at", "who", "did", "what", "before", "after", "reason")


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Go on showing events as they happen, until Ctrl-C.")
@click.option("--of", "subject", metavar="KIND:NAME", help="Only of one thing, such as setting:storage.min_free_bytes.")
@click.option("--before", "before_id", type=int, metavar="ID", help="The page before this event's id.")
@limit_option
@json_option
@pass_session
def events(
    session: Session, *, follow: bool, subject: str | None, before_id: int | None, limit: int, as_json: bool
) -> None:
    """Show the audit trail: who did what, when and why.

    The newest are shown, oldest of them first. --follow goes on from there and misses nothing.
    """
    about = _subject(subject)
    database = session.app.database
    with database.read() as conn:
        cursor = end_cursor(conn)
        page = latest(conn, subject=about, limit=limit, before_id=before_id)
    shown = [e for e in reversed(page) if not follow or e.cursor <= cursor]
    show_rows(map(_row, shown), _COLUMNS, as_json=as_json, empty="no events yet")
    if follow:
        _follow(session, cursor, about, as_json=as_json)


def _follow(session: Session, cursor: Cursor, about: Subject | None, *, as_json: bool) -> None:
    clock: Clock = SystemClock()
    database = session.app.database

    def next_events() -> list[Event]:
        with database.read() as conn:
            return since(conn, cursor)

    while True:
        fresh = retrying(next_events, clock=clock, limit_seconds=_PATIENCE_SECONDS, say=session.say)
        for event in fresh:
            cursor = event.cursor
            if about is None or (event.subject.kind, event.subject.name) == (about.kind, about.name):
                _show_line(event, as_json=as_json)
        if not fresh:
            clock.sleep(_POLL_SECONDS)


def _show_line(event: Event, *, as_json: bool) -> None:
    row = _row(event)
    if as_json:
        show_rows([row], _COLUMNS, as_json=True, empty="")
        return
    change = f"{row['before'] or ''} → {row['after']}" if row["after"] is not None else ""
    why = f"  ({row['reason']})" if row["reason"] else ""
    click.echo(f"{row['at']}  {row['who']}  {row['did']}  {row['what']}  {change}{why}")


def _row(event: Event) -> Row:
    return {
        "id": event.id,
        "at": stamp(event.at),
        "who": event.actor,
        "did": event.verb,
        "what": f"{event.subject.kind}:{event.subject.name}",
        "machine": event.machine,
        "before": event.before,
        "after": event.after,
        "reason": event.reason,
        "details": event.details,
    }


def _subject(text: str | None) -> Subject | None:
    if text is None:
        return None
    kind, colon, name = text.partition(":")
    if not colon or not name:
        raise UsageError(f"{text!r} names nothing", hint="KIND:NAME, such as setting:storage.min_free_bytes")
    return Subject(kind, name)
