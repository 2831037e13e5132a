"""`SearchEngine` by Brave: `GET /res/v1/web/search` (api-dashboard.search.brave.com, API reference, web search)."""

from bailiwick.backends.engine_http import (
    LONGEST_PAUSE_SECONDS,
    Json,
    Received,
    Request,
    Service,
    checked,
    hit_of,
    member,
    pause_of,
    read_key,
    refused_key,
    rows_of,
)
from bailiwick.base.discovery_sections import BraveSettings
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion

_MOST_WORDS = 50


class BraveEngine:
    """Up to 10 pages of at most 20 results a query."""

    name = "brave"
    page_size = 20
    most_pages = 10

    def __init__(self, settings: BraveSettings) -> None:
        self._settings = settings
        headers = {"X-Subscription-Token": read_key(self.name, settings), "Cache-Control": "no-cache"}
        self._service = Service(self.name, settings, headers)

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        refusal = checked(question, self.name, max_chars=400)
        if refusal is not None:
            return refusal
        if len(question.text.split()) > _MOST_WORDS:
            why = f"brave takes queries of {_MOST_WORDS} words at most"
            return EngineAnswer(EngineOutcome.INVALID, why=why)
        if question.page > self.most_pages:
            return EngineAnswer(EngineOutcome.ANSWERED)
        count = min(question.count, self.page_size)
        query = {"q": question.text, "count": str(count), "offset": str(question.page - 1)}
        return await self._service.ask(
            Request("GET", "/res/v1/web/search", query), lambda body: self._read(body, question.page), self._explain
        )

    async def close(self) -> None:
        await self._service.close()

    def _read(self, body: Json, page: int) -> EngineAnswer:
        web = member(body, "web")
        if web is None and member(body, "type") != "search":
            return EngineAnswer(EngineOutcome.INVALID, why="brave does not answer as documented: no search in it")
        # Without a single result there is no `web` either.
        rows = rows_of(web, "results")[: self.page_size] if web is not None else []
        asked = member(body, "query")
        has_more = isinstance(asked, dict) and asked.get("more_results_available") is True and page < self.most_pages
        return EngineAnswer(EngineOutcome.ANSWERED, tuple(hit_of(row, snippet="description") for row in rows), has_more)

    def _explain(self, received: Received) -> EngineAnswer | None:
        if received.status == 422 and _code_of(received) == "SUBSCRIPTION_TOKEN_INVALID":
            return EngineAnswer(EngineOutcome.REFUSED, why=refused_key(self.name, self._settings, 422))
        if received.status == 429:
            pause = pause_of(received) or _reset_seconds(received)
            why = "the rate limit of brave is reached (429)"
            return EngineAnswer(EngineOutcome.LIMITED, why=why, pause_seconds=pause)
        return None


def _code_of(received: Received) -> Json:
    try:
        body = received.json()
    except ValueError:
        return None
    fault = body.get("error") if isinstance(body, dict) else None
    return fault.get("code") if isinstance(fault, dict) else None


def _reset_seconds(received: Received) -> float:
    """When the windows that are used up (a second, a month) begin anew: `X-RateLimit-Remaining: 0, 5` and `-Reset`."""
    remaining, reset = (_numbers(received.headers.get(f"X-RateLimit-{name}", "")) for name in ("Remaining", "Reset"))
    waits = [wait for left, wait in zip(remaining, reset, strict=False) if left == 0]
    return float(min(max(waits, default=0), LONGEST_PAUSE_SECONDS))


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
