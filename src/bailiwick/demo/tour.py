"""What the tour shows. Every step runs the real program, as a user would, on a web of our own on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from urllib.request import urlopen

import psutil

from bailiwick.base.errors import BailiwickError
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sample import sample_web
from bailiwick.web import PORT

Echo = Callable[[str], None]
_KILL_AFTER_SECONDS = 2.5
_STEP_SECONDS = 300
_UNDECIDED = "town.example"
"""Left for the web interface."""
_FOUNDATION = "foundation.example"
"""Found by discovery, then crawled for its funding programmes."""
_SHOP = "shop.example"
"""Crawled for its products and their pictures."""
_PARSER = "shop_example.py"


def run_tour(directory: Path, echo: Echo) -> None:
    """Walk through the product in this directory. Raises when a step does not do what it should."""
    with serve(sample_web()) as running:
        _tour(directory, echo, running)


def _tour(directory: Path, echo: Echo, running: Running) -> None:
    undecided = running.name(_UNDECIDED)
    names = [running.name(host) for host in running.web.hosts if host not in (_UNDECIDED, _FOUNDATION, _SHOP)]
    seeds = directory / "seeds.txt"
    seeds.write_text("# the sample web\n" + "".join(f"{name}\n" for name in names))
    local = ("--resolve", running.resolve)
    first = names[0]

    echo("# Is this machine ready?")
    _step(directory, echo, "doctor")
    echo("# A crawl, from nothing: the first command makes a real PostgreSQL and stores every page.")
    _step(directory, echo, "settings", "set", "crawl.contact", "you@example.org", makes=True)
    _put_parser(directory)
    _step(directory, echo, "crawl", running.name(_SHOP), "--profile", "products", "--delay", "0.05", *local,
          live=True)  # fmt: skip
    echo("# A whole list, with a kill -9 in the middle of it. A small parent starts the engine again; nothing is lost.")
    _killed_crawl(directory, echo, "crawl", "seeds.txt", "--max-pages", "0", "--delay", "0.05", *local)
    echo("# The same command once more: what is done is not done again, and what cannot be crawled says why.")
    _step(directory, echo, "crawl", "seeds.txt", "--max-pages", "0", "--delay", "0.05", *local, live=True)
    _step(directory, echo, "run", "list")
    _step(directory, echo, "domain", "list")
    _step(directory, echo, "storage", "verify")
    echo("# What came of it: each page's content, clean, parsed beside the crawl; found again, and taken away.")
    _step(directory, echo, "search", "bread", "OR", "flour", "--limit", "3", "--facets")
    _step(directory, echo, "url", "list", "--unread", "--limit", "5")
    _step(directory, echo, "export", "pages", "--domain", first, "-o", "pages.csv")
    _discovery(directory, echo, running)
    _items(directory, echo, running)
    _evaluation(directory, echo, running, names)
    echo("# Every domain is governed: submitted, reviewed, approved, suspended; each decision has author and reason.")
    _step(directory, echo, "domain", "submit", f"http://{undecided}/some/page", "--context", "A neighbour")
    _step(directory, echo, "domain", "suspend", first, "--reason", "they asked us to pause")
    _step(directory, echo, "explain", first)
    _step(directory, echo, "events", "--limit", "8")
    echo("# One screen for all of it, one file to take away.")
    _step(directory, echo, "status")
    _step(directory, echo, "db", "backup", "tour.dump")
    echo("# The same in the browser: one domain waits for review; approve it and watch it being crawled.")
    _web_interface(directory, echo, *local)
    _step(directory, echo, "db", "stop")
    echo("# docs/tutorial.md goes on from here.")


def _discovery(directory: Path, echo: Echo, running: Running) -> None:
    """From what a search brought, and what the crawl itself came by, to an approved, crawled, reviewed source."""
    foundation = running.name(_FOUNDATION)
    results = directory / "results.jsonl"
    results.write_text("".join(f"{json.dumps(result)}\n" for result in _results(foundation)), encoding="utf-8")
    echo("# Where is more? Results of a search, and the links that the crawl collected, are judged before any fetch.")
    _step(directory, echo, "discover", "community grants", "--engine", "file:results.jsonl", "--engine", "links",
          "--profile", "funding")  # fmt: skip
    echo(
        "# Nothing is crawled that nobody approved. Then the candidate gets what its pages say, and waits for a person."
    )
    _step(directory, echo, "domain", "approve", foundation, "--reason", "gives grants in our county")
    _step(directory, echo, "crawl", foundation, "--delay", "0.05", "--resolve", running.resolve, live=True)
    _step(directory, echo, "candidate", "list", "--state", "pending_review")
    _step(directory, echo, "candidate", "show", _first_candidate(directory))


def _evaluation(directory: Path, echo: Echo, running: Running, names: Sequence[str]) -> None:
    """From pages to decisions: bands decide what is clear, a person the rest."""
    bands = [
        {"name": "good", "min": 0.65, "max": 1.0, "action": "auto_approve"},
        {"name": "unsure", "min": 0.6, "max": 0.64, "action": "manual_review"},
        {"name": "poor", "min": 0.0, "max": 0.59, "action": "reject"},
    ]
    (directory / "pages.txt").write_text("".join(f"http://{name}/\n" for name in names))
    echo("# Which pages are good? Three layers of evidence, one confidence. Bands of one's own decide what is clear.")
    _step(directory, echo, "settings", "set", "review.bands", json.dumps(bands))
    _step(directory, echo, "evaluate", "pages.txt", "--resolve", running.resolve)
    echo("# The rest waits for a person; what people decide is learned from.")
    _step(directory, echo, "review", "list")
    _step(directory, echo, "review", "next")


def _results(foundation: str) -> Iterator[dict[str, str]]:
    """As a search engine might give them; made up like the web that they are about."""
    yield {
        "url": f"http://{foundation}/programmes/community-kitchens",
        "title": "Community kitchens - grants of the Lantern Hill Foundation",
        "snippet": "Grants of 2,000 to 15,000 euro for charities and clubs. Deadline for applications: 31 March 2027.",
    }
    yield {
        "url": "http://quickcash.example/personal-loans",
        "title": "Cash loans <b>today</b>, no credit check",
        "snippet": "Low interest rates on personal loans and mortgages. Apply in five minutes.",
    }
    yield {
        "url": "http://herald.example/2019/05/museum-grant",
        "title": "Museum was awarded a grant of two million",
        "snippet": "The director said she was delighted. The grant was awarded in May 2019 by the ministry.",
    }
    yield {"url": "javascript:alert(document.cookie)", "title": "Free grants!!!", "snippet": ""}


def _first_candidate(directory: Path) -> str:
    """The best one that waits for review."""
    command = _command(directory, ("candidate", "list", "--state", "pending_review", "--limit", "1", "--json"))
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=_STEP_SECONDS, check=True)
    return str(json.loads(done.stdout.splitlines()[0])["id"])


def _put_parser(directory: Path) -> None:
    """The example of docs/guides/site-parsers.md, as a user would put it there."""
    folder = directory / "parsers"
    folder.mkdir(exist_ok=True)
    source = files("bailiwick.demo").joinpath("parsers", _PARSER)
    (folder / _PARSER).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")


def _items(directory: Path, echo: Echo, running: Running) -> None:
    """What pages describe, as data: products, services, funding programmes, images."""
    shop, local = running.name(_SHOP), ("--resolve", running.resolve)
    echo("# Pages become data. Products by their markup; where a shop has one of its own, by a parser of yours.")
    _step(directory, echo, "parser", "list")
    _step(directory, echo, "parser", "test", f"http://{shop}/dp/CK0KETTLE2", *local)
    _step(directory, echo, "search", "--kind", "product", "--price", "10..60", "--in-stock", "--facets", "--limit", "4")
    _step(directory, echo, "image", "list", "--domain", shop, "--limit", "4")
    _step(directory, echo, "search", "books", "OR", "room", "--kind", "service", "--limit", "4")
    echo("# A profile says what is looked for. The foundation has one for funding programmes; one of them is a PDF.")
    _step(directory, echo, "profile", "list")
    _step(directory, echo, "search", "grant", "--kind", "funding_programme", "--limit", "4")
    _step(directory, echo, "export", "items", "-o", "items.jsonl")
    _step(directory, echo, "export", "products", "-o", "products.csv")
    _step(directory, echo, "export", "images", "-o", "images.jsonl")


def _step(directory: Path, echo: Echo, *arguments: str, live: bool = False, makes: bool = False) -> None:
    """One command, shown with its output; a `live` one has the terminal for itself, if there is one."""
    if makes and not (directory / ".bailiwick").exists():
        _step(directory, echo, "db", "upgrade")
    shown = _say(echo, arguments)
    if live and sys.stdout.isatty():
        code = subprocess.run(
            _command(directory, arguments), cwd=directory, timeout=_STEP_SECONDS, check=False
        ).returncode
    else:
        done = subprocess.run(
            _command(directory, arguments), cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=_STEP_SECONDS, check=False,
        )  # fmt: skip
        echo(done.stdout)
        code = done.returncode
    _expect(shown, code)


def _killed_crawl(directory: Path, echo: Echo, *arguments: str) -> None:
    """The same, but its engine is killed after a while."""
    shown = _say(echo, arguments)
    live = sys.stdout.isatty()
    process = subprocess.Popen(
        _command(directory, arguments), cwd=directory, stdin=subprocess.DEVNULL, text=True,
        stdout=None if live else subprocess.PIPE, stderr=None if live else subprocess.STDOUT,
    )  # fmt: skip
    time.sleep(_KILL_AFTER_SECONDS)
    engines = psutil.Process(process.pid).children() if process.poll() is None else []
    for engine in engines:
        os.kill(engine.pid, signal.SIGKILL)
    said, _ = process.communicate(timeout=_STEP_SECONDS)
    if said:
        echo(said)
    _expect(shown, process.returncode)
    if not engines:
        raise BailiwickError("the crawl was over before it could be killed")


def _web_interface(directory: Path, echo: Echo, *local: str) -> None:
    """On a terminal it stays until Ctrl-C; elsewhere it only has to get ready."""
    live = sys.stdout.isatty() and sys.stdin.isatty()
    with _free_port() as port:
        arguments = ("serve", "--port", str(port), *local)
    _say(echo, arguments)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if live else None  # Ctrl-C is for the server alone
    process = subprocess.Popen(_command(directory, arguments), cwd=directory, stdin=subprocess.DEVNULL,
                               preexec_fn=_listen_again if live else None)  # fmt: skip  # noqa: PLW1509
    try:
        if live:
            echo("# Open the link that it prints in a browser. Ctrl-C ends the tour.")
            process.wait()
        else:
            _wait_until_ready(process, port)
            process.send_signal(signal.SIGINT)
            process.wait(_STEP_SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
        if before is not None:
            signal.signal(signal.SIGINT, before)
    _expect("serve", process.returncode)


def _listen_again() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + _STEP_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise BailiwickError("the web interface did not get ready")


@contextmanager
def _free_port() -> Iterator[int]:
    """The usual one, or any other if that is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


def _say(echo: Echo, arguments: Sequence[str]) -> str:
    shown = " ".join(f'"{a}"' if " " in a or "*" in a else a for a in arguments)
    echo(f"$ bailiwick {shown}")
    return shown


def _command(directory: Path, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "bailiwick", "--home", str(directory), *arguments]


def _expect(shown: str, code: int) -> None:
    if code != 0:
        raise BailiwickError(f"bailiwick {shown} ended with exit code {code}")
