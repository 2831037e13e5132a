"""Outcomes: one closed table from what a server did to what it means for the page and for its domain."""

from dataclasses import dataclass
from enum import StrEnum

from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from bailiwick.registry.release import BlockCode


class Effect(StrEnum):
    """What becomes of the page's row."""

    CHANGED = "changed"
    SAME = "same"
    RETRY = "retry"
    """Waits and is tried again; failed once its retries are used up."""
    FAILED = "failed"


class Outcome(StrEnum):
    """How one fetch of one page ended."""

    OK = "ok"
    UNCHANGED = "unchanged"
    OTHER_TYPE = "other_type"
    REDIRECTED = "redirected"
    REDIRECT_LOOP = "redirect_loop"
    NOT_FOUND = "not_found"
    LOGIN = "login"
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    UNAVAILABLE = "unavailable"
    TRUNCATED = "truncated"
    DNS_FAILURE = "dns_failure"
    CONNECT_FAILURE = "connect_failure"
    TLS_FAILURE = "tls_failure"
    TIMEOUT = "timeout"
    BROKEN = "broken"
    BAD_ENCODING = "bad_encoding"
    REFUSED = "refused"
    POISON = "poison"
    ROBOTS_DENIED = "robots_denied"
    """Not asked for: robots.txt forbids it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row: the effect on the page, whether it counts as an error, and what a domain full of it is."""

    effect: Effect
    is_error: bool = False
    code: BlockCode | None = None


MEANINGS: dict[Outcome, Meaning] = {
    Outcome.OK: Meaning(Effect.CHANGED),
    Outcome.UNCHANGED: Meaning(Effect.SAME),
    Outcome.OTHER_TYPE: Meaning(Effect.CHANGED),
    Outcome.REDIRECTED: Meaning(Effect.CHANGED),
    Outcome.TRUNCATED: Meaning(Effect.CHANGED),
    Outcome.REDIRECT_LOOP: Meaning(Effect.FAILED, is_error=True),
    # A page that is not there says nothing against its domain.
    Outcome.NOT_FOUND: Meaning(Effect.FAILED),
    Outcome.LOGIN: Meaning(Effect.FAILED, is_error=True, code=BlockCode.LOGIN_WALL),
    Outcome.FORBIDDEN: Meaning(Effect.FAILED, is_error=True, code=BlockCode.FORBIDDEN),
    Outcome.RATE_LIMITED: Meaning(Effect.RETRY, is_error=True, code=BlockCode.RATE_LIMITED),
    Outcome.CLIENT_ERROR: Meaning(Effect.FAILED, is_error=True, code=BlockCode.ERROR_LIMIT),
    Outcome.SERVER_ERROR: Meaning(Effect.RETRY, is_error=True, code=BlockCode.ERROR_LIMIT),
    Outcome.UNAVAILABLE: Meaning(Effect.RETRY, is_error=True, code=BlockCode.RATE_LIMITED),
    Outcome.DNS_FAILURE: Meaning(Effect.RETRY, is_error=True, code=BlockCode.UNREACHABLE),
    Outcome.CONNECT_FAILURE: Meaning(Effect.RETRY, is_error=True, code=BlockCode.UNREACHABLE),
    Outcome.TLS_FAILURE: Meaning(Effect.RETRY, is_error=True, code=BlockCode.UNREACHABLE),
    Outcome.TIMEOUT: Meaning(Effect.RETRY, is_error=True, code=BlockCode.UNREACHABLE),
    Outcome.BROKEN: Meaning(Effect.RETRY, is_error=True, code=BlockCode.ERROR_LIMIT),
    Outcome.BAD_ENCODING: Meaning(Effect.FAILED, is_error=True, code=BlockCode.ERROR_LIMIT),
    Outcome.REFUSED: Meaning(Effect.FAILED, is_error=True, code=BlockCode.UNREACHABLE),
    Outcome.ROBOTS_DENIED: Meaning(Effect.FAILED, code=BlockCode.ROBOTS_DENIED),
    Outcome.POISON: Meaning(Effect.FAILED, is_error=True, code=BlockCode.ERROR_LIMIT),
}

_BY_STATUS = {
    304: Outcome.UNCHANGED,
    401: Outcome.LOGIN,
    403: Outcome.FORBIDDEN,
    404: Outcome.NOT_FOUND,
    407: Outcome.LOGIN,
    408: Outcome.TIMEOUT,
    410: Outcome.NOT_FOUND,
    429: Outcome.RATE_LIMITED,
    451: Outcome.FORBIDDEN,
    503: Outcome.UNAVAILABLE,
    504: Outcome.TIMEOUT,
}
_BY_FAILURE = {
    FailureKind.DNS: Outcome.DNS_FAILURE,
    FailureKind.CONNECT: Outcome.CONNECT_FAILURE,
    FailureKind.TLS: Outcome.TLS_FAILURE,
    FailureKind.TIMEOUT: Outcome.TIMEOUT,
    FailureKind.BROKEN: Outcome.BROKEN,
    FailureKind.ENCODING: Outcome.BAD_ENCODING,
    FailureKind.REFUSED: Outcome.REFUSED,
    # A visit asks again for what was not sent: what is still unsent then has met a server that hangs up.
    FailureKind.NOT_SENT: Outcome.BROKEN,
}
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def outcome_of(answer: FetchAnswer | FetchFailure) -> Outcome:
    """How a fetch ended, before the body is looked at."""
    if isinstance(answer, FetchFailure):
        return _BY_FAILURE[answer.kind]
    known = _BY_STATUS.get(answer.status)
    return known if known is not None else _by_class(answer)


def _by_class(answer: FetchAnswer) -> Outcome:
    match answer.status // 100:
        case 2 if answer.body is None:
            return Outcome.OTHER_TYPE
        case 2:
            return Outcome.TRUNCATED if answer.is_truncated else Outcome.OK
        case 3 if answer.headers.get("location"):
            return Outcome.REDIRECTED
        case 5:
            return Outcome.SERVER_ERROR
    return Outcome.CLIENT_ERROR


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


class StopReason(StrEnum):
    """Why a slice ended. The first group ends the run on this domain; after the others it goes on."""

    FRONTIER_EMPTY = "frontier_empty"
    PAGE_BUDGET = "page_budget"
    REQUEST_BUDGET = "request_budget"
    KNOWN_PAGES_CAP = "known_pages_cap"
    DEPTH_LIMIT = "depth_limit"
    ERROR_LIMIT = "error_limit"
    ROBOTS_DENIED = "robots_denied"
    LOGIN_WALL = "login_wall"
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    CANCELLED = "cancelled"

    TIME_BUDGET = "time_budget"
    APPROVAL_WITHDRAWN = "approval_withdrawn"
    STORAGE_FULL = "storage_full"
    SHUTDOWN = "shutdown"
    LEASE_LOST = "lease_lost"
    PAUSED = "paused"

    @property
    def ends_run(self) -> bool:
        return self not in _GOES_ON


_GOES_ON = frozenset(
    {
        StopReason.TIME_BUDGET,
        StopReason.APPROVAL_WITHDRAWN,
        StopReason.STORAGE_FULL,
        StopReason.SHUTDOWN,
        StopReason.LEASE_LOST,
        StopReason.PAUSED,
    }
)
