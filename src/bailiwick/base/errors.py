"""Every error a user can meet, in one tree.

    BailiwickError                 code, HTTP status, exit code, retryable, hint
    ├── UsageError                 the command or the request is put wrongly
    │   ├── NameRefusedError       what was given is no domain name or page URL that may be crawled
    │   └── NotAllowedError        the member's role does not allow it
    ├── SettingsError              a setting is unknown, malformed or shadowed
    │   └── ProfileError           a profile's file is wrong, at a line
    ├── BrokenRuleError            a value breaks a rule of its table
    ├── NotFoundError              what was named does not exist
    ├── ConflictError              somebody else changed it first
    │   └── IllegalMoveError       this state has no such verb, or this role may not use it
    ├── PlaceError                 the data directory cannot be used as it is
    ├── DatabaseError              the database answered no
    │   ├── BusyError              somebody else was at the same rows; again, and it goes well
    │   ├── SchemaError            schema and program do not fit together
    │   └── BackupError            a backup cannot be made or read
    ├── ServerMissingError         a server that is needed cannot be reached or started
    ├── DiskLowError               too little free disk to write safely
    └── BodyDamagedError           a stored body cannot be read back

Expected outcomes (a 404, a robots.txt that says no, a spent budget) are values, not errors.
"""

from typing import ClassVar


class BailiwickError(Exception):
    """What a user sees is `error: {message}` and `hint: {hint}`, never a stack trace."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(BailiwickError):
    code = "usage"
    http_status = 400
    exit_code = 2


class NameRefusedError(UsageError):
    code = "name_refused"


class NotAllowedError(UsageError):
    code = "not_allowed"
    http_status = 403


class SettingsError(BailiwickError):
    code = "settings"
    http_status = 400
    exit_code = 2


class ProfileError(SettingsError):
    code = "profile"
    exit_code = 1


class BrokenRuleError(BailiwickError):
    code = "broken_rule"
    http_status = 422


class NotFoundError(BailiwickError):
    code = "not_found"
    http_status = 404


class ConflictError(BailiwickError):
    code = "conflict"
    http_status = 409


class IllegalMoveError(ConflictError):
    code = "illegal_move"


class PlaceError(BailiwickError):
    code = "place"


class DatabaseError(BailiwickError):
    code = "database"


class BusyError(DatabaseError):
    code = "busy"
    http_status = 503
    retryable = True


class SchemaError(DatabaseError):
    code = "schema"
    http_status = 503


class BackupError(DatabaseError):
    code = "backup"


class ServerMissingError(BailiwickError):
    code = "server_missing"
    http_status = 503
    exit_code = 5
    retryable = True


class DiskLowError(BailiwickError):
    code = "disk_low"
    http_status = 507
    retryable = True


class BodyDamagedError(BailiwickError):
    code = "body_damaged"
