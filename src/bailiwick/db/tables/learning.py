"""People's labels, and models that were fitted on them."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment


def _member(table: str, name: str, *, nullable: bool) -> Column[Any]:
    return Column(name, BigInteger, ForeignKey("members.id", name=f"{table}_{name}_fkey"), nullable=nullable)


labels = Table(
    "labels",
    metadata,
    identity(),
    always("task", Text),
    always("subject", Text),
    always("profile", Text),
    always("is_wanted", Boolean),
    Column("material", JSONB, nullable=False),
    Column("reason", Text),
    _member("labels", "decided_by", nullable=False),
    moment("decided_at"),
    Column("embedding", LargeBinary),
    CheckConstraint("task in ('candidate', 'review')", name="labels_task_check"),
    Index("labels_task_idx", "task", "id"),
    Index("labels_profile_idx", "task", "profile", "id"),
)

models = Table(
    "models",
    metadata,
    identity(),
    always("task", Text),
    always("profile", Text),
    always("version", Integer),
    always("state", Text, "'trained'"),
    always("labels", Integer),
    always("last_label_id", BigInteger),
    Column("form", JSONB, nullable=False),
    Column("report", JSONB, nullable=False),
    _member("models", "trained_by", nullable=False),
    moment("trained_at"),
    _member("models", "activated_by", nullable=True),
    Column("activated_at", TIME),
    UniqueConstraint("task", "profile", "version", name="models_version_key"),
    CheckConstraint("task in ('review', 'candidate')", name="models_task_check"),
    CheckConstraint("state in ('trained', 'active', 'retired')", name="models_state_check"),
    CheckConstraint(
        "(state = 'trained' or activated_by is not null) and (activated_by is null) = (activated_at is null)",
        name="models_activated_check",
    ),
    Index("models_active_key", "task", "profile", unique=True, postgresql_where=text("state = 'active'")),
)
