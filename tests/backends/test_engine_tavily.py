"""Tavily: the server by the official client (tavily-python 0.8.5), our engine by the server."""

from collections.abc import Iterator

import pytest
from tavily import TavilyClient
from tavily.errors import ForbiddenError, InvalidAPIKeyError, UsageLimitExceededError

from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import KEY, KEY_NAME, EngineServer, engine_server, entries, fault


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with engine_server("tavily") as serving:
        yield serving


def test_the_official_client_understands_the_server(server: EngineServer) -> None:
    server.web = entries(30)
    with TavilyClient(api_key=KEY, api_base_url=server.url) as client:
        answer = client.search("island grants", max_results=20)
        assert [row["url"] for row in answer["results"]] == [entry.url for entry in entries(20)]
        assert {"url", "title", "content", "score"} <= set(answer["results"][0])
        server.says = [fault(429), fault(432)]
        with pytest.raises(UsageLimitExceededError):
            client.search("a")
        with pytest.raises(ForbiddenError):
            client.search("a")
    with TavilyClient(api_key="wrong", api_base_url=server.url) as client, pytest.raises(InvalidAPIKeyError):
        client.search("a")


def test_our_request_is_what_the_official_client_sends(server: EngineServer) -> None:
    server.ask(EngineQuestion("island grants", count=7))
    with TavilyClient(api_key=KEY, api_base_url=server.url) as client:
        client.search("island grants", max_results=7, search_depth="basic")
    ours, theirs = server.requests
    assert (ours.method, ours.path, ours.body) == (theirs.method, theirs.path, theirs.body)
    assert ours.headers["authorization"] == theirs.headers["authorization"] == f"Bearer {KEY}"


def test_there_is_one_page(server: EngineServer) -> None:
    server.web = entries(30)
    first, second = server.ask(EngineQuestion("a", count=500), EngineQuestion("a", page=2))
    assert (len(first.hits), first.has_more) == (20, False)
    assert (second.outcome, second.hits, len(server.requests)) == (EngineOutcome.ANSWERED, (), 1)


@pytest.mark.parametrize("status", [432, 433])
def test_a_plan_that_is_used_up_is_not_asked_again_soon(server: EngineServer, status: int) -> None:
    server.says = [fault(status)]
    answer = server.ask_one()
    assert (answer.outcome, answer.pause_seconds) == (EngineOutcome.LIMITED, 3600)
    assert answer.is_spent
    assert "used up" in answer.why


def test_long_queries_are_not_sent(server: EngineServer) -> None:
    answer = server.ask_one("x" * 401)
    assert (answer.outcome, server.requests) == (EngineOutcome.INVALID, [])
    assert "400 characters" in answer.why
