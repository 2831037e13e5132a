"""`SearchEngine` by Browserbase: `POST /v1/search` (docs.browserbase.com, Search; fields as in browserbase 1.22)."""

from bailiwick.backends.engine_http import (
    Json,
    Request,
    Service,
    checked,
    hit_of,
    no_further_page,
    read_key,
    rows_of,
)
from bailiwick.base.discovery_sections import BrowserbaseSettings
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion


class BrowserbaseEngine:
    """One page of at most 25 results a query: there is no paging. Results have titles and no snippets."""

    name = "browserbase"
    page_size = 25
    most_pages = 1

    def __init__(self, settings: BrowserbaseSettings) -> None:
        self._service = Service(self.name, settings, {"X-BB-API-Key": read_key(self.name, settings)})

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        refusal = checked(question, self.name, max_chars=200)
        if refusal is not None:
            return refusal
        if question.page > 1:
            return no_further_page()
        body = {"query": question.text, "numResults": min(question.count, self.page_size)}
        return await self._service.ask(Request("POST", "/v1/search", body=body), self._read)

    async def close(self) -> None:
        await self._service.close()

    def _read(self, body: Json) -> EngineAnswer:
        rows = rows_of(body, "results")[: self.page_size]
        return EngineAnswer(EngineOutcome.ANSWERED, tuple(hit_of(row, snippet="snippet") for row in rows))
