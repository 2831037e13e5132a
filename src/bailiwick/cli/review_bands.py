"""`bailiwick review bands`: where scores lead, and what other bands would have done."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bailiwick.base.bands import Bands
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import reason_option, yes_option
from bailiwick.cli.bands import checked_bands, with_own_bands
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_rows
from bailiwick.ledger import settings as kept
from bailiwick.registry.permission import ADMINS, require
from bailiwick.review.preview import Preview, preview, waiting_by_band

if TYPE_CHECKING:
    from pydantic import JsonValue

_COLUMNS = ("band", "min", "max", "action", "evaluated", "waiting")
_SHIFT_COLUMNS = ("from", "led_to", "to", "would_lead_to", "evaluations")
_FILE_BYTES = 100_000


@click.command()
@click.option("--set", "given", metavar="FILE|JSON", help="Other bands: a list of name, min, max and action.")
@yes_option
@reason_option
@json_option
@pass_session
def bands(session: Session, *, given: str | None, yes: bool, reason: str | None, as_json: bool) -> None:
    """Show where scores lead, or set it anew. Profiles may have bands of their own, which stay as they are.

    Before anything is set, it says how many past evaluations would have gone elsewhere.
    """
    if given is None:
        _show(session, as_json=as_json)
        return
    value = _read(given)
    wanted = checked_bands(value)
    app = session.app.create()
    with app.database.read() as conn:
        found = preview(conn, wanted, own=with_own_bands(app))
    if as_json:
        show_rows(_shifts(found, all_of_them=True), (), as_json=True, empty="")
    else:
        show_rows(_shifts(found, all_of_them=False), _SHIFT_COLUMNS, as_json=False, empty="every band stays as it is")
    session.say(found.line())
    if not yes and not click.confirm("Set these bands?", err=True):
        raise click.Abort
    with app.database.begin() as conn:
        require(app.actor(conn), ADMINS)
        kept.put(conn, app.bootstrap, "review.bands", value, app.actor(conn), reason=reason)
    session.say("set; it holds for what is evaluated from now on")


def _show(session: Session, *, as_json: bool) -> None:
    app = session.app
    now = Bands.of(app.settings.review.bands)
    own = with_own_bands(app)
    with app.database.read() as conn:
        past, waiting = preview(conn, now, own=own), waiting_by_band(conn)
    counted = {band.name: sum(s.count for s in past.shifts if s.new_band == band.name) for band in now.written}
    rows: list[Row] = [
        {
            "band": band.name,
            "min": band.min,
            "max": band.max,
            "action": band.action.value,
            "evaluated": counted[band.name],
            "waiting": waiting.get(band.name, 0),
        }
        for band in now.written
    ]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="")
    if own:
        session.say(f"with bands of their own: {', '.join(sorted(own))}")


def _shifts(found: Preview, *, all_of_them: bool) -> list[Row]:
    return [
        {
            "from": shift.band,
            "led_to": shift.action.value,
            "to": shift.new_band,
            "would_lead_to": shift.new_action.value,
            "evaluations": shift.count,
        }
        for shift in found.shifts
        if all_of_them or shift.band != shift.new_band or shift.is_elsewhere
    ]


def _read(given: str) -> "JsonValue":
    """JSON as it was typed, of a file, or of standard input (-)."""
    text = given
    if not given.lstrip().startswith(("[", "{")):
        try:
            with click.open_file(given, encoding="utf-8") as file:
                text = file.read(_FILE_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {Path(given).name}: {error}", hint="--set FILE, or JSON itself") from None
    try:
        value: JsonValue = json.loads(text)
    except json.JSONDecodeError as error:
        hint = '[{"name": "high", "min": 0.8, "max": 1, "action": "auto_approve"}, …]'
        raise UsageError(f"these bands are no JSON: {error}", hint=hint) from None
    return value
