"""Jobs and runs, pages and their log, what waits for parsing, links that lead away, packs of bodies."""

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
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment


def _of(column: str, table: str, *, owner: str) -> Column[int]:
    """Part of a primary key that leads to another table and goes with its row."""
    reference: ForeignKey = ForeignKey(f"{table}.id", name=f"{owner}_{column}_fkey", ondelete="CASCADE")
    return Column(column, BigInteger, reference, primary_key=True, autoincrement=False)


def _key(column: str) -> Column[Any]:
    """Part of a primary key without a reference: written at page rate, under the lock of the domain's queue row."""
    return Column(column, BigInteger, primary_key=True, autoincrement=False)


jobs = Table(
    "jobs",
    metadata,
    identity(),
    always("name", Text),
    always("kind", Text, "'crawl'"),
    always("state", Text),
    always("priority", SmallInteger, "5"),
    Column("options", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("created_by", BigInteger, ForeignKey("members.id", name="jobs_created_by_fkey"), nullable=False),
    always("version", BigInteger, "1"),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("name", name="jobs_name_key"),
    CheckConstraint("length(trim(name)) between 1 and 200", name="jobs_name_check"),
    CheckConstraint("kind in ('crawl', 'standing', 'evaluation')", name="jobs_kind_check"),
    CheckConstraint("priority between 1 and 10", name="jobs_priority_check"),
    Index("jobs_state_idx", "state", "id"),
    Index("jobs_standing_key", "kind", unique=True, postgresql_where=text("kind = 'standing'")),
)

job_domains = Table(
    "job_domains",
    metadata,
    _of("job_id", "jobs", owner="job_domains"),
    _of("domain_id", "domains", owner="job_domains"),
    always("is_open", Boolean, "true"),
    Index("job_domains_open_idx", "domain_id", "job_id", postgresql_where=text("is_open")),
    Index("job_domains_left_idx", "job_id", postgresql_where=text("is_open")),
)

runs = Table(
    "runs",
    metadata,
    identity(),
    Column("job_id", BigInteger, ForeignKey("jobs.id", name="runs_job_id_fkey", ondelete="CASCADE"), nullable=False),
    moment("started_at"),
    Column("ended_at", TIME),
    Index("runs_job_idx", "job_id", "id"),
)

run_domains = Table(
    "run_domains",
    metadata,
    _of("run_id", "runs", owner="run_domains"),
    _of("domain_id", "domains", owner="run_domains"),
    always("page_budget", BigInteger, "0"),
    always("request_budget", BigInteger, "0"),
    always("max_depth", Integer),
    always("pages_done", BigInteger, "0"),
    always("requests_done", BigInteger, "0"),
    always("error_count", BigInteger, "0"),
    always("bytes_fetched", BigInteger, "0"),
    Column("stop_reason", Text),
    moment("started_at"),
    Column("ended_at", TIME),
    CheckConstraint("page_budget >= 0 and request_budget >= 0 and max_depth >= 0", name="run_domains_budget_check"),
    CheckConstraint(
        "stop_reason in ('frontier_empty', 'page_budget', 'request_budget', 'known_pages_cap', 'depth_limit', "
        "'time_budget', 'error_limit', 'robots_denied', 'login_wall', 'rate_limited', 'unreachable', "
        "'approval_withdrawn', 'storage_full', 'cancelled', 'shutdown', 'lease_lost', 'paused')",
        name="run_domains_stop_reason_check",
    ),
    Index("run_domains_domain_idx", "domain_id", "run_id"),
    postgresql_with={"fillfactor": 70},
)

pages = Table(
    "pages",
    metadata,
    _key("domain_id"),
    _key("path_hash"),
    always("path", Text),
    always("state", Text, "'pending'"),
    always("priority", SmallInteger, "5"),
    always("depth", Integer, "0"),
    always("retries", SmallInteger, "0"),
    Column("next_at", TIME),
    Column("referrer_hash", BigInteger),
    moment("first_seen_at"),
    Column("last_fetched_at", TIME),
    Column("last_status", SmallInteger),
    Column("last_outcome", Text),
    Column("last_error", Text),
    Column("content_type", Text),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("body_hash", LargeBinary),
    Column("text_hash", BigInteger),
    always("is_noindex", Boolean, "false"),
    Column("canonical", Text),
    always("fetch_count", Integer, "0"),
    always("change_count", Integer, "0"),
    Column("last_changed_at", TIME),
    Column("pack_id", BigInteger),
    Column("pack_offset", BigInteger),
    Column("pack_length", Integer),
    CheckConstraint("state in ('pending', 'fetched', 'failed')", name="pages_state_check"),
    CheckConstraint("priority between 1 and 10", name="pages_priority_check"),
    CheckConstraint("depth >= 0 and retries >= 0", name="pages_depth_check"),
    CheckConstraint("path like '/%' and length(path) <= 2000", name="pages_path_check"),
    CheckConstraint("num_nonnulls(pack_id, pack_offset, pack_length) in (0, 3)", name="pages_pack_check"),
    Index("pages_frontier_idx", "domain_id", "priority", "depth", "path_hash",
          postgresql_where=text("state = 'pending'")),
    Index("pages_due_idx", "domain_id", "next_at",
          postgresql_where=text("state <> 'pending' and next_at is not null")),
    postgresql_partition_by="hash (domain_id)",
)  # fmt: skip

fetch_log = Table(
    "fetch_log",
    metadata,
    Column("fetched_at", TIME, nullable=False),
    always("domain_id", BigInteger),
    always("path_hash", BigInteger),
    always("run_id", BigInteger),
    always("lease_no", Integer),
    Column("status", SmallInteger),
    always("outcome", Text),
    always("bytes", BigInteger, "0"),
    always("milliseconds", Integer, "0"),
    always("images_found", Integer, "0"),
    Index("fetch_log_domain_idx", "domain_id", "fetched_at"),
    postgresql_partition_by="range (fetched_at)",
)

parse_queue = Table(
    "parse_queue",
    metadata,
    _key("domain_id"),
    _key("path_hash"),
    always("body_hash", LargeBinary),
    moment("queued_at"),
    Column("worker", Text),
    Column("claimed_until", TIME),
    always("attempts", SmallInteger, "0"),
    always("is_forced", Boolean, "false"),
    Index("parse_queue_queued_idx", "queued_at"),
)

outlinks = Table(
    "outlinks",
    metadata,
    _key("domain_id"),
    _key("url_hash"),
    always("target", Text),
    always("path", Text),
    Column("anchor", Text),
    always("from_hash", BigInteger),
    moment("first_seen_at"),
    Index("outlinks_target_idx", "target", "first_seen_at"),
)

packs = Table(
    "packs",
    metadata,
    identity(),
    always("machine", Text),
    always("file", Text),
    always("bytes", BigInteger, "0"),
    moment("created_at"),
    Column("sealed_at", TIME),
    UniqueConstraint("file", name="packs_file_key"),
    CheckConstraint("bytes >= 0", name="packs_bytes_check"),
)

robots_cache = Table(
    "robots_cache",
    metadata,
    Column("origin", Text, primary_key=True),
    always("kind", Text),
    Column("status", SmallInteger),
    Column("body", Text),
    Column("error", Text),
    moment("fetched_at"),
    Column("expires_at", TIME, nullable=False),
    CheckConstraint("kind in ('rules', 'open', 'closed_for_now')", name="robots_cache_kind_check"),
)

host_gates = Table(
    "host_gates",
    metadata,
    Column("host", Text, primary_key=True),
    Column("next_at", TIME, nullable=False),
    moment("updated_at"),
)

sitemaps = Table(
    "sitemaps",
    metadata,
    _key("domain_id"),
    _key("url_hash"),
    always("url", Text),
    always("state", Text, "'pending'"),
    always("level", SmallInteger, "0"),
    always("entries_taken", BigInteger, "0"),
    always("tries", SmallInteger, "0"),
    moment("next_at"),
    Column("last_read_at", TIME),
    Column("last_error", Text),
    CheckConstraint("state in ('pending', 'read', 'failed')", name="sitemaps_state_check"),
)

domain_memory = Table(
    "domain_memory",
    metadata,
    _of("domain_id", "domains", owner="domain_memory"),
    Column("traps", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("refusals", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("not_before", TIME),
    always("backoffs", SmallInteger, "0"),
    moment("updated_at"),
    Column("patterns", Text),
)

refused_links = Table(
    "refused_links",
    metadata,
    _key("domain_id"),
    _key("path_hash"),
    always("path", Text),
    always("rule", Text),
    Column("from_hash", BigInteger),
    moment("refused_at"),
)
