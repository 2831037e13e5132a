"""Logs: structured lines on stderr. Event names come from one enum; no bodies, no secrets."""

import logging
import sys
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from bailiwick.base.sections import LogSettings

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger


class LogEvent(StrEnum):
    """Every event name that this package logs. One INFO line per outcome of a unit of work."""

    DATABASE_STARTED = "database.started"
    DISK_LOW = "disk.low"
    JUDGING_FAILED = "judging.failed"
    LIVE_FAILED = "live.failed"
    PAGE_FAILED = "page.failed"
    REQUEST_ANSWERED = "request.answered"
    REQUEST_FAILED = "request.failed"
    SCHEMA_CHANGED = "schema.changed"
    STATE_MOVED = "state.moved"


_wanted: tuple[LogSettings, int] = (LogSettings(), 0)


def configure(settings: LogSettings, *, verbosity: int = 0) -> None:
    """Say how this process logs. `verbosity` (-v, -vv) lowers the level that the settings ask for."""
    global _wanted  # noqa: PLW0603 - one process has one log
    _wanted = (settings, verbosity)
    _set_up.cache_clear()


def logger() -> "BoundLogger":
    """A logger with the context that was bound for this run, domain or lease."""
    # On first use: importing structlog costs a quarter of a simple command's time.
    _set_up()
    import structlog

    bound: BoundLogger = structlog.get_logger()
    return bound


@cache
def _set_up() -> None:
    import structlog

    settings, verbosity = _wanted
    level = getattr(logging, settings.level.upper())
    level = min(level, {0: logging.CRITICAL, 1: logging.INFO}.get(verbosity, logging.DEBUG))
    on_terminal = sys.stderr.isatty()
    as_console = settings.format == "console" or (settings.format == "auto" and on_terminal)
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=on_terminal) if as_console else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
