"""A limit of time for code of others inside a page's own limit."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(BaseException):
    """No `Exception`, so that code which catches those does not keep it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """TooLongError when it takes longer.

    Python code is stopped so, and the libraries in C that look for signals. The others, and code that catches even
    this, run into the page's own alarm, which kills the process.
    """
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    if threading.current_thread() is not threading.main_thread() or 0 < left <= seconds:
        yield
        return
    started = time.monotonic()
    before = signal.getsignal(signal.SIGALRM)

    def restore() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 0.01))

    def stop(_number: int, _frame: FrameType | None) -> None:
        restore()
        raise TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGALRM) is stop:
            restore()
