"""`SearchEngine` by the operator's own SearXNG: its JSON API (docs.searxng.org, "Search API")."""

from bailiwick.backends.engine_http import (
    Json,
    Received,
    Request,
    Service,
    checked,
    hit_of,
    member,
    read_key,
    rows_of,
)
from bailiwick.base.discovery_sections import SearxngSettings
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion

_NO_JSON = (
    "searxng refused (403): `json` is not among `search.formats` of its settings.yml, or its limiter takes us for a bot"
)


class SearxngEngine:
    """One instance. How many results a page has is its own affair: all of them are given, whatever was asked for."""

    name = "searxng"
    page_size = 200
    most_pages = None

    def __init__(self, settings: SearxngSettings) -> None:
        # SearXNG itself knows no keys; a proxy in front of it may.
        key = read_key(self.name, settings) if settings.api_key_env else None
        self._has_key = key is not None
        self._service = Service(self.name, settings, {"Authorization": f"Bearer {key}"} if key else {})

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        refusal = checked(question, self.name)
        if refusal is not None:
            return refusal
        query = {"q": question.text, "format": "json", "pageno": str(question.page)}
        return await self._service.ask(
            Request("GET", "/search", query), lambda body: self._read(body, question.page), self._explain
        )

    async def close(self) -> None:
        await self._service.close()

    def _read(self, body: Json, page: int) -> EngineAnswer:
        hits = tuple(hit_of(row, snippet="content") for row in rows_of(body, "results")[: self.page_size])
        silent = _silent_engines(body)
        if silent and not hits and page == 1:
            return EngineAnswer(EngineOutcome.FAILED, why=f"the engines behind searxng did not answer: {silent}")
        # It does not say whether there is more: an empty page ends it.
        return EngineAnswer(EngineOutcome.ANSWERED, hits, bool(hits), f"without {silent}" if silent else "")

    def _explain(self, received: Received) -> EngineAnswer | None:
        if received.status == 403 and not self._has_key:
            return EngineAnswer(EngineOutcome.REFUSED, why=_NO_JSON)
        return None


def _silent_engines(body: Json) -> str:
    """Names and reasons of the engines that failed SearXNG, as it gives them: pairs of texts."""
    found = member(body, "unresponsive_engines")
    pairs = [pair for pair in found if isinstance(pair, list) and pair] if isinstance(found, list) else []
    shown = [" ".join(str(part)[:60] for part in pair[:2]) for pair in pairs[:10]]
    return "".join(char for char in ", ".join(shown) if char.isprintable())
