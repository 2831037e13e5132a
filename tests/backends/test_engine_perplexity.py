"""Perplexity: the server by the official client (perplexityai 0.46.1), our engine by the server."""

from collections.abc import Iterator

import perplexity
import pytest

from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import KEY, KEY_NAME, EngineServer, engine_server, entries, fault


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with engine_server("perplexity") as serving:
        yield serving


def client_of(server: EngineServer, key: str = KEY) -> perplexity.Perplexity:
    return perplexity.Perplexity(api_key=key, base_url=server.url, max_retries=0)


def test_the_official_client_understands_the_server(server: EngineServer) -> None:
    server.web = entries(30)
    with client_of(server) as client:
        answer = client.search.create(query="island grants", max_results=20)
        assert [row.url for row in answer.results] == [entry.url for entry in entries(20)]
        assert answer.results[0].snippet == entries(1)[0].text
        server.says = [fault(429), fault(500)]
        with pytest.raises(perplexity.RateLimitError):
            client.search.create(query="a")
        with pytest.raises(perplexity.InternalServerError):
            client.search.create(query="a")
    with client_of(server, "wrong") as client, pytest.raises(perplexity.AuthenticationError):
        client.search.create(query="a")


def test_our_request_is_what_the_official_client_sends(server: EngineServer) -> None:
    server.ask(EngineQuestion("island grants", count=7))
    with client_of(server) as client:
        client.search.create(query="island grants", max_results=7, max_tokens_per_page=512)
    ours, theirs = server.requests
    assert (ours.method, ours.path, ours.body) == (theirs.method, theirs.path, theirs.body)
    assert ours.headers["authorization"] == theirs.headers["authorization"] == f"Bearer {KEY}"


def test_there_is_one_page(server: EngineServer) -> None:
    server.web = entries(30)
    first, second = server.ask(EngineQuestion("a", count=500), EngineQuestion("a", page=2))
    assert (len(first.hits), first.has_more) == (20, False)
    assert (second.outcome, second.hits, len(server.requests)) == (EngineOutcome.ANSWERED, (), 1)
