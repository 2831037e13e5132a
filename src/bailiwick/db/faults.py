"""What the database says, mapped to our own errors, in one place."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError

from bailiwick.base.errors import (
    BailiwickError,
    BrokenRuleError,
    BusyError,
    DatabaseError,
    DiskLowError,
    IllegalMoveError,
    SchemaError,
    ServerMissingError,
)
from bailiwick.db.constraints import RULES

# SQLSTATE -> (our error, what is said, what to do). The codes BW… are raised by our own functions in the database.
_BY_STATE: dict[str, tuple[type[BailiwickError], str, str | None]] = {
    "BW001": (
        SchemaError,
        "this program is older than the database: {said}",
        "upgrade this Bailiwick installation",
    ),
    "BW002": (IllegalMoveError, "{said}", None),
    "55P03": (BusyError, "somebody else holds a lock: {said}", "try again in a moment"),
    "40P01": (BusyError, "two were in each other's way: {said}", "try again"),
    "40001": (BusyError, "two were in each other's way: {said}", "try again"),
    "53100": (DiskLowError, "the disk is full: {said}", "make room (df -h)"),
    "57P01": (ServerMissingError, "the database went away: {said}", "try again"),
    "57P02": (ServerMissingError, "the database went away: {said}", "try again"),
    "57P03": (ServerMissingError, "the database is not ready: {said}", "try again"),
}


@contextmanager
def translated() -> Iterator[None]:
    """Whatever the driver raises inside becomes one of ours."""
    try:
        yield
    except DBAPIError as error:
        raise as_ours(error.orig or error, lost=error.connection_invalidated) from error
    except psycopg.Error as error:
        raise as_ours(error) from error


def as_ours(error: BaseException, *, lost: bool = False) -> BailiwickError:
    """The error that a user should see; `lost` when the connection went with it."""
    code = getattr(error, "sqlstate", None) or ""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    if code in _BY_STATE:
        kind, message, hint = _BY_STATE[code]
        return kind(message.format(said=said), hint=hint)
    if isinstance(error, psycopg.errors.CheckViolation):
        return BrokenRuleError(RULES.get(error.diag.constraint_name or "", said))
    if code == "42883" and "bailiwick_enter" in said:
        return SchemaError("the database has no schema yet", hint="bailiwick db upgrade")
    if "File too large" in said:
        return DiskLowError(f"the file size limit is reached: {said}", hint="raise the limit (ulimit -f)")
    if lost:
        return ServerMissingError(f"the database went away: {said}", hint="try again")
    return DatabaseError(said)
