"""Places where a test can make the program die. Nothing happens unless the environment names one.

`BAILIWICK_FAILPOINT=after_pack:3` ends the process with exit code 137 when `after_pack` is passed for the third time;
`BAILIWICK_FAILPOINT=parse:WORD` makes the parser fall over any page that holds the word, `hang:WORD` never end with it.
"""

import os
import signal
import threading
from functools import cache

EXIT_CODE = 137
_PARSER = ("parse", "hang")
_passed: dict[str, int] = {}


def failpoint(name: str) -> None:
    """Die here, if the environment says so."""
    armed = _armed()
    if armed is None or armed[0] != name:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] >= armed[1]:
        os._exit(EXIT_CODE)


def parser_killer(body: bytes) -> None:
    """Fall over or hang, as a fault in a library written in C would let us."""
    deadly = _deadly()
    if deadly is None or deadly[1] not in body:
        return
    if deadly[0] == "parse":
        os.kill(os.getpid(), signal.SIGSEGV)
    threading.Event().wait()


@cache
def _armed() -> tuple[str, int] | None:
    name, count = _named()
    return (name, int(count or 1)) if name and name not in _PARSER else None


@cache
def _deadly() -> tuple[str, bytes] | None:
    name, word = _named()
    return (name, word.encode()) if name in _PARSER else None


def _named() -> tuple[str, str]:
    name, _, rest = os.environ.get("BAILIWICK_FAILPOINT", "").partition(":")
    return name, rest
