"""`bailiwick settings`: what is set, where it came from, who changed it."""

import json

import click
from pydantic import JsonValue

from bailiwick.base import settings as tree
from bailiwick.base.errors import UsageError
from bailiwick.cli.bands import bands_preview
from bailiwick.cli.context import Session, json_option, limit_option, pass_session
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.ledger import settings as kept


@click.group()
def settings() -> None:
    """Show and change settings.

    \b
    Precedence: environment > bailiwick.toml > database > default.
      BAILIWICK_STORAGE_MIN_FREE_BYTES=2000000000     environment: BAILIWICK_<SECTION>_<NAME>
      [storage]                                       file: bailiwick.toml
      min_free_bytes = 2000000000
      bailiwick settings set storage.min_free_bytes 2000000000      database
    """


@settings.command()
@click.argument("key", required=False)
@click.option("--changed", is_flag=True, help="Only what differs from its default.")
@json_option
@pass_session
def show(session: Session, *, key: str | None, changed: bool, as_json: bool) -> None:
    """Show settings with value and origin."""
    app = session.app
    # Without a database yet, the settings that steer it can still be looked at.
    loaded = app.loaded if app.place.exists or app.bootstrap.tree.database.url else app.bootstrap
    chosen = [loaded.setting(key)] if key else list(loaded)
    rows: list[Row] = [
        {
            "setting": s.key,
            "value": s.value,
            "origin": s.origin.value,
            "default": s.default,
            "environment": tree.environment_name(s.key),
            "description": s.description,
        }
        for s in chosen
        if not changed or s.value != s.default
    ]
    columns = ("setting", "value", "origin", "description")
    show_rows(rows, columns, as_json=as_json, empty="everything has its default")
    for name in loaded.unknown_environment:
        session.say(f"note: {name} in the environment is no setting")


@settings.command("set")
@click.argument("key")
@click.argument("value", required=False)
@click.option("--default", "to_default", is_flag=True, help="Forget the kept value: the default holds again.")
@click.option("--reason", help="Why, for the history.")
@pass_session
def set_(session: Session, *, key: str, value: str | None, to_default: bool, reason: str | None) -> None:
    """Keep a value in the database (for every process that uses it)."""
    tree.check_key(key)
    if (value is None) != to_default:
        raise UsageError("give a value, or --default", hint="bailiwick settings set storage.min_free_percent 5")
    app = session.app.create()
    with app.database.begin() as conn:
        actor = app.actor(conn)
        if key == "review.bands":
            session.say(bands_preview(app, conn, None if value is None else _parsed(value)).line())
        if value is None:
            known = kept.reset(conn, key, actor, reason=reason)
            click.echo(f"{key} has its default again" if known else f"{key} was not set in the database")
        else:
            # Against the file and the environment only: a bad value in the database must be replaceable.
            now = kept.put(conn, app.bootstrap, key, _parsed(value), actor, reason=reason)
            shown = tree.SECRET if tree.is_secret(key) and now is not None else now
            click.echo(f"{key} = {json.dumps(shown, ensure_ascii=False)}")


@settings.command()
@click.argument("key")
@limit_option
@json_option
@pass_session
def history(session: Session, *, key: str, limit: int, as_json: bool) -> None:
    """Show who set a setting to what, newest first."""
    tree.check_key(key)
    with session.app.database.read() as conn:
        rows: list[Row] = [
            {"at": stamp(e.at), "who": e.actor, "did": e.verb, "before": e.before, "after": e.after, "reason": e.reason}
            for e in kept.history(conn, key, limit=limit)
        ]
    columns = ("at", "who", "did", "before", "after", "reason")
    show_rows(rows, columns, as_json=as_json, empty=f"{key} was never set in the database")


def _parsed(text: str) -> JsonValue:
    """A value as typed: JSON where it is JSON (5, true, null), else the text itself."""
    try:
        value: JsonValue = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value
