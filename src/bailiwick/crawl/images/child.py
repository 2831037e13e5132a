"""A child process that decodes one image after another: one that kills it, or never ends, takes nobody along.

A program of its own, with its limits as arguments; it ends when its parent is gone. The time limit is an alarm that
kills the process itself.
"""

import json
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import asdict

from bailiwick.crawl.images.decoding import ImageFault, read_facts, small_copy
from bailiwick.model.images import ImageOutcome

ASKED = struct.Struct(">II")
"""Side of the copy that is wanted (0: the facts), bytes of the image."""
ANSWERED = struct.Struct(">II")
"""Bytes of JSON, bytes of the copy."""


def main(arguments: list[str]) -> None:
    """Arguments: seconds an image, bytes of memory, most pixels."""
    seconds, memory, pixels = float(arguments[0]), int(arguments[1]), int(arguments[2])
    with suppress(OSError, ValueError):  # not every system knows it
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    while len(header := source.read(ASKED.size)) == ASKED.size:
        side, length = ASKED.unpack(header)
        data = source.read(length)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        told, copy = _answer(data, side, pixels)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer = json.dumps(told).encode()
        sink.write(ANSWERED.pack(len(answer), len(copy)) + answer + copy)
        sink.flush()


def _answer(data: bytes, side: int, pixels: int) -> tuple[dict[str, object], bytes]:
    try:
        if side:
            return {}, small_copy(data, side=side, max_pixels=pixels)
        return asdict(read_facts(data, max_pixels=pixels)), b""
    except ImageFault as fault:
        return {"outcome": fault.outcome.value, "why": fault.why}, b""
    except MemoryError:
        return {"outcome": ImageOutcome.TOO_MANY_PIXELS.value, "why": "it takes more memory than an image may"}, b""
    except Exception as error:  # noqa: BLE001 - one image must not end the reading of all
        return {"outcome": ImageOutcome.UNREADABLE.value, "why": f"unexpected {type(error).__name__}: {error}"}, b""


if __name__ == "__main__":
    main(sys.argv[1:])
