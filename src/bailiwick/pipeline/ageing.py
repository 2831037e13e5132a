"""What grows old is seen to by workers that stay, now and then: URLs in the review queue, facts of domains."""

import asyncio

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError
from bailiwick.base.settings import load
from bailiwick.ledger import settings as kept_settings
from bailiwick.review import stale
from bailiwick.score.facts.kept import sweep

_PAUSE_SECONDS = 3600.0
_BATCH = 1000
_MOST_BATCHES = 10_000


def mark_stale(app: App) -> stale.Counts:
    """By the settings as they are now: whoever stays for weeks hears of changes."""
    with app.database.read() as conn:
        settings = load(app.place.settings_file, kept_settings.stored(conn)).tree
    return stale.run_once(app.database, settings.review)


def forget_facts(app: App) -> int:
    """Facts of domains that nobody believes any more go. How many?"""
    gone = 0
    for _ in range(_MOST_BATCHES):
        with app.database.begin() as conn:
            done = sweep(conn, limit=_BATCH)
        gone += done
        if done < _BATCH:
            break
    return gone


async def age_beside(app: App) -> None:
    """For ever, a round every hour."""
    while True:
        try:
            await asyncio.to_thread(mark_stale, app)
            await asyncio.to_thread(forget_facts, app)
        except BailiwickError as error:
            app.say(f"marking what is stale, and forgetting old facts of domains, wait: {error.message}")
        await asyncio.sleep(_PAUSE_SECONDS)
