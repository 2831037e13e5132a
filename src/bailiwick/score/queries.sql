-- name: add_urls
-- A page is in a job once, however often it is given.
insert into job_urls (job_id, domain_id, url, path, path_hash)
select %(job_id)s, d.id, n.url, n.path, n.path_hash
from unnest(%(name)b::text[], %(url)b::text[], %(path)b::text[], %(path_hash)s::bigint[]) as n(name, url, path, path_hash)
join domains as d on d.name = n.name
on conflict do nothing

-- name: claim_urls
-- What a claimer died over is free again when its time is over. Only of jobs that run; if asked for, only what no
-- request may be sent for.
with mine as materialized (
    select u.id from job_urls as u join jobs as j on j.id = u.job_id join domains as d on d.id = u.domain_id
    where u.job_id = %(job_id)s and u.state = 'waiting' and j.state = 'running' and u.next_at <= bailiwick_now()
      and (not %(refused_only)s or d.approval in ('rejected', 'suspended') or d.standing = 'blacklisted')
      and (u.claimed_until is null or u.claimed_until < bailiwick_now() or u.worker = any(%(dead)b::text[]))
    order by u.next_at, u.id
    limit %(limit)s
    for update of u skip locked
)
update job_urls as u
set worker = %(worker)s, claimed_until = bailiwick_now() + %(seconds)s * interval '1 second'
from mine, domains as d
where u.id = mine.id and d.id = u.domain_id
returning u.id, u.job_id, u.domain_id, u.url, u.path, u.path_hash, u.tries, d.name, d.base_url, d.approval, d.standing,
          extract(epoch from bailiwick_now() - u.asked_at)::float8 as asked_seconds

-- name: settle_urls
update job_urls as u
set state = n.state, why = n.why, tries = u.tries + n.failed::int, worker = null, claimed_until = null,
    next_at = bailiwick_now() + n.again_seconds * interval '1 second',
    asked_at = case when n.is_asked then coalesce(u.asked_at, bailiwick_now()) else u.asked_at end
from unnest(%(id)s::bigint[], %(state)b::text[], %(why)b::text[], %(failed)s::bool[], %(again_seconds)s::float8[],
            %(is_asked)s::bool[]) as n(id, state, why, failed, again_seconds, is_asked)
where u.id = n.id and u.worker = %(worker)s

-- name: give_back
update job_urls set worker = null, claimed_until = null where worker = %(worker)s and state = 'waiting'

-- name: holders
select distinct worker from job_urls where job_id = %(job_id)s and worker is not null

-- name: job_counts
select state, count(*) as urls from job_urls where job_id = %(job_id)s group by state

-- name: next_in
-- Seconds until the next URL of the job may be tried; NULL: none waits.
select extract(epoch from min(greatest(next_at, coalesce(claimed_until, next_at))) - bailiwick_now())::float8
from job_urls where job_id = %(job_id)s and state = 'waiting'

-- name: ask_for_pages
insert into page_requests (domain_id, kind, path, priority, asked_by)
select n.domain_id, 'evaluation', n.path, 1, %(actor)s
from unnest(%(domain_id)s::bigint[], %(path)b::text[]) as n(domain_id, path)
order by n.domain_id, n.path
on conflict do nothing

-- name: awaited_domains
-- Approved domains whose pages the job awaits from a crawl, with how many of them.
select u.domain_id, count(*) as urls
from job_urls as u join domains as d on d.id = u.domain_id
where u.job_id = %(job_id)s and u.state = 'waiting' and u.asked_at is not null and d.approval = 'approved'
group by u.domain_id order by u.domain_id limit %(limit)s

-- name: stored_page
select p.path, p.state, p.last_outcome, p.last_status, p.last_error, p.content_type, p.body_hash, p.pack_id,
       p.pack_offset, p.pack_length
from pages as p where p.domain_id = %(domain_id)s and p.path_hash = %(path_hash)s and p.path = %(path)b

-- name: site_pages
-- The pages nearest to the home page, as they were last read.
select p.path, s.title, left(s.text, %(chars)s) as text
from (
    select domain_id, path_hash, path, depth from pages
    where domain_id = %(domain_id)s and state = 'fetched' and path_hash <> %(path_hash)s
    order by depth, path_hash limit %(most)s
) as p
left join page_parses as r on r.domain_id = p.domain_id and r.path_hash = p.path_hash
left join page_snapshots as s on s.id = r.snapshot_id
order by p.depth, p.path_hash

-- name: lookalikes
-- Two numbers of 64 bits that differ in at most three agree in one of four groups of 16, and each has its index.
-- Older than the page itself, as far as that was seen before.
select d.name || p.path as url,
       s.first_seen_at < coalesce((select min(o.first_seen_at) from page_snapshots as o
                                   where o.domain_id = %(domain_id)s and o.path_hash = %(path_hash)s
                                     and bit_count((o.simhash # %(simhash)s)::bit(64)) <= 3), bailiwick_now()) as is_older,
       bit_count((s.simhash # %(simhash)s)::bit(64)) as bits, s.content_hash = %(content_hash)s as is_same
from (
    (select id from page_snapshots where (simhash & 65535) = (%(simhash)s & 65535) limit %(most)s)
    union (select id from page_snapshots where (simhash >> 16 & 65535) = (%(simhash)s >> 16 & 65535) limit %(most)s)
    union (select id from page_snapshots where (simhash >> 32 & 65535) = (%(simhash)s >> 32 & 65535) limit %(most)s)
    union (select id from page_snapshots where (simhash >> 48 & 65535) = (%(simhash)s >> 48 & 65535) limit %(most)s)
) as near
join page_snapshots as s on s.id = near.id
join pages as p on p.domain_id = s.domain_id and p.path_hash = s.path_hash
join domains as d on d.id = s.domain_id
where bit_count((s.simhash # %(simhash)s)::bit(64)) <= 3 and s.domain_id <> %(domain_id)s
order by bits, s.first_seen_at limit 10

-- name: snapshots_about
-- How many texts there are to compare with, as the statistics have it; exact enough to tell none from many.
select greatest(c.reltuples, (select count(*) from (select 1 from page_snapshots limit 100) as few))::bigint
from pg_class as c where c.oid = 'page_snapshots'::regclass

-- name: known_statuses
-- What links are known to lead to: pages that were fetched or failed before.
select n.url, p.state, p.last_status, p.last_outcome
from unnest(%(url)b::text[], %(name)b::text[], %(path)b::text[], %(path_hash)s::bigint[]) as n(url, name, path, path_hash)
join domains as d on d.name = n.name
join pages as p on p.domain_id = d.id and p.path_hash = n.path_hash and p.path = n.path
where p.last_status is not null
