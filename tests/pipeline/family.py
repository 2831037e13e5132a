"""A program of several parts, as the supervisor's tests need it: what each part does stands on the command line.

    python -m tests.pipeline.family PAUSE main=stay worker=exit:3 …

Each part writes `NAME PID` on its start and `NAME got SIGNAL` on a signal; `stay` ends with 0 on the first one.
"""

import os
import signal
import sys
import time

from bailiwick.pipeline.supervisor import supervise


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def main(arguments: list[str]) -> int:
    pause, deeds = float(arguments[0]), dict(argument.split("=") for argument in arguments[1:])
    part = supervise(say, *deeds, pause_seconds=pause)
    if isinstance(part, int):
        return part
    return do(part, deeds[part])


def do(part: str, deed: str) -> int:
    told: list[int] = []

    def hear(number: int, _frame: object) -> None:
        told.append(number)
        say(f"{part} got {signal.Signals(number).name}")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, hear)
    say(f"{part} {os.getpid()}")
    kind, _, value = deed.partition(":")
    if kind == "exit":
        return int(value)
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    while not told:
        time.sleep(0.01)
    time.sleep(float(value or 0))  # so that a second signal would be heard
    return int(kind == "stubborn")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
