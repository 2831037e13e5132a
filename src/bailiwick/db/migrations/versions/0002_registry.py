"""The registry: domains with their three axes, the narrow queue, progress, page requests, trust rules, workers."""

from alembic import op

from bailiwick.db.migrations.machines import Move, guard_machine, unguard_machine

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_DOMAINS = """
create table domains (
    id bigint generated always as identity primary key,
    name text not null,
    site text not null,
    shared_key text not null,
    base_url text,
    approval text not null,
    standing text not null default 'discovered',
    crawl text not null default 'pending',
    submitted_by bigint constraint domains_submitted_by_fkey references members (id),
    submitter_type text not null default 'system',
    submission_context text,
    reviewed_by bigint constraint domains_reviewed_by_fkey references members (id),
    reviewed_at timestamptz,
    review_reason text,
    is_trusted boolean not null default false,
    profile text not null default 'general',
    max_crawl_depth int not null default 3,
    crawl_delay_seconds double precision not null default 2,
    max_concurrent_requests int not null default 5,
    max_pages_per_run int not null default 1000,
    scrape_frequency_hours int,
    pages_discovered bigint not null default 0,
    pages_crawled bigint not null default 0,
    images_found bigint not null default 0,
    images_stored bigint not null default 0,
    crawl_depth_reached int not null default 0,
    total_error_count bigint not null default 0,
    consecutive_error_count bigint not null default 0,
    image_yield_rate double precision,
    avg_images_per_page double precision,
    error_rate double precision,
    priority_score int not null default 0,
    priority_computed_at timestamptz,
    seed_rank int,
    source text,
    block_reason text,
    block_reason_code text,
    block_retries int not null default 0,
    first_blocked_at timestamptz,
    last_crawled_at timestamptz,
    next_crawl_after timestamptz,
    last_processed_at timestamptz,
    processing_count int not null default 0,
    best_confidence_score double precision,
    high_quality_candidate_count int not null default 0,
    low_quality_candidate_count int not null default 0,
    blacklisted_by bigint constraint domains_blacklisted_by_fkey references members (id),
    blacklisted_at timestamptz,
    blacklist_reason text,
    standing_before text,
    no_funds_year int,
    notes text,
    failure_reason text,
    failure_count int not null default 0,
    failed_at timestamptz,
    retry_after timestamptz,
    version bigint not null default 1,
    first_seen_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    constraint domains_name_key unique (name),
    constraint domains_name_check check (name = lower(name) and name !~ '[\\s/@?#]' and length(name) between 1 and 260),
    constraint domains_submitter_type_check check (submitter_type in ('admin', 'public_user', 'system')),
    constraint domains_review_reason_check check (
        approval not in ('rejected', 'suspended') or length(trim(coalesce(review_reason, ''))) > 0),
    constraint domains_depth_check check (max_crawl_depth between 0 and 1000 and crawl_depth_reached >= 0),
    constraint domains_delay_check check (crawl_delay_seconds between 0 and 86400),
    constraint domains_concurrency_check check (max_concurrent_requests between 1 and 1000),
    constraint domains_budget_check check (max_pages_per_run >= 0),
    constraint domains_frequency_check check (scrape_frequency_hours between 1 and 87600),
    constraint domains_counters_check check (
        pages_discovered >= 0 and pages_crawled >= 0 and images_found >= 0 and images_stored >= 0
        and total_error_count >= 0 and consecutive_error_count >= 0 and processing_count >= 0
        and high_quality_candidate_count >= 0 and low_quality_candidate_count >= 0 and failure_count >= 0
        and block_retries >= 0),
    constraint domains_rank_check check (seed_rank >= 1),
    constraint domains_block_check check (
        crawl not in ('blocked', 'unreachable') or length(trim(coalesce(block_reason, ''))) > 0),
    constraint domains_confidence_check check (best_confidence_score between 0 and 1),
    constraint domains_blacklist_check check (
        standing <> 'blacklisted'
        or (length(trim(coalesce(blacklist_reason, ''))) > 0
            and blacklisted_by is not null and blacklisted_at is not null)),
    constraint domains_no_funds_check check (
        no_funds_year between 2020 and 2100 and (standing <> 'no_funds_this_year' or no_funds_year is not null)),
    constraint domains_failure_check check (
        standing <> 'processing_failed' or length(trim(coalesce(failure_reason, ''))) > 0),
    constraint domains_retry_check check (retry_after > failed_at)
);
create trigger domains_updated_at before update on domains for each row execute function touch_updated_at();
create index domains_site_idx on domains (site, name);
create index domains_approval_idx on domains (approval, first_seen_at, id);
create index domains_standing_idx on domains (standing, name) where standing <> 'discovered';
create index domains_crawl_idx on domains (crawl, name) where crawl <> 'pending';
create index domains_priority_score_idx on domains (priority_score desc, name);
-- With the axes behind, so that a filter which hardly anything in this order meets (pending ones have no yield, as a
-- rule) is answered from the index alone: 10 times faster.
create index domains_yield_idx on domains (image_yield_rate desc, name, approval, standing, crawl)
    where image_yield_rate is not null;
create index domains_last_crawled_idx on domains (last_crawled_at desc, name, approval, standing, crawl)
    where last_crawled_at is not null;
create index domains_first_seen_idx on domains (first_seen_at desc, name);
create index domains_last_processed_idx on domains (last_processed_at) where last_processed_at is not null;
create index domains_retry_idx on domains (retry_after) where standing = 'processing_failed';
create index domains_source_idx on domains (source) where source is not null;
"""

_QUEUE = """
create table crawl_queue (
    domain_id bigint primary key constraint crawl_queue_domain_id_fkey references domains (id) on delete cascade,
    ready_key bigint,
    wake_at timestamptz,
    key_hash bigint not null,
    lease_no int not null default 0,
    flush_no int not null default 0,
    prio smallint not null default 0,
    crashes smallint not null default 0,
    is_new boolean not null default true,
    is_parked boolean not null default false,
    wanted text not null default 'run',
    worker text,
    constraint crawl_queue_one_place_check check (num_nonnulls(ready_key, wake_at) + is_parked::int <= 1),
    constraint crawl_queue_prio_check check (prio between 0 and 99),
    constraint crawl_queue_wanted_check check (wanted in ('run', 'pause', 'stop'))
) with (fillfactor = 70);
create index crawl_queue_ready_idx on crawl_queue (ready_key) where ready_key is not null and not is_new;
create index crawl_queue_new_idx on crawl_queue (ready_key) where ready_key is not null and is_new;
create index crawl_queue_wake_idx on crawl_queue (wake_at) where wake_at is not null;
create index crawl_queue_live_idx on crawl_queue (key_hash) where worker is not null;
create index crawl_queue_parked_idx on crawl_queue (key_hash, prio desc) where is_parked;
create index crawl_queue_worker_idx on crawl_queue (worker, wake_at) where worker is not null;

create table domain_progress (
    domain_id bigint primary key constraint domain_progress_domain_id_fkey references domains (id) on delete cascade,
    pages_discovered bigint not null default 0,
    pages_crawled bigint not null default 0,
    pages_waiting bigint not null default 0,
    images_found bigint not null default 0,
    images_stored bigint not null default 0,
    crawl_depth_reached int not null default 0,
    total_error_count bigint not null default 0,
    consecutive_error_count bigint not null default 0,
    updated_at timestamptz not null default bailiwick_now()
) with (fillfactor = 70);

create table page_requests (
    id bigint generated always as identity primary key,
    domain_id bigint not null constraint page_requests_domain_id_fkey references domains (id) on delete cascade,
    kind text not null,
    path text not null,
    priority smallint not null default 5,
    asked_by bigint not null constraint page_requests_asked_by_fkey references members (id),
    contact text,
    asked_at timestamptz not null default bailiwick_now(),
    constraint page_requests_path_key unique (domain_id, kind, path),
    constraint page_requests_kind_check check (kind in ('submitted', 'redirect', 'recrawl', 'image', 'evaluation')),
    constraint page_requests_priority_check check (priority between 1 and 10),
    constraint page_requests_path_check check (path like '/%' and length(path) <= 2000)
);

create table trust_rules (
    id bigint generated always as identity primary key,
    suffix text not null,
    reason text,
    made_by bigint not null constraint trust_rules_made_by_fkey references members (id),
    made_at timestamptz not null default bailiwick_now(),
    constraint trust_rules_suffix_key unique (suffix),
    constraint trust_rules_suffix_check check (
        suffix like '.%' and suffix = lower(suffix) and length(suffix) between 2 and 254)
);

create table workers (
    name text primary key,
    machine text not null,
    boot text not null,
    pid int not null,
    process_started double precision not null,
    started_at timestamptz not null default bailiwick_now(),
    seen_at timestamptz not null default bailiwick_now()
);
create index workers_machine_idx on workers (machine);
"""

_FUNCTIONS = """
-- The one rule on whether a domain may be leased: NULL is yes, else the name of the rule that says no.
create function domain_refusal(d domains, at timestamptz) returns text language sql stable parallel safe return
    case
        when d.approval <> 'approved' then d.approval
        when d.standing = 'blacklisted' then 'blacklisted'
        when d.standing = 'no_funds_this_year' and d.no_funds_year >= extract(year from at at time zone 'UTC')
            then 'no_funds_this_year'
        when d.crawl in ('blocked', 'unreachable') and d.next_crawl_after is null then 'retries_used_up'
        when d.next_crawl_after > at and d.crawl in ('blocked', 'unreachable') then 'cooling_down'
        when d.next_crawl_after > at or (d.crawl = 'exhausted' and d.next_crawl_after is null) then 'not_due'
    end;

-- When a refused domain may be asked for again by itself; NULL where only a decision changes it.
create function domain_wakes_at(d domains, refusal text) returns timestamptz language sql stable parallel safe return
    case
        when refusal in ('cooling_down', 'not_due') then d.next_crawl_after
        when refusal = 'no_funds_this_year'
            then make_timestamptz(d.no_funds_year + 1, 1, 1, 0, 0, 0, 'UTC')
    end;

-- The order of leases, smallest first: partly crawled, then priority, then least recently crawled (new: first seen).
create function ready_key(is_partly_crawled boolean, prio smallint, since timestamptz) returns bigint
language sql stable parallel safe return
    ((case when is_partly_crawled then 0 else 1 end)::bigint << 56)
    | ((99 - prio)::bigint << 48)
    | greatest(extract(epoch from since), 0)::bigint;

create function domain_ready_key(d domains, prio smallint) returns bigint language sql stable parallel safe return
    ready_key(d.crawl = 'active', prio, coalesce(d.last_crawled_at, d.first_seen_at));

-- What a seed list's rank is worth: a better rank scores higher.
create function rank_score(rank int, weights jsonb) returns double precision language sql immutable parallel safe return
    coalesce(greatest(1000 - 100 * log(rank::double precision), 0) * (weights ->> 'rank')::double precision, 0);

-- Specification 002 section 6.2.
create function domain_score(d domains, weights jsonb, at timestamptz) returns int
language sql stable parallel safe return
    round(rank_score(d.seed_rank, weights)
        + coalesce(d.image_yield_rate, 0) * (weights ->> 'yields')::double precision
        + least(greatest(d.pages_discovered - d.pages_crawled, 0), (weights ->> 'remaining_cap')::bigint)
            * (weights ->> 'remaining')::double precision
        - coalesce(d.error_rate, 0) * (weights ->> 'error')::double precision
        + case when d.last_crawled_at is null then 0
            else greatest(extract(epoch from at - d.last_crawled_at), 0)::double precision / 86400
                * (weights ->> 'stale_day')::double precision end)::int;

create function priority_step(score int, weights jsonb) returns smallint language sql immutable parallel safe return
    least(greatest(score / (weights ->> 'step')::int, 0), 99)::smallint;
"""

_APPROVAL: tuple[Move, ...] = (
    ("", "submit", "pending_review"),
    ("", "admit", "approved"),
    ("pending_review", "admit", "approved"),
    ("pending_review", "approve", "approved"),
    ("pending_review", "reject", "rejected"),
    ("approved", "suspend", "suspended"),
    ("suspended", "resume", "approved"),
    ("suspended", "reject", "rejected"),
    ("rejected", "resubmit", "pending_review"),
    ("approved", "merge", "rejected"),
    ("approved", "merge", "suspended"),
    ("approved", "merge", "pending_review"),
    ("pending_review", "merge", "rejected"),
    ("pending_review", "merge", "suspended"),
    ("suspended", "merge", "rejected"),
)
_OPEN = (
    "discovered",
    "processing",
    "processed_high_quality",
    "processed_low_quality",
    "no_funds_this_year",
    "processing_failed",
)
_STANDING: tuple[Move, ...] = (
    ("", "discover", "discovered"),
    *((state, "process", "processing") for state in ("discovered", "processed_high_quality", "processed_low_quality")),
    ("processing", "rate_high", "processed_high_quality"),
    ("processing", "rate_low", "processed_low_quality"),
    ("processing", "leave_open", "discovered"),
    ("processing", "fail", "processing_failed"),
    ("processing_failed", "retry", "processing"),
    *((state, "mark_no_funds", "no_funds_this_year") for state in _OPEN if state != "no_funds_this_year"),
    ("no_funds_this_year", "new_year", "processing"),
    *((state, "blacklist", "blacklisted") for state in _OPEN),
    *(("blacklisted", "lift", state) for state in _OPEN if state != "processing"),
)
_CRAWL: tuple[Move, ...] = (
    ("", "discover", "pending"),
    *((state, "start", "active") for state in ("pending", "exhausted", "blocked", "unreachable")),
    ("active", "exhaust", "exhausted"),
    ("active", "block", "blocked"),
    *((state, "lose", "unreachable") for state in ("pending", "active")),
    *((state, "retry", "pending") for state in ("blocked", "unreachable")),
    ("exhausted", "refresh", "pending"),
    *((state, "reset", "pending") for state in ("exhausted", "blocked", "unreachable")),
)


def upgrade() -> None:
    op.execute(_DOMAINS)
    op.execute(_QUEUE)
    op.execute(_FUNCTIONS)
    guard_machine("approval", table="domains", column="approval", moves=_APPROVAL)
    guard_machine("standing", table="domains", column="standing", moves=_STANDING)
    guard_machine("crawl", table="domains", column="crawl", moves=_CRAWL)


def downgrade() -> None:
    for machine in ("approval", "standing", "crawl"):
        unguard_machine(machine, table="domains")
    op.execute("""
        drop function priority_step(int, jsonb), domain_score(domains, jsonb, timestamptz), rank_score(int, jsonb),
            domain_ready_key(domains, smallint), ready_key(boolean, smallint, timestamptz),
            domain_wakes_at(domains, text), domain_refusal(domains, timestamptz);
        drop table workers, trust_rules, page_requests, domain_progress, crawl_queue, domains;
    """)
