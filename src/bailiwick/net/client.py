"""Our HTTP client: GET under the guard, with every wait and every size bounded (decision 28)."""

import asyncio
import time

from bailiwick.base.sections import NetSettings
from bailiwick.net.answer import AnswerReader, BrokenAnswerError, HungUpError
from bailiwick.net.connection import Connection
from bailiwick.net.decoding import ACCEPTED, CodingError
from bailiwick.net.destination import Destination, Origin, header_lines
from bailiwick.net.guard import AddressRefusedError, Guard
from bailiwick.net.pool import NoConnectionError, Pool
from bailiwick.net.resolver import Dns, GuardedResolver, RememberedNames
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest

_DNS_SECONDS = 300


class _NotSentError(Exception):
    """The sender's permission had ended when the request was about to be written."""


class HttpFetcher:
    """The default `Fetcher`. Made inside a running loop; close it. `dns` answers in place of the system's resolver."""

    def __init__(self, settings: NetSettings, guard: Guard, *, user_agent: str, dns: Dns | None = None) -> None:
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(settings, guard, RememberedNames(GuardedResolver(guard, dns), _DNS_SECONDS))
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": ACCEPTED, "Accept": "text/html,*/*;q=0.5"}
        self._header_lines = header_lines(self._headers)

    async def fetch(self, request: FetchRequest) -> FetchAnswer | FetchFailure:
        started = time.monotonic()
        try:
            answer = await self._get(request)
        except (OSError, ValueError, BrokenAnswerError, NoConnectionError, _NotSentError) as error:
            kind, message = _failure(error)
            return FetchFailure(request.url, kind, message, _ms(started))
        return FetchAnswer(
            request.url,
            answer.status,
            answer.head,
            answer.headers,
            answer.body,
            answer.is_truncated,
            answer.received,
            _ms(started),
        )

    async def close(self) -> None:
        await self._pool.close()

    async def _get(self, request: FetchRequest) -> AnswerReader:
        deadline = self._loop.time() + self._settings.total_timeout_seconds
        there = Destination.parse(request.url)
        if request.headers or there.user:
            lines = header_lines(self._headers, there.authorization, request.headers)
        else:
            lines = self._header_lines
        message = there.request(lines)
        connection = self._pool.take(there.origin) or await self._open(there.origin, deadline)
        try:
            return await self._ask(request, message, there.origin, connection, deadline)
        except HungUpError:
            # Most often a connection that was kept. Once more then, if the sender has another turn for it.
            connection = await self._open(there.origin, deadline)
            return await self._ask(request, message, there.origin, connection, deadline)

    async def _open(self, origin: Origin, deadline: float) -> Connection:
        async with asyncio.timeout_at(deadline):
            return await self._pool.open(origin)

    async def _ask(
        self, request: FetchRequest, message: bytes, origin: Origin, connection: Connection, deadline: float
    ) -> AnswerReader:
        """The one place where requests are written: right before, the sender is asked."""
        if not connection.is_open:
            raise HungUpError("the server hung up")
        if not request.turn.sending():
            self._pool.keep(origin, connection)
            raise _NotSentError
        answer = AnswerReader(request.wants_body, self._settings.max_body_bytes)
        try:
            await connection.ask(message, answer, deadline)
        except BaseException:
            connection.close()
            raise
        self._pool.keep(origin, connection)
        return answer


_KINDS: tuple[tuple[type[Exception], FailureKind, str], ...] = (
    (_NotSentError, FailureKind.NOT_SENT, "not sent"),
    (AddressRefusedError, FailureKind.REFUSED, "the address is refused"),
    (TimeoutError, FailureKind.TIMEOUT, "no answer in time"),
    (CodingError, FailureKind.ENCODING, "the body cannot be decoded"),
    (Exception, FailureKind.BROKEN, "the answer is broken"),
)
"""Which way a fetch failed: the first row that fits."""


def _failure(error: Exception) -> tuple[FailureKind, str]:
    kind, words = next((kind, words) for what, kind, words in _KINDS if isinstance(error, what))
    if isinstance(error, NoConnectionError):
        kind = error.kind
    said = " ".join(str(error).replace("\0", " ").split())[:300]
    return kind, said.encode("utf-8", "replace").decode() or words


def _ms(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
