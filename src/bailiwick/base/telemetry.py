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


class Logger:
    """Says what happened, with the context that was bound for this run, domain or lease.

    structlog is imported with the first line that is written: it costs a quarter of a simple command's time, and most
    commands write none.
    """

    def debug(self, event: LogEvent, **facts: object) -> None:
        self._say(logging.DEBUG, event, facts)

    def info(self, event: LogEvent, **facts: object) -> None:
        self._say(logging.INFO, event, facts)

    def warning(self, event: LogEvent, **facts: object) -> None:
        self._say(logging.WARNING, event, facts)

    def error(self, event: LogEvent, **facts: object) -> None:
        self._say(logging.ERROR, event, facts)

    def _say(self, level: int, event: LogEvent, facts: dict[str, object]) -> None:
        if level >= _least_level():
            _written().log(level, event, **facts)


_wanted: tuple[LogSettings, int] = (LogSettings(), 0)
_logger = Logger()


def configure(settings: LogSettings, *, verbosity: int = 0) -> None:
    """Say how this process logs. `verbosity` (-v, -vv) lowers the level that the settings ask for."""
    global _wanted  # noqa: PLW0603 - one process has one log
    _wanted = (settings, verbosity)
    _written.cache_clear()


def logger() -> Logger:
    return _logger


def _least_level() -> int:
    settings, verbosity = _wanted
    level: int = getattr(logging, settings.level.upper())
    return min(level, {0: logging.CRITICAL, 1: logging.INFO}.get(verbosity, logging.DEBUG))


@cache
def _written() -> "BoundLogger":
    """The logger that writes, as it is wanted now."""
    import structlog

    on_terminal, wanted = sys.stderr.isatty(), _wanted[0].format
    as_console = wanted == "console" or (wanted == "auto" and on_terminal)
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
        wrapper_class=structlog.make_filtering_bound_logger(_least_level()),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    bound: BoundLogger = structlog.get_logger()
    return bound
