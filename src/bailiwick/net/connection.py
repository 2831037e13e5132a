"""One connection to a server: a request out, its answer in, and a clock that ends what takes too long."""

import asyncio
import select

from bailiwick.net.answer import AnswerReader, BrokenAnswerError, HungUpError

_DRAIN_SECONDS = 5.0


class Connection(asyncio.Protocol):
    """Carries one request at a time. Made by `loop.create_connection`.

    There is one timer, not one a request: it is set to the earliest moment at which time can be up, and looks then
    whether it is.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, idle_seconds: float) -> None:
        self._loop, self._idle_seconds = loop, idle_seconds
        self._transport: asyncio.Transport | None = None
        self._waiting: tuple[AnswerReader, asyncio.Future[None]] | None = None
        self._deadline = self._heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.kept_at = 0.0
        """When it was put aside for another request."""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_quiet(self) -> bool:
        """Whether it is open with nothing to read, not even in the kernel: no end, no bytes that nobody asked for."""
        return self.is_open and not self._readable.poll(0)

    def ask(self, request: bytes, reader: AnswerReader, deadline: float) -> "asyncio.Future[None]":
        """Write the request; done once the reader has its answer. Of an open connection with nothing on its way.

        TimeoutError, HungUpError, BrokenAnswerError, CodingError; the connection is closed then.
        """
        if self._transport is None:
            raise HungUpError("the server hung up")
        answered = self._loop.create_future()
        self._waiting = reader, answered
        self._deadline, self._heard_at = deadline, self._loop.time()
        self._transport.write(request)
        self._set_timer()
        return answered

    def close(self) -> None:
        """At once; who waits for an answer gets none."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        self._finish(HungUpError("the connection was closed"))

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._readable = select.poll()
        self._readable.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None:
            self.close()  # nobody asked
            return
        reader = self._waiting[0]
        self._heard_at = self._loop.time()
        was_draining = reader.is_draining
        try:
            is_complete = reader.feed(data)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is raised where the answer is waited for
            self._finish(error)
            return
        if is_complete:
            self._finish(None)
        elif reader.is_draining and not was_draining:
            self._deadline = min(self._deadline, self._heard_at + _DRAIN_SECONDS)
            self._set_timer()

    def eof_received(self) -> None:
        """The loop closes the connection."""

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._waiting is not None:
            try:
                self._waiting[0].end()
            except BrokenAnswerError as broken:
                self._finish(_explained(broken, error))
            else:
                self._finish(None)
        self.close()

    # Time

    def _due(self) -> float:
        return min(self._deadline, self._heard_at + self._idle_seconds)

    def _set_timer(self) -> None:
        due = self._due()
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._look_at_time)

    def _look_at_time(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        reader = self._waiting[0]
        if self._loop.time() < self._due():
            self._set_timer()
        elif reader.is_draining:
            reader.can_be_followed = False
            self._finish(None)
        else:
            self._finish(TimeoutError("no answer in time"))

    def _finish(self, error: Exception | None) -> None:
        if self._waiting is None:
            return
        reader, answered = self._waiting
        self._waiting = None
        reader.close()
        if error is not None or not reader.can_be_followed:
            self.close()
        if answered.done():
            return  # nobody waits any more
        if error is None:
            answered.set_result(None)
        else:
            answered.set_exception(error)


def _explained(broken: BrokenAnswerError, error: Exception | None) -> BrokenAnswerError:
    return type(broken)(f"{broken}: {error}") if error is not None and str(error) else broken
