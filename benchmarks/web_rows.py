"""A registry as it is after years, made by SQL: what `benchmarks/web.py` looks at. Nothing here is measured."""

import time

from sqlalchemy import text

from bailiwick.accounts.members import local_admin
from bailiwick.crawl import upkeep
from bailiwick.db.engine import Database

HUGE, CLEAN, SUBMITTER = "huge.example.org", "clean.example.org", "patient"
"""A domain with all there can be, one of which no fetch failed, and a member who handed in very many."""
WORKERS = 100
MEMBERS = 300

# In shares that depend on each other as they do in life: what was never approved was never crawled, what was never
# crawled has no standing. So there are combinations of two common states that no domain is in. Two in five are of no
# seed list and have one and the same priority; an import of 20,000 is one moment.
_DOMAINS = """
insert into domains (name, site, shared_key, approval, standing, crawl, submitted_by, submitter_type, source, seed_rank,
    priority_score, image_yield_rate, pages_discovered, pages_crawled, first_seen_at, last_crawled_at, next_crawl_after,
    submission_context, review_reason, block_reason, blacklist_reason, blacklisted_by, blacklisted_at, no_funds_year,
    failure_reason)
select label || ending, label || ending, label || ending, approval, standing, crawl,
    case when n % 20 = 0 then (select id from members where name = :submitter)
         when n % 20 = 1 then (select min(id) from members) + n % 200 else (select min(id) from members) end,
    case when n % 20 < 2 then 'public_user' else 'admin' end,
    case when n % 1009 = 0 then 'partner' when l < 600 then 'tranco' end, case when l < 600 then n end,
    case when l < 600 then 100 + (n * 48271 % 900)::int else 50 end,
    case when crawl <> 'pending' then (n * 69621 % 311) / 100.0 end,
    case when crawl <> 'pending' then n % 700 else 0 end, case when crawl <> 'pending' then n % 500 else 0 end,
    at - (n / 20000) * interval '1 day' - case when n % 20 < 2 then n % 80000 * interval '1 second' else '0' end,
    case when crawl <> 'pending' then at - n * 7 % 8009 * interval '20 minutes' end,
    case when crawl in ('exhausted', 'blocked', 'unreachable') then at + (1 + n % 401) * interval '1 hour' end,
    case when n % 20 < 2 then 'They show what they make, and may be of use to us.' end,
    'not what we look for', 'status 403', 'spam', 1, at, 2099, 'no answer of the model'
from generate_series(1, :domains ::bigint) as n,
    lateral (select bailiwick_now() as at, n * 7919 % 1000003 % 1000 as a, n * 10007 % 999983 % 1000 as s,
                    n * 104729 % 1000033 % 1000 as c, n * 1299709 % 1000037 % 1000 as l) as dice,
    lateral (select case when a < 850 then 'approved' when a < 950 then 'pending_review' when a < 990 then 'rejected'
                         else 'suspended' end as approval) as x,
    lateral (select case when a >= 850 and a < 990 or c < 500 then 'pending' when c < 560 then 'active'
                         when c < 930 then 'exhausted' when c < 990 then 'blocked'
                         else 'unreachable' end as crawl) as y,
    lateral (select case when s >= 995 then 'blacklisted' when crawl in ('pending', 'unreachable') or s < 700
                         then 'discovered' when s < 850 then 'processed_high_quality'
                         when s < 950 then 'processed_low_quality' when s < 970 then 'processing'
                         when s < 980 then 'no_funds_this_year' else 'processing_failed' end as standing) as z,
    lateral (select case when n % 5 = 0 then 'blog.' when n % 50 = 1 then 'shop.' else '' end
                    || translate(substr(md5(n::text), 1, 9), '0123456789', 'qrstuvwxyz') || to_hex(n) as label,
                    case when n % 101 = 0 then '.github.io' else (array['.com', '.org', '.net', '.de', '.io', '.fr'])
                         [1 + n % 6] end as ending) as named
"""
_QUEUE = """
insert into crawl_queue (domain_id, key_hash, prio, is_new, lease_no, worker, wake_at, ready_key)
select d.id, hashtextextended(d.shared_key, 0), prio, d.crawl = 'pending', 1,
    case when leased then 'machine-' || d.id % :workers || '/boot/' || d.id % :workers || '/0' end,
    case when leased then at + (d.id % 1800) * interval '1 second' else domain_wakes_at(d, refusal) end,
    case when refusal is null and not leased then domain_ready_key(d, prio) end
from domains as d, lateral (select bailiwick_now() as at, (d.priority_score / 40)::smallint as prio) as v,
     lateral (select domain_refusal(d, at) as refusal) as r,
     lateral (select refusal is null and d.crawl = 'active' as leased) as w
"""
# Three domains with 200,000 pages each and very long logs, and some thousand with fifty.
_PAGES = """
insert into pages (domain_id, path_hash, path, state, priority, depth, next_at, last_fetched_at, last_status,
    last_outcome, last_error)
select d.id, hashtextextended(d.id || '/' || n, 0), '/section-' || n % 97 || '/a-page-of-' || n,
       case when n % 20 < 10 then 'pending' when n % 20 < 19 then 'fetched' else 'failed' end,
       case when n % 50 = 0 then 1 else 5 end, n % 7, bailiwick_now() + n % 100 * interval '1 hour',
       case when n % 20 >= 10 then bailiwick_now() - interval '1 day' end, case when n % 20 >= 10 then 200 end,
       case when n % 20 >= 19 then 'timeout' when n % 20 >= 10 then 'ok' end,
       case when n % 20 >= 19 then 'nothing within 30 seconds' end
from domains as d, generate_series(1, 200000) as n
where d.id <= 3 and n <= :huge or d.id % 250 = 0 and n <= 50
"""
_LOG = """
insert into fetch_log (fetched_at, domain_id, path_hash, run_id, lease_no, status, outcome, bytes, milliseconds)
select bailiwick_now() - n * interval '3 seconds', d.id, hashtextextended(d.id || '/' || 1 + n % 50, 0), 1, 1, 200,
       case when d.id <> 2 and n % 20 = 19 then 'timeout' else 'ok' end, 30000 + n % 9000, 20 + n % 700
from domains as d, generate_series(1, 600000) as n
where d.id <= 3 and n <= 3 * :huge or d.id % 250 = 0 and n <= 50
"""
_REFUSED = """
insert into refused_links (domain_id, path_hash, path, rule)
select d.id, hashtextextended(n::text, 7), '/calendar?day=' || n, (array['calendar', 'too_deep', 'query'])[1 + n % 3]
from domains as d, generate_series(1, 200000) as n where d.id <= 3 and n <= :huge
"""
_EVENTS = """
insert into events (actor_id, subject_kind, subject_id, subject_name, machine, verb, before, after, reason)
select (select min(id) from members), 'domain', d.id, d.name, 'approval', 'approve', '"pending_review"', '"approved"',
       'looked at it'
from domains as d, generate_series(1, 5000) as n where d.id <= 3 or d.id % 5 = 0 and n = 1
"""
_MEMBERS = """
insert into members (name, role, state)
select 'member-' || n, (array['submitter', 'viewer', 'reviewer'])[1 + n % 3], 'active'
from generate_series(1, :members) as n
union all select :submitter, 'submitter', 'active'
"""
FIGURES = """
jsonb_build_object('pages', n * 1000 + :step, 'errors', n + :step, 'bytes', n::bigint * 30000000,
    'open', 600 + (:step + n) % 90, 'rate', 20 + (:step * 7 + n) % 40, 'waiting', 40000 + :step,
    'outcomes', jsonb_build_object('ok', 900 * n + :step, 'not_found', 50 + n, 'timeout', 9 + n, 'forbidden', n,
        'server_error', 7, 'moved', 120, 'too_large', 3))
"""
_WORKERS = f"""
insert into workers (name, machine, boot, pid, process_started, figures)
select 'machine-' || n || '/boot/' || n || '/0', 'machine-' || n, 'boot', n, 0, {FIGURES}
from generate_series(0, :workers - 1) as n
"""
_HUGE = """
update domains set name = :huge_name, approval = 'approved', crawl = 'active', standing = 'discovered',
    pages_discovered = :huge, submitted_by = (select id from members where name = :submitter) where id = 1
"""
_CLEAN = """
update domains set name = :clean_name, approval = 'approved', crawl = 'active', standing = 'discovered' where id = 2
"""
_JOBS = """
insert into jobs (name, state, created_by)
select 'job ' || n, 'finished', (select min(id) from members) from generate_series(1, 300) as n
"""
_RUNS = "insert into runs (job_id, ended_at) select id, bailiwick_now() from jobs"
_RUN_DOMAINS = """
insert into run_domains (run_id, domain_id, max_depth, pages_done, stop_reason, ended_at)
select r.id, d.id, 3, 900, 'page_budget', bailiwick_now() from runs as r, domains as d
where d.id <= 3 or d.id % 1000 = r.id
"""
_PROGRESS = """
insert into domain_progress (domain_id, pages_discovered, pages_crawled)
select id, pages_discovered, pages_crawled from domains where crawl <> 'pending'
"""
_MEMORY = """
insert into domain_memory (domain_id, refusals)
select id, '{"calendar": 90211, "too_deep": 71093, "query": 3000}' from domains where id <= 3
"""


def fill(database: Database, *, domains: int, huge: int) -> None:
    """All of it. In states that only moves lead to: triggers and references are not asked."""
    values = {
        "domains": domains, "huge": huge, "huge_name": HUGE, "clean_name": CLEAN, "submitter": SUBMITTER,
        "workers": WORKERS, "members": MEMBERS, "step": 0,
    }  # fmt: skip
    with database.begin() as conn:
        local_admin(conn)
        upkeep.run_once(conn)
    steps = (
        _MEMBERS, _DOMAINS, _HUGE, _CLEAN, _QUEUE, _PROGRESS, _PAGES, _LOG, _REFUSED, _EVENTS, _WORKERS, _JOBS, _RUNS,
        _RUN_DOMAINS, _MEMORY,
    )  # fmt: skip
    begun = time.perf_counter()
    for step in steps:
        with database.bare() as conn:
            conn.execute(text("set local session_replication_role = replica"))
            conn.execute(text("set local synchronous_commit = off"))
            conn.execute(text(step), values)
    with database.connect() as raw:
        raw.autocommit = True
        raw.execute("vacuum analyze")
        raw.execute("checkpoint")
    print(f"{domains:,} domains made in {time.perf_counter() - begun:.0f} s")
