-- name: next_pack
-- More than one number at once where the directory has files of higher numbers than the database knows.
select max(nextval(pg_get_serial_sequence('packs', 'id')))::bigint as id, bailiwick_now() as created_at
from generate_series(1, %(numbers)s);

-- name: add_pack
insert into packs (id, machine, file, created_at) overriding system value
values (%(id)s, %(machine)s, %(file)s, %(created_at)s);

-- name: open_packs
select id, file, created_at from packs where machine = %(machine)s and sealed_at is null order by id;

-- name: all_packs
select id, file, machine, created_at,
       coalesce(sealed_at, created_at) <= bailiwick_now() - make_interval(secs => %(age_seconds)s) as is_old
from packs order by id;

-- name: referred_packs
-- Reads the whole table: there is deliberately no index, which every flush would pay for.
select distinct pack_id from {table} where pack_id is not null;

-- name: still_referred_packs
select distinct pack_id from {table} where pack_id = any(%(pack_ids)s::bigint[]);

-- name: probe
select distinct p.domain_id, p.path_hash, p.pack_id, p.pack_offset
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) as k (domain_id, path_hash)
join {table} as p using (domain_id, path_hash);

-- name: repoint
-- A row that a flush holds is skipped, not waited for: it changes anyway, and the old pack stays until it did.
with held as (
    select m.*
    from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[], %(from_offsets)s::bigint[],
                %(to_packs)s::bigint[], %(to_offsets)s::bigint[])
         as m (domain_id, path_hash, from_offset, to_pack, to_offset)
    join {table} as p using (domain_id, path_hash)
    where p.pack_id = %(from_pack)s and p.pack_offset = m.from_offset
    for update of p skip locked
)
update {table} as p set pack_id = h.to_pack, pack_offset = h.to_offset
from held as h
where p.domain_id = h.domain_id and p.path_hash = h.path_hash
  and p.pack_id = %(from_pack)s and p.pack_offset = h.from_offset;

-- name: strays
select domain_id, path_hash, pack_offset, pack_length from {table}
where pack_id = %(pack_id)s order by pack_offset limit %(limit)s;

-- name: next_bodies
select domain_id, path_hash, body_hash, pack_id, pack_offset, pack_length
from pages
where domain_id between %(first)s and %(last)s
  and (domain_id, path_hash) > (%(domain_id)s, %(path_hash)s)
  and pack_id is not null
order by domain_id, path_hash
limit %(limit)s;

-- name: one_body
select p.body_hash, p.pack_id, p.pack_offset, p.pack_length, p.path,
       coalesce(d.name, 'domain ' || p.domain_id) as domain, k.machine
from pages as p
left join domains as d on d.id = p.domain_id
left join packs as k on k.id = p.pack_id
where p.domain_id = %(domain_id)s and p.path_hash = %(path_hash)s and p.pack_id is not null;

-- name: blocks
-- A partition's own size: the planner's figures are missing until the first ANALYZE.
select coalesce(sum(pg_relation_size(inhrelid)), 0)::bigint / current_setting('block_size')::bigint
from pg_inherits where inhparent = '{table}'::regclass;

-- name: live_bytes
select count(*)::bigint as bodies, coalesce(sum(pack_length), 0)::bigint as bytes
from {table} tablesample system (%(percent)s)
where pack_id is not null;


-- name: count_images
select count(*)::bigint as images, coalesce(sum(file_size), 0)::bigint as bytes from images;

-- name: next_images
select id, sha256, path, machine from images where id > %(after)s order by id limit %(limit)s;

-- name: known_images
select sha256 from images where sha256 = any(%(digests)s::bytea[]);

-- name: drop_addresses
-- Of the next addresses in the order of keys, those that no page refers to any more.
with page as (
    select domain_id, url_hash, found_at from image_fetches
    where (domain_id, url_hash) > (%(domain_id)s::bigint, %(url_hash)s::bigint)
    order by domain_id, url_hash limit %(limit)s
), dropped as (
    delete from image_fetches as f using page as p
    where f.domain_id = p.domain_id and f.url_hash = p.url_hash and not %(is_dry)s
      and p.found_at <= bailiwick_now() - make_interval(secs => %(age)s)
      and not exists (select 1 from image_sightings as s where s.domain_id = f.domain_id and s.url_hash = f.url_hash)
    returning 1
)
select (select count(*) from page) as seen,
       (select count(*) from page as p where p.found_at <= bailiwick_now() - make_interval(secs => %(age)s)
        and not exists (select 1 from image_sightings as s
                        where s.domain_id = p.domain_id and s.url_hash = p.url_hash)) as dropped,
       (select domain_id from page order by domain_id desc, url_hash desc limit 1) as domain_id,
       (select url_hash from page order by domain_id desc, url_hash desc limit 1) as url_hash;

-- name: hold_images
-- The next images that nothing seems to refer to, kept from those who would refer to them now.
select i.id from images as i
where i.id > %(after)s and i.created_at <= bailiwick_now() - make_interval(secs => %(age)s)
  and not exists (select 1 from image_sightings as s where s.image_id = i.id)
  and not exists (select 1 from image_fetches as f where f.image_id = i.id)
order by i.id limit %(limit)s
for update skip locked;

-- name: drop_images
delete from images as i
where i.id = any(%(ids)s::bigint[])
  and not exists (select 1 from image_sightings as s where s.image_id = i.id)
  and not exists (select 1 from image_fetches as f where f.image_id = i.id)
returning i.sha256;

-- name: unreferred_images
select count(*)::bigint from images as i
where i.created_at <= bailiwick_now() - make_interval(secs => %(age)s)
  and not exists (select 1 from image_sightings as s where s.image_id = i.id)
  and not exists (select 1 from image_fetches as f where f.image_id = i.id
                  and exists (select 1 from image_sightings as s
                              where s.domain_id = f.domain_id and s.url_hash = f.url_hash));
