"""What follows parsing, done beside it when that has nothing to do: the search index, then candidates."""

import asyncio
from collections.abc import Callable

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError
from bailiwick.pipeline.following import follow_up
from bailiwick.query.feed import Counts, run_once

_MESSAGES = 200
_PAUSE_SECONDS = 1.0
_AT_REST_SECONDS = 2.0


def index_all(app: App, advance: Callable[[int], None] = lambda _: None) -> int:
    """Bring everything into the index that waits for it; how many pages? Somebody else at it is as good."""
    pages = 0
    while True:
        done = _round(app, 1000)
        pages += done.pages
        advance(pages)
        if not done.is_more_left or done.is_busy:
            return pages


async def index_beside(app: App, pages_done: Callable[[], int]) -> None:
    """For ever: a little at a time, while nothing is being parsed."""
    seen, since, followed = -1, 0.0, -1
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        if (now := pages_done()) != seen:
            seen, since = now, 0.0
            continue
        since += _PAUSE_SECONDS
        while since >= _AT_REST_SECONDS and pages_done() == seen:
            try:
                done = await asyncio.to_thread(_round, app, _MESSAGES)
                if not done.is_more_left and followed != seen:  # once for what was parsed, not every second
                    await asyncio.to_thread(follow_up, app)
                    followed = seen
            except BailiwickError as error:
                app.say(f"what follows parsing waits: {error.message}")
                break
            if not done.is_more_left:
                break


def _round(app: App, messages: int) -> Counts:
    return run_once(app.database, app.search_index, limit=messages, keep_days=app.settings.outbox.keep_days)
