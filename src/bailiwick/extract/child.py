"""A child process that extracts one page after another: a page that kills it, or never ends, takes nobody along.

A program of its own, started by the pool with its limits as arguments. It ends when its parent is gone. The time limit
is an alarm that kills the process itself: it holds inside libraries in C, and when nobody is there to watch any more.
"""

import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

from bailiwick.base.errors import BailiwickError
from bailiwick.base.failpoints import parser_killer
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted, PageExtractor
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.parsers.running import SiteParsers
from bailiwick.extract.pipes import pages_in, pages_of
from bailiwick.extract.wire import LENGTH, pack_answer, pack_note, read_body
from bailiwick.model.content import ParseOutcome, Unread
from bailiwick.model.items import ParserTry

COLLECT_AFTER = 50_000
_ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The processes are the parallelism. Read by libraries when they are imported, which is on use."""


def main(arguments: list[str]) -> None:
    """Arguments: bell, profiles' directory, order for parsers (either may be ''), seconds a page, memory, limits."""
    os.environ.update(_ONE_THREAD)
    bell_end, directory, parsers, seconds, memory, *limits = arguments
    with suppress(OSError, ValueError):  # not every system knows it
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def announce(note: ParserTry) -> None:
        sink.write(pack_note(note))
        sink.flush()

    own = SiteParsers(ParserOrder.read(parsers), announce)
    extractor = PageExtractor(Path(directory) if directory else None, ContentLimits(*map(int, limits)), own)
    gc.set_threshold(COLLECT_AFTER)  # pages are made of few objects, and none outlives its page
    bell = _Bell(int(bell_end), sink.fileno())
    while burst := source.read(LENGTH.size):
        for _ in range(*LENGTH.unpack(burst)):
            body = read_body(source.read)
            if body is None:
                return
            signal.setitimer(signal.ITIMER_REAL, float(seconds))
            answer = pack_answer(_extract(extractor, body))
            signal.setitimer(signal.ITIMER_REAL, 0)
            bell.announce(len(answer))
            sink.write(answer)
            sink.flush()
        bell.ring()


class _Bell:
    """Tells the worker how many answers there are: as late as can be without waiting for room that it must make."""

    def __init__(self, bell: int, sink: int) -> None:
        self._bell, self._room = bell, pages_in(sink) // 2
        self._answers = self._pages = 0

    def announce(self, length: int) -> None:
        """An answer of this length is written next."""
        self._answers += 1
        self._pages += pages_of(length)
        if self._pages > self._room:
            self.ring()

    def ring(self) -> None:
        if self._answers:
            os.write(self._bell, bytes([self._answers]))
        self._answers = self._pages = 0


def _extract(extractor: PageExtractor, body: Body) -> Extracted | Unread:
    parser_killer(body.data)
    try:
        return extractor.extract(body)
    except MemoryError:
        return Unread(ParseOutcome.TOO_LARGE, "it takes more memory than a page may")
    except BailiwickError as error:
        return Unread(ParseOutcome.FAULT, error.message)
    except Exception as error:  # noqa: BLE001 - one page must not end the parsing of all
        return Unread(ParseOutcome.FAULT, f"unexpected {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
