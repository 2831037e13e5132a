"""Times as people write them: a day, a moment, or how long ago."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])
_AGO = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(given: str) -> datetime:
    """`2026-03-01`, `2026-03-01T12:00:00+01:00` (UTC unless it says otherwise), `7d` for seven days ago."""
    try:
        if ago := _AGO.fullmatch(given):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{given!r} is no time: write 2026-03-01, 2026-03-01T12:00, or 7d, 12h, 30m") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def moment_option(name: str, help_: str) -> Callable[[F], F]:
    return click.option(name, type=moment, metavar="TIME", help=help_)
