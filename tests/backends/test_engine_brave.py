"""Brave: the server by the community's client (brave-search-python-client 0.4.27), our engine by the server.

Brave publishes no client for Python. This one has no parameter for the address: the test sets its attribute.
"""

from collections.abc import Iterator

import pytest
from brave_search_python_client import BraveSearch, BraveSearchAPIError, WebSearchRequest

from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import KEY, KEY_NAME, EngineServer, engine_server, entries, fault, run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with engine_server("brave") as serving:
        yield serving


def client_of(server: EngineServer, key: str = KEY) -> BraveSearch:
    client = BraveSearch(api_key=key)
    client._base_url = f"{server.url}/res/v1/"
    return client


def test_the_client_understands_the_server(server: EngineServer) -> None:
    server.web = entries(30)
    answer = run(client_of(server).web(WebSearchRequest(q="island grants", count=20, offset=1)))
    assert answer.web is not None
    assert [row.url for row in answer.web.results] == [entry.url for entry in entries(30)[20:]]
    assert answer.query.more_results_available is False
    with pytest.raises(BraveSearchAPIError, match="422"):
        run(client_of(server, "wrong").web(WebSearchRequest(q="a")))


def test_our_request_is_what_the_client_sends(server: EngineServer) -> None:
    server.ask(EngineQuestion("island grants", page=3, count=7))
    run(client_of(server).web(WebSearchRequest(q="island grants", count=7, offset=2)))
    ours, theirs = server.requests
    assert (ours.method, ours.path) == (theirs.method, theirs.path)
    assert ours.query.items() <= theirs.query.items()
    for name in ("x-subscription-token", "accept", "cache-control"):
        assert ours.headers[name] == theirs.headers[name]


def test_it_pages_to_the_tenth_page(server: EngineServer) -> None:
    server.web = entries(500)
    pages = server.ask(*(EngineQuestion("a", page, 20) for page in (1, 2, 10, 11)))
    assert [(len(page.hits), page.has_more) for page in pages] == [(20, True), (20, True), (20, False), (0, False)]
    assert pages[1].hits[0].url == entries(21)[-1].url
    assert len(server.requests) == 3


def test_the_last_page_says_so(server: EngineServer) -> None:
    server.web = entries(25)
    first, second = server.ask(EngineQuestion("a", 1, 20), EngineQuestion("a", 2, 20))
    assert (first.has_more, len(second.hits), second.has_more) == (True, 5, False)


def test_a_window_that_is_used_up_says_when_it_begins_anew(server: EngineServer) -> None:
    server.says = [
        fault(429, X_RateLimit_Remaining="0, 700", X_RateLimit_Reset="1, 1419704"),
        fault(429, X_RateLimit_Remaining="0, 0", X_RateLimit_Reset="1, 1419704"),
        fault(429, X_RateLimit_Remaining="0", X_RateLimit_Reset="soon"),
        fault(429, Retry_After="9", X_RateLimit_Remaining="0", X_RateLimit_Reset="1"),
    ]
    assert [server.ask_one().pause_seconds for _ in range(4)] == [1, 3600, 0, 9]


@pytest.mark.parametrize("text", ["x" * 401, "word " * 51])
def test_long_queries_are_not_sent(server: EngineServer, text: str) -> None:
    assert (server.ask_one(text).outcome, server.requests) == (EngineOutcome.INVALID, [])
