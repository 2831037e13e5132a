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
    SOFT_NOT_FOUND = "soft_not_found"
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


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row: when it is so, the effect on the page, whether it is an error, and what a domain full of it is."""

    when: str
    effect: Effect
    is_error: bool = False
    code: BlockCode | None = None


def _error(when: str, effect: Effect, code: BlockCode | None = None) -> Meaning:
    return Meaning(when, effect, is_error=True, code=code)


MEANINGS: dict[Outcome, Meaning] = {
    Outcome.OK: Meaning("HTML or PDF with new content", Effect.CHANGED),
    Outcome.UNCHANGED: Meaning("304, or the same bytes or text as before", Effect.SAME),
    Outcome.OTHER_TYPE: Meaning("2xx with something that is neither HTML nor PDF", Effect.CHANGED),
    Outcome.REDIRECTED: Meaning("3xx that leads to another page", Effect.CHANGED),
    Outcome.TRUNCATED: Meaning("HTML or PDF that was cut off at the size limit, or broke off", Effect.CHANGED),
    Outcome.REDIRECT_LOOP: _error("3xx that leads back to the page itself", Effect.FAILED),
    # A page that is not there says nothing against its domain.
    Outcome.NOT_FOUND: Meaning("404 or 410", Effect.FAILED),
    Outcome.SOFT_NOT_FOUND: Meaning("200 with a page that says there is no such page", Effect.FAILED),
    Outcome.LOGIN: _error(
        "401, 407, 200 with a login in place of the page, or 3xx to a login", Effect.FAILED, BlockCode.LOGIN_WALL
    ),
    Outcome.FORBIDDEN: _error("403 or 451", Effect.FAILED, BlockCode.FORBIDDEN),
    Outcome.RATE_LIMITED: _error("429; the whole host is left alone", Effect.RETRY, BlockCode.RATE_LIMITED),
    Outcome.CLIENT_ERROR: _error(
        "any other 4xx or unknown status, 3xx without a target", Effect.FAILED, BlockCode.ERROR_LIMIT
    ),
    Outcome.SERVER_ERROR: _error("any other 5xx", Effect.RETRY, BlockCode.ERROR_LIMIT),
    Outcome.UNAVAILABLE: _error("503; the whole host is left alone", Effect.RETRY, BlockCode.RATE_LIMITED),
    Outcome.DNS_FAILURE: _error("the name is not known", Effect.RETRY, BlockCode.UNREACHABLE),
    Outcome.CONNECT_FAILURE: _error("no connection", Effect.RETRY, BlockCode.UNREACHABLE),
    Outcome.TLS_FAILURE: _error("no secure connection: a certificate, say", Effect.RETRY, BlockCode.UNREACHABLE),
    Outcome.TIMEOUT: _error(
        "408, 504, no whole answer in time, or no end of parsing", Effect.RETRY, BlockCode.UNREACHABLE
    ),
    Outcome.BROKEN: _error(
        "an answer that is no HTTP or ends early, or a fault of ours", Effect.RETRY, BlockCode.ERROR_LIMIT
    ),
    Outcome.BAD_ENCODING: _error(
        "a body whose content coding is unknown or damaged", Effect.FAILED, BlockCode.ERROR_LIMIT
    ),
    Outcome.REFUSED: _error("the address is not a public one: nothing was sent", Effect.FAILED, BlockCode.UNREACHABLE),
    Outcome.ROBOTS_DENIED: Meaning(
        "robots.txt forbids it: nothing was sent", Effect.FAILED, code=BlockCode.ROBOTS_DENIED
    ),
    Outcome.POISON: _error("HTML over which three parsers died", Effect.FAILED, BlockCode.ERROR_LIMIT),
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
DOCUMENT_TYPES = frozenset({"application/pdf", "application/x-pdf"})
"""Stored and parsed for their text; they hold no links that are followed."""


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
