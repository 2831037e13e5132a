"""A small parent for one or several parts: it starts one again that was killed, and passes on what it is told.

Only a death by a signal counts as a crash (a parser that fell over, the kernel's memory killer, kill -9). The first
part decides: when it ends by itself, all end. Another one that ends by itself is started again after a pause.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

INTERRUPTED = 130
_MOST_CRASHES = 10
_WITHIN_SECONDS = 300.0
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def supervise(say: Callable[[str], None], main: str, *others: str, pause_seconds: float = 5.0) -> str | int:
    """Go on in child processes, one for each part: returns its name there. In the parent, the exit code at the end.

    To be called before there are threads, event loops or connections.
    """
    return _Family(say, main, pause_seconds).raise_all(others)


class _Family:
    """The children of one parent, by pid."""

    def __init__(self, say: Callable[[str], None], main: str, pause_seconds: float) -> None:
        self._say, self._main, self._pause_seconds = say, main, pause_seconds
        self._children: dict[int, str] = {}
        self._deaths: dict[str, list[float]] = {}
        self._told: list[int] = []
        self._code: int | None = None

    def raise_all(self, others: tuple[str, ...]) -> str | int:
        before = {number: signal.signal(number, self._pass_on) for number in _PASSED_ON}
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._sleep)
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever ignores it is never told
        part = self._fork_all((self._main, *others)) or self._watch()
        for number, handler in before.items():
            signal.signal(number, handler)
        return part if part is not None else self._ended()

    def _watch(self) -> str | None:
        """Until the last child is gone, in the parent; the part's name in a child that was started again."""
        while self._children:
            try:
                child, status = os.wait()
            except InterruptedError:
                continue
            part = self._children.pop(child, None)
            if part is not None and (again := self._after(part, status)):
                return again
        return None

    def _after(self, part: str, status: int) -> str | None:
        """What a child's end means: all is over, or it is started again (then its name, in the new child)."""
        crashed = os.WIFSIGNALED(status)
        code = INTERRUPTED if crashed else os.waitstatus_to_exitcode(status)
        if self._told or self._code is not None:
            if part == self._main:
                self._code = code  # if by a signal: it was told to stop before it could listen
            return None
        if part == self._main and not crashed:
            self._finish(code)
            return None
        how = signal.Signals(os.WTERMSIG(status)).name if crashed else f"exit code {code}"
        if self._is_hopeless(part):
            self._say(f"the {part} died {_MOST_CRASHES + 1} times in {_WITHIN_SECONDS:.0f} seconds ({how}): giving up")
            if part == self._main:
                self._finish(1)
            return None
        self._say(f"the {part} died ({how}); nothing is lost, starting it again")
        return self._fork(part, 0.0 if crashed else self._pause_seconds)

    def _is_hopeless(self, part: str) -> bool:
        now = time.monotonic()
        recent = [at for at in self._deaths.get(part, []) if now - at < _WITHIN_SECONDS]
        self._deaths[part] = [*recent, now]
        return len(recent) >= _MOST_CRASHES

    def _finish(self, code: int) -> None:
        self._code = code
        self._tell(signal.SIGTERM)

    def _ended(self) -> int:
        return self._code if self._code is not None else INTERRUPTED

    def _fork_all(self, parts: tuple[str, ...]) -> str | None:
        for part in parts:
            if (mine := self._fork(part)) is not None:
                return mine
        return None

    def _fork(self, part: str, pause_seconds: float = 0.0) -> str | None:
        """The part's name in the new child, None in the parent."""
        listened_to = {*_PASSED_ON, signal.SIGTSTP}
        signal.pthread_sigmask(signal.SIG_BLOCK, listened_to)  # whatever comes now waits until the child is known
        try:
            child = os.fork()
            if child:
                self._children[child] = part
                for number in self._told:
                    os.kill(child, number)
                return None
            for number in listened_to:
                signal.signal(number, signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, listened_to)
        os.setpgid(0, 0)  # Ctrl-C reaches the parent alone, which passes on exactly one
        if pause_seconds:
            time.sleep(pause_seconds)
        return part

    def _pass_on(self, number: int, _frame: object) -> None:
        self._told.append(number)
        self._tell(number)

    def _sleep(self, _number: int, _frame: object) -> None:
        self._tell(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._tell(signal.SIGCONT)

    def _tell(self, number: int) -> None:
        for child in self._children:
            with suppress(ProcessLookupError):  # gone, and waited for a moment ago
                os.kill(child, number)
