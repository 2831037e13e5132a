"""Domains, their queue and progress, what others want of them, whom we trust, who works."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment

_AXES = ("approval", "standing", "crawl")


def _member(name: str, table: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, BigInteger, ForeignKey("members.id", name=f"{table}_{name}_fkey"), nullable=nullable)


def _domain(table: str, *, key: bool) -> Column[object]:
    reference = ForeignKey("domains.id", name=f"{table}_domain_id_fkey", ondelete="CASCADE")
    return Column("domain_id", BigInteger, reference, primary_key=key, nullable=False, autoincrement=False)


domains = Table(
    "domains",
    metadata,
    identity(),
    always("name", Text),
    always("site", Text),
    always("shared_key", Text),
    Column("base_url", Text),
    # the three axes
    always("approval", Text),
    always("standing", Text, "'discovered'"),
    always("crawl", Text, "'pending'"),
    # submission and review
    _member("submitted_by", "domains"),
    always("submitter_type", Text, "'system'"),
    Column("submission_context", Text),
    _member("reviewed_by", "domains"),
    Column("reviewed_at", TIME),
    Column("review_reason", Text),
    always("is_trusted", Boolean, "false"),
    always("profile", Text, "'general'"),
    # how it is crawled
    always("max_crawl_depth", Integer, "3"),
    always("crawl_delay_seconds", Double, "2"),
    always("max_concurrent_requests", Integer, "5"),
    always("max_pages_per_run", Integer, "1000"),
    Column("scrape_frequency_hours", Integer),
    # how far it is, copied from domain_progress at release
    always("pages_discovered", BigInteger, "0"),
    always("pages_crawled", BigInteger, "0"),
    always("images_found", BigInteger, "0"),
    always("images_stored", BigInteger, "0"),
    always("crawl_depth_reached", Integer, "0"),
    always("total_error_count", BigInteger, "0"),
    always("consecutive_error_count", BigInteger, "0"),
    Column("image_yield_rate", Double),
    Column("avg_images_per_page", Double),
    Column("error_rate", Double),
    # when it is crawled
    always("priority_score", Integer, "0"),
    Column("priority_computed_at", TIME),
    Column("seed_rank", Integer),
    Column("source", Text),
    Column("block_reason", Text),
    Column("block_reason_code", Text),
    always("block_retries", Integer, "0"),
    Column("first_blocked_at", TIME),
    Column("last_crawled_at", TIME),
    Column("next_crawl_after", TIME),
    # what it is worth
    Column("last_processed_at", TIME),
    always("processing_count", Integer, "0"),
    Column("best_confidence_score", Double),
    always("high_quality_candidate_count", Integer, "0"),
    always("low_quality_candidate_count", Integer, "0"),
    _member("blacklisted_by", "domains"),
    Column("blacklisted_at", TIME),
    Column("blacklist_reason", Text),
    Column("standing_before", Text),
    Column("no_funds_year", Integer),
    Column("notes", Text),
    Column("failure_reason", Text),
    always("failure_count", Integer, "0"),
    Column("failed_at", TIME),
    Column("retry_after", TIME),
    always("version", BigInteger, "1"),
    moment("first_seen_at"),
    moment("updated_at"),
    always("is_held", Boolean, "false"),
    Column("last_run_id", BigInteger, ForeignKey("runs.id", name="domains_last_run_id_fkey", ondelete="SET NULL")),
    always("is_proposed", Boolean, "true"),
    Column(
        "discovery_session_id",
        BigInteger,
        ForeignKey("discovery_sessions.id", name="domains_discovery_session_id_fkey", ondelete="SET NULL"),
    ),
    UniqueConstraint("name", name="domains_name_key"),
    CheckConstraint(
        r"name = lower(name) and name !~ '[\s/@?#]' and length(name) between 1 and 260", name="domains_name_check"
    ),
    CheckConstraint("submitter_type in ('admin', 'public_user', 'system')", name="domains_submitter_type_check"),
    CheckConstraint(
        "approval not in ('rejected', 'suspended') or length(trim(coalesce(review_reason, ''))) > 0",
        name="domains_review_reason_check",
    ),
    CheckConstraint("max_crawl_depth between 0 and 1000 and crawl_depth_reached >= 0", name="domains_depth_check"),
    CheckConstraint("crawl_delay_seconds between 0 and 86400", name="domains_delay_check"),
    CheckConstraint("max_concurrent_requests between 1 and 1000", name="domains_concurrency_check"),
    CheckConstraint("max_pages_per_run >= 0", name="domains_budget_check"),
    CheckConstraint("scrape_frequency_hours between 1 and 87600", name="domains_frequency_check"),
    CheckConstraint(
        "pages_discovered >= 0 and pages_crawled >= 0 and images_found >= 0 and images_stored >= 0 "
        "and total_error_count >= 0 and consecutive_error_count >= 0 and processing_count >= 0 "
        "and high_quality_candidate_count >= 0 and low_quality_candidate_count >= 0 and failure_count >= 0 "
        "and block_retries >= 0",
        name="domains_counters_check",
    ),
    CheckConstraint("seed_rank >= 1", name="domains_rank_check"),
    CheckConstraint(
        "crawl not in ('blocked', 'unreachable') or length(trim(coalesce(block_reason, ''))) > 0",
        name="domains_block_check",
    ),
    CheckConstraint("best_confidence_score between 0 and 1", name="domains_confidence_check"),
    CheckConstraint(
        "standing <> 'blacklisted' "
        "or (length(trim(coalesce(blacklist_reason, ''))) > 0 "
        "and blacklisted_by is not null and blacklisted_at is not null)",
        name="domains_blacklist_check",
    ),
    CheckConstraint(
        "no_funds_year between 2020 and 2100 and (standing <> 'no_funds_this_year' or no_funds_year is not null)",
        name="domains_no_funds_check",
    ),
    CheckConstraint(
        "standing <> 'processing_failed' or length(trim(coalesce(failure_reason, ''))) > 0",
        name="domains_failure_check",
    ),
    CheckConstraint("retry_after > failed_at", name="domains_retry_check"),
    Index("domains_site_idx", "site", "name"),
    Index(
        "domains_review_idx",
        "first_seen_at",
        "id",
        postgresql_where=text("approval = 'pending_review' and is_proposed"),
    ),
    # Lists: from the axes to each order. See registry/listing.py.
    Index("domains_states_idx", *_AXES, "name"),
    Index("domains_priority_score_idx", *_AXES, text("priority_score desc"), "name"),
    Index(
        "domains_yield_idx",
        *_AXES,
        text("image_yield_rate desc"),
        "name",
        postgresql_where=text("image_yield_rate is not null"),
    ),
    Index(
        "domains_last_crawled_idx",
        *_AXES,
        text("last_crawled_at desc"),
        "name",
        postgresql_where=text("last_crawled_at is not null"),
    ),
    Index("domains_first_seen_idx", *_AXES, text("first_seen_at desc"), "name"),
    Index("domains_last_processed_idx", "last_processed_at", postgresql_where=text("last_processed_at is not null")),
    Index("domains_retry_idx", "retry_after", postgresql_where=text("standing = 'processing_failed'")),
    Index("domains_source_idx", "source", postgresql_where=text("source is not null")),
    Index(
        "domains_submitter_idx",
        "submitted_by",
        text("first_seen_at desc"),
        text("id desc"),
        postgresql_where=text("submitter_type = 'public_user'"),
    ),
)

crawl_queue = Table(
    "crawl_queue",
    metadata,
    _domain("crawl_queue", key=True),
    Column("ready_key", BigInteger),
    Column("wake_at", TIME),
    always("key_hash", BigInteger),
    always("lease_no", Integer, "0"),
    always("flush_no", Integer, "0"),
    always("prio", SmallInteger, "0"),
    always("crashes", SmallInteger, "0"),
    always("is_new", Boolean, "true"),
    always("is_parked", Boolean, "false"),
    always("wanted", Text, "'run'"),
    Column("worker", Text),
    Column("run_id", BigInteger),
    CheckConstraint("num_nonnulls(ready_key, wake_at) + is_parked::int <= 1", name="crawl_queue_one_place_check"),
    CheckConstraint("prio between 0 and 99", name="crawl_queue_prio_check"),
    CheckConstraint("wanted in ('run', 'pause', 'stop')", name="crawl_queue_wanted_check"),
    Index("crawl_queue_ready_idx", "ready_key", postgresql_where=text("ready_key is not null and not is_new")),
    Index("crawl_queue_new_idx", "ready_key", postgresql_where=text("ready_key is not null and is_new")),
    Index("crawl_queue_wake_idx", "wake_at", postgresql_where=text("wake_at is not null")),
    Index("crawl_queue_sleep_idx", "wake_at", postgresql_where=text("wake_at is not null and worker is null")),
    Index("crawl_queue_live_idx", "key_hash", postgresql_where=text("worker is not null")),
    Index("crawl_queue_parked_idx", "key_hash", text("prio desc"), postgresql_where=text("is_parked")),
    Index("crawl_queue_worker_idx", "worker", "wake_at", postgresql_where=text("worker is not null")),
    postgresql_with={"fillfactor": 70},
)

domain_progress = Table(
    "domain_progress",
    metadata,
    _domain("domain_progress", key=True),
    always("pages_discovered", BigInteger, "0"),
    always("pages_crawled", BigInteger, "0"),
    always("pages_waiting", BigInteger, "0"),
    always("images_found", BigInteger, "0"),
    always("images_stored", BigInteger, "0"),
    always("crawl_depth_reached", Integer, "0"),
    always("total_error_count", BigInteger, "0"),
    always("consecutive_error_count", BigInteger, "0"),
    moment("updated_at"),
    always("pages_failed", BigInteger, "0"),
    always("pages_refused", BigInteger, "0"),
    always("requests_made", BigInteger, "0"),
    always("bytes_fetched", BigInteger, "0"),
    always("outlinks_found", BigInteger, "0"),
    Column("last_request_at", TIME),
    postgresql_with={"fillfactor": 70},
)

page_requests = Table(
    "page_requests",
    metadata,
    identity(),
    _domain("page_requests", key=False),
    always("kind", Text),
    always("path", Text),
    always("priority", SmallInteger, "5"),
    _member("asked_by", "page_requests", nullable=False),
    Column("contact", Text),
    moment("asked_at"),
    UniqueConstraint("domain_id", "kind", "path", name="page_requests_path_key"),
    CheckConstraint(
        "kind in ('submitted', 'redirect', 'recrawl', 'image', 'evaluation', 'candidate')",
        name="page_requests_kind_check",
    ),
    CheckConstraint("priority between 1 and 10", name="page_requests_priority_check"),
    CheckConstraint("path like '/%' and length(path) <= 2000", name="page_requests_path_check"),
)

trust_rules = Table(
    "trust_rules",
    metadata,
    identity(),
    always("suffix", Text),
    Column("reason", Text),
    _member("made_by", "trust_rules", nullable=False),
    moment("made_at"),
    UniqueConstraint("suffix", name="trust_rules_suffix_key"),
    CheckConstraint(
        "suffix like '.%' and suffix = lower(suffix) and length(suffix) between 2 and 254",
        name="trust_rules_suffix_check",
    ),
)

workers = Table(
    "workers",
    metadata,
    Column("name", Text, primary_key=True),
    always("machine", Text),
    always("boot", Text),
    always("pid", Integer),
    always("process_started", Double),
    moment("started_at"),
    moment("seen_at"),
    Column("figures", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Index("workers_machine_idx", "machine"),
)
