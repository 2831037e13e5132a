"""The program, command after command, without the cost of its start: tests that run commands took 60% of a run.

`run_program` is the real program in a process of its own: its entry point, arguments, directory, environment, files and
exit code. Only its modules are there before: a parent that has imported them, and done nothing else, forks one child a
command. What is about starting (`cli/test_start.py`), about signals, or started beside a test is a new interpreter.
"""

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("bailiwick")
ROOT = Path(__file__).parents[1]
_FOR_A_NEW_ONE = ("PYTHON", "LD_", "FAKETIME", "COVERAGE")
"""An environment that says something to the interpreter or its libraries needs a new one."""
_ANEW = frozenset({"evaluate"})
"""Forked, and with a language model in the settings, it stood still for minutes; why is not known."""
_LENGTH_BYTES = 8
_HEAVY = ("numpy", "sklearn", "trafilatura", "wordllama", "lxml")
"""Imported by few commands, and some start threads: a parent that forks has none."""


def run_program(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str = "", seconds: float = 120
) -> "subprocess.CompletedProcess[str]":
    """One command to its end. TimeoutExpired: it was killed then."""
    said = any(name.startswith(_FOR_A_NEW_ONE) and os.environ.get(name) != value for name, value in env.items())
    if said or not _ANEW.isdisjoint(arguments):
        return subprocess.run(
            [PROGRAM, *arguments], cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=seconds,
            check=False,
        )  # fmt: skip
    with _pipe_of(stdin) as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _Parent.of_this_process().run(
            {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)},
            [given, out.fileno(), err.fileno()],
            seconds,
        )
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace").replace("\r\n", "\n"))
    if code is None:
        raise subprocess.TimeoutExpired([PROGRAM, *arguments], seconds, *texts)
    return subprocess.CompletedProcess([PROGRAM, *arguments], code, *texts)


@contextmanager
def _pipe_of(text: str) -> Iterator[int]:
    """A pipe that this is written to, as far as somebody reads it."""
    reading, writing = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(text.encode())

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield reading
    finally:
        os.close(reading)
        writer.join()


class _Parent:
    """The process that forks, as the tests see it."""

    _mine: "_Parent | None" = None
    _making = threading.Lock()

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bwp-")
        self._address = str(Path(self._folder.name) / "s")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(self._address)
        listening.listen(64)
        # It ends when this pipe does, however this process ends.
        theirs, self._held = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.program", str(listening.fileno()), str(theirs)],
            cwd=ROOT, pass_fds=(listening.fileno(), theirs), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        listening.close()
        os.close(theirs)
        atexit.register(self.end)

    @classmethod
    def of_this_process(cls) -> "_Parent":
        with cls._making:
            if cls._mine is None:
                cls._mine = cls()
            return cls._mine

    def run(self, order: Mapping[str, object], files: Sequence[int], seconds: float) -> int | None:
        """The exit code, negative for a signal; None if it took too long."""
        text = json.dumps(order).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as conn:
            conn.connect(self._address)
            socket.send_fds(conn, [len(text).to_bytes(_LENGTH_BYTES, "big")], list(files))
            conn.sendall(text)
            conn.settimeout(seconds)
            try:
                return json.loads(conn.recv(100))
            except TimeoutError:
                return None  # the connection's end kills it

    def end(self) -> None:
        os.close(self._held)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._folder.cleanup()


def _serve(listening: socket.socket, lifeline: int) -> dict[str, object] | None:
    """Fork for each order: returns it in the child, and None in the parent when nobody wants anything any more."""
    running: dict[int, socket.socket] = {}
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    for file in (listening, lifeline, woken):
        selector.register(file, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == lifeline:
                return None
            if key.fileobj == woken:
                os.read(woken, 1000)
            elif key.fileobj is listening:
                conn, _ = listening.accept()
                pid, order = _forked(conn, (listening.fileno(), lifeline, woken, waker, selector.fileno()))
                if order is not None:
                    return order
                running[pid] = conn
                selector.register(conn, selectors.EVENT_READ, pid)
            else:  # who asked is gone, or waits no longer
                selector.unregister(key.fileobj)
                if running.get(key.data) is key.fileobj:
                    os.kill(key.data, signal.SIGKILL)
        _answer_for_the_ended(running, selector)


def _answer_for_the_ended(running: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        conn = running.pop(pid)
        with suppress(KeyError):
            selector.unregister(conn)
        with suppress(OSError):
            conn.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())
        conn.close()


def _forked(conn: socket.socket, ours: Sequence[int]) -> tuple[int, dict[str, object] | None]:
    head, files, _, _ = socket.recv_fds(conn, _LENGTH_BYTES, 3)
    with conn.makefile("rb") as stream:
        order = json.loads(stream.read(int.from_bytes(head, "big")))
    pid = os.fork()
    if pid:
        for file in files:
            os.close(file)
        return pid, None
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, max(*files, *ours, conn.fileno()) + 1)
    return 0, order


def _become(order: dict[str, object]) -> None:
    """The program, as if it had just been started like this."""
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    os.chdir(str(order["cwd"]))
    sys.argv = [str(PROGRAM), *order["arguments"]]  # type: ignore[misc]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 - for its whole life
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.path[:] = [path for path in sys.path if path not in ("", str(ROOT))]
    from bailiwick.cli.main import run

    run()


def _import() -> None:
    from bailiwick.cli.main import COMMANDS

    for module in sorted({place.partition(":")[0] for topic in COMMANDS.values() for place, _ in topic.values()}):
        import_module(f"bailiwick.cli.{module}")
    for module in ("bailiwick.app", "bailiwick.cli.crawl_run", "sqlalchemy.dialects.postgresql.psycopg", "uvloop"):
        import_module(module)
    assert threading.active_count() == 1
    assert not sys.modules.keys() & set(_HEAVY), "the program has become heavy to start"


def main() -> None:
    listening, lifeline = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    _import()
    order = _serve(listening, lifeline)
    if order is not None:
        listening.detach()
        _become(order)


if __name__ == "__main__":
    main()
