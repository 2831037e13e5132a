-- Lock order everywhere: crawl_queue, domain_progress, domains. Parameters are psycopg's, %(name)s.

-- name: lock_queue
select domain_id from crawl_queue where domain_id = any(%(ids)s::bigint[]) order by domain_id for update

-- name: requeue
-- Put domains where the rule says they belong. A leased one keeps its lease, but is asked to stop if it is refused.
with judged as (
    select d as domain, d.id, domain_refusal(d, bailiwick_now()) as refusal
    from domains as d where d.id = any(%(ids)s::bigint[])
)
update crawl_queue as q
set ready_key = case when q.worker is null and j.refusal is null then domain_ready_key(j.domain, q.prio) end,
    wake_at = case when q.worker is not null then q.wake_at
                   when j.refusal is not null then domain_wakes_at(j.domain, j.refusal) end,
    is_parked = false,
    wanted = case when q.worker is null or j.refusal is null then 'run'
                  when j.refusal = 'held' then 'pause'
                  when j.refusal in ('not_due', 'cooling_down') then q.wanted else 'stop' end
from judged as j
where q.domain_id = j.id

-- name: promote
-- Due domains and leases that ran out become ready again (or sleep on, if the rule says no).
with due as materialized (
    select domain_id, key_hash, worker is not null as was_leased
    from crawl_queue where wake_at <= bailiwick_now()
    order by wake_at limit %(limit)s
    for update skip locked
), judged as (
    select due.*, d.crawl, r.refusal, s.prio,
           domain_ready_key(d, s.prio) as ready_key, domain_wakes_at(d, r.refusal) as wakes_at
    from due
    join domains as d on d.id = due.domain_id
    cross join lateral (select domain_refusal(d, bailiwick_now()) as refusal) as r
    cross join lateral (
        select priority_step(domain_score(d, %(weights)s, bailiwick_now()), %(weights)s) as prio) as s
)
update crawl_queue as q
set ready_key = case when j.refusal is null then j.ready_key end,
    wake_at = case when j.refusal is not null then j.wakes_at end,
    prio = j.prio,
    crashes = least(q.crashes + j.was_leased::int, 1000),
    worker = null,
    run_id = null,
    wanted = 'run'
from judged as j
where q.domain_id = j.domain_id
returning q.domain_id, q.key_hash, j.was_leased, j.refusal, j.crawl

-- name: pick_known
select domain_id, key_hash, ready_key from crawl_queue
where ready_key is not null and not is_new and ready_key >= %(floor)s
order by ready_key limit %(limit)s
for update skip locked

-- name: pick_new
select domain_id, key_hash, ready_key from crawl_queue
where ready_key is not null and is_new and ready_key >= %(floor)s
order by ready_key limit %(limit)s
for update skip locked

-- name: pick_among
select domain_id, key_hash, ready_key from crawl_queue
where ready_key is not null and domain_id = any(%(among)s::bigint[])
order by ready_key limit %(limit)s
for update skip locked

-- name: try_keys
-- Who counts the live leases of a key holds its lock; a key that somebody else is counting is left alone this time.
select key_hash from unnest(%(keys)s::bigint[]) as k(key_hash) where pg_try_advisory_xact_lock(key_hash)

-- name: lock_keys
select pg_advisory_xact_lock(key_hash)
from (select distinct key_hash from unnest(%(keys)s::bigint[]) as k(key_hash) order by key_hash) as ordered

-- name: lock_key
select pg_advisory_xact_lock(hashtextextended(%(shared_key)s, 0))

-- name: take
-- So many of a key at most, and one of a host name: its ports share one gate.
with picked as materialized (
    select p.domain_id, p.key_hash, p.nth, domain_refusal(d, bailiwick_now()) as refusal,
           regexp_replace(d.name, ':[0-9]+$', '') as host
    from unnest(%(ids)s::bigint[], %(keys)s::bigint[]) with ordinality as p(domain_id, key_hash, nth)
    join domains as d on d.id = p.domain_id
), held as materialized (
    select l.key_hash, regexp_replace(d.name, ':[0-9]+$', '') as host
    from crawl_queue as l join domains as d on d.id = l.domain_id
    where l.key_hash = any(%(keys)s::bigint[]) and l.worker is not null
), free as (
    select *, refusal is null and (key_hash, host) not in (select key_hash, host from held)
              and row_number() over (partition by key_hash, host, refusal is null order by nth) = 1 as has_host
    from picked
), judged as (
    select *, has_host and (select count(*) from held as h where h.key_hash = free.key_hash)
              + row_number() over (partition by key_hash, has_host order by nth) <= %(per_key)s as taken
    from free
), changed as (
    update crawl_queue as q
    set ready_key = null,
        wake_at = case when j.taken then bailiwick_now() + make_interval(secs => %(seconds)s)
                       when j.refusal is not null then domain_wakes_at(d, j.refusal) end,
        is_parked = j.refusal is null and not j.taken,
        worker = case when j.taken then %(worker)s end,
        lease_no = q.lease_no + j.taken::int,
        flush_no = case when j.taken then 0 else q.flush_no end,
        is_new = q.is_new and not j.taken
    from judged as j join domains as d on d.id = j.domain_id
    where q.domain_id = j.domain_id
    returning q.domain_id, q.lease_no, q.crashes, q.wake_at, j.taken, j.nth
), started as (
    insert into domain_progress (domain_id) select domain_id from changed where taken on conflict do nothing
)
select c.domain_id, d.name, c.lease_no, c.crashes, c.wake_at, d.base_url, d.crawl, d.profile,
       d.max_crawl_depth, d.crawl_delay_seconds, d.max_concurrent_requests, d.max_pages_per_run
from changed as c join domains as d on d.id = c.domain_id
where c.taken
order by c.nth

-- name: wake_parked
-- Fill the room that is left on these keys with the best of those that wait for it.
with room as (
    select k.key_hash,
           %(per_key)s - (select count(*) from crawl_queue as l
                          where l.key_hash = k.key_hash and l.worker is not null) as places
    from (select distinct key_hash from unnest(%(keys)s::bigint[]) as k(key_hash)) as k
), chosen as (
    select p.domain_id from room
    cross join lateral (
        select domain_id from crawl_queue
        where key_hash = room.key_hash and is_parked
        order by prio desc limit greatest(room.places, 0)
        for update skip locked) as p
)
update crawl_queue as q
set is_parked = false, ready_key = domain_ready_key(d, q.prio)
from chosen as c join domains as d on d.id = c.domain_id
where q.domain_id = c.domain_id

-- name: roomy_keys
-- Keys with parked domains and with room: the domain that was woken for it was refused before anybody leased it, or was
-- locked when a release looked for one. Each claim looks at a few keys, from anywhere on, so that none waits for ever.
with recursive parked(key_hash, nth) as (
    select coalesce((select key_hash from crawl_queue
                     where is_parked and key_hash >= (select hashtextextended(random()::text, 0))
                     order by key_hash limit 1),
                    (select key_hash from crawl_queue where is_parked order by key_hash limit 1)), 1
    union all
    select coalesce((select key_hash from crawl_queue where is_parked and key_hash > p.key_hash
                     order by key_hash limit 1),
                    (select key_hash from crawl_queue where is_parked order by key_hash limit 1)), nth + 1
    from parked as p where nth < %(keys)s and p.key_hash is not null
)
select p.key_hash from (select distinct key_hash from parked where key_hash is not null) as p
where (select count(*) from crawl_queue as l where l.key_hash = p.key_hash and l.worker is not null) < %(per_key)s

-- name: renew
with held as materialized (
    select q.domain_id from unnest(%(ids)s::bigint[], %(lease_nos)s::int[]) as l(domain_id, lease_no)
    join crawl_queue as q using (domain_id, lease_no)
    where q.worker = %(worker)s and q.wake_at > bailiwick_now()
    order by q.domain_id
    for update of q
)
update crawl_queue as q
set wake_at = bailiwick_now() + make_interval(secs => %(seconds)s)
from held where q.domain_id = held.domain_id
returning q.domain_id, q.wake_at

-- name: fence
-- Lock the rows of leases that are still ours.
select q.domain_id, q.key_hash
from unnest(%(ids)s::bigint[], %(lease_nos)s::int[]) as l(domain_id, lease_no)
join crawl_queue as q using (domain_id, lease_no)
where q.worker = %(worker)s and q.wake_at > bailiwick_now()
order by q.domain_id
for update of q

-- name: known
select id, crawl, block_retries, scrape_frequency_hours from domains where id = any(%(ids)s::bigint[])

-- name: wanted
-- A lease that ran out or was released is nobody's, though the number stays until the next claim.
select domain_id, lease_no, wanted from crawl_queue
where domain_id = any(%(ids)s::bigint[]) and worker is not null and wake_at > bailiwick_now()

-- name: settle
-- Copy what the flushes counted to the domains, with the signals made of it.
update domains as d
set pages_discovered = p.pages_discovered, pages_crawled = p.pages_crawled,
    images_found = p.images_found, images_stored = p.images_stored,
    crawl_depth_reached = greatest(d.crawl_depth_reached, p.crawl_depth_reached),
    total_error_count = p.total_error_count, consecutive_error_count = p.consecutive_error_count,
    image_yield_rate = p.images_stored::double precision / nullif(p.pages_crawled, 0),
    avg_images_per_page = p.images_found::double precision / nullif(p.pages_crawled, 0),
    error_rate = p.total_error_count::double precision / nullif(p.pages_crawled, 0),
    last_crawled_at = bailiwick_now(), next_crawl_after = e.next_crawl_after,
    block_reason = e.reason, block_reason_code = e.code, block_retries = e.retries,
    first_blocked_at = case when e.reason is null then null else coalesce(d.first_blocked_at, bailiwick_now()) end
from unnest(%(ids)s::bigint[], %(next_crawl_after)s::timestamptz[], %(reasons)s::text[], %(codes)s::text[],
            %(retries)s::int[]) as e(domain_id, next_crawl_after, reason, code, retries)
join domain_progress as p on p.domain_id = e.domain_id
where d.id = e.domain_id

-- name: rescore
with scored as (
    update domains as d
    set priority_score = domain_score(d, %(weights)s, bailiwick_now()), priority_computed_at = bailiwick_now()
    where d.id = any(%(ids)s::bigint[])
    returning d.id, d.priority_score
)
update crawl_queue as q set prio = priority_step(s.priority_score, %(weights)s) from scored as s where q.domain_id = s.id

-- name: let_go
update crawl_queue set worker = null, run_id = null, wake_at = null, crashes = 0, wanted = 'run'
where domain_id = any(%(ids)s::bigint[])

-- name: revoke
-- End a lease from outside: the number moves on, so that whatever its holder still sends is refused.
-- He may still be sending, so the next one waits a full delay, as after a crash.
update crawl_queue
set worker = null, run_id = null, wake_at = null, lease_no = lease_no + 1, wanted = 'run',
    crashes = greatest(crashes, 1)
where domain_id = any(%(ids)s::bigint[]) and worker is not null
returning domain_id, key_hash

-- name: expire_workers
-- Workers that are known to be dead lose their leases now instead of at their end.
with held as materialized (
    select domain_id from crawl_queue where worker = any(%(workers)s) and wake_at > bailiwick_now()
    order by domain_id
    for update
)
update crawl_queue as q set wake_at = bailiwick_now() from held where q.domain_id = held.domain_id

-- name: expire_strays
-- What a living worker was given and does not know of.
with held as materialized (
    select domain_id from crawl_queue
    where worker = %(worker)s and wake_at > bailiwick_now() and domain_id <> all(%(held)s::bigint[])
    order by domain_id
    for update
)
update crawl_queue as q set wake_at = bailiwick_now() from held where q.domain_id = held.domain_id

-- name: reprioritize
-- One bounded batch by id. Rows that a claim holds are left to the next time; only changed steps are written.
with batch as materialized (
    select q.domain_id from crawl_queue as q
    where q.domain_id > %(after)s order by q.domain_id limit %(limit)s
), scored as (
    select d.id, domain_score(d, %(weights)s, bailiwick_now()) as score, d.crawl, d.last_crawled_at, d.first_seen_at
    from batch as b join domains as d on d.id = b.domain_id
), locked as (
    select q.domain_id, s.score, priority_step(s.score, %(weights)s) as step
    from scored as s join crawl_queue as q on q.domain_id = s.id
    where q.prio <> priority_step(s.score, %(weights)s)
    order by q.domain_id
    for update of q skip locked
), requeued as (
    update crawl_queue as q
    set prio = l.step, ready_key = case when q.ready_key is not null then domain_ready_key(d, l.step) end
    from locked as l join domains as d on d.id = l.domain_id
    where q.domain_id = l.domain_id
    returning q.domain_id
), rescored as (
    update domains as d set priority_score = l.score, priority_computed_at = bailiwick_now()
    from locked as l where d.id = l.domain_id and exists (select 1 from requeued as r where r.domain_id = d.id)
    returning d.id
)
select (select max(domain_id) from batch), (select count(*) from batch), (select count(*) from rescored)

-- name: lease_workers
select worker, count(*) as leases, min(wake_at) as earliest_expiry,
       count(*) filter (where wake_at <= bailiwick_now()) as expired
from crawl_queue where worker is not null and worker > %(after)s
group by worker order by worker limit %(limit)s

-- name: claimable
-- Capped, so that it is cheap on any table: nobody needs to know the exact number above it.
select crawl, count(*) from (
    select d.crawl from crawl_queue as q join domains as d on d.id = q.domain_id
    where q.ready_key is not null limit %(cap)s) as ready
group by crawl order by crawl

-- name: queue_faults
-- Rows of the queue that disagree with the rule. Always empty: tests ask after everything they do.
select d.name, r.refusal, q.ready_key, q.wake_at, q.is_parked, q.worker
from domains as d
left join crawl_queue as q on q.domain_id = d.id
cross join lateral (select domain_refusal(d, bailiwick_now()) as refusal) as r
where q.domain_id is null
   or (q.worker is null and r.refusal is null and q.ready_key is null and not q.is_parked
       and (q.wake_at is null or q.wake_at > bailiwick_now()))
   or (q.worker is null and r.refusal is not null and (q.ready_key is not null or q.is_parked))
   or (q.worker is null and q.wake_at is distinct from domain_wakes_at(d, r.refusal)
       and not (q.wake_at is not null and q.wake_at <= bailiwick_now()))
   or (q.worker is not null and (q.wake_at is null or q.ready_key is not null or q.is_parked))
   or (q.worker is not null and r.refusal is not null and r.refusal not in ('not_due', 'cooling_down')
       and q.wanted <> case r.refusal when 'held' then 'pause' else 'stop' end)
limit %(limit)s

-- name: incoming
create temporary table incoming (name text, site text, shared_key text, rank int) on commit drop

-- name: import
-- New names only. A trust rule admits by suffix; an admin's word admits all. Sorted, so that concurrent imports
-- lock in one order.
with fresh as materialized (
    select distinct on (i.name) i.name, i.site, i.shared_key, i.rank,
           exists (select 1 from trust_rules as t
                   where right('.' || split_part(i.name, ':', 1), length(t.suffix)) = t.suffix) as trusted
    from incoming as i order by i.name, i.rank
), added as (
    insert into domains (name, site, shared_key, approval, submitted_by, submitter_type, profile, source, seed_rank,
                         is_trusted, reviewed_by, reviewed_at, priority_score, priority_computed_at)
    select name, site, shared_key, case when %(approve)s or trusted then 'approved' else 'pending_review' end,
           %(actor)s, %(submitter_type)s, %(profile)s, %(source)s, rank, trusted,
           case when %(approve)s then %(actor)s::bigint end,
           case when %(approve)s then bailiwick_now() end,
           round(rank_score(rank, %(weights)s))::int, bailiwick_now()
    from fresh order by name
    on conflict (name) do nothing
    returning id, shared_key, priority_step(priority_score, %(weights)s) as prio, approval, first_seen_at
), queued as (
    insert into crawl_queue (domain_id, key_hash, prio, ready_key)
    select id, hashtextextended(shared_key, 0), prio,
           case when approval = 'approved' then ready_key(false, prio, first_seen_at) end
    from added
)
select count(*) from added

-- name: due_next
-- What sleeps, in the order of waking. Leases have a wake time too, and are passed over.
select d.name, q.wake_at from crawl_queue as q join domains as d on d.id = q.domain_id
where q.wake_at is not null and q.worker is null
order by q.wake_at limit %(limit)s

-- name: rate
-- The counters of judging; answers with what they are now.
update domains as d
set high_quality_candidate_count = d.high_quality_candidate_count + r.high,
    low_quality_candidate_count = d.low_quality_candidate_count + r.low,
    best_confidence_score = greatest(d.best_confidence_score, r.best),
    last_processed_at = bailiwick_now(), failure_reason = null, failed_at = null, retry_after = null, failure_count = 0
from unnest(%(ids)s::bigint[], %(high)s::int[], %(low)s::int[], %(best)s::float8[]) as r(id, high, low, best)
where d.id = r.id and d.standing = 'processing'
returning d.id, d.high_quality_candidate_count, d.low_quality_candidate_count

-- name: add_found
-- Domains that a search brought up. A trust rule admits by suffix, the operator's setting by confidence. Who is neither
-- admitted nor good enough to ask a person about is known, and waits in no queue. Sorted: concurrent sessions lock alike.
with fresh as materialized (
    select f.name, f.site, f.shared_key, f.proposed, f.admitted,
           (select t.suffix from trust_rules as t
            where right('.' || split_part(f.name, ':', 1), length(t.suffix)) = t.suffix
            order by length(t.suffix) desc limit 1) as rule
    from unnest(%(name)b::text[], %(site)b::text[], %(shared_key)b::text[], %(proposed)s::bool[], %(admitted)s::bool[])
         as f(name, site, shared_key, proposed, admitted)
), added as (
    insert into domains (name, site, shared_key, approval, submitted_by, submitter_type, submission_context, profile,
                         source, is_trusted, is_proposed, discovery_session_id)
    select name, site, shared_key, case when admitted or rule is not null then 'approved' else 'pending_review' end,
           %(actor)s, 'system', %(context)s, %(profile)s, %(source)s, rule is not null,
           proposed or admitted or rule is not null, %(session_id)s
    from fresh order by name
    on conflict (name) do nothing
    returning id, name, shared_key, approval, is_proposed
), queued as (
    insert into crawl_queue (domain_id, key_hash) select id, hashtextextended(shared_key, 0) from added
)
select a.id, a.name, a.approval, a.is_proposed, f.rule from added as a join fresh as f on f.name = a.name order by a.id

-- name: wake_asked
-- Approved domains that sleep although a page of theirs is asked for.
update domains as d set next_crawl_after = bailiwick_now()
where d.id = any(%(ids)s::bigint[]) and d.approval = 'approved' and domain_refusal(d, bailiwick_now()) = 'not_due'
