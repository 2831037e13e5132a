-- The images that parsed pages refer to. A page's row in parse_queue is the lock: whoever holds it writes its sightings.

-- name: relevant
select id from page_snapshots where id = any(%(ids)s::bigint[]) and is_relevant

-- name: only_products
-- The product that each of these pages is about; none where it sells none, or several.
select p.domain_id, p.path_hash, min(p.id) as id
from unnest(%(pages_domain)s::bigint[], %(pages_path)s::bigint[]) as n(d, h)
join products as p on p.domain_id = n.d and p.path_hash = n.h and p.gone_at is null
group by p.domain_id, p.path_hash having count(*) = 1

-- name: add_fetches
-- Addresses that are to be asked for; what was asked for before is not again. Of a domain that has too many, none more.
insert into image_fetches (domain_id, url_hash, url, is_own)
select distinct on (n.d, n.h) n.d, n.h, n.u, n.o
from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[], %(url)b::text[], %(is_own)s::boolean[]) as n(d, h, u, o)
where n.d not in (
    select k.d from (select distinct d from unnest(%(domain_id)s::bigint[]) as k(d)) as k
    where (select count(*) from (select 1 from image_fetches as f where f.domain_id = k.d limit %(most)s) as f)
          >= %(most)s)
order by n.d, n.h
on conflict do nothing
returning domain_id

-- name: to_wake
-- Domains whose pages are all fetched and whose images wait: of these, or of all.
select d.id from (select distinct domain_id from image_fetches where next_at <= bailiwick_now()
                  and (%(ids)s::bigint[] is null or domain_id = any(%(ids)s::bigint[]))) as f
join domains as d on d.id = f.domain_id join crawl_queue as q on q.domain_id = d.id
where d.crawl = 'exhausted' and d.approval = 'approved' and q.worker is null
  and d.profile = any(%(profiles)s::text[])  -- those that fetch images: nobody would take the others'
  and (d.next_crawl_after is null or d.next_crawl_after > bailiwick_now())

-- name: wake
update domains set next_crawl_after = bailiwick_now()
where id = any(%(ids)s::bigint[]) and crawl = 'exhausted'
  and (next_crawl_after is null or next_crawl_after > bailiwick_now())

-- name: known_fetches
-- What came of them. Locked against the crawl, which ties sightings to an image when it has stored that: either it sees
-- the sightings of this transaction, or this one sees its image.
select f.domain_id, f.url_hash, f.image_id
from (select distinct d, h from unnest(%(domain_id)s::bigint[], %(url_hash)s::bigint[]) as n(d, h)) as n
join image_fetches as f on f.domain_id = n.d and f.url_hash = n.h
order by f.domain_id, f.url_hash
for share of f

-- name: write_sightings
-- A page that is fetched for the first time is a discovery; later ones are refreshed.
insert into image_sightings as s (domain_id, path_hash, url_hash, nth, position, url, alt_text, image_type, found_in,
                                  image_id, product_id, discovery_type)
select n.*, case when coalesce(p.fetch_count, 0) > 1 then 'refresh' else 'discovery' end
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(url_hash)s::bigint[], %(nth)s::smallint[],
            %(position)s::int[], %(url)b::text[], %(alt)b::text[], %(kind)b::text[], %(found_in)b::text[],
            %(image_id)s::bigint[], %(product)s::bigint[]) as n(d, p, h, nth, position, u, a, k, f, i, product)
left join lateral (select fetch_count from pages where domain_id = n.d and path_hash = n.p offset 0) as p on true
on conflict (domain_id, path_hash, url_hash, nth) do update
set position = excluded.position, alt_text = excluded.alt_text, image_type = excluded.image_type,
    found_in = excluded.found_in, image_id = coalesce(excluded.image_id, s.image_id),
    product_id = excluded.product_id, last_seen_at = bailiwick_now()

-- name: drop_sightings
-- References that these pages had and have no more: those that this transaction has not just written.
delete from image_sightings as s
using unnest(%(pages_domain)s::bigint[], %(pages_path)s::bigint[]) as p(d, h)
where s.domain_id = p.d and s.path_hash = p.h and s.last_seen_at <> bailiwick_now()
