"""What an answer means, where keeping it fails: a page is read once more as if it had not been read."""

import asyncio
from datetime import date

import pytest
from sqlalchemy import Connection

from bailiwick.base.errors import ServerMissingError
from bailiwick.crawl.html import Parsed, parse_page
from bailiwick.crawl.linkgate import LinkGate, link_rules
from bailiwick.crawl.reading import understood
from bailiwick.crawl.results import PageResult
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.crawl.traps.rules import Refusal
from bailiwick.db.engine import Database
from bailiwick.model.urls import LinkJoiner, UrlRules
from bailiwick.net.credentials import Credentials
from bailiwick.ports import BodyRef, FetchAnswer, StoredBody
from tests.crawl.desk_tools import NoStore, hold, slice_of, taken

PAGE = b'<html><head><title>Home</title></head><body><p>Some words</p><a href="/only-from-here">On</a></body></html>'


class FailingStore(NoStore):
    """Needs a new pack while the database is away: the first time in vain."""

    def __init__(self) -> None:
        self.tries = 0

    def put(self, stored: StoredBody, body_hash: bytes | None = None) -> BodyRef:
        self.tries += 1
        if self.tries == 1:
            raise ServerMissingError("the database went away")
        return BodyRef(1, 0, len(stored.body))


class KeepingStore(NoStore):
    def put(self, stored: StoredBody, body_hash: bytes | None = None) -> BodyRef:
        return BodyRef(1, 0, len(stored.body))


async def _parse(body: bytes, content_type: str, host: str) -> Parsed:
    return parse_page(body, content_type, host)


def _slice(conn: Connection) -> Slice:
    [held] = hold(conn, "a.org")
    return slice_of(held)


def _tools(store: NoStore) -> Tools:
    rules = UrlRules()
    return Tools(
        fetcher=None,  # type: ignore[arg-type] - nothing is fetched
        store=store, joiner=LinkJoiner(rules), rules=rules, credentials=Credentials({}), max_retries=3,
        retry_backoff_seconds=1, agent="Bailiwick", reserve=lambda _host: asyncio.sleep(0, 0.0),
    )  # fmt: skip


def _answer(path: str, body: bytes) -> FetchAnswer:
    return FetchAnswer(f"https://a.org{path}", 200, b"", {"content-type": "text/html"}, body, False, len(body), 5)


def test_links_of_a_page_whose_body_could_not_be_kept_are_new_the_next_time(database: Database) -> None:
    """They were remembered as seen, and the page that came again brought none: what only it links to was lost."""
    with database.begin() as conn:
        part = _slice(conn)
    tools, answer = _tools(FailingStore()), _answer("/", PAGE)
    with pytest.raises(ServerMissingError):
        asyncio.run(understood(part, taken("/"), answer, tools, _parse))
    again = asyncio.run(understood(part, taken("/"), answer, tools, _parse))
    assert [path for _, path, _ in again.links] == ["/only-from-here"]


class AskingGate(LinkGate):
    """Counts what it is asked about, and refuses what it is told to."""

    def __init__(self) -> None:
        super().__init__(link_rules((), ()), TrapGuard(date(2026, 1, 1)))
        self.asked: list[str] = []
        self.refused: set[str] = set()

    def refuses(self, path: str, depth: int, found_on: str) -> Refusal | None:
        self.asked.append(path)
        return Refusal.FACETS if path in self.refused else super().refuses(path, depth, found_on)


def test_a_link_is_taken_apart_once_unless_it_was_refused_or_is_found_nearer(database: Database) -> None:
    """However it is written; what was refused may be admitted when its like have proved their worth."""
    with database.begin() as conn:
        part = _slice(conn)
    gate = part.gate = AskingGate()
    gate.refused = {"/maybe"}
    tools = _tools(KeepingStore())
    out = '<a href="https://other.test/x">Other</a>'

    def read(path: str, depth: int, links: str) -> PageResult:
        page = taken(path, depth=depth)
        body = f"<p>{path}</p>{links}".encode()
        return asyncio.run(understood(part, page, _answer(path, body), tools, _parse))

    first = read("/shop/", 3, f'<a href="/a">A</a><a href="b">B</a><a href="/maybe">M</a>{out}')
    assert [path for _, path, _ in first.links] == ["/a", "/shop/b"]
    assert [(domain, text) for _, domain, _, text in first.outlinks] == [("other.test", "Other")]
    gate.asked.clear()
    again = read("/other/", 3, f'<a href="https://a.org/a">A</a><a href="/a">A</a><a href="b">B</a>{out}')
    assert ([path for _, path, _ in again.links], again.outlinks) == (["/other/b"], [])
    assert gate.asked == ["/other/b"], "the same letters mean another page here"
    gate.refused.clear()
    assert [path for _, path, _ in read("/c", 3, '<a href="/maybe">M</a>').links] == ["/maybe"]
    assert [path for _, path, _ in read("/d", 1, '<a href="/a">A</a>').links] == ["/a"], "a shorter way counts"
