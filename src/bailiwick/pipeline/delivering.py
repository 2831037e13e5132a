"""Messages that wait are sent: a duty, run beside workers that stay, at the end of others, and by `notify send`."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError, SettingsError
from bailiwick.ledger import deliveries
from bailiwick.ledger.deliveries import Channel, Delivery
from bailiwick.ports import Notice, NoticeReply, Notifier
from bailiwick.registry.workers import this_worker

_PAUSE_SECONDS = 5.0
_LAST_SECONDS = 10.0
_CLAIM_GRACE_SECONDS = 60.0
_MOST_TOLD = 50
"""Decisions that a message tells in full; of the others it tells how many."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round did, in messages as they were written; of those that failed, some for the last time."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.sent + other.sent, self.failed + other.failed, self.given_up + other.given_up)


async def run_once(app: App, *, seconds: float = 60.0) -> Counts:
    """Send what is due; after so long nothing more is begun. Safe at any time, twice, and by many at once.

    A message goes out at least once: twice if its sender ended before it could say so. Cancelled, it gives back what
    it has not sent.
    """
    if not await asyncio.to_thread(_is_any_due, app):
        return Counts()
    end, done = time.monotonic() + seconds, Counts()
    notifier = await asyncio.to_thread(app.notifier)
    try:
        while time.monotonic() < end and (claimed := await asyncio.to_thread(_claim, app)):
            done += await _deliver(app, notifier, claimed)
    finally:
        await notifier.close()
    if done.sent:
        await asyncio.to_thread(_sweep, app)
    return done


async def deliver_beside(app: App) -> None:
    """For ever, a round every few seconds."""
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        try:
            await run_once(app)
        except BailiwickError as error:
            app.say(f"messages wait: {error.message}")


async def deliver_last(app: App) -> None:
    """Before a command ends, within seconds: whatever takes longer is left to others."""
    try:
        async with asyncio.timeout(_LAST_SECONDS):
            await run_once(app, seconds=_LAST_SECONDS)
    except TimeoutError:
        pass
    except BailiwickError as error:  # what the command was for is done
        app.say(f"messages wait: {error.message}")


async def send_test(app: App, channel: Channel, recipient: str | None) -> NoticeReply:
    """Send one message at once, tried once, and say what came of it; the list of messages says so, too."""
    title, body = "A test of Bailiwick", "If you can read this, messages of Bailiwick reach you."
    with app.database.begin() as conn:
        added = deliveries.enqueue(conn, channel, "test", title, body, recipient=recipient)
        claimed = deliveries.claim_these(conn, [added], _me(), seconds=_claim_seconds(app))
    notifier = app.notifier()
    try:
        reply = await notifier.send(_notice(claimed))
    finally:
        await notifier.close()
    _note(app, claimed, reply, max_tries=1)
    return reply


async def _deliver(app: App, notifier: Notifier, claimed: Sequence[Delivery]) -> Counts:
    """All of these are for one recipient, or one is for all others."""
    if claimed[0].channel == "other" and claimed[0].recipient is None:
        return await asyncio.to_thread(_spread, app, notifier, claimed)
    try:
        reply = await notifier.send(_notice(claimed))
    except BaseException:
        _release(app, claimed)
        raise
    return await asyncio.to_thread(_note, app, claimed, reply, max_tries=_max_tries(app))


def _notice(claimed: Sequence[Delivery]) -> Notice:
    first, number = claimed[0], len(claimed)
    if number == 1:
        return Notice(first.channel, first.title, first.body, first.recipient)
    told = [f"{one.title}\n{one.body}" for one in claimed[:_MOST_TOLD]]
    if number > _MOST_TOLD:
        told.append(f"And {number - _MOST_TOLD:,} more.")
    return Notice(first.channel, f"{number:,} decisions on what you handed in", "\n\n".join(told), first.recipient)


def _spread(app: App, notifier: Notifier, claimed: Sequence[Delivery]) -> Counts:
    """A message to all others becomes one to each, before any is sent."""
    try:
        others = notifier.others
    except SettingsError as error:
        return _note(app, claimed, NoticeReply(is_sent=False, why=error.message), max_tries=_max_tries(app))
    with app.database.begin() as conn:
        deliveries.spread(conn, claimed[0], _me(), others)
    return Counts()


def _note(app: App, claimed: Sequence[Delivery], reply: NoticeReply, *, max_tries: int) -> Counts:
    ids = [one.id for one in claimed]
    with app.database.begin() as conn:
        if reply.is_sent:
            deliveries.sent(conn, ids, _me())
            return Counts(sent=len(ids))
        pause = reply.pause_seconds
        over = deliveries.failed(conn, ids, _me(), reply.why, max_tries=max_tries, pause_seconds=pause)
    return Counts(failed=len(ids), given_up=over)


def _is_any_due(app: App) -> bool:
    with app.database.read() as conn:
        return deliveries.is_any_due(conn)


def _claim(app: App) -> list[Delivery]:
    with app.database.begin() as conn:
        return deliveries.claim(conn, _me(), seconds=_claim_seconds(app), max_tries=_max_tries(app))


def _release(app: App, claimed: Sequence[Delivery]) -> None:
    with app.database.begin() as conn:
        deliveries.release(conn, [one.id for one in claimed], _me())


def _sweep(app: App) -> None:
    with app.database.begin() as conn:
        deliveries.sweep(conn, keep_days=app.settings.outbox.keep_days)


def _claim_seconds(app: App) -> float:
    """Longer than a delivery can take, so that nobody else begins it meanwhile."""
    return app.bootstrap.tree.notify.timeout_seconds + _CLAIM_GRACE_SECONDS


def _max_tries(app: App) -> int:
    return app.bootstrap.tree.notify.max_tries


def _me() -> str:
    return str(this_worker())
