"""What was parsed of each page, its snapshots and their history, items, calls to models, how far readers have come."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, metadata, moment


def _id() -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


page_parses = Table(
    "page_parses",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("path_hash", BigInteger, primary_key=True, autoincrement=False),
    always("body_hash", LargeBinary),
    always("outcome", Text),
    Column("error", Text),
    Column("snapshot_id", BigInteger),
    Column("content_hash", LargeBinary),
    Column("simhash", BigInteger),
    always("extractor_version", Integer),
    always("profile", Text),
    always("profile_mark", BigInteger),
    always("milliseconds", Integer, "0"),
    moment("parsed_at"),
    CheckConstraint("(outcome = 'parsed') = (snapshot_id is not null)", name="page_parses_snapshot_check"),
    Index("page_parses_failed_idx", "domain_id", "outcome", "path_hash", postgresql_where=text("outcome <> 'parsed'")),
    Index("page_parses_version_idx", "extractor_version", "domain_id", "path_hash"),
)

page_snapshots = Table(
    "page_snapshots",
    metadata,
    _id(),
    always("domain_id", BigInteger),
    always("path_hash", BigInteger),
    always("content_hash", LargeBinary),
    always("body_hash", LargeBinary),
    always("kind", Text),
    Column("title", Text),
    Column("description", Text),
    Column("language", Text),
    Column("author", Text),
    Column("canonical", Text),
    Column("published_at", TIME),
    Column("modified_at", TIME),
    Column("meta", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    always("text", Text),
    always("words", Integer),
    Column("markdown", Text),
    always("simhash", BigInteger),
    always("is_relevant", Boolean),
    always("relevance", Double),
    always("relevance_reason", Text),
    always("relevance_source", Text),
    always("extractor_version", Integer),
    always("profile_mark", BigInteger),
    moment("first_seen_at"),
    moment("last_seen_at"),
    UniqueConstraint("domain_id", "path_hash", "content_hash", name="page_snapshots_content_key"),
    CheckConstraint("kind in ('html', 'pdf', 'text')", name="page_snapshots_kind_check"),
    CheckConstraint("relevance between 0 and 1", name="page_snapshots_relevance_check"),
    CheckConstraint("relevance_source in ('all', 'keywords', 'meaning', 'model')", name="page_snapshots_source_check"),
)

snapshot_history = Table(
    "snapshot_history",
    metadata,
    _id(),
    always("domain_id", BigInteger),
    always("path_hash", BigInteger),
    always("snapshot_id", BigInteger),
    Column("previous_id", BigInteger),
    moment("seen_at"),
    Index("snapshot_history_page_idx", "domain_id", "path_hash", "id"),
    Index("snapshot_history_domain_idx", "domain_id", "id", postgresql_where=text("previous_id is not null")),
    Index("snapshot_history_changes_idx", "id", postgresql_where=text("previous_id is not null")),
)

items = Table(
    "items",
    metadata,
    _id(),
    always("snapshot_id", BigInteger),
    always("domain_id", BigInteger),
    always("path_hash", BigInteger),
    always("kind", Text),
    always("position", Integer),
    Column("data", JSONB, nullable=False),
    always("confidence", Double),
    always("extractor", Text),
    always("extractor_version", Integer),
    always("content_hash", LargeBinary),
    moment("first_seen_at"),
    moment("updated_at"),
    UniqueConstraint("snapshot_id", "kind", "position", name="items_position_key"),
    CheckConstraint(
        "kind in ('article', 'business', 'contact', 'funding_programme', 'image', 'opportunity', 'product', 'service')",
        name="items_kind_check",
    ),
    CheckConstraint("confidence between 0 and 1", name="items_confidence_check"),
    Index("items_kind_idx", "kind", "id"),
    Index("items_page_idx", "domain_id", "path_hash", "kind"),
)

model_calls = Table(
    "model_calls",
    metadata,
    _id(),
    always("purpose", Text),
    always("model", Text),
    always("prompt_version", Text),
    always("input_hash", LargeBinary),
    always("outcome", Text),
    Column("answer", JSONB),
    always("tokens_in", BigInteger, "0"),
    always("tokens_out", BigInteger, "0"),
    Column("cost", Numeric, nullable=False, server_default=text("0")),
    always("milliseconds", Integer, "0"),
    moment("called_at"),
    CheckConstraint("outcome in ('answered', 'refused', 'invalid', 'failed')", name="model_calls_outcome_check"),
    CheckConstraint("(outcome = 'answered') = (answer is not null)", name="model_calls_answer_check"),
    Index(
        "model_calls_answer_key", "input_hash", "purpose", "model", "prompt_version",
        unique=True, postgresql_where=text("outcome = 'answered'"),
    ),
    Index("model_calls_day_idx", "called_at"),
)  # fmt: skip

outbox_readers = Table(
    "outbox_readers",
    metadata,
    Column("name", Text, primary_key=True),
    always("xid", BigInteger, "0"),
    always("message_id", BigInteger, "0"),
    moment("updated_at"),
)

export_cursors = Table(
    "export_cursors",
    metadata,
    Column("name", Text, primary_key=True),
    always("kind", Text),
    Column("cursor", JSONB, nullable=False),
    moment("updated_at"),
)
