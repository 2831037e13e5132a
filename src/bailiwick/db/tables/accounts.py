"""Who is logged in, and the links by which people come in."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment


def _member(table: str) -> Column[int]:
    reference: ForeignKey = ForeignKey("members.id", name=f"{table}_member_id_fkey", ondelete="CASCADE")
    return Column("member_id", BigInteger, reference, nullable=False)


sessions = Table(
    "sessions",
    metadata,
    identity(),
    always("token_hash", LargeBinary),
    always("device_hash", LargeBinary),
    _member("sessions"),
    Column("user_agent", Text),
    Column("address", Text),
    moment("created_at"),
    moment("seen_at"),
    Column("expires_at", TIME, nullable=False),
    Column("ended_at", TIME),
    UniqueConstraint("token_hash", name="sessions_token_key"),
    CheckConstraint("expires_at > created_at", name="sessions_expiry_check"),
    Index("sessions_member_idx", "member_id", "device_hash"),
    Index("sessions_expiry_idx", "expires_at"),
)

one_time_links = Table(
    "one_time_links",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    always("kind", Text),
    _member("one_time_links"),
    Column("made_by", BigInteger, ForeignKey("members.id", name="one_time_links_made_by_fkey"), nullable=False),
    moment("made_at"),
    Column("expires_at", TIME, nullable=False),
    Column("used_at", TIME),
    CheckConstraint("kind in ('first', 'invitation', 'reset')", name="one_time_links_kind_check"),
    Index("one_time_links_member_idx", "member_id"),
)
