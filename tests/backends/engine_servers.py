"""Servers on loopback that speak the search engines' documented protocols, and do what they are told to.

Each protocol is written by these documents, as read in November 2026, and driven by these clients:

- SearXNG: docs.searxng.org, "Search API". There is no official client.
- Tavily: docs.tavily.com, API reference, `POST /search`; help.tavily.com, "Errors Code". Client: tavily-python 0.8.5.
- Perplexity: docs.perplexity.ai, API reference, `POST /search`. Client: perplexityai 0.46.1.
- Browserbase: docs.browserbase.com, "Search", `POST /v1/search`. Client: browserbase 1.22.0.
- Brave: api-dashboard.search.brave.com, API reference, `GET /res/v1/web/search`, and its response headers. There is no
  official client for Python; the one of the community is brave-search-python-client 0.4.27.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bailiwick.backends.engine_brave import BraveEngine
from bailiwick.backends.engine_browserbase import BrowserbaseEngine
from bailiwick.backends.engine_perplexity import PerplexityEngine
from bailiwick.backends.engine_searxng import SearxngEngine
from bailiwick.backends.engine_tavily import TavilyEngine
from bailiwick.base.discovery_sections import (
    BraveSettings,
    BrowserbaseSettings,
    EngineSettings,
    PerplexitySettings,
    SearxngSettings,
    TavilySettings,
)
from bailiwick.ports import EngineAnswer, EngineQuestion, SearchEngine
from tests.backends.local_server import Handler, local_server
from tests.backends.model_server import Said

KEY_NAME, KEY = "TEST_ENGINE_KEY", "bw-test-only-key"


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it. Header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One page of the web that the servers know."""

    url: Any
    title: Any = "A grant for <b>islands</b>"
    text: Any = "Who may apply &amp; until when."


def entries(count: int) -> list[Entry]:
    return [Entry(f"https://site{number}.example/grants", f"Grant {number}") for number in range(1, count + 1)]


def said(body: object, status: int = 200, **headers: str) -> Said:
    return Said(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


def fault(status: int, **headers: str) -> Said:
    """An error that repeats the key: it must not be shown."""
    return said({"detail": {"error": f"no, {KEY} will not do"}, "error": {"message": KEY}}, status, **headers)


def searxng(asked: Asked, web: list[Entry]) -> Said:
    if (asked.method, asked.path) != ("GET", "/search"):
        return fault(404)
    if asked.query.get("format") != "json":
        return Said(200, b"<!doctype html><title>SearXNG</title>", {"content-type": "text/html"})
    if not asked.query.get("q"):
        return said({"error": "No query"}, 400)
    page = int(asked.query.get("pageno", "1"))
    return said(
        {
            "query": asked.query["q"],
            "number_of_results": 0,
            "results": [
                {
                    "url": entry.url, "title": entry.title, "content": entry.text, "engine": "duckduckgo",
                    "engines": ["duckduckgo", "brave"], "positions": [1, 2], "score": 2.0, "category": "general",
                    "template": "default.html", "parsed_url": ["https", "site.example", "/", "", "", ""],
                    "publishedDate": None, "thumbnail": None,
                }
                for entry in web[(page - 1) * 10 : page * 10]
            ],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": ["grants for islands"],
            "unresponsive_engines": [],
        }
    )  # fmt: skip


def tavily(asked: Asked, web: list[Entry]) -> Said:
    if (asked.method, asked.path) != ("POST", "/search"):
        return fault(404)
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return said({"detail": {"error": f"Unauthorized: missing or invalid API key: {KEY}"}}, 401)
    count = asked.body.get("max_results", 5)
    if not asked.body.get("query") or not 0 <= count <= 20:
        return said({"detail": {"error": "Max results must be between 0 and 20"}}, 400)
    return said(
        {
            "query": asked.body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [
                {"url": entry.url, "title": entry.title, "content": entry.text, "score": 0.9, "raw_content": None}
                for entry in web[:count]
            ],
            "response_time": 1.09,
            "request_id": "123e4567-e89b-12d3-a456-426614174111",
        }
    )


def perplexity(asked: Asked, web: list[Entry]) -> Said:
    if (asked.method, asked.path) != ("POST", "/search"):
        return fault(404)
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return said({"error": {"message": f"Invalid API key {KEY}", "type": "invalid_api_key", "code": 401}}, 401)
    count = asked.body.get("max_results", 10)
    if not asked.body.get("query") or not 1 <= count <= 20:
        return said({"error": {"message": "max_results: 1 to 20", "type": "bad_request", "code": 400}}, 400)
    return said(
        {
            "id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77",
            "results": [
                {"title": e.title, "url": e.url, "snippet": e.text, "date": "2026-03-20", "last_updated": None}
                for e in web[:count]
            ],
            "server_time": None,
        }
    )


def browserbase(asked: Asked, web: list[Entry]) -> Said:
    if (asked.method, asked.path) != ("POST", "/v1/search"):
        return fault(404)
    if asked.headers.get("x-bb-api-key") != KEY:
        return said({"statusCode": 401, "error": "Unauthorized", "message": f"Invalid API key {KEY}"}, 401)
    count = asked.body.get("numResults", 10)
    if not 1 <= len(asked.body.get("query", "")) <= 200 or not 1 <= count <= 25:
        return said({"statusCode": 400, "error": "Bad Request", "message": "body/numResults must be <= 25"}, 400)
    return said(
        {
            "requestId": "req_1",
            "query": asked.body["query"],
            "results": [
                {"id": f"r{at}", "url": entry.url, "title": entry.title, "publishedDate": "2026-01-02T00:00:00.000Z"}
                for at, entry in enumerate(web[:count])
            ],
        }
    )


def _brave_fault(status: int, code: str, **headers: str) -> Said:
    error = {"id": "ade84851", "status": status, "code": code, "detail": f"token {KEY}", "meta": {}}
    return said({"type": "ErrorResponse", "error": error, "time": 1_754_364_294}, status, **headers)


def brave(asked: Asked, web: list[Entry]) -> Said:
    if (asked.method, asked.path) != ("GET", "/res/v1/web/search"):
        return fault(404)
    if asked.headers.get("x-subscription-token") != KEY:
        return _brave_fault(422, "SUBSCRIPTION_TOKEN_INVALID")
    count, offset = int(asked.query.get("count", "20")), int(asked.query.get("offset", "0"))
    if not asked.query.get("q") or not 1 <= count <= 20 or not 0 <= offset <= 9:
        return _brave_fault(422, "VALIDATION")
    shown = web[offset * count : (offset + 1) * count]
    answer: dict[str, Any] = {
        "type": "search",
        "query": {"original": asked.query["q"], "more_results_available": len(web) > (offset + 1) * count},
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
    }
    if shown:
        answer["web"] = {
            "type": "search",
            "family_friendly": True,
            "results": [
                {
                    "type": "search_result", "subtype": "generic", "is_live": False, "family_friendly": True,
                    "url": entry.url, "title": entry.title, "description": entry.text, "language": "en",
                }
                for entry in shown
            ],
        }  # fmt: skip
    return said(answer)


@dataclass(frozen=True)
class Kind:
    """One engine: what is tested, how it is set up, and what its server says."""

    engine: Callable[[Any], SearchEngine]
    section: type[EngineSettings]
    protocol: Callable[[Asked, list[Entry]], Said]
    has_snippets: bool = True


KINDS = {
    "searxng": Kind(SearxngEngine, SearxngSettings, searxng),
    "tavily": Kind(TavilyEngine, TavilySettings, tavily),
    "perplexity": Kind(PerplexityEngine, PerplexitySettings, perplexity),
    "browserbase": Kind(BrowserbaseEngine, BrowserbaseSettings, browserbase, has_snippets=False),
    "brave": Kind(BraveEngine, BraveSettings, brave),
}


@dataclass
class EngineServer:
    """Answers by its protocol, unless something is in `says`: then with that, one after the other."""

    kind: Kind
    url: str
    web: list[Entry] = field(default_factory=lambda: entries(3))
    says: list[Said] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> Said:
        self.requests.append(asked)
        return self.says.pop(0) if self.says else self.kind.protocol(asked, self.web)

    def settings(self, **changed: object) -> Any:
        given = {"base_url": self.url, "api_key_env": KEY_NAME, "timeout_seconds": 5}
        return self.kind.section.model_validate({**given, **changed})

    def ask(self, *questions: EngineQuestion, **changed: object) -> list[EngineAnswer]:
        """The answers to these questions, by one engine with these settings."""

        async def story() -> list[EngineAnswer]:
            engine = self.kind.engine(self.settings(**changed))
            try:
                return [await engine.ask(question) for question in questions]
            finally:
                await engine.close()

        return run(story())

    def ask_one(self, text: str = "island grants", **changed: object) -> EngineAnswer:
        [answer] = self.ask(EngineQuestion(text), **changed)
        return answer


def run(story: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(story)


def _handler(served: Callable[[], EngineServer]) -> type[Handler]:
    class Questioned(Handler):
        def do_GET(self) -> None:
            self._serve({})

        def do_POST(self) -> None:
            self._serve(json.loads(self.request_body()))

        def _serve(self, body: dict[str, Any]) -> None:
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.say(served().answer(Asked(self.command, url.path, dict(parse_qsl(url.query)), headers, body)))

    return Questioned


@contextmanager
def engine_server(name: str) -> Iterator[EngineServer]:
    with local_server(_handler(lambda: served)) as url:
        served = EngineServer(KINDS[name], url)
        yield served
