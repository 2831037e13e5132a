"""`bailiwick status`: what is going on, on one screen."""

import click
from sqlalchemy import text

from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_facts, stamp
from bailiwick.ledger.events import latest


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
    facts: dict[str, object] = {
        "data": str(app.place.data),
        "database": f"PostgreSQL {version}, {'embedded' if database.is_embedded else 'by URL'}",
        "disk": str(database.disk.state()) if database.disk else None,
        "members": members,
        "last_event": f"{stamp(last.at)} {last.actor} {last.verb} {last.subject.name}" if last else None,
    }
    shown: Row = {name: value for name, value in facts.items() if isinstance(value, str | int) or value is None}
    show_facts(shown, as_json=as_json)
