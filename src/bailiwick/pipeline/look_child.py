"""A child process that looks at one body after another: a page that kills it, or never ends, takes nobody along.

Started by `look_pool` with its limits as arguments. Each message is a length, a JSON text, a length, a body; each
answer a length and a JSON text. The time limit is an alarm that kills the process itself.
"""

import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import BinaryIO

from pydantic import BaseModel, ValidationError

from bailiwick.extract.content import ContentLimits
from bailiwick.pipeline.looking import Look, assess, see

LENGTH = struct.Struct(">I")
_ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def main(arguments: list[str]) -> None:
    """Arguments: seconds a page, memory, most characters of a text."""
    os.environ.update(_ONE_THREAD)
    seconds, memory, chars = arguments
    with suppress(OSError, ValueError):  # not every system knows it
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    limits = ContentLimits(max_text_chars=int(chars))
    while (message := _part(source)) is not None:
        body = _part(source) or b""
        signal.setitimer(signal.ITIMER_REAL, float(seconds))
        answer = _answer(message, body, limits).model_dump_json().encode()
        signal.setitimer(signal.ITIMER_REAL, 0)
        sink.write(LENGTH.pack(len(answer)) + answer)
        sink.flush()


class Fault(BaseModel):
    """A fault of ours, kept with its words."""

    fault: str


def _answer(message: bytes, body: bytes, limits: ContentLimits) -> BaseModel:
    try:
        look = Look.model_validate_json(message)
        return see(look, body, limits) if look.policy is None else assess(look, body, limits)
    except MemoryError:
        return Fault(fault="it takes more memory than a page may")
    except (Exception, ValidationError) as error:  # noqa: BLE001 - one page must not end the scoring of all
        return Fault(fault=f"unexpected {type(error).__name__}: {error}"[:500])


def _part(source: BinaryIO) -> bytes | None:
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    return source.read(length)


if __name__ == "__main__":
    main(sys.argv[1:])
