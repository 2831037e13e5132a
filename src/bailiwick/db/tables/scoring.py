"""Scoring and review: facts of domains, URLs of jobs, evaluations, results, the queue."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment

_OPEN = text("reviewed_at is null")


def _refers(table: str, name: str, to: str, *, nullable: bool = True, cascades: bool = False) -> Column[Any]:
    reference = ForeignKey(f"{to}.id", name=f"{table}_{name}_fkey", ondelete="CASCADE" if cascades else None)
    return Column(name, BigInteger, reference, nullable=nullable)


def _owned(table: str, name: str, to: str) -> Column[Any]:
    """Goes with the row that it belongs to."""
    return _refers(table, name, to, nullable=False, cascades=True)


def _json(name: str) -> Column[Any]:
    return Column(name, JSONB, nullable=False)


domain_facts = Table(
    "domain_facts",
    metadata,
    always("kind", Text),
    always("subject", Text),
    always("source", Text),
    Column("facts", JSONB),
    Column("why", Text),
    moment("seen_at"),
    Column("expires_at", TIME, nullable=False),
    PrimaryKeyConstraint("kind", "subject", name="domain_facts_pkey"),
    CheckConstraint("kind in ('registration', 'certificate', 'rdap_servers')", name="domain_facts_kind_check"),
    CheckConstraint("(facts is null) = (why is not null)", name="domain_facts_known_check"),
    Index("domain_facts_expiry_idx", "expires_at"),
)

job_urls = Table(
    "job_urls",
    metadata,
    identity(),
    _owned("job_urls", "job_id", "jobs"),
    _owned("job_urls", "domain_id", "domains"),
    always("url", Text),
    always("path", Text),
    always("path_hash", BigInteger),
    always("state", Text, "'waiting'"),
    always("tries", SmallInteger, "0"),
    moment("next_at"),
    Column("asked_at", TIME),
    Column("worker", Text),
    Column("claimed_until", TIME),
    Column("why", Text),
    moment("created_at"),
    moment("updated_at"),
    CheckConstraint("state in ('waiting', 'evaluated', 'refused', 'unreachable')", name="job_urls_state_check"),
    CheckConstraint("tries >= 0", name="job_urls_tries_check"),
    CheckConstraint("(worker is null) = (claimed_until is null)", name="job_urls_claim_check"),
    CheckConstraint("state not in ('refused', 'unreachable') or why is not null", name="job_urls_why_check"),
    Index("job_urls_page_key", "job_id", "domain_id", "path_hash", unique=True),
    Index("job_urls_waiting_idx", "job_id", "next_at", "id", postgresql_where=text("state = 'waiting'")),
    Index("job_urls_claimed_idx", "job_id", postgresql_where=text("worker is not null")),
    Index("job_urls_domain_idx", "domain_id", "path_hash"),
)

evaluations = Table(
    "evaluations",
    metadata,
    identity(),
    _owned("evaluations", "url_id", "job_urls"),
    always("job_id", BigInteger),
    _owned("evaluations", "domain_id", "domains"),
    always("name", Text),
    always("url", Text),
    always("profile", Text),
    always("policy_version", Text),
    always("confidence", Double),
    always("evidence_confidence", Double),
    _refers("evaluations", "model_id", "models"),
    Column("learned_probability", Double),
    always("reasoning", Text),
    _json("layer1_results"),
    _json("layer2_results"),
    _json("layer3_results"),
    always("layer3_by", Text),
    _json("sophistication_signals"),
    Column("evidence", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("embedding", LargeBinary),
    Column("title", Text),
    Column("body_hash", LargeBinary),
    always("band", Text),
    always("action", Text),
    moment("evaluated_at"),
    CheckConstraint(
        "confidence between 0 and 1 and evidence_confidence between 0 and 1", name="evaluations_confidence_check"
    ),
    CheckConstraint("action in ('auto_approve', 'manual_review', 'reject')", name="evaluations_action_check"),
    CheckConstraint(
        "(model_id is null) = (learned_probability is null) and learned_probability between 0 and 1",
        name="evaluations_learned_check",
    ),
    Index("evaluations_url_key", "url_id", unique=True),
    Index("evaluations_domain_idx", "domain_id", "id"),
    Index("evaluations_job_idx", "job_id", "id"),
    Index("evaluations_at_idx", "evaluated_at", "id"),
)

url_results = Table(
    "url_results",
    metadata,
    Column(
        "url_id",
        BigInteger,
        ForeignKey("job_urls.id", name="url_results_url_id_fkey", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    _owned("url_results", "evaluation_id", "evaluations"),
    always("status", Text),
    always("reason", Text),
    Column("reviewer_notes", Text),
    _refers("url_results", "decided_by", "members"),
    moment("decided_at"),
    CheckConstraint("status in ('approved', 'rejected', 'queue_overflow')", name="url_results_status_check"),
    CheckConstraint("reason in ('band', 'trusted_domain', 'person', 'queue_full')", name="url_results_reason_check"),
    CheckConstraint("(reason = 'person') = (decided_by is not null)", name="url_results_person_check"),
    Index("url_results_evaluation_key", "evaluation_id", unique=True),
    Index("url_results_status_idx", "status", "url_id"),
)

review_queue = Table(
    "review_queue",
    metadata,
    identity(),
    always("name", Text),
    always("url", Text),
    _owned("review_queue", "job_id", "jobs"),
    _owned("review_queue", "url_id", "job_urls"),
    _owned("review_queue", "evaluation_id", "evaluations"),
    _owned("review_queue", "domain_id", "domains"),
    always("profile", Text),
    always("confidence_band", Text),
    always("confidence_score", Double),
    always("information", Double),
    always("state", Text),
    always("is_stale", Boolean, "false"),
    always("is_audit", Boolean, "false"),
    _refers("review_queue", "submitted_by", "members", nullable=False),
    _refers("review_queue", "claimed_by", "members"),
    Column("claimed_until", TIME),
    moment("queued_at"),
    Column("reviewed_at", TIME),
    _refers("review_queue", "reviewed_by", "members"),
    Column("review_decision", Text),
    Column("reviewer_notes", Text),
    always("is_self_approved", Boolean, "false"),
    always("version", BigInteger, "1"),
    moment("created_at"),
    moment("updated_at"),
    CheckConstraint("confidence_score between 0 and 1", name="review_queue_score_check"),
    CheckConstraint("information between 0 and 1", name="review_queue_information_check"),
    CheckConstraint("review_decision in ('approved', 'rejected')", name="review_queue_decision_check"),
    CheckConstraint(
        "(state = 'waiting') = (reviewed_at is null) and (state = 'waiting') = (review_decision is null) "
        "and (state = 'waiting') = (reviewed_by is null) and coalesce(review_decision = state, true)",
        name="review_queue_reviewed_check",
    ),
    CheckConstraint(
        "state <> 'rejected' or length(trim(coalesce(reviewer_notes, ''))) > 0", name="review_queue_notes_check"
    ),
    CheckConstraint("(claimed_by is null) = (claimed_until is null)", name="review_queue_claim_check"),
    Index("review_queue_url_key", "url_id", unique=True),
    Index("review_queue_active_idx", "queued_at", "id", postgresql_where=_OPEN),
    Index("review_queue_information_idx", text("information desc"), "id", postgresql_where=_OPEN),
    Index("review_queue_band_idx", "confidence_band", "queued_at", "id", postgresql_where=_OPEN),
    Index("review_queue_score_idx", text("confidence_score desc"), "id", postgresql_where=_OPEN),
    Index(
        "review_queue_claimed_idx",
        "claimed_by",
        "claimed_until",
        postgresql_where=text("reviewed_at is null and claimed_by is not null"),
    ),
    Index("review_queue_stale_idx", "is_stale", "queued_at", "id", postgresql_where=_OPEN),
    Index("review_queue_audit_idx", "queued_at", "id", postgresql_where=text("reviewed_at is null and is_audit")),
    Index("review_queue_job_idx", "job_id"),
    Index("review_queue_domain_idx", "domain_id", "id"),
    Index("review_queue_reviewed_idx", "reviewed_at", "id", postgresql_where=text("reviewed_at is not null")),
)
