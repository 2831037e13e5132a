"""A child process as its worker sees it: pages go there in bursts, and the answers come back in their order.

A burst is what the pipe holds, so that writing it never waits. The child writes an answer as soon as it has one: a page
that kills it takes no other page's answer along. But it rings a bell, a pipe of its own, only when the burst is through
or its answers need room. Whoever waits sleeps till then: woken page by page, worker and child took 8% more CPU.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.pipes import pages_in, pages_of, widen
from bailiwick.extract.wire import LENGTH, pack_body, unpack_answer
from bailiwick.model.content import Unread
from bailiwick.model.items import ParserOutcome, ParserTry

_MOST_PAGES = 100
"""In a burst: how many answers are there is told in one byte."""
_ENDING_SECONDS = 0.2


class Child:
    """One process, made on use and thrown away when it dies or hangs. One thread asks; another may kill."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._bell = -1
        self.busy_since: float | None = None
        self.asked = 0
        """The pages of the burst that it is busy with."""
        self.hung = False
        self.parser: ParserTry | None = None
        """The site parser that is at work, or was when the process ended."""

    def ask(self, bodies: Sequence[Body]) -> tuple[list[Extracted | Unread], int | None]:
        """The answers to the first of these, as many as fit; and, if the process died over the next one, how."""
        self.hung, self.parser = False, None
        process = self._process or self._start()
        messages = _burst(bodies, process)
        answers: list[Extracted | Unread] = []
        self.asked, self.busy_since = len(messages), time.monotonic()
        try:
            _send(process, messages)
            ready = 0
            while len(answers) < len(messages):
                ready = ready or self._rung()
                answers.append(self._answer(process))
                ready -= 1
        except (OSError, EOFError):
            with suppress(OSError, EOFError):  # it is gone: what it has written is there, and then the end
                while True:
                    answers.append(self._answer(process))
            return answers, self.drop()
        finally:
            self.busy_since = None
        return answers, None

    def kill(self) -> None:
        if (process := self._process) is not None:
            process.kill()

    def drop(self) -> int:
        """End the process, if there is one; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        os.close(self._bell)
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what could not be written any more
                if pipe is not None:
                    pipe.close()
        # It may be about to end by itself, and how it does is worth knowing.
        try:
            return process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        self._bell, far_end = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "bailiwick.extract.child", str(far_end), *self._arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the worker alone
                pass_fds=(far_end,),
            )  # fmt: skip
        except BaseException:
            os.close(self._bell)
            raise
        finally:
            os.close(far_end)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                widen(pipe.fileno())
        self._process = process
        return process

    def _rung(self) -> int:
        """Wait for the bell: so many answers are there, or about to be written."""
        told = os.read(self._bell, 1)
        if not told:
            raise EOFError
        return told[0]

    def _answer(self, process: "subprocess.Popen[bytes]") -> Extracted | Unread:
        while True:
            (length,) = LENGTH.unpack(_exactly(process, LENGTH.size))
            told = unpack_answer(_exactly(process, length))
            if not isinstance(told, ParserTry):
                self.parser = None
                return told
            self.parser = told if told.outcome is ParserOutcome.DIED else None


def _burst(bodies: Sequence[Body], process: "subprocess.Popen[bytes]") -> list[bytes]:
    """The first one, and those after it for which there is room beside it."""
    messages = [pack_body(bodies[0])]
    room = (pages_in(process.stdin.fileno()) if process.stdin is not None else 0) - pages_of(len(messages[0]))
    for body in bodies[1:_MOST_PAGES]:
        if pages_of(len(body.data)) > room:
            break
        message = pack_body(body)
        room -= pages_of(len(message))
        if room < 0:
            break
        messages.append(message)
    return messages


def _send(process: "subprocess.Popen[bytes]", messages: Sequence[bytes]) -> None:
    if process.stdin is None:
        raise EOFError
    process.stdin.write(LENGTH.pack(len(messages)))
    for message in messages:
        process.stdin.write(message)
    process.stdin.flush()


def _exactly(process: "subprocess.Popen[bytes]", number: int) -> bytes:
    data = process.stdout.read(number) if process.stdout is not None else b""
    if len(data) < number:
        raise EOFError
    return data
