"""A small parent for an engine: it starts one again that was killed, and passes on what it is told.

Only a death by a signal counts as a crash (a parser that fell over, the kernel's memory killer, kill -9); whatever ends
by itself, ends.
"""

import os
import signal
import time
from collections.abc import Callable

INTERRUPTED = 130
_MOST_CRASHES = 10
_WITHIN_SECONDS = 300.0
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def supervise(say: Callable[[str], None]) -> int | None:
    """Go on in a child process: returns None there. In the parent, the exit code once it is all over.

    To be called before there are threads, event loops or connections.
    """
    crashes: list[float] = []
    while True:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)  # Ctrl-C reaches the parent alone, which passes on exactly one
            return None
        status, was_told = _wait(child)
        if not os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status)
        if was_told:
            return INTERRUPTED  # it was told to stop before it could listen
        name = signal.Signals(os.WTERMSIG(status)).name
        crashes = [at for at in crashes if time.monotonic() - at < _WITHIN_SECONDS] + [time.monotonic()]
        if len(crashes) > _MOST_CRASHES:
            say(f"the crawl died {len(crashes)} times in {_WITHIN_SECONDS:.0f} seconds ({name}): giving up")
            return 1
        say(f"the crawl died ({name}); nothing is lost, starting it again")


def _wait(child: int) -> tuple[int, bool]:
    """How the child ended, and whether it was told to."""
    told: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        told.append(number)
        os.kill(child, number)

    def sleep(_number: int, _frame: object) -> None:
        os.kill(child, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(child, signal.SIGCONT)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, sleep)
    try:
        while True:
            try:
                return os.waitpid(child, 0)[1], bool(told)
            except InterruptedError:
                continue
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
