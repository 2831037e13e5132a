"""`parts`: what each part of reading a page costs, by itself: CPU microseconds a page."""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from bailiwick.crawl.html import decode, parse_page
from bailiwick.crawl.linkgate import LinkGate, link_rules
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.model.urls import LinkJoiner, UrlRules
from bailiwick.ports import StoredBody
from bailiwick.store.records import Packer
from benchmarks.race.meters import Cores, on_core
from benchmarks.race.pages import HOST, Size, render
from benchmarks.race.report import Report, table
from benchmarks.svg import Bar, bars

_HOST = "race.test"
_TYPE = "text/html; charset=utf-8"
_PAGES = 300


def parts(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:  # noqa: ARG001 (needs no files)
    """Parser, links, rules, hash and record of one page after another, several times; the quickest round counts."""
    from selectolax.lexbor import LexborHTMLParser

    from bailiwick.pipeline.process import prepare_process

    report = Report("parts", options.out)
    report.begin(cores)
    prepare_process()
    pages = {path: body.replace(HOST, _HOST).encode() for path, body in render(Size(_PAGES)).items()}
    hrefs = {path: parse_page(body, _TYPE, _HOST).hrefs for path, body in pages.items()}
    rules, packer, today = UrlRules(), Packer(3), datetime.now(UTC).date()
    # What is remembered from one page to the next is made anew for each round.
    makers: dict[str, Callable[[], Callable[[str, bytes], object]]] = {
        "decoding": lambda: lambda _, body: decode(body, _TYPE),
        "the parser alone (lexbor)": lambda: lambda _, body: LexborHTMLParser(decode(body, _TYPE)),
        "parsing, marks, text hash": lambda: lambda _, body: parse_page(body, _TYPE, _HOST),
        "joining its links": lambda: _joining(LinkJoiner(rules), hrefs),
        "rules on its links": lambda: _judging(
            LinkGate(link_rules((), ()), TrapGuard(today)), LinkJoiner(rules), hrefs
        ),
        "SHA-256 of the body": lambda: lambda _, body: sha256(body).digest(),
        "compression and record": lambda: lambda _, body: packer.pack(StoredBody(1, 1, b"", body), b"\0" * 32),
    }
    taken: dict[str, list[float]] = {name: [] for name in makers}
    with on_core(cores.client):
        for _ in range(options.rounds):
            for name, make in makers.items():
                taken[name].append(_measured(make(), pages))
    table(("CPU microseconds a page", "quickest", "median"),
          [(name, f"{min(all_):.0f}", f"{statistics.median(all_):.0f}") for name, all_ in taken.items()])  # fmt: skip
    report.samples += [{"part": name, "microseconds": all_} for name, all_ in taken.items()]
    rows = [Bar(name, min(all_)) for name, all_ in taken.items()]
    report.end(bars("Reading a page of 40 kB and 60 links", rows, unit="CPU microseconds, quickest round"))


def _measured(part: Callable[[str, bytes], object], pages: dict[str, bytes]) -> float:
    started = time.process_time()
    for path, body in pages.items():
        part(path, body)
    return (time.process_time() - started) / len(pages) * 1e6


def _joining(joiner: LinkJoiner, hrefs: dict[str, list[str]]) -> Callable[[str, bytes], object]:
    return lambda path, _: joiner.page_urls(f"https://{_HOST}{path}", hrefs[path])


def _judging(traps: TrapGuard, joiner: LinkJoiner, hrefs: dict[str, list[str]]) -> Callable[[str, bytes], object]:
    gate = LinkGate(link_rules((), ()), traps)
    links = {path: [to for _, to in joiner.page_urls(f"https://{_HOST}{path}", found)] for path, found in hrefs.items()}

    def judge(path: str, _body: bytes) -> None:
        gate.learned(path, hash(path), is_new_content=True)
        for link in links[path]:
            gate.refuses(link, 3, path)

    return judge
