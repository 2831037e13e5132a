"""What grows old in the review queue is marked by workers that stay, now and then."""

import asyncio

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError
from bailiwick.base.settings import load
from bailiwick.ledger import settings as kept_settings
from bailiwick.review import stale

_PAUSE_SECONDS = 3600.0


def mark_stale(app: App) -> stale.Counts:
    """By the settings as they are now: whoever stays for weeks hears of changes."""
    with app.database.read() as conn:
        settings = load(app.place.settings_file, kept_settings.stored(conn)).tree
    return stale.run_once(app.database, settings.review)


async def age_beside(app: App) -> None:
    """For ever, a round every hour."""
    while True:
        try:
            await asyncio.to_thread(mark_stale, app)
        except BailiwickError as error:
            app.say(f"marking what is stale waits: {error.message}")
        await asyncio.sleep(_PAUSE_SECONDS)
