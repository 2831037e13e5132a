"""What an answer means, where keeping it fails: a page is read once more as if it had not been read."""

import asyncio

import pytest
from sqlalchemy import Connection

from bailiwick.base.errors import ServerMissingError
from bailiwick.crawl.html import Parsed, parse_page
from bailiwick.crawl.reading import understood
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
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


async def _parse(body: bytes, content_type: str, host: str) -> Parsed:
    return parse_page(body, content_type, host)


def _slice(conn: Connection) -> Slice:
    [held] = hold(conn, "a.org")
    return slice_of(held)


def test_links_of_a_page_whose_body_could_not_be_kept_are_new_the_next_time(database: Database) -> None:
    """They were remembered as seen, and the page that came again brought none: what only it links to was lost."""
    with database.begin() as conn:
        part = _slice(conn)
    rules = UrlRules()
    tools = Tools(
        fetcher=None,  # type: ignore[arg-type] - nothing is fetched
        store=FailingStore(), joiner=LinkJoiner(rules), rules=rules, credentials=Credentials({}), max_retries=3,
        retry_backoff_seconds=1, agent="Bailiwick", reserve=lambda _host: asyncio.sleep(0, 0.0),
    )  # fmt: skip
    headers = {"content-type": "text/html"}
    answer = FetchAnswer("https://a.org/", 200, b"", headers, PAGE, False, len(PAGE), 5)
    with pytest.raises(ServerMissingError):
        asyncio.run(understood(part, taken("/"), answer, tools, _parse))
    again = asyncio.run(understood(part, taken("/"), answer, tools, _parse))
    assert [path for _, path, _ in again.links] == ["/only-from-here"]
