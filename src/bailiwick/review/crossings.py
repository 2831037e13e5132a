"""When the review queue passes a threshold, people are told: once, and not again until it fell below."""

from sqlalchemy import Connection, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import Select

from bailiwick.base.review_sections import NotificationSettings
from bailiwick.db.tables import notification_crossings, review_queue
from bailiwick.ledger.deliveries import Channel, enqueue

_LOCK = text("select pg_advisory_xact_lock(hashtext('bailiwick.crossings'))")


def check(conn: Connection, notifications: NotificationSettings) -> None:
    """See whether the number of URLs that wait has crossed a threshold, and write the messages if so.

    To be called after every change of that number, in its transaction and last in it: from here to its end others who
    change the queue wait, so that each sees what all before it did, and of those that cross together one tells it.
    """
    conn.execute(_LOCK)
    # A statement of its own, after the lock: it sees what whoever held it before has committed.
    most = max(notifications.email_threshold, notifications.slack_threshold)
    waiting = conn.execute(count_waiting(most)).scalar_one()
    if _has_crossed(conn, "email", is_above=waiting >= notifications.email_threshold):
        _tell(conn, "email", notifications.email_threshold, notifications.email_recipient)
    # A channel that is not there has crossed nothing: once it is, it is told how things stand.
    is_told = notifications.slack_webhook_url is not None
    if _has_crossed(conn, "slack", is_above=is_told and waiting >= notifications.slack_threshold):
        _tell(conn, "slack", notifications.slack_threshold, None)


def count_waiting(most: int) -> Select[int]:
    """The query for how many wait, counted no further than needed."""
    some = select(review_queue.c.id).where(review_queue.c.reviewed_at.is_(None)).limit(most).subquery()
    return select(func.count()).select_from(some)


def _has_crossed(conn: Connection, channel: Channel, *, is_above: bool) -> bool:
    """Keep on which side it is now; True if it has come from below."""
    known = notification_crossings
    before = conn.execute(select(known.c.is_above).where(known.c.channel == channel)).scalar()
    if before is None:
        conn.execute(insert(known).values(channel=channel, is_above=is_above))
    elif before != is_above:
        changed = update(known).where(known.c.channel == channel)
        conn.execute(changed.values(is_above=is_above, changed_at=func.bailiwick_now()))
    return is_above and not before


def _tell(conn: Connection, channel: Channel, threshold: int, recipient: str | None) -> None:
    title = f"{threshold:,} URLs wait for review" if threshold > 1 else "A URL waits for review"
    body = (
        f"The review queue has reached {threshold:,}, the threshold of this message. "
        "It comes once; the next one comes after the queue has been shorter than that.\n\n"
        "bailiwick review list shows what waits."
    )
    if channel == "slack" or recipient is not None:
        enqueue(conn, channel, "queue_threshold", title, body, recipient=recipient)
    if channel == "email":
        # Who else is told is known only where messages are sent from: see `pipeline.delivering`.
        enqueue(conn, "other", "queue_threshold", title, body)
