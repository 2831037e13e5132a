"""Discovery: sessions, what engines answered and cost, candidates."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment


def _json(name: str, default: str | None = None) -> Column[object]:
    return Column(name, JSONB, nullable=False, server_default=None if default is None else text(f"'{default}'::jsonb"))


def _refers(table: str, name: str, to: str, *, nullable: bool = True, ondelete: str | None = None) -> Column[object]:
    reference = ForeignKey(f"{to}.id", name=f"{table}_{name}_fkey", ondelete=ondelete)
    return Column(name, BigInteger, reference, nullable=nullable)


discovery_sessions = Table(
    "discovery_sessions",
    metadata,
    identity(),
    always("profile", Text),
    _json("queries"),
    _json("engines"),
    always("per_query", Integer),
    always("threshold", Double),
    always("order_key", Text),
    always("state", Text, "'running'"),
    _json("stats", "{}"),
    _refers("discovery_sessions", "started_by", "members", nullable=False),
    Column("worker", Text),
    moment("started_at"),
    moment("seen_at"),
    Column("finished_at", TIME),
    CheckConstraint("state in ('running', 'stopped', 'finished')", name="discovery_sessions_state_check"),
    CheckConstraint("(state = 'finished') = (finished_at is not null)", name="discovery_sessions_finished_check"),
    CheckConstraint("threshold between 0 and 1", name="discovery_sessions_threshold_check"),
    CheckConstraint("per_query >= 0", name="discovery_sessions_per_query_check"),
    Index("discovery_sessions_open_key", "order_key", unique=True, postgresql_where=text("state <> 'finished'")),
)

engine_calls = Table(
    "engine_calls",
    metadata,
    identity(),
    _refers("engine_calls", "session_id", "discovery_sessions", nullable=False, ondelete="CASCADE"),
    always("engine", Text),
    always("query", Text),
    always("page", Integer),
    always("outcome", Text),
    Column("status", Integer),
    always("hits", Integer, "0"),
    always("cost", Double, "0"),
    always("milliseconds", Integer, "0"),
    Column("why", Text),
    Column("answer", JSONB),
    moment("asked_at"),
    CheckConstraint(
        "outcome in ('answered', 'limited', 'refused', 'invalid', 'failed')", name="engine_calls_outcome_check"
    ),
    CheckConstraint("page >= 1 and hits >= 0 and cost >= 0 and milliseconds >= 0", name="engine_calls_page_check"),
    Index("engine_calls_session_idx", "session_id", "id"),
)

engine_gates = Table(
    "engine_gates",
    metadata,
    Column("engine", Text, primary_key=True),
    always("day", Date),
    always("calls", BigInteger, "0"),
    always("cost", Double, "0"),
    Column("next_at", TIME, nullable=False),
    CheckConstraint("calls >= 0 and cost >= 0", name="engine_gates_counters_check"),
)

candidates = Table(
    "candidates",
    metadata,
    identity(),
    _refers("candidates", "session_id", "discovery_sessions", ondelete="SET NULL"),
    _refers("candidates", "domain_id", "domains", nullable=False, ondelete="CASCADE"),
    always("name", Text),
    always("url", Text),
    always("path", Text),
    always("path_hash", BigInteger),
    always("title", Text),
    always("snippet", Text),
    always("engine", Text),
    always("query", Text),
    always("position", Integer),
    _json("found_by", "[]"),
    always("profile", Text),
    always("confidence", Double),
    always("threshold", Double),
    _json("judge_scores"),
    always("reasoning", Text),
    Column("organization_name", Text),
    Column("program_name", Text),
    always("state", Text),
    _refers("candidates", "assigned_to", "members"),
    Column("assigned_at", TIME),
    _refers("candidates", "reviewed_by", "members"),
    Column("reviewed_at", TIME),
    Column("review_notes", Text),
    Column("crawled_at", TIME),
    Column("facts", JSONB),
    always("version", BigInteger, "1"),
    moment("found_at"),
    CheckConstraint("confidence between 0 and 1 and threshold between 0 and 1", name="candidates_confidence_check"),
    CheckConstraint("(state = 'skipped_low_confidence') = (confidence < threshold)", name="candidates_threshold_check"),
    CheckConstraint("position >= 1", name="candidates_position_check"),
    CheckConstraint(
        "(state <> 'in_review' or assigned_to is not null) and (assigned_to is null) = (assigned_at is null)",
        name="candidates_assigned_check",
    ),
    CheckConstraint(
        "(state in ('approved', 'rejected')) = (reviewed_by is not null and reviewed_at is not null)",
        name="candidates_decision_check",
    ),
    CheckConstraint(
        "state <> 'rejected' or length(trim(coalesce(review_notes, ''))) > 0", name="candidates_notes_check"
    ),
    Index(
        "candidates_live_key",
        "domain_id",
        "path_hash",
        unique=True,
        postgresql_where=text("state <> 'skipped_low_confidence'"),
    ),
    Index("candidates_state_idx", "state", text("confidence desc"), "id"),
    Index("candidates_domain_idx", "domain_id", text("confidence desc"), "id"),
    Index("candidates_session_idx", "session_id", text("confidence desc"), "id"),
)
