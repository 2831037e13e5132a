"""Candidates whose pages were crawled move on to review: a duty, run by whoever has parsed, or wants to see them."""

from bailiwick.accounts.members import system_actor
from bailiwick.app import App
from bailiwick.base.errors import ConflictError
from bailiwick.discover.crawled import run_once

_MOST_BATCHES = 100


def follow_up(app: App) -> int:
    """How many moved on."""
    moved, after = 0, 0
    for _ in range(_MOST_BATCHES):
        try:
            with app.database.begin() as conn:
                done = run_once(conn, system_actor(conn), after=after)
        except ConflictError:  # somebody else is at the same ones
            break
        if done is None:
            break
        moved, after = moved + done.moved, done.last_id
    return moved
