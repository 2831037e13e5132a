"""What is told to people outside: messages under way, and which thresholds were crossed."""

from sqlalchemy import Boolean, CheckConstraint, Column, Index, SmallInteger, Table, Text, text

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment

notification_crossings = Table(
    "notification_crossings",
    metadata,
    Column("channel", Text, primary_key=True),
    always("is_above", Boolean),
    moment("changed_at"),
    CheckConstraint("channel in ('email', 'slack')", name="notification_crossings_channel_check"),
)

deliveries = Table(
    "deliveries",
    metadata,
    identity(),
    always("channel", Text),
    always("kind", Text),
    Column("recipient", Text),
    always("title", Text),
    always("body", Text),
    always("state", Text, "'waiting'"),
    always("tries", SmallInteger, "0"),
    moment("next_at"),
    Column("worker", Text),
    Column("claimed_until", TIME),
    Column("error", Text),
    moment("created_at"),
    Column("sent_at", TIME),
    CheckConstraint("channel in ('email', 'slack', 'other')", name="deliveries_channel_check"),
    CheckConstraint("kind in ('queue_threshold', 'decision', 'test')", name="deliveries_kind_check"),
    CheckConstraint("state in ('waiting', 'sent', 'failed')", name="deliveries_state_check"),
    CheckConstraint("(state = 'sent') = (sent_at is not null)", name="deliveries_sent_check"),
    CheckConstraint("(worker is null) = (claimed_until is null)", name="deliveries_claim_check"),
    Index("deliveries_waiting_idx", "next_at", "id", postgresql_where=text("state = 'waiting'")),
    Index("deliveries_state_idx", "state", "id"),
)
