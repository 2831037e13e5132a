"""What was forgotten: keyed hashes of personal data, and their key."""

from sqlalchemy import CheckConstraint, Column, LargeBinary, Table, Text

from bailiwick.db.tables.base import always, identity, metadata, moment

forgotten = Table(
    "forgotten",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    always("kind", Text),
    moment("forgotten_at"),
    CheckConstraint("kind in ('email', 'telephone', 'name')", name="forgotten_kind_check"),
)

forgotten_key = Table(
    "forgotten_key",
    metadata,
    identity(),
    always("key", LargeBinary),
    moment("made_at"),
)
