-- What parse workers read and write. A page's row in parse_queue is the lock: whoever holds it writes that page.

-- name: claim
-- The pages that have waited longest, taken for a while: of these jobs, or any; only those whose bodies are here.
with taken as (
    select q.domain_id, q.path_hash from parse_queue as q
    where (q.claimed_until is null or q.claimed_until < bailiwick_now())
      and (%(jobs)s::bigint[] is null or exists (
          select 1 from job_domains as jd where jd.domain_id = q.domain_id and jd.job_id = any(%(jobs)s::bigint[])))
      and exists (select 1 from pages as p left join packs as k on k.id = p.pack_id
                  where p.domain_id = q.domain_id and p.path_hash = q.path_hash
                    and (k.id is null or k.machine = %(machine)s))
    order by q.queued_at limit %(limit)s
    for update of q skip locked
), held as (
    update parse_queue as q
    set worker = %(worker)s, claimed_until = bailiwick_now() + make_interval(secs => %(seconds)s),
        attempts = least(q.attempts + 1, 30000)
    from taken as t where q.domain_id = t.domain_id and q.path_hash = t.path_hash
    returning q.domain_id, q.path_hash, q.body_hash, q.attempts, q.is_forced
)
select h.domain_id, h.path_hash, h.body_hash as token, h.attempts, h.is_forced, p.body_hash, p.path, coalesce(p.content_type, '') as content_type,
       p.pack_id, p.pack_offset, p.pack_length, d.name, d.base_url, d.profile,
       bailiwick_parser_mark(d.name, %(parser_marks)s::jsonb) as parser_mark
from held as h
cross join lateral (  -- apart, so that it is looked up by its whole key, whatever the statistics say
    select body_hash, path, content_type, pack_id, pack_offset, pack_length from pages
    where domain_id = h.domain_id and path_hash = h.path_hash offset 0) as p
join domains as d on d.id = h.domain_id

-- name: known_contents
-- What is known of these pages' contents, made by this version and these profiles: nothing of it is made again.
select s.domain_id, s.path_hash, s.content_hash
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(mark)s::bigint[]) as n(d, p, mark)
join page_snapshots as s on s.domain_id = n.d and s.path_hash = n.p
where s.extractor_version = %(version)s and s.profile_mark = n.mark

-- name: give_back
update parse_queue as q set worker = null, claimed_until = bailiwick_now() + make_interval(secs => %(seconds)s),
    attempts = greatest(q.attempts - 1, 0)
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
where q.domain_id = n.d and q.path_hash = n.p and q.worker = %(worker)s

-- name: free_dead
-- What a dead process of this machine held is free at once.
update parse_queue set worker = null, claimed_until = null where worker = any(%(workers)b::text[])

-- name: holders
select distinct worker from parse_queue where worker is not null and worker like %(machine)s || '/%%'

-- name: hold
-- The first statement of a write: pages whose body is still the one that was parsed, in key order.
select q.domain_id, q.path_hash from parse_queue as q
join unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(body_hash)b::bytea[]) as n(d, p, b)
  on q.domain_id = n.d and q.path_hash = n.p and q.body_hash = n.b
order by q.domain_id, q.path_hash
for update of q

-- name: touch_snapshots
-- Content that is known already was seen once more.
update page_snapshots as s set last_seen_at = bailiwick_now(), body_hash = n.b
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(content_hash)b::bytea[], %(body_hash)b::bytea[])
     as n(d, p, c, b)
where s.domain_id = n.d and s.path_hash = n.p and s.content_hash = n.c
returning s.domain_id, s.path_hash, s.id

-- name: write_snapshots
insert into page_snapshots as s (
    domain_id, path_hash, content_hash, body_hash, kind, title, description, language, author, canonical, published_at,
    modified_at, meta, text, words, markdown, simhash, is_relevant, relevance, relevance_reason, relevance_source,
    extractor_version, profile_mark)
select domain_id, path_hash, content_hash, body_hash, kind, title, description, language, author, canonical,
       published_at, modified_at, meta::jsonb, text, words, markdown, simhash, is_relevant, relevance,
       relevance_reason, relevance_source, %(version)s, profile_mark
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(content_hash)b::bytea[], %(body_hash)b::bytea[],
            %(kind)b::text[], %(title)b::text[], %(description)b::text[], %(language)b::text[], %(author)b::text[],
            %(canonical)b::text[], %(published_at)s::timestamptz[], %(modified_at)s::timestamptz[], %(meta)b::text[],
            %(text)b::text[], %(words)s::int[], %(markdown)b::text[], %(simhash)s::bigint[], %(is_relevant)s::boolean[],
            %(relevance)s::float8[], %(relevance_reason)b::text[], %(relevance_source)b::text[],
            %(profile_mark)s::bigint[])
     as n(domain_id, path_hash, content_hash, body_hash, kind, title, description, language, author, canonical,
          published_at, modified_at, meta, text, words, markdown, simhash, is_relevant, relevance, relevance_reason,
          relevance_source, profile_mark)
on conflict (domain_id, path_hash, content_hash) do update
set body_hash = excluded.body_hash, kind = excluded.kind, title = excluded.title, description = excluded.description,
    language = excluded.language, author = excluded.author, canonical = excluded.canonical,
    published_at = excluded.published_at, modified_at = excluded.modified_at, meta = excluded.meta,
    text = excluded.text, words = excluded.words, markdown = excluded.markdown, simhash = excluded.simhash,
    is_relevant = excluded.is_relevant, relevance = excluded.relevance, relevance_reason = excluded.relevance_reason,
    relevance_source = excluded.relevance_source, extractor_version = excluded.extractor_version,
    profile_mark = excluded.profile_mark, last_seen_at = bailiwick_now()
returning s.domain_id, s.path_hash, s.id

-- name: add_history
-- A line for each page whose content is another one than last time: A, B, A again are three.
insert into snapshot_history (domain_id, path_hash, snapshot_id, previous_id)
select n.d, n.p, n.s, last.snapshot_id
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(snapshot_id)s::bigint[]) as n(d, p, s)
left join lateral (select h.snapshot_id from snapshot_history as h where h.domain_id = n.d and h.path_hash = n.p
                   order by h.id desc limit 1) as last on true
where last.snapshot_id is distinct from n.s
order by n.d, n.p
returning domain_id, path_hash

-- name: write_items
insert into items as i (
    snapshot_id, domain_id, path_hash, kind, position, data, confidence, extractor, extractor_version, content_hash,
    fields, verified_at)
select s, d, p, k, n, j::jsonb, c, e, v, h, f::jsonb,
       -- What a person verified is so in the page's next content too, as long as it says the same.
       case when k in ('contact', 'funding_programme')
            then (select max(o.verified_at) from items as o
                  where o.domain_id = d and o.path_hash = p and o.kind = k and o.content_hash = h) end
from unnest(%(snapshot_id)s::bigint[], %(domain_id)s::bigint[], %(path_hash)s::bigint[], %(kind)b::text[],
            %(position)s::int[], %(data)b::text[], %(confidence)s::float8[], %(extractor)b::text[],
            %(extractor_version)s::int[], %(content_hash)b::bytea[], %(fields)b::text[])
     as x(s, d, p, k, n, j, c, e, v, h, f)
on conflict (snapshot_id, kind, position) do update
set data = excluded.data, confidence = excluded.confidence, fields = excluded.fields, extractor = excluded.extractor,
    extractor_version = excluded.extractor_version, content_hash = excluded.content_hash,
    updated_at = case when i.content_hash = excluded.content_hash then i.updated_at else bailiwick_now() end,
    verified_at = case when i.content_hash = excluded.content_hash then i.verified_at else excluded.verified_at end

-- name: drop_items
-- Items that these snapshots had and have no more.
delete from items as i
where i.snapshot_id = any(%(snapshots)s::bigint[])
  and not exists (select 1 from unnest(%(snapshot_id)s::bigint[], %(kind)b::text[], %(position)s::int[]) as n(s, k, p)
                  where n.s = i.snapshot_id and n.k = i.kind and n.p = i.position)

-- name: drop_rejects
delete from item_rejects where snapshot_id = any(%(snapshots)s::bigint[])

-- name: write_rejects
insert into item_rejects (
    snapshot_id, domain_id, path_hash, kind, position, field, value, reason, extractor, extractor_version)
select s, d, p, k, n, f, v, r, e, x
from unnest(%(snapshot_id)s::bigint[], %(domain_id)s::bigint[], %(path_hash)s::bigint[], %(kind)b::text[],
            %(position)s::int[], %(field)b::text[], %(value)b::text[], %(reason)b::text[], %(extractor)b::text[],
            %(extractor_version)s::int[]) as t(s, d, p, k, n, f, v, r, e, x)

-- name: project_products
-- What these pages sell now, by the items of the content that they have now; a line of history where that moved.
with page as (
    select * from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(snapshot_id)s::bigint[]) as n(d, p, s)
), gone as (
    update products as t set gone_at = bailiwick_now() from page as n
    where t.domain_id = n.d and t.path_hash = n.p and t.gone_at is null
      and not exists (select 1 from items as i
                      where i.snapshot_id = n.s and i.kind = 'product' and i.position = t.position)
), sold as (
    insert into products as t (
        domain_id, path_hash, position, item_id, product_name, description, price, currency, availability, rating,
        review_count, brand, category, sku, confidence, parser, parser_version, content_hash, metadata)
    select n.d, n.p, i.position, i.id, i.data ->> 'name', i.data ->> 'description', (i.data ->> 'price')::numeric,
           i.data ->> 'currency',
           case i.data ->> 'availability' when 'InStock' then 'in_stock' when 'OutOfStock' then 'out_of_stock' end,
           round((i.data #>> '{aggregateRating,ratingValue}')::numeric, 2),
           (i.data #>> '{aggregateRating,reviewCount}')::int, i.data #>> '{brand,name}', i.data ->> 'category',
           i.data ->> 'sku', i.confidence, i.extractor, i.extractor_version, i.content_hash,
           i.data - '{url,name,description,price,currency,availability,aggregateRating,brand,category,sku}'::text[]
    from page as n join items as i on i.snapshot_id = n.s and i.kind = 'product'
    order by n.d, n.p, i.position
    on conflict (domain_id, path_hash, position) do update
    set item_id = excluded.item_id, product_name = excluded.product_name, description = excluded.description,
        price = excluded.price, currency = excluded.currency, availability = excluded.availability,
        rating = excluded.rating, review_count = excluded.review_count, brand = excluded.brand,
        category = excluded.category, sku = excluded.sku, confidence = excluded.confidence, parser = excluded.parser,
        parser_version = excluded.parser_version, content_hash = excluded.content_hash, metadata = excluded.metadata,
        gone_at = null,
        updated_at = case when t.content_hash = excluded.content_hash and t.gone_at is null then t.updated_at
                          else bailiwick_now() end
    returning t.id, t.price, t.currency, t.availability
)
insert into price_history (product_id, price, currency, availability)
select s.id, s.price, s.currency, s.availability
from sold as s
left join lateral (select h.price, h.currency, h.availability from price_history as h where h.product_id = s.id
                   order by h.id desc limit 1) as last on true
where (last.price, last.currency, last.availability) is distinct from (s.price, s.currency, s.availability)
order by s.id

-- name: write_parses
insert into page_parses as t (
    domain_id, path_hash, body_hash, outcome, error, snapshot_id, content_hash, simhash, extractor_version, profile,
    profile_mark, milliseconds)
select d, p, b, o, e, s, c, h, %(version)s, f, m, ms
from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(body_hash)b::bytea[], %(outcome)b::text[],
            %(error)b::text[], %(snapshot_id)s::bigint[], %(content_hash)b::bytea[], %(simhash)s::bigint[],
            %(profile)b::text[], %(profile_mark)s::bigint[], %(milliseconds)s::int[])
     as n(d, p, b, o, e, s, c, h, f, m, ms)
on conflict (domain_id, path_hash) do update
set body_hash = excluded.body_hash, outcome = excluded.outcome, error = excluded.error,
    snapshot_id = excluded.snapshot_id, content_hash = excluded.content_hash, simhash = excluded.simhash,
    extractor_version = excluded.extractor_version, profile = excluded.profile,
    profile_mark = excluded.profile_mark, milliseconds = excluded.milliseconds, parsed_at = bailiwick_now()

-- name: done
delete from parse_queue as q using unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[]) as n(d, p)
where q.domain_id = n.d and q.path_hash = n.p

-- name: tell
insert into outbox (topic, subject_kind, subject_id, payload)
select topic, 'page', domain_id,
       jsonb_build_object('path_hash', path_hash, 'snapshot', snapshot_id, 'items', items, 'relevance', relevance)
from unnest(%(topic)b::text[], %(domain_id)s::bigint[], %(path_hash)s::bigint[], %(snapshot_id)s::bigint[],
            %(items)s::int[], %(relevance)s::float8[]) as n(topic, domain_id, path_hash, snapshot_id, items, relevance)

-- name: backlog
-- How many pages wait to be parsed: of these jobs, or all; counted up to a bound.
select count(*) from (
    select 1 from parse_queue as q
    where (%(jobs)s::bigint[] is null or exists (
        select 1 from job_domains as jd where jd.domain_id = q.domain_id and jd.job_id = any(%(jobs)s::bigint[])))
      and not (q.worker is null and coalesce(q.claimed_until > bailiwick_now(), false))  -- put off
    limit %(most)s) as waiting

-- name: requeue
-- Pages with a stored body that this version or profile has not parsed yet (or all, by force), after a key, in order.
with page as materialized (
    select p.domain_id, p.path_hash, p.body_hash, p.last_fetched_at,
           t.domain_id is not null and t.extractor_version >= %(version)s and t.body_hash = p.body_hash
               and t.outcome <> all(%(again)b::text[]) and t.profile = d.profile
               and t.profile_mark = (coalesce((%(marks)s::jsonb ->> d.profile)::bigint, 0)
                                     # bailiwick_parser_mark(d.name, %(parser_marks)s::jsonb)) as is_done
    from pages as p join domains as d on d.id = p.domain_id
    left join page_parses as t on t.domain_id = p.domain_id and t.path_hash = p.path_hash
    where (p.domain_id, p.path_hash) > (%(domain_id)s, %(path_hash)s)
      and (%(only)s::bigint[] is null or p.domain_id = any(%(only)s::bigint[]))
      and (%(profiles)b::text[] is null or d.profile = any(%(profiles)b::text[]))
      and p.pack_id is not null and not p.is_noindex
    order by p.domain_id, p.path_hash limit %(limit)s
), added as (
    insert into parse_queue as q (domain_id, path_hash, body_hash, is_forced)
    select domain_id, path_hash, body_hash, %(force)s from page where %(force)s or not is_done
    on conflict (domain_id, path_hash) do update set is_forced = excluded.is_forced
    returning 1
)
select (select count(*) from page) as seen, (select count(*) from added) as added,
       (select domain_id from page order by domain_id desc, path_hash desc limit 1) as domain_id,
       (select path_hash from page order by domain_id desc, path_hash desc limit 1) as path_hash

-- name: changes
-- The newest changes before one, of all domains or one, or of one page.
select h.id, h.seen_at, h.domain_id, h.path_hash, h.snapshot_id, h.previous_id, d.name, p.path,
       new.title, new.words, old.words as words_before, new.is_relevant
from (
    select * from snapshot_history as h
    where h.previous_id is not null and h.id < %(before)s
      and (%(domain_id)s::bigint is null or h.domain_id = %(domain_id)s)
      and (%(path_hash)s::bigint is null or h.path_hash = %(path_hash)s)
      and (%(since)s::timestamptz is null or h.seen_at >= %(since)s)
    order by h.id desc limit %(limit)s) as h
join domains as d on d.id = h.domain_id
join pages as p on p.domain_id = h.domain_id and p.path_hash = h.path_hash
join page_snapshots as new on new.id = h.snapshot_id
left join page_snapshots as old on old.id = h.previous_id
where not %(only_relevant)s or new.is_relevant
order by h.id desc

-- name: page_history
-- What one page held, the newest first.
select h.id, h.seen_at, h.snapshot_id, h.previous_id, s.title, s.words, s.is_relevant
from snapshot_history as h join page_snapshots as s on s.id = h.snapshot_id
where h.domain_id = %(domain_id)s and h.path_hash = %(path_hash)s and h.id < %(before)s
order by h.id desc limit %(limit)s

-- name: texts
select id, title, coalesce(markdown, text) as text from page_snapshots where id = any(%(ids)s::bigint[])

-- name: simhashes
-- What is needed to find near duplicates in a domain: a narrow row a page.
select t.path_hash, t.content_hash, t.simhash from page_parses as t
where t.domain_id = %(domain_id)s and t.outcome = 'parsed' order by t.path_hash limit %(most)s

-- name: paths
select p.path_hash, p.path from pages as p
where p.domain_id = %(domain_id)s and p.path_hash = any(%(hashes)s::bigint[])

-- name: content_counts
-- How a domain's pages were parsed, counted up to a bound.
select outcome, count(*) as pages, count(*) filter (where is_relevant) as relevant from (
    select t.outcome, s.is_relevant from page_parses as t left join page_snapshots as s on s.id = t.snapshot_id
    where t.domain_id = %(domain_id)s limit %(most)s) as t
group by outcome order by outcome

-- name: item_counts
select kind, count(*) as items from (
    select i.kind from items as i join page_parses as t on t.domain_id = i.domain_id and t.path_hash = i.path_hash
        and t.snapshot_id = i.snapshot_id
    where i.domain_id = %(domain_id)s limit %(most)s) as i
group by kind order by kind

-- name: failures
-- Pages of which no content could be read, and why.
select d.name, p.path, t.outcome, t.error, t.parsed_at, t.domain_id, t.path_hash
from page_parses as t join domains as d on d.id = t.domain_id
join pages as p on p.domain_id = t.domain_id and p.path_hash = t.path_hash
where t.outcome <> 'parsed' and (%(domain_id)s::bigint is null or t.domain_id = %(domain_id)s)
  and (t.domain_id, t.path_hash) > (%(after_domain)s, %(after_path)s)
order by t.domain_id, t.path_hash limit %(limit)s

-- name: unproductive
-- Pages that were crawled within so many days and never gave an item of a kind that their profile wants.
select d.name, p.path, p.fetch_count, p.last_fetched_at, t.profile, p.domain_id, p.path_hash
from pages as p join domains as d on d.id = p.domain_id
join page_parses as t on t.domain_id = p.domain_id and t.path_hash = p.path_hash
where (%(domain_id)s::bigint is null or p.domain_id = %(domain_id)s)
  and p.last_fetched_at >= bailiwick_now() - make_interval(days => %(days)s)
  and %(wanted)s::jsonb ? t.profile
  and not exists (select 1 from items as i where i.domain_id = p.domain_id and i.path_hash = p.path_hash
                  and (%(wanted)s::jsonb -> t.profile) ? i.kind)
  and not ((%(wanted)s::jsonb -> t.profile) ? 'image' and exists (
      select 1 from image_sightings as s where s.domain_id = p.domain_id and s.path_hash = p.path_hash))
  and (p.domain_id, p.path_hash) > (%(after_domain)s, %(after_path)s)
order by p.domain_id, p.path_hash limit %(limit)s

-- name: items_after
-- Items of what pages hold now, by kind and in the order in which they were found.
select i.id, d.name as domain, p.path, i.kind, i.position, i.data, i.fields, i.confidence, i.extractor,
       i.extractor_version, i.snapshot_id, i.first_seen_at, i.updated_at
from items as i
join page_parses as t on t.domain_id = i.domain_id and t.path_hash = i.path_hash and t.snapshot_id = i.snapshot_id
join domains as d on d.id = i.domain_id
join pages as p on p.domain_id = i.domain_id and p.path_hash = i.path_hash
where (i.kind, i.id) > (%(after_kind)s, %(after_id)s) and i.kind <= %(last_kind)s
order by i.kind, i.id limit %(limit)s

-- name: items_of_domain_after
select i.id, d.name as domain, p.path, i.kind, i.position, i.data, i.fields, i.confidence, i.extractor,
       i.extractor_version, i.snapshot_id, i.first_seen_at, i.updated_at
from items as i
join page_parses as t on t.domain_id = i.domain_id and t.path_hash = i.path_hash and t.snapshot_id = i.snapshot_id
join domains as d on d.id = i.domain_id
join pages as p on p.domain_id = i.domain_id and p.path_hash = i.path_hash
where i.domain_id = %(domain_id)s and (i.kind, i.id) > (%(after_kind)s, %(after_id)s) and i.kind <= %(last_kind)s
order by i.kind, i.id limit %(limit)s

-- name: items_of_page
select i.id, d.name as domain, p.path, i.kind, i.position, i.data, i.fields, i.confidence, i.extractor, i.extractor_version,
       i.snapshot_id, i.first_seen_at, i.updated_at
from page_parses as t join items as i on i.snapshot_id = t.snapshot_id
join domains as d on d.id = t.domain_id
join pages as p on p.domain_id = t.domain_id and p.path_hash = t.path_hash
where t.domain_id = %(domain_id)s and t.path_hash = %(path_hash)s
order by i.kind, i.position limit 1000

-- name: prices_of_page
select h.seen_at, h.price, h.currency, h.availability
from products as t join price_history as h on h.product_id = t.id
where t.domain_id = %(domain_id)s and t.path_hash = %(path_hash)s and t.position = 0
order by h.id desc limit %(limit)s

-- name: rejects_after
select r.id, d.name, p.path, r.kind, r.field, r.value, r.reason, r.extractor, r.extractor_version, r.created_at
from item_rejects as r
join domains as d on d.id = r.domain_id
join pages as p on p.domain_id = r.domain_id and p.path_hash = r.path_hash
where r.id > %(after)s order by r.id limit %(limit)s

-- name: rejects_of_domain_after
select r.id, d.name, p.path, r.kind, r.field, r.value, r.reason, r.extractor, r.extractor_version, r.created_at
from item_rejects as r
join domains as d on d.id = r.domain_id
join pages as p on p.domain_id = r.domain_id and p.path_hash = r.path_hash
where r.domain_id = %(domain_id)s and r.id > %(after)s order by r.id limit %(limit)s
