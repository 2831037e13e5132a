-- The images of leased domains. Lock order: crawl_queue, domain_progress, domains; then image_fetches, in key order.

-- name: outlook
-- What waits for each domain: a plain read of one moment, so that no page is between being parsed and its images.
select w.domain_id, f.url_hash, f.url, f.retries,
       (select extract(epoch from min(next_at) - bailiwick_now())::float8 from (
            select min(next_at) as next_at from image_fetches
            where domain_id = w.domain_id and is_own and next_at > bailiwick_now()
            union all
            select min(next_at) from image_fetches
            where domain_id = w.domain_id and not is_own and next_at > bailiwick_now()) as later) as next_in,
       (select count(*) from (
            select 1 from parse_queue where domain_id = w.domain_id
              and not (worker is null and coalesce(claimed_until > bailiwick_now(), false)) limit 1000) as u) as unparsed
from unnest(%(ids)s::bigint[], %(most)s::int[]) as w(domain_id, most)
left join lateral (
    (select url_hash, url, retries from image_fetches
     where domain_id = w.domain_id and is_own and next_at <= bailiwick_now() order by next_at limit w.most)
    union all
    (select url_hash, url, retries from image_fetches
     where domain_id = w.domain_id and not is_own and next_at <= bailiwick_now() order by next_at limit w.most)
) as f on true

-- name: hold
-- The addresses that were asked for, locked against whoever writes sightings of them.
select f.domain_id, f.url_hash from image_fetches as f
join unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[]) as n(d, h) on f.domain_id = n.d and f.url_hash = n.h
order by f.domain_id, f.url_hash
for update of f

-- name: add_images
-- One row a content, whoever had it first.
insert into images as i (sha256, path, machine, mime, width, height, file_size, perceptual_hash)
select distinct on (s) s, p, %(machine)s, m, w, h, z, q
from unnest(%(sha256)b::bytea[], %(path)b::text[], %(mime)b::text[], %(width)s::int[], %(height)s::int[],
            %(size)s::bigint[], %(perceptual_hash)s::bigint[]) as n(s, p, m, w, h, z, q)
order by s
on conflict (sha256) do update set sha256 = excluded.sha256
returning i.id, i.sha256

-- name: count_new
-- Images that a domain did not have before.
select n.d as domain_id, count(distinct n.i) as images
from unnest(%(domain_id)s::bigint[], %(image_id)s::bigint[]) as n(d, i)
where not exists (select 1 from image_fetches as f where f.image_id = n.i and f.domain_id = n.d)
group by 1

-- name: note
update image_fetches as f
set outcome = u.outcome, status = u.status, error = u.error, image_id = u.image_id,
    retries = least(f.retries + (u.outcome = 'waiting' and u.tried)::int, 30000),
    fetched_at = case when u.tried then bailiwick_now() - make_interval(secs => u.age) else f.fetched_at end,
    next_at = case when u.outcome = 'waiting' then bailiwick_now() + make_interval(secs => u.wait) end
from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(outcome)b::text[], %(status)s::smallint[],
            %(error)b::text[], %(image_id)s::bigint[], %(tried)s::boolean[], %(age)s::float8[], %(wait)s::float8[])
     as u(d, h, outcome, status, error, image_id, tried, age, wait)
where f.domain_id = u.d and f.url_hash = u.h

-- name: tie
-- In a statement of its own, so that it sees what was written while `hold` waited.
update image_sightings as s set image_id = n.i
from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(image_id)s::bigint[]) as n(d, h, i)
where s.domain_id = n.d and s.url_hash = n.h and s.image_id is distinct from n.i

-- name: add_progress
update domain_progress as p set images_stored = p.images_stored + n.images
from unnest(%(domain_id)s::bigint[], %(images)s::bigint[]) as n(d, images)
where p.domain_id = n.d

-- name: touch
-- Pages that have not changed still show what they showed.
update image_sightings as s set last_seen_at = bailiwick_now()
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
where s.domain_id = n.d and s.path_hash = n.p

-- name: refused_host
-- Whether a host is a domain of which nothing may be fetched (P5).
select exists (select 1 from domains where name = any(%(names)b::text[])
               and (approval in ('rejected', 'suspended') or standing = 'blacklisted'))

-- name: hold_host
-- A host that nobody holds asked to be left alone for a while.
insert into host_gates as g (host, next_at) values (%(host)s, bailiwick_now() + make_interval(secs => %(seconds)s))
on conflict (host) do update set next_at = greatest(g.next_at, excluded.next_at), updated_at = bailiwick_now()
