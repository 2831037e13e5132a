"""Logs: structured lines on stderr. Event names come from one enum; no bodies, no secrets."""

import logging
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

from bailiwick.base.settings import LogSettings

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger


class LogEvent(StrEnum):
    """Every event name that this package logs. One INFO line per outcome of a unit of work."""

    DATABASE_STARTING = "database.starting"
    DATABASE_STARTED = "database.started"
    DATABASE_STOPPED = "database.stopped"
    DATABASE_RECOVERING = "database.recovering"
    DATABASE_IDLE_STOP = "database.idle_stop"
    WATCHDOG_STARTED = "watchdog.started"
    WATCHDOG_ENDED = "watchdog.ended"
    SCHEMA_UPGRADED = "schema.upgraded"
    SCHEMA_DOWNGRADED = "schema.downgraded"
    DISK_LOW = "disk.low"
    STATE_MOVED = "state.moved"


def configure(settings: LogSettings, *, verbosity: int = 0) -> None:
    """Set logging up for this process. `verbosity` (-v, -vv) lowers the level that the settings ask for."""
    import structlog

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


def logger() -> "BoundLogger":
    """A logger with the context that was bound for this run, domain or lease."""
    import structlog

    bound: BoundLogger = structlog.get_logger()
    return bound
