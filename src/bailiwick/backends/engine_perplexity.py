"""`SearchEngine` by Perplexity: `POST /search` (docs.perplexity.ai, Search API; fields as in perplexityai 0.46)."""

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
from bailiwick.base.discovery_sections import PerplexitySettings
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion

_TOKENS_PER_PAGE = 512
"""More than a snippet holds. Unsaid, it sends whole pages."""


class PerplexityEngine:
    """One page of at most 20 results a query: there is no paging."""

    name = "perplexity"
    page_size = 20
    most_pages = 1

    def __init__(self, settings: PerplexitySettings) -> None:
        key = read_key(self.name, settings)
        self._service = Service(self.name, settings, {"Authorization": f"Bearer {key}"})

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        refusal = checked(question, self.name)
        if refusal is not None:
            return refusal
        if question.page > 1:
            return no_further_page()
        body = {
            "query": question.text,
            "max_results": min(question.count, self.page_size),
            "max_tokens_per_page": _TOKENS_PER_PAGE,
        }
        return await self._service.ask(Request("POST", "/search", body=body), self._read)

    async def close(self) -> None:
        await self._service.close()

    def _read(self, body: Json) -> EngineAnswer:
        rows = rows_of(body, "results")[: self.page_size]
        return EngineAnswer(EngineOutcome.ANSWERED, tuple(hit_of(row, snippet="snippet") for row in rows))
