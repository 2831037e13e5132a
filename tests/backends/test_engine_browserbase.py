"""Browserbase: the server by the official client (browserbase 1.22.0), our engine by the server."""

from collections.abc import Iterator

import browserbase
import pytest

from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import KEY, KEY_NAME, EngineServer, engine_server, entries, fault


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with engine_server("browserbase") as serving:
        yield serving


def client_of(server: EngineServer, key: str = KEY) -> browserbase.Browserbase:
    return browserbase.Browserbase(api_key=key, base_url=server.url, max_retries=0)


def test_the_official_client_understands_the_server(server: EngineServer) -> None:
    server.web = entries(30)
    with client_of(server) as client:
        answer = client.search.web(query="island grants", num_results=25)
        assert [row.url for row in answer.results] == [entry.url for entry in entries(25)]
        assert answer.results[0].title == "Grant 1"
        server.says = [fault(429), fault(500)]
        with pytest.raises(browserbase.RateLimitError):
            client.search.web(query="a")
        with pytest.raises(browserbase.InternalServerError):
            client.search.web(query="a")
    with client_of(server, "wrong") as client, pytest.raises(browserbase.AuthenticationError):
        client.search.web(query="a")


def test_our_request_is_what_the_official_client_sends(server: EngineServer) -> None:
    server.ask(EngineQuestion("island grants", count=7))
    with client_of(server) as client:
        client.search.web(query="island grants", num_results=7)
    ours, theirs = server.requests
    assert (ours.method, ours.path, ours.body) == (theirs.method, theirs.path, theirs.body)
    assert ours.headers["x-bb-api-key"] == theirs.headers["x-bb-api-key"] == KEY


def test_there_is_one_page(server: EngineServer) -> None:
    server.web = entries(30)
    first, second = server.ask(EngineQuestion("a", count=500), EngineQuestion("a", page=2))
    assert (len(first.hits), first.has_more) == (25, False)
    assert (second.outcome, second.hits, len(server.requests)) == (EngineOutcome.ANSWERED, (), 1)


def test_long_queries_are_not_sent(server: EngineServer) -> None:
    answer = server.ask_one("x" * 201)
    assert (answer.outcome, server.requests) == (EngineOutcome.INVALID, [])
