-- What the lease holder reads and writes. Lock order: crawl_queue, domain_progress, domains.

-- name: hold
-- The first statement of a flush: lock the rows of leases that are still ours, in id order, and count the flush where
-- it is the next one. A retry after a lost COMMIT finds its number there already; any other number is no flush of ours.
with asked as (
    select * from unnest(%(ids)s::bigint[], %(lease_nos)s::int[], %(flush_nos)s::int[]) as a(domain_id, lease_no, flush_no)
), held as materialized (
    select q.domain_id, q.flush_no as flushed, a.flush_no, q.wanted
    from asked as a join crawl_queue as q on q.domain_id = a.domain_id and q.lease_no = a.lease_no
    where q.worker = %(worker)s and q.wake_at > bailiwick_now() and q.flush_no in (a.flush_no - 1, a.flush_no)
    order by q.domain_id
    for update of q
), counted as (
    update crawl_queue as q set flush_no = h.flush_no from held as h
    where q.domain_id = h.domain_id and h.flushed = h.flush_no - 1
)
select domain_id, flushed < flush_no as is_next from held

-- name: write_pages
update pages as p
set state = case u.effect when 'failed' then 'failed' when 'retry' then p.state else 'fetched' end,
    retries = case u.effect when 'retry' then u.retries else 0 end,
    next_at = case when u.wait_seconds is null then null
                   else bailiwick_now() + make_interval(secs => u.wait_seconds) end,
    last_fetched_at = bailiwick_now() - make_interval(secs => u.age_seconds),
    last_status = u.status, last_outcome = u.outcome, last_error = u.error,
    fetch_count = p.fetch_count + 1,
    etag = case when u.effect in ('changed', 'same') then u.etag else p.etag end,
    last_modified = case when u.effect in ('changed', 'same') then u.last_modified else p.last_modified end,
    content_type = case u.effect when 'changed' then u.content_type else p.content_type end,
    is_noindex = case u.effect when 'changed' then u.is_noindex else p.is_noindex end,
    canonical = case u.effect when 'changed' then u.canonical else p.canonical end,
    change_count = p.change_count + (u.effect = 'changed' and p.last_changed_at is not null)::int,
    last_changed_at = case u.effect when 'changed' then bailiwick_now() else p.last_changed_at end,
    body_hash = case u.effect when 'changed' then u.body_hash else p.body_hash end,
    text_hash = case u.effect when 'changed' then u.text_hash else p.text_hash end,
    pack_id = case u.effect when 'changed' then u.pack_id else p.pack_id end,
    pack_offset = case u.effect when 'changed' then u.pack_offset else p.pack_offset end,
    pack_length = case u.effect when 'changed' then u.pack_length else p.pack_length end
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(effect)b::text[], %(retries)s::smallint[],
            %(wait_seconds)s::float8[], %(age_seconds)s::float8[], %(status)s::smallint[], %(outcome)b::text[],
            %(error)b::text[], %(etag)b::text[], %(last_modified)b::text[], %(content_type)b::text[],
            %(is_noindex)s::boolean[], %(canonical)b::text[], %(body_hash)b::bytea[], %(text_hash)s::bigint[],
            %(pack_id)s::bigint[], %(pack_offset)s::bigint[], %(pack_length)s::int[])
     as u(domain_id, path_hash, effect, retries, wait_seconds, age_seconds, status, outcome, error, etag,
          last_modified, content_type, is_noindex, canonical, body_hash, text_hash, pack_id, pack_offset, pack_length)
where p.domain_id = u.domain_id and p.path_hash = u.path_hash

-- name: end_products
update products as t set gone_at = bailiwick_now()
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
where t.domain_id = n.d and t.path_hash = n.p and t.gone_at is null

-- name: revive_products
update products as t set gone_at = null
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
join page_parses as c on c.domain_id = n.d and c.path_hash = n.p
where t.domain_id = n.d and t.path_hash = n.p and t.gone_at is not null
  and exists (select 1 from items as i where i.id = t.item_id and i.snapshot_id = c.snapshot_id)

-- name: add_pages
-- New links, sorted so that neighbours in the index are written together. A shorter way to a waiting page counts.
with added as (
    insert into pages as p (domain_id, path_hash, path, depth, priority, referrer_hash, next_at)
    select domain_id, path_hash, path, depth, priority, referrer_hash, bailiwick_now()
    from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(path)b::text[], %(depth)s::int[],
                %(priority)s::smallint[], %(referrer)s::bigint[])
         as n(domain_id, path_hash, path, depth, priority, referrer_hash)
    order by domain_id, path_hash
    on conflict (domain_id, path_hash) do update set depth = excluded.depth
        where p.depth > excluded.depth and p.state = 'pending' and p.path = excluded.path
    returning p.domain_id, p.first_seen_at = bailiwick_now() as is_new
)
select domain_id, count(*) from added where is_new group by domain_id

-- name: add_log
insert into fetch_log (fetched_at, domain_id, path_hash, run_id, lease_no, status, outcome, bytes, milliseconds,
                       images_found)
select bailiwick_now() - make_interval(secs => age_seconds), domain_id, path_hash, run_id, lease_no, status, outcome,
       bytes, milliseconds, images
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(run_id)s::bigint[], %(lease_no)s::int[],
            %(status)s::smallint[], %(outcome)b::text[], %(bytes)s::bigint[], %(milliseconds)s::int[],
            %(images)s::int[], %(age_seconds)s::float8[])
     as l(domain_id, path_hash, run_id, lease_no, status, outcome, bytes, milliseconds, images, age_seconds)

-- name: queue_parse
insert into parse_queue as q (domain_id, path_hash, body_hash)
select * from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(body_hash)b::bytea[]) as n(d, p, b)
order by d, p
on conflict (domain_id, path_hash) do update set body_hash = excluded.body_hash, queued_at = excluded.queued_at,
    worker = null, claimed_until = null, attempts = 0

-- name: unqueue_parse
-- The body that waited is the page's no longer, and what took its place is not parsed.
delete from parse_queue as q using unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
where q.domain_id = n.d and q.path_hash = n.p

-- name: add_outlinks
with added as (
    insert into outlinks (domain_id, url_hash, target, path, anchor, from_hash)
    select * from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(target)b::text[], %(path)b::text[],
                         %(anchor)b::text[], %(from_hash)s::bigint[]) as n(d, u, t, p, a, f)
    order by d, u
    on conflict do nothing
    returning domain_id
)
select domain_id, count(*) from added group by domain_id

-- name: add_progress
update domain_progress as p
set pages_discovered = p.pages_discovered + u.discovered, pages_crawled = p.pages_crawled + u.crawled,
    pages_waiting = greatest(p.pages_waiting + u.waiting, 0), pages_failed = greatest(p.pages_failed + u.failed, 0),
    pages_refused = p.pages_refused + u.refused, images_found = p.images_found + u.images,
    crawl_depth_reached = greatest(p.crawl_depth_reached, u.depth),
    total_error_count = p.total_error_count + u.errors, consecutive_error_count = u.errors_in_row,
    requests_made = p.requests_made + u.requests, bytes_fetched = p.bytes_fetched + u.bytes,
    outlinks_found = p.outlinks_found + u.outlinks,
    -- Ago from now, not from the start of a transaction that may have waited for a lock since.
    last_request_at = coalesce(bailiwick_now() + (clock_timestamp() - now()) - make_interval(secs => u.sent_ago),
                               p.last_request_at),
    updated_at = bailiwick_now()
from unnest(%(domain_id)s::bigint[], %(discovered)s::bigint[], %(crawled)s::bigint[], %(waiting)s::bigint[],
            %(failed)s::bigint[], %(refused)s::bigint[], %(images)s::bigint[], %(depth)s::int[], %(errors)s::bigint[],
            %(errors_in_row)s::bigint[], %(requests)s::bigint[], %(bytes)s::bigint[], %(outlinks)s::bigint[],
            %(sent_ago)s::float8[])
     as u(domain_id, discovered, crawled, waiting, failed, refused, images, depth, errors, errors_in_row, requests,
          bytes, outlinks, sent_ago)
where p.domain_id = u.domain_id

-- name: add_run
update run_domains as r
set pages_done = r.pages_done + u.crawled, requests_done = r.requests_done + u.requests,
    error_count = r.error_count + u.errors, bytes_fetched = r.bytes_fetched + u.bytes
from unnest(%(domain_id)s::bigint[], %(run_id)s::bigint[], %(crawled)s::bigint[], %(requests)s::bigint[],
            %(errors)s::bigint[], %(bytes)s::bigint[]) as u(domain_id, run_id, crawled, requests, errors, bytes)
where r.run_id = u.run_id and r.domain_id = u.domain_id

-- name: tell
insert into outbox (topic, subject_kind, subject_id, payload)
select 'page_fetched', 'page', domain_id, jsonb_build_object('path', path, 'status', status, 'hash', encode(hash, 'hex'))
from unnest(%(domain_id)s::bigint[], %(path)b::text[], %(status)s::smallint[], %(hash)b::bytea[])
     as m(domain_id, path, status, hash)

-- name: learn_origin
update domains as d set base_url = u.base_url
from unnest(%(domain_id)s::bigint[], %(base_url)b::text[]) as u(domain_id, base_url)
where d.id = u.domain_id and d.base_url is distinct from u.base_url

-- name: offer
-- A redirect out of the domain: wanted of its own domain, if that is approved.
insert into page_requests (domain_id, kind, path, priority, asked_by)
select distinct d.id, 'redirect', o.path, 5, %(system)s::bigint
from unnest(%(target)b::text[], %(path)b::text[]) as o(target, path)
join domains as d on d.name = o.target and d.approval = 'approved' and d.standing <> 'blacklisted'
order by 1, 3
on conflict do nothing

-- name: take
-- The next pages of each domain, breadth first by priority: a plain read, nothing is locked or written.
-- Each priority is a range of its own in the index, so that waiting pages below the depth limit are never read.
-- What was due when it was found is due, whatever the clock says now: it may have been set back since.
select w.domain_id, p.*
from unnest(%(ids)s::bigint[], %(most)s::int[], %(max_depth)s::int[]) as w(domain_id, most, max_depth)
cross join lateral (
    (select n.* from generate_series(1, 10) as step(priority)
     cross join lateral (
         select path_hash, path, depth, priority, retries, state, etag, last_modified, body_hash, text_hash
         from pages
         where domain_id = w.domain_id and state = 'pending' and priority = step.priority and depth <= w.max_depth
           and (next_at <= bailiwick_now() or (retries = 0 and next_at <= first_seen_at))
         order by depth, path_hash limit w.most) as n
     limit w.most)
    union all
    (select path_hash, path, depth, priority, retries, state, etag, last_modified, body_hash, text_hash
     from pages
     where domain_id = w.domain_id and state <> 'pending' and next_at <= bailiwick_now() and depth <= w.max_depth
     order by next_at limit w.most)
) as p

-- name: outlook
-- What is left of domains whose frontier gives nothing now: waiting pages that are too deep, and the next retry.
select w.domain_id,
       exists (select 1 from generate_series(1, 10) as step(priority)
               cross join lateral (
                   select 1 from pages where domain_id = w.domain_id and state = 'pending'
                     and priority = step.priority and depth > w.max_depth limit 1) as deeper) as has_deeper,
       (select extract(epoch from min(n.next_at) - bailiwick_now())::float8
        from generate_series(1, 10) as step(priority)
        cross join lateral (
            select case when retries = 0 and next_at <= first_seen_at then least(next_at, bailiwick_now())
                        else next_at end as next_at
            from pages where domain_id = w.domain_id and state = 'pending'
              and priority = step.priority and depth <= w.max_depth) as n) as next_in
from unnest(%(ids)s::bigint[], %(max_depth)s::int[]) as w(domain_id, max_depth)

-- name: seed_homes
-- The home page of domains that have no page yet.
with added as (
    insert into pages (domain_id, path_hash, path, priority, next_at)
    select id, %(path_hash)s, '/', 1, bailiwick_now() from unnest(%(ids)s::bigint[]) as n(id) order by id
    on conflict do nothing
    returning domain_id
)
update domain_progress as p
set pages_discovered = p.pages_discovered + 1, pages_waiting = p.pages_waiting + 1
from added as a where p.domain_id = a.domain_id

-- name: try_again
-- Domains that were blocked and whose time has come: the pages that spoke against them are due once more.
with again as (
    select p.domain_id, p.path_hash from domains as d
    join lateral (select * from pages where domain_id = d.id and state = 'failed' offset 0) as p on true
    where d.id = any(%(ids)s::bigint[]) and d.block_retries > 0
      and p.next_at is null and p.last_outcome = any(%(outcomes)b::text[])
)
update pages as p set next_at = bailiwick_now(), retries = 0
from again as a where p.domain_id = a.domain_id and p.path_hash = a.path_hash

-- name: progress_of
-- What was sent to the host's default port counts for its other ports, too; what was sent to those is in its gate.
-- A clock that was set back makes no pause longer than it was when it was written; so everywhere below.
select p.domain_id, p.pages_discovered, p.pages_waiting, p.pages_failed, p.consecutive_error_count, p.outlinks_found,
       greatest(extract(epoch from bailiwick_now() - greatest(p.last_request_at, o.last_request_at)), 0)::float8
           as sent_ago,
       d.scrape_frequency_hours,
       extract(epoch from g.next_at - greatest(bailiwick_now(), g.updated_at))::float8 as reserved_seconds
from domain_progress as p join domains as d on d.id = p.domain_id
cross join lateral (select regexp_replace(d.name, ':[0-9]+$', '') as host) as n
left join host_gates as g on g.host = n.host
left join domains as plain on plain.name = n.host and plain.id <> d.id
left join domain_progress as o on o.domain_id = plain.id
where p.domain_id = any(%(ids)s::bigint[])

-- name: control
-- What is wanted of the domains we hold, without a lock: a lease that is no longer ours is missing.
-- The job's own state comes first: whoever edits a domain that another job wants too sets its row to `run` again.
select q.domain_id, case j.state when 'paused' then 'pause' when 'cancelled' then 'stop' else q.wanted end as wanted,
       domain_refusal(d, bailiwick_now()) as refusal
from unnest(%(ids)s::bigint[], %(lease_nos)s::int[]) as l(domain_id, lease_no)
join crawl_queue as q using (domain_id, lease_no)
join domains as d on d.id = q.domain_id
left join runs as r on r.id = q.run_id
left join jobs as j on j.id = r.job_id
where q.worker = %(worker)s and q.wake_at > bailiwick_now()

-- name: claimable_of
-- Domains that these jobs still want and that could be leased now, in turn from a place on. A sub-select, not a join:
-- the queue is probed for as many as are wanted, whatever the planner believes about it.
select jd.domain_id from job_domains as jd
where jd.job_id = any(%(jobs)s::bigint[]) and jd.is_open and jd.domain_id > %(after)s
  and (select q.ready_key is not null from crawl_queue as q where q.domain_id = jd.domain_id)
order by jd.domain_id limit %(limit)s

-- name: left_of
-- Whether these jobs have anything that a worker is at, or could be at without anybody's decision.
select count(*) filter (where q.worker is not null) as leased,
       count(*) filter (where q.ready_key is not null or q.is_parked or q.wake_at <= bailiwick_now()) as ready
from job_domains as jd join crawl_queue as q on q.domain_id = jd.domain_id
where jd.job_id = any(%(jobs)s::bigint[]) and jd.is_open

-- name: requests_for
select id, domain_id, kind, path, priority from page_requests
where domain_id = any(%(ids)s::bigint[]) and kind in ('submitted', 'redirect', 'recrawl', 'evaluation')
order by id limit %(limit)s

-- name: admit_requested
-- Pages that were asked for: new ones at depth 0; known ones are due now.
with asked as (
    select * from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(path)b::text[], %(priority)s::smallint[])
        as a(domain_id, path_hash, path, priority)
), written as (
    insert into pages as p (domain_id, path_hash, path, priority, next_at)
    select domain_id, path_hash, path, min(priority), bailiwick_now() from asked
    group by domain_id, path_hash, path order by 1, 2
    on conflict (domain_id, path_hash) do update
        set next_at = bailiwick_now(), priority = least(p.priority, excluded.priority), depth = 0, retries = 0
    returning p.domain_id, p.first_seen_at = bailiwick_now() as is_new
), counted as (
    select domain_id, count(*) filter (where is_new) as fresh from written group by domain_id
)
update domain_progress as p
set pages_discovered = p.pages_discovered + c.fresh, pages_waiting = p.pages_waiting + c.fresh
from counted as c where p.domain_id = c.domain_id

-- name: recrawl
-- All known pages of a domain are due now, a bounded number at a time; failed ones get another chance.
with due as (
    select p.domain_id, p.path_hash from pages as p
    where p.domain_id = %(domain_id)s and p.state <> 'pending'
      and (p.next_at is null or p.next_at > bailiwick_now())
      and (p.last_fetched_at is null  -- refused until now
           or p.last_fetched_at < (select asked_at from page_requests where id = %(request_id)s))
    limit %(limit)s
)
update pages as p set next_at = bailiwick_now(), retries = 0
from due where p.domain_id = due.domain_id and p.path_hash = due.path_hash

-- name: forget_requests
delete from page_requests where id = any(%(ids)s::bigint[])

-- name: rehold
-- A domain that only paused jobs want is held: nobody crawls it, the standing job neither.
with judged as (
    select n.id, exists (select 1 from job_domains as jd join jobs as j on j.id = jd.job_id
                         where jd.domain_id = n.id and jd.is_open and j.state = 'paused')
             and not exists (select 1 from job_domains as jd join jobs as j on j.id = jd.job_id
                             where jd.domain_id = n.id and jd.is_open and j.state = 'running') as is_held
    from unnest(%(ids)s::bigint[]) as n(id)
)
update domains as d set is_held = j.is_held from judged as j where d.id = j.id and d.is_held <> j.is_held

-- name: wake_resting
-- A person asks for more of domains that are not done: they do not rest any longer.
update domains set next_crawl_after = null
where id = any(%(ids)s::bigint[]) and crawl in ('pending', 'active') and next_crawl_after is not null

-- name: wake_wanted
-- Partly crawled domains with which one job is done and another is not: they do not rest either.
update domains as d set next_crawl_after = null
where d.id = any(%(ids)s::bigint[]) and d.crawl = 'active' and d.next_crawl_after is not null
  and exists (select 1 from job_domains as jd join jobs as j on j.id = jd.job_id
              where jd.domain_id = d.id and jd.is_open and j.state in ('running', 'paused'))

-- name: put_to_rest
-- Domains that nobody wants any more are due when a fully crawled one would be.
update domains as d
set next_crawl_after = greatest(d.next_crawl_after, bailiwick_now() + coalesce(
        make_interval(hours => d.scrape_frequency_hours), make_interval(secs => %(rest_seconds)s)))
where d.id = any(%(ids)s::bigint[]) and d.crawl in ('pending', 'active')
  and not exists (select 1 from job_domains as jd join jobs as j on j.id = jd.job_id
                  where jd.domain_id = d.id and jd.is_open and j.state in ('running', 'paused'))

-- name: rest_cancelled
-- A slice that ended before it heard that its job was cancelled: its domain rests all the same.
update domains as d
set next_crawl_after = bailiwick_now() + coalesce(make_interval(hours => d.scrape_frequency_hours),
                                                  make_interval(secs => %(rest_seconds)s))
from unnest(%(ids)s::bigint[], %(run_ids)s::bigint[]) as e(domain_id, run_id)
join runs as r on r.id = e.run_id join jobs as j on j.id = r.job_id
where d.id = e.domain_id and j.state = 'cancelled' and d.crawl in ('pending', 'active')
  and (d.next_crawl_after is null or d.next_crawl_after <= bailiwick_now())
  and not exists (select 1 from job_domains as jd join jobs as other on other.id = jd.job_id
                  where jd.domain_id = d.id and jd.is_open and other.state in ('running', 'paused'))

-- name: ask_lease_holders
update crawl_queue as q set wanted = %(wanted)s
from runs as r where r.job_id = %(job_id)s and q.run_id = r.id and q.worker is not null
  and q.domain_id = any(%(ids)s::bigint[])

-- name: job_for
-- The most urgent running job that wants each of these domains.
select distinct on (jd.domain_id) jd.domain_id, jd.job_id, j.options
from job_domains as jd join jobs as j on j.id = jd.job_id
where jd.domain_id = any(%(ids)s::bigint[]) and jd.is_open and j.state = 'running'
  and (%(jobs)s::bigint[] is null or j.id = any(%(jobs)s::bigint[]))
order by jd.domain_id, j.priority, j.id

-- name: open_run_of
-- The unfinished execution of each of these jobs on its domain.
select distinct on (a.domain_id) a.domain_id, rd.run_id
from unnest(%(ids)s::bigint[], %(job_ids)s::bigint[]) as a(domain_id, job_id)
join run_domains as rd on rd.domain_id = a.domain_id and rd.ended_at is null
join runs as r on r.id = rd.run_id and r.job_id = a.job_id
order by a.domain_id, rd.run_id desc

-- name: join_run
-- Put domains into the newest unfinished run of their job, unless they were in it before.
insert into run_domains (run_id, domain_id, page_budget, request_budget, max_depth)
select r.id, a.domain_id, a.page_budget, a.request_budget, a.max_depth
from unnest(%(ids)s::bigint[], %(job_ids)s::bigint[], %(page_budget)s::bigint[], %(request_budget)s::bigint[],
            %(max_depth)s::int[]) as a(domain_id, job_id, page_budget, request_budget, max_depth)
join lateral (select id from runs where job_id = a.job_id and ended_at is null order by id desc limit 1) as r on true
order by r.id, a.domain_id
on conflict do nothing
returning domain_id, run_id

-- name: run_rows
select rd.*, r.job_id from run_domains as rd join runs as r on r.id = rd.run_id
where (rd.domain_id, rd.run_id) in (select * from unnest(%(ids)s::bigint[], %(run_ids)s::bigint[]))

-- name: serve_runs
update crawl_queue as q set run_id = a.run_id
from unnest(%(ids)s::bigint[], %(run_ids)s::bigint[]) as a(domain_id, run_id) where q.domain_id = a.domain_id

-- name: end_runs
-- What a slice came to for its run; a reason that ends it also ends the domain's part in the job.
with ended as (
    select * from unnest(%(ids)s::bigint[], %(run_ids)s::bigint[], %(reasons)b::text[], %(is_end)s::boolean[])
        as e(domain_id, run_id, reason, is_end)
), written as (
    update run_domains as r
    set stop_reason = e.reason, ended_at = case when e.is_end then coalesce(r.ended_at, bailiwick_now()) end
    from ended as e where r.run_id = e.run_id and r.domain_id = e.domain_id and r.ended_at is null
    returning r.run_id, r.domain_id, r.ended_at
), closed as (
    update job_domains as jd set is_open = false
    from written as w join runs as r on r.id = w.run_id
    where w.ended_at is not null and jd.job_id = r.job_id and jd.domain_id = w.domain_id
), linked as (
    update domains as d set last_run_id = r.id
    from ended as e join runs as r on r.id = e.run_id where d.id = e.domain_id
)
select distinct r.job_id from written as w join runs as r on r.id = w.run_id where w.ended_at is not null

-- name: finish_runs
-- Runs of these jobs in which no domain is open any more. The newest one of the standing job goes on for ever.
update runs as r set ended_at = bailiwick_now()
from jobs as j
where r.job_id = any(%(job_ids)s::bigint[]) and j.id = r.job_id and r.ended_at is null
  and not exists (select 1 from run_domains as rd where rd.run_id = r.id and rd.ended_at is null)
  and (j.kind <> 'standing' or exists (select 1 from runs as newer where newer.job_id = r.job_id and newer.id > r.id))
  and not (j.kind <> 'standing' and exists (
      select 1 from job_domains as jd where jd.job_id = j.id and jd.is_open))

-- name: lock_jobs
-- Of two last releases the later one waits here; what it asks next shows what the other one closed.
select id from jobs where id = any(%(job_ids)s::bigint[]) and kind <> 'standing' order by id for no key update

-- name: finished_jobs
select j.id, j.version from jobs as j
where j.id = any(%(job_ids)s::bigint[]) and j.kind <> 'standing' and j.state = 'running'
  and not exists (select 1 from job_domains as jd where jd.job_id = j.id and jd.is_open)
order by j.id

-- name: site_hosts
-- Hosts of a domain's site that its pages link to and that its job does not want yet, with pages there.
select o.target, (array_agg(o.path order by o.first_seen_at, o.path))[1:%(paths)s] as paths
from outlinks as o
where o.domain_id = %(domain_id)s and (o.target = %(site)s or o.target like %(under)s)
  and not exists (select 1 from domains as d join job_domains as jd on jd.domain_id = d.id
                  where d.name = o.target and jd.job_id = %(job_id)s)
group by o.target order by o.target limit %(hosts)s

-- name: refuse_pages
-- Pages that a rule forbids: no request was made. They are looked at again when the domain is.
update pages as p
set state = 'failed', retries = 0, last_outcome = u.rule, last_status = null, last_error = u.why,
    next_at = bailiwick_now() + make_interval(secs => u.wait_seconds)
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(rule)b::text[], %(why)b::text[],
            %(wait_seconds)s::float8[]) as u(domain_id, path_hash, rule, why, wait_seconds)
where p.domain_id = u.domain_id and p.path_hash = u.path_hash

-- name: remember
insert into domain_memory as m (domain_id, traps, refusals, not_before, backoffs, patterns)
select domain_id, coalesce(traps::jsonb, '{}'::jsonb), refusals::jsonb,
       bailiwick_now() + make_interval(secs => nullif(held_seconds, 0)), backoffs, patterns
from unnest(%(domain_id)s::bigint[], %(traps)b::text[], %(refusals)b::text[], %(held_seconds)s::float8[],
            %(backoffs)s::smallint[], %(patterns)b::text[])
     as n(domain_id, traps, refusals, held_seconds, backoffs, patterns)
order by domain_id
on conflict (domain_id) do update
    set traps = case when excluded.traps = '{}'::jsonb then m.traps else excluded.traps end,
        refusals = add_counts(m.refusals, excluded.refusals), not_before = excluded.not_before,
        backoffs = excluded.backoffs, patterns = excluded.patterns, updated_at = bailiwick_now()

-- name: memory_of
-- A row for each, also where nothing is remembered.
select n.domain_id, coalesce(m.traps, '{}'::jsonb) as traps, coalesce(m.backoffs, 0) as backoffs,
       greatest(extract(epoch from m.not_before - greatest(bailiwick_now(), m.updated_at)), 0)::float8 as held_seconds,
       (select count(*) from refused_links as r where r.domain_id = m.domain_id) as refused_links
from unnest(%(ids)s::bigint[]) as n(domain_id) left join domain_memory as m on m.domain_id = n.domain_id

-- name: readmit
-- Pages that other patterns than the job's kept back are looked at again.
update pages as p set next_at = bailiwick_now(), retries = 0
from unnest(%(ids)s::bigint[], %(patterns)b::text[]) as n(domain_id, patterns)
join domain_memory as m on m.domain_id = n.domain_id and m.patterns <> n.patterns
where p.domain_id = m.domain_id and p.state = 'failed' and p.last_outcome in ('excluded', 'not_included')

-- name: keep_refused
insert into refused_links (domain_id, path_hash, path, rule, from_hash)
select * from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(path)b::text[], %(rule)b::text[],
                     %(from_hash)s::bigint[]) as n(d, h, p, r, f)
order by d, h
on conflict (domain_id, path_hash) do update set rule = excluded.rule, refused_at = bailiwick_now()

-- name: keep_robots
insert into robots_cache as r (origin, kind, status, body, error, expires_at)
select origin, kind, status, body, error, bailiwick_now() + make_interval(secs => expires_seconds)
from unnest(%(origin)b::text[], %(kind)b::text[], %(status)s::smallint[], %(body)b::text[], %(error)b::text[],
            %(expires_seconds)s::float8[]) as n(origin, kind, status, body, error, expires_seconds)
order by origin
on conflict (origin) do update
    set kind = excluded.kind, status = excluded.status, body = excluded.body, error = excluded.error,
        fetched_at = bailiwick_now(), expires_at = excluded.expires_at

-- name: robots_of
select origin, kind, status, body, extract(epoch from expires_at - bailiwick_now())::float8 as seconds_left
from robots_cache where origin = any(%(origins)b::text[]) and expires_at > bailiwick_now()

-- name: reserve_host
-- The next moment at which a host may be asked that nobody holds: reserved by whoever gets the answer, under its key's
-- lock. If it is a domain of ours, what is known of its pace counts. No row: somebody holds a lease on one of its ports.
-- A moment that is too far off is told, but not reserved.
with this as (
    select bailiwick_now() + (clock_timestamp() - now()) as moment  -- it may have waited for the lock
), own as (
    select greatest(max(d.crawl_delay_seconds), %(delay)s) as delay,
           max(case when q.crashes > 0 or p.last_request_at > this.moment then this.moment
                    else p.last_request_at end) as last_sent,
           max(least(m.not_before, this.moment + (m.not_before - m.updated_at))) as not_before
    from this cross join domains as d join crawl_queue as q on q.domain_id = d.id
    left join domain_progress as p on p.domain_id = d.id
    left join domain_memory as m on m.domain_id = d.id
    where d.name = any(%(names)b::text[])
), reserved as (
    select greatest(this.moment, own.last_sent + make_interval(secs => own.delay), own.not_before,
                    (select least(next_at, this.moment + (next_at - updated_at))
                     from host_gates where host = %(host)s)) as at, this.moment, own.delay
    from this cross join own
    where not exists (
        select 1 from crawl_queue as q join domains as d on d.id = q.domain_id
        where q.key_hash = hashtextextended(%(shared_key)s, 0) and q.worker is not null
          and regexp_replace(d.name, ':[0-9]+$', '') = %(host)s)
), noted as (
    insert into host_gates (host, next_at)
    select %(host)s, at + make_interval(secs => delay + %(late)s) from reserved
    where at <= moment + make_interval(secs => %(longest)s)
    on conflict (host) do update set next_at = excluded.next_at, updated_at = bailiwick_now()
)
select extract(epoch from at - moment)::float8 from reserved

-- name: keep_gates
-- Ports of one host name share one gate: what was sent to one of them is kept there for the others.
insert into host_gates as g (host, next_at)
select regexp_replace(d.name, ':[0-9]+$', ''),
       max(least(p.last_request_at, bailiwick_now()) + make_interval(secs => n.delay_seconds))
from unnest(%(ids)s::bigint[], %(delays)s::float8[]) as n(domain_id, delay_seconds)
join domains as d on d.id = n.domain_id
join domain_progress as p on p.domain_id = n.domain_id
where n.delay_seconds > 0 and p.last_request_at is not null and d.name ~ ':[0-9]+$'
group by 1 order by 1
on conflict (host) do update
    set next_at = greatest(excluded.next_at, least(
            g.next_at, bailiwick_now() + (clock_timestamp() - now()) + (g.next_at - g.updated_at))),
        updated_at = bailiwick_now()

-- name: add_sitemaps
insert into sitemaps (domain_id, url_hash, url, level)
select * from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(url)b::text[], %(level)s::smallint[])
    as n(d, h, u, l)
order by d, h
on conflict do nothing

-- name: note_sitemaps
update sitemaps as s
set state = u.state, entries_taken = u.entries_taken, last_error = u.error, last_read_at = bailiwick_now(),
    tries = case when u.state = 'pending' then s.tries + 1 else 0 end,
    next_at = bailiwick_now() + make_interval(secs => u.wait_seconds)
from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(state)b::text[], %(entries_taken)s::bigint[],
            %(error)b::text[], %(wait_seconds)s::float8[])
     as u(domain_id, url_hash, state, entries_taken, error, wait_seconds)
where s.domain_id = u.domain_id and s.url_hash = u.url_hash

-- name: next_sitemaps
-- The next sitemap of each domain that is due; indexes first, so that what they name is known early.
select w.domain_id, s.* from unnest(%(ids)s::bigint[]) as w(domain_id)
cross join lateral (
    select url_hash, url, level, entries_taken, tries from sitemaps
    where domain_id = w.domain_id and state <> 'failed' and next_at <= bailiwick_now()
    order by level, url_hash limit 1) as s

-- name: page_told
-- All that tells why a page is, or is not, fetched.
select p.path, s.state, p.depth, p.retries, p.next_at, p.last_fetched_at, p.last_status, p.last_outcome, p.last_error
from pages as p join page_states as s on s.domain_id = p.domain_id and s.path_hash = p.path_hash
where p.domain_id = %(domain_id)s and p.path_hash = %(path_hash)s and p.path = %(path)s

-- name: fetches_logged
-- The newest fetches of a domain, with what is known of their pages now.
with logged as materialized (
    select fetched_at, path_hash, status, outcome, bytes, milliseconds from fetch_log
    where domain_id = %(domain_id)s and fetched_at <= %(at)s
      and (fetched_at, path_hash) < (%(at)s, %(path_hash)s)
    order by fetched_at desc, path_hash desc limit %(limit)s
)
select l.fetched_at, l.path_hash, p.path, l.status, l.outcome, l.bytes, l.milliseconds,
       case when p.last_fetched_at <= l.fetched_at then p.last_error end
from logged as l left join pages as p on p.domain_id = %(domain_id)s and p.path_hash = l.path_hash
order by l.fetched_at desc, l.path_hash desc

-- name: errors_logged
-- The same, of those that failed, looked for among the newest so many.
with newest as materialized (
    select fetched_at, path_hash, status, outcome, bytes, milliseconds from fetch_log
    where domain_id = %(domain_id)s and fetched_at <= %(at)s
    order by fetched_at desc limit %(most)s
), logged as (
    select * from newest
    where outcome = any(%(errors)s) and (fetched_at, path_hash) < (%(at)s, %(path_hash)s)
    order by fetched_at desc, path_hash desc limit %(limit)s
)
select l.fetched_at, l.path_hash, p.path, l.status, l.outcome, l.bytes, l.milliseconds,
       case when p.last_fetched_at <= l.fetched_at then p.last_error end
from logged as l left join pages as p on p.domain_id = %(domain_id)s and p.path_hash = l.path_hash
order by l.fetched_at desc, l.path_hash desc

-- name: frontier_page
select path, priority, depth, path_hash, retries, next_at, last_outcome, last_error from pages
where domain_id = %(domain_id)s and state = 'pending'
  and (priority, depth, path_hash) > (%(priority)s, %(depth)s, %(path_hash)s)
order by priority, depth, path_hash limit %(limit)s
