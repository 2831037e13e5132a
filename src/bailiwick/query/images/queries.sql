-- Lists of images, each a page at a time. The newest come first.

-- name: newest
select i.*, null::int as distance from images as i where i.id < %(before)s order by i.id desc limit %(limit)s

-- name: of_domain
-- Each image once, however many of the domain's addresses lead to it.
select i.*, null::int as distance from (
    select distinct f.image_id from image_fetches as f
    where f.domain_id = %(domain_id)s and f.image_id < %(before)s order by f.image_id desc limit %(limit)s) as f
join images as i on i.id = f.image_id
order by i.id desc

-- name: near
-- All images whose perceptual hash differs in a few bits: every image is looked at.
select i.*, bit_count((i.perceptual_hash # %(hash)s::bigint)::bit(64))::int as distance
from images as i
where i.perceptual_hash is not null and i.id <> %(id)s and i.id < %(before)s
  and bit_count((i.perceptual_hash # %(hash)s::bigint)::bit(64)) <= %(bits)s
order by i.id desc limit %(limit)s

-- name: one
select i.*, null::int as distance from images as i where i.id = %(id)s or i.sha256 = %(sha256)s

-- name: is_of
select exists (select 1 from image_fetches where domain_id = %(domain_id)s and image_id = %(id)s)

-- name: shown_as
-- One sighting of each of these images, and how many there are, counted up to a bound.
select n.id, s.url, s.alt_text, s.domain, s.page, s.image_type, c.sightings
from unnest(%(ids)s::bigint[]) as n(id)
left join lateral (
    select s.url, s.alt_text, s.image_type, d.name as domain, d.name || p.path as page
    from image_sightings as s join domains as d on d.id = s.domain_id
    join pages as p on p.domain_id = s.domain_id and p.path_hash = s.path_hash
    where s.image_id = n.id and (%(domain_id)s::bigint is null or s.domain_id = %(domain_id)s)
    order by s.alt_text is null limit 1) as s on true
cross join lateral (
    select count(*) as sightings from (
        select 1 from image_sightings as s
        where s.image_id = n.id and (%(domain_id)s::bigint is null or s.domain_id = %(domain_id)s) limit 1000) as c
) as c

-- name: sightings_of_image
select d.name as domain, p.path, s.position, s.url, s.alt_text, s.image_type, s.found_in, s.discovery_type,
       s.first_seen_at, s.last_seen_at, 'stored' as outcome, null::text as error, s.image_id
from image_sightings as s join domains as d on d.id = s.domain_id
join pages as p on p.domain_id = s.domain_id and p.path_hash = s.path_hash
where s.image_id = %(id)s order by s.domain_id, s.path_hash, s.position limit %(limit)s

-- name: of_page
select d.name as domain, p.path, s.position, s.url, s.alt_text, s.image_type, s.found_in, s.discovery_type,
       s.first_seen_at, s.last_seen_at, coalesce(f.outcome, 'not_wanted') as outcome, f.error, s.image_id
from image_sightings as s join domains as d on d.id = s.domain_id
join pages as p on p.domain_id = s.domain_id and p.path_hash = s.path_hash
left join image_fetches as f on f.domain_id = s.domain_id and f.url_hash = s.url_hash
where s.domain_id = %(domain_id)s and s.path_hash = %(path_hash)s and s.position > %(after)s
order by s.position limit %(limit)s

-- name: unstored
-- Addresses of which no image is kept, and why.
select f.url, f.outcome, f.status, f.error, f.fetched_at, f.url_hash from image_fetches as f
where f.domain_id = %(domain_id)s and f.outcome <> 'stored' and f.url_hash > %(after)s
order by f.url_hash limit %(limit)s

-- name: counts
select outcome, count(*) as addresses, count(distinct image_id) as images from (
    select outcome, image_id from image_fetches where domain_id = %(domain_id)s limit %(most)s) as f
group by outcome order by outcome

-- name: count_sightings
select count(*) from (select 1 from image_sightings where domain_id = %(domain_id)s limit %(most)s) as s
