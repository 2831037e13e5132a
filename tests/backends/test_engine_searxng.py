"""SearXNG by its documented JSON API. It has no official client: the documented requests are sent by hand."""

from collections.abc import Iterator

import httpx
import pytest

from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import EngineServer, engine_server, entries, fault, said


@pytest.fixture
def server() -> Iterator[EngineServer]:
    with engine_server("searxng") as serving:
        yield serving


def test_the_server_speaks_the_documented_protocol(server: EngineServer) -> None:
    answer = httpx.get(f"{server.url}/search", params={"q": "searxng", "format": "json"}).json()
    assert {"query", "results", "answers", "suggestions", "unresponsive_engines"} <= set(answer)
    assert {"url", "title", "content", "engine"} <= set(answer["results"][0])
    assert httpx.get(f"{server.url}/search", params={"q": "searxng"}).headers["content-type"] == "text/html"


def test_the_request_is_of_the_protocol(server: EngineServer) -> None:
    answer = server.ask_one(api_key_env=None)
    assert answer.outcome is EngineOutcome.ANSWERED
    [asked] = server.requests
    assert (asked.method, asked.path) == ("GET", "/search")
    assert asked.query == {"q": "island grants", "format": "json", "pageno": "1"}
    assert "authorization" not in asked.headers


def test_an_address_with_a_path_is_kept(server: EngineServer) -> None:
    server.ask_one(api_key_env=None, base_url=f"{server.url}/searx/")
    assert server.requests[0].path == "/searx/search"


def test_it_pages_until_a_page_is_empty(server: EngineServer) -> None:
    server.web = entries(15)
    pages = server.ask(*(EngineQuestion("a", page) for page in (1, 2, 3)), api_key_env=None)
    assert [(len(page.hits), page.has_more) for page in pages] == [(10, True), (5, True), (0, False)]


def test_a_403_says_what_to_set(server: EngineServer) -> None:
    server.says = [fault(403)]
    answer = server.ask_one(api_key_env=None)
    assert answer.outcome is EngineOutcome.REFUSED
    assert "`json` is not among `search.formats`" in answer.why


def test_engines_that_failed_it_are_named(server: EngineServer) -> None:
    silent = [["google", "CAPTCHA"], ["brave", "too many\x1b[31m requests"], ["odd"], 7]
    rows = [{"url": "https://a.example/", "title": "A", "content": ""}]
    server.says = [
        said({"results": [], "unresponsive_engines": silent}),
        said({"results": rows, "unresponsive_engines": silent}),
        said({"results": [], "unresponsive_engines": silent}),
    ]
    first, second, third = server.ask(
        EngineQuestion("a"), EngineQuestion("a"), EngineQuestion("a", page=2), api_key_env=None
    )
    named = "google CAPTCHA, brave too many[31m requests, odd"
    assert (first.outcome, first.why) == (
        EngineOutcome.FAILED, f"the engines behind searxng did not answer: {named}",
    )  # fmt: skip
    assert (second.outcome, second.why) == (EngineOutcome.ANSWERED, f"without {named}")
    assert (third.outcome, third.has_more) == (EngineOutcome.ANSWERED, False)
