"""The crawl: jobs and runs, pages and their log, what waits for parsing, links that lead away, packs of bodies."""

from alembic import op

from bailiwick.db.migrations.machines import Move, guard_machine, unguard_machine

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_JOBS = """
create table jobs (
    id bigint generated always as identity primary key,
    name text not null,
    kind text not null default 'crawl',
    state text not null,
    priority smallint not null default 5,
    options jsonb not null default '{}'::jsonb,
    created_by bigint not null constraint jobs_created_by_fkey references members (id),
    version bigint not null default 1,
    created_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    constraint jobs_name_key unique (name),
    constraint jobs_name_check check (length(trim(name)) between 1 and 200),
    constraint jobs_kind_check check (kind in ('crawl', 'standing')),
    constraint jobs_priority_check check (priority between 1 and 10)
);
create index jobs_state_idx on jobs (state, id);
create unique index jobs_standing_key on jobs (kind) where kind = 'standing';
create trigger jobs_updated_at before update on jobs for each row execute function touch_updated_at();

create table job_domains (
    job_id bigint not null constraint job_domains_job_id_fkey references jobs (id) on delete cascade,
    domain_id bigint not null constraint job_domains_domain_id_fkey references domains (id) on delete cascade,
    is_open boolean not null default true,
    constraint job_domains_pkey primary key (job_id, domain_id)
);
create index job_domains_open_idx on job_domains (domain_id, job_id) where is_open;
create index job_domains_left_idx on job_domains (job_id) where is_open;

create table runs (
    id bigint generated always as identity primary key,
    job_id bigint not null constraint runs_job_id_fkey references jobs (id) on delete cascade,
    started_at timestamptz not null default bailiwick_now(),
    ended_at timestamptz
);
create index runs_job_idx on runs (job_id, id);

create table run_domains (
    run_id bigint not null constraint run_domains_run_id_fkey references runs (id) on delete cascade,
    domain_id bigint not null constraint run_domains_domain_id_fkey references domains (id) on delete cascade,
    page_budget bigint not null default 0,
    request_budget bigint not null default 0,
    max_depth int not null,
    pages_done bigint not null default 0,
    requests_done bigint not null default 0,
    error_count bigint not null default 0,
    bytes_fetched bigint not null default 0,
    stop_reason text,
    started_at timestamptz not null default bailiwick_now(),
    ended_at timestamptz,
    constraint run_domains_pkey primary key (run_id, domain_id),
    constraint run_domains_budget_check check (page_budget >= 0 and request_budget >= 0 and max_depth >= 0),
    constraint run_domains_stop_reason_check check (stop_reason in (
        'frontier_empty', 'page_budget', 'request_budget', 'known_pages_cap', 'depth_limit', 'time_budget',
        'error_limit', 'robots_denied', 'login_wall', 'rate_limited', 'unreachable', 'approval_withdrawn',
        'storage_full', 'cancelled', 'shutdown', 'lease_lost', 'paused'))
) with (fillfactor = 70);
create index run_domains_domain_idx on run_domains (domain_id, run_id);
"""

# No foreign keys below: these are written at page rate, and only under the lock of the domain's queue row.
_PAGES = """
create table pages (
    domain_id bigint not null,
    path_hash bigint not null,
    path text not null,
    state text not null default 'pending',
    priority smallint not null default 5,
    depth int not null default 0,
    retries smallint not null default 0,
    next_at timestamptz,
    referrer_hash bigint,
    first_seen_at timestamptz not null default bailiwick_now(),
    last_fetched_at timestamptz,
    last_status smallint,
    last_outcome text,
    last_error text,
    content_type text,
    etag text,
    last_modified text,
    body_hash bytea,
    text_hash bigint,
    is_noindex boolean not null default false,
    canonical text,
    fetch_count int not null default 0,
    change_count int not null default 0,
    last_changed_at timestamptz,
    pack_id bigint,
    pack_offset bigint,
    pack_length int,
    constraint pages_pkey primary key (domain_id, path_hash),
    constraint pages_state_check check (state in ('pending', 'fetched', 'failed')),
    constraint pages_priority_check check (priority between 1 and 10),
    constraint pages_depth_check check (depth >= 0 and retries >= 0),
    constraint pages_path_check check (path like '/%' and length(path) <= 2000),
    constraint pages_pack_check check (num_nonnulls(pack_id, pack_offset, pack_length) in (0, 3))
) partition by hash (domain_id);
create index pages_frontier_idx on pages (domain_id, priority, depth, path_hash) where state = 'pending';
create index pages_due_idx on pages (domain_id, next_at) where state <> 'pending' and next_at is not null;

create table fetch_log (
    fetched_at timestamptz not null,
    domain_id bigint not null,
    path_hash bigint not null,
    run_id bigint not null,
    lease_no int not null,
    status smallint,
    outcome text not null,
    bytes bigint not null default 0,
    milliseconds int not null default 0,
    images_found int not null default 0
) partition by range (fetched_at);
create index fetch_log_domain_idx on fetch_log (domain_id, fetched_at);
create table fetch_log_default partition of fetch_log default;

create table parse_queue (
    domain_id bigint not null,
    path_hash bigint not null,
    body_hash bytea not null,
    queued_at timestamptz not null default bailiwick_now(),
    worker text,
    claimed_until timestamptz,
    attempts smallint not null default 0,
    constraint parse_queue_pkey primary key (domain_id, path_hash)
);
create index parse_queue_queued_idx on parse_queue (queued_at);

create table outlinks (
    domain_id bigint not null,
    url_hash bigint not null,
    target text not null,
    path text not null,
    anchor text,
    from_hash bigint not null,
    first_seen_at timestamptz not null default bailiwick_now(),
    constraint outlinks_pkey primary key (domain_id, url_hash)
);
create index outlinks_target_idx on outlinks (target, first_seen_at);

create table packs (
    id bigint generated always as identity primary key,
    machine text not null,
    file text not null,
    bytes bigint not null default 0,
    created_at timestamptz not null default bailiwick_now(),
    sealed_at timestamptz,
    constraint packs_file_key unique (file),
    constraint packs_bytes_check check (bytes >= 0)
);

-- Specification 004's states of a task: stored are three, the rest follows from leases and the parse queue.
create view page_states as
select p.domain_id, p.path_hash, p.path,
       case when p.state = 'failed' then 'failed'
            when p.state = 'pending' and q.worker is not null and q.wake_at > bailiwick_now() then 'crawling'
            when p.state = 'pending' and q.ready_key is not null then 'queued'
            when p.state = 'pending' then 'pending'
            when w.claimed_until > bailiwick_now() then 'parsing'
            when w.domain_id is not null then 'downloaded'
            else 'completed' end as state
from pages as p
join crawl_queue as q on q.domain_id = p.domain_id
left join parse_queue as w on w.domain_id = p.domain_id and w.path_hash = p.path_hash;
"""

_OLDER_TABLES = """
alter table domains
    add column is_held boolean not null default false,
    add column last_run_id bigint constraint domains_last_run_id_fkey references runs (id) on delete set null;
alter table crawl_queue add column run_id bigint;
alter table domain_progress
    add column pages_failed bigint not null default 0,
    add column pages_refused bigint not null default 0,
    add column requests_made bigint not null default 0,
    add column bytes_fetched bigint not null default 0,
    add column outlinks_found bigint not null default 0,
    add column last_request_at timestamptz;
"""

# PostgreSQL 15 alters no table whose row type a function uses: they go, and come back.
_DROP_FUNCTIONS = """
drop function domain_score(domains, jsonb, timestamptz), domain_ready_key(domains, smallint),
    domain_wakes_at(domains, text), domain_refusal(domains, timestamptz);
"""
_FUNCTIONS = """
-- The one rule on whether a domain may be leased: NULL is yes, else the name of the rule that says no.
create function domain_refusal(d domains, at timestamptz) returns text language sql stable parallel safe return
    case
        when d.approval <> 'approved' then d.approval
        when d.standing = 'blacklisted' then 'blacklisted'
        when d.standing = 'no_funds_this_year' and d.no_funds_year >= extract(year from at at time zone 'UTC')
            then 'no_funds_this_year'
        {held}
        when d.crawl in ('blocked', 'unreachable') and d.next_crawl_after is null then 'retries_used_up'
        when d.next_crawl_after > at and d.crawl in ('blocked', 'unreachable') then 'cooling_down'
        when d.next_crawl_after > at or (d.crawl = 'exhausted' and d.next_crawl_after is null) then 'not_due'
    end;

create function domain_wakes_at(d domains, refusal text) returns timestamptz language sql stable parallel safe return
    case
        when refusal in ('cooling_down', 'not_due') then d.next_crawl_after
        when refusal = 'no_funds_this_year'
            then make_timestamptz(d.no_funds_year + 1, 1, 1, 0, 0, 0, 'UTC')
    end;

create function domain_ready_key(d domains, prio smallint) returns bigint language sql stable parallel safe return
    ready_key(d.crawl = 'active', prio, coalesce(d.last_crawled_at, d.first_seen_at));

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
"""

_JOB: tuple[Move, ...] = (
    ("", "create", "running"),
    ("running", "pause", "paused"),
    ("paused", "resume", "running"),
    ("running", "finish", "finished"),
    ("running", "cancel", "cancelled"),
    ("paused", "cancel", "cancelled"),
    ("finished", "restart", "running"),
    ("cancelled", "restart", "running"),
)
_STANDING_JOB = """
with made as (
    insert into jobs (name, kind, state, priority, created_by)
    select 'standing', 'standing', 'running', 10, id from members where name = 'system'
    returning id
)
insert into runs (job_id) select id from made;
"""


def upgrade() -> None:
    op.execute(_JOBS)
    op.execute(_PAGES)
    for n in range(16):
        op.execute(f"create table pages_{n:02} partition of pages for values with (modulus 16, remainder {n})")
    op.execute(_DROP_FUNCTIONS)
    op.execute(_OLDER_TABLES)
    op.execute(_FUNCTIONS.format(held="when d.is_held then 'held'"))
    guard_machine("job", table="jobs", column="state", moves=_JOB)
    op.execute(_STANDING_JOB)


def downgrade() -> None:
    op.execute(_DROP_FUNCTIONS)
    op.execute("""
        alter table domains drop column last_run_id, drop column is_held;
        alter table crawl_queue drop column run_id;
        alter table domain_progress drop column pages_failed, drop column pages_refused, drop column requests_made,
            drop column bytes_fetched, drop column outlinks_found, drop column last_request_at;
        drop view page_states;
    """)
    op.execute(_FUNCTIONS.format(held=""))
    unguard_machine("job", table="jobs")
    op.execute("drop table packs, outlinks, parse_queue, fetch_log, pages, run_domains, runs, job_domains, jobs")
