"""Members, settings, events, outbox, and the permitted moves."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    Sequence,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TransactionId, identity, metadata, moment

members = Table(
    "members",
    metadata,
    identity(),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("version", BigInteger, nullable=False, server_default=text("1")),
    moment("created_at"),
    moment("updated_at"),
    Column("password_hash", Text),
    Column("os_user", Text),
    Column("email", Text),
    UniqueConstraint("name", name="members_name_key"),
    UniqueConstraint("os_user", name="members_os_user_key"),
    CheckConstraint("name = lower(name) and length(name) between 1 and 100", name="members_name_check"),
    CheckConstraint("role in ('submitter', 'viewer', 'reviewer', 'admin', 'system')", name="members_role_check"),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", JSONB, nullable=False),
    Column("set_by", BigInteger, ForeignKey("members.id", name="settings_set_by_fkey"), nullable=False),
    moment("set_at"),
    Column("version", BigInteger, nullable=False, server_default=text("1")),
)

events = Table(
    "events",
    metadata,
    identity(),
    Column("xid", TransactionId, nullable=False, server_default=text("pg_current_xact_id()")),
    moment("at"),
    Column("actor_id", BigInteger, ForeignKey("members.id", name="events_actor_id_fkey"), nullable=False),
    Column("subject_kind", Text, nullable=False),
    Column("subject_id", BigInteger),
    Column("subject_name", Text, nullable=False),
    Column("machine", Text),
    Column("verb", Text, nullable=False),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("reason", Text),
    Column("details", JSONB),
    Index("events_xid_id_idx", "xid", "id"),
    Index("events_subject_id_idx", "subject_kind", "subject_id", "id"),
    Index("events_subject_name_idx", "subject_kind", "subject_name", "id"),
)

outbox_ids = Sequence("outbox_id_seq", metadata=metadata)
outbox = Table(
    "outbox",
    metadata,
    # PostgreSQL 15 and 16 have no identity columns on partitioned tables.
    Column("id", BigInteger, outbox_ids, server_default=outbox_ids.next_value(), nullable=False),
    Column("xid", TransactionId, nullable=False, server_default=text("pg_current_xact_id()")),
    moment("at"),
    Column("topic", Text, nullable=False),
    Column("subject_kind", Text, nullable=False),
    Column("subject_id", BigInteger),
    Column("payload", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    PrimaryKeyConstraint("at", "id", name="outbox_pkey"),
    Index("outbox_xid_id_idx", "xid", "id"),
    postgresql_partition_by="RANGE (at)",
)

state_moves = Table(
    "state_moves",
    metadata,
    Column("machine", Text, nullable=False),
    Column("from_state", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    PrimaryKeyConstraint("machine", "from_state", "to_state", "verb", name="state_moves_pkey"),
)
