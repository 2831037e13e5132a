"""`SearchEngine` by Tavily: `POST /search` (docs.tavily.com, API reference; fields as in tavily-python 0.8)."""

from bailiwick.backends.engine_http import (
    Json,
    Received,
    Request,
    Service,
    checked,
    hit_of,
    no_further_page,
    read_key,
    rows_of,
    spent,
)
from bailiwick.base.discovery_sections import TavilySettings
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion

_USED_UP = {432: "the plan's limit", 433: "the pay-as-you-go limit"}


class TavilyEngine:
    """One page of at most 20 results a query: there is no paging. A basic search is one credit."""

    name = "tavily"
    page_size = 20
    most_pages = 1

    def __init__(self, settings: TavilySettings) -> None:
        key = read_key(self.name, settings)
        self._service = Service(self.name, settings, {"Authorization": f"Bearer {key}"})

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        refusal = checked(question, self.name, max_chars=400)
        if refusal is not None:
            return refusal
        if question.page > 1:
            return no_further_page()
        body = {
            "query": question.text,
            "max_results": min(question.count, self.page_size),
            "search_depth": "basic",
        }
        return await self._service.ask(Request("POST", "/search", body=body), self._read, _explain)

    async def close(self) -> None:
        await self._service.close()

    def _read(self, body: Json) -> EngineAnswer:
        rows = rows_of(body, "results")[: self.page_size]
        return EngineAnswer(EngineOutcome.ANSWERED, tuple(hit_of(row, snippet="content") for row in rows))


def _explain(received: Received) -> EngineAnswer | None:
    limit = _USED_UP.get(received.status)
    if limit is None:
        return None
    return spent(f"{limit} of tavily is used up ({received.status})")
