-- Filters are words of the index, too: chr(1) and a letter, which no text can contain. So one index answers all, and
-- a word that is everywhere is only looked for among the few that pass. chr(2) begins the words of titles. One in eight
-- documents and one in sixty-four, by their pages' hashes and their positions, are samples of all, each with an index of
-- its own: the items of one page are not all in them or all out.

-- name: by_index
-- A planner that knows a word to be frequent would read the table until it has found enough: for ever, if the few that
-- pass the filters lie at its end. A bitmap of a million rows has to fit exactly. The system is told of blocks before they
-- are read, so that it fetches many at once; where workers of the server would read them (io_method), handing each to one
-- takes longer than reading those in memory. Who asks goes on with columns.
select set_config('enable_seqscan', 'off', true), set_config('work_mem', '32MB', true),
       set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true),
       set_config('effective_io_concurrency',
                  case coalesce(current_setting('io_method', true), 'sync') when 'sync' then '200' else '0' end, true)

-- name: for_these_words
-- A plan for any words takes them all for rare, and leaves out the index of pairs.
select set_config('plan_cache_mode', 'force_custom_plan', true)

-- name: matches
-- Where they lie, all in one text: a thousand rows take the client longer than finding them. Neither their words nor
-- anything else of them is read yet. The sample is put in by name: an index for some rows is only used for a condition
-- that the planner can read.
select array(
    select ctid from search_documents
    where WORDS and SAMPLE and (%(since)s::timestamptz is null or at >= %(since)s::timestamptz)
      and (%(low)s::numeric is null or price >= %(low)s::numeric)
      and (%(high)s::numeric is null or price <= %(high)s::numeric)
    limit %(limit)s)::text

-- name: ranked
-- A row that was written anew since it was found is missing here: it is found by the next question.
select domain_id, path_hash, kind, position,
       ts_rank('{0.1,0.2,0.4,1.0}', terms, %(words)s::tsquery, 1) as rank
from search_documents where ctid = any(%(places)s::tid[])
order by rank desc, at desc, domain_id, path_hash, kind, position
offset %(after)s limit %(limit)s

-- name: counted
-- The values that come most often, of each facet that is asked for.
select facet, number,
       case facet when 'domain' then (select name from domains where id = value::bigint) else value end as value
from (select v.facet, v.value, count(*) as number,
             row_number() over (partition by v.facet order by count(*) desc, v.value collate "C") as turn
      from SOURCE as d
      cross join lateral (values FACETS) as v (facet, value)
      where v.value is not null
      group by v.facet, v.value) as counts
where turn <= %(top)s
order by facet, turn

-- name: placed
(select * from search_documents where ctid = any(%(places)s::tid[]))

-- name: listed
-- Products by their price, and how many there are. Indexes hold all columns that are asked for and counted, so that no
-- row is read. The first row is there although nothing is found.
select count.number, kind, domain_id, path_hash, position, 0::real as rank
from (select count(*) as number,
             (array_agg(domain_id))[%(first)s:%(last)s] as domain_ids,
             (array_agg(path_hash))[%(first)s:%(last)s] as path_hashes,
             (array_agg(position))[%(first)s:%(last)s] as positions
      from (select domain_id, path_hash, position from search_documents where kind = 'product' and CONDITIONS
            order by price, domain_id, path_hash, position limit %(limit)s) as l) as count
left join lateral (
    select 'product' as kind, p.* from unnest(domain_ids, path_hashes, positions)
        with ordinality as p (domain_id, path_hash, position, nr)) as p on true
order by p.nr

-- name: listed_for_counts
select COLUMNS from search_documents where kind = 'product' and CONDITIONS
order by price, domain_id, path_hash, position limit %(limit)s

-- name: hits
-- What is gone or was replaced since it was indexed is not shown: the snapshot has to be the page's own now.
select h.nr, d.domain_id, d.path_hash, d.kind, d.position, coalesce(o.base_url, 'https://' || o.name) as origin,
       o.name as domain, p.path, d.title, d.language, d.is_relevant, d.at, d.price, d.currency, d.availability,
       d.brand, d.category,
       ts_headline(%(config)s::regconfig,
                   translate(left(coalesce(d.body, s.text, ''), %(chars)s), %(marks)s, ''),
                   %(words)s::tsquery, %(options)s) as snippet
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[], %(kinds)s::text[], %(positions)s::int[])
     with ordinality as h (domain_id, path_hash, kind, position, nr)
join search_documents as d using (domain_id, path_hash, kind, position)
join page_parses as c on c.domain_id = h.domain_id and c.path_hash = h.path_hash and c.snapshot_id = d.snapshot_id
join domains as o on o.id = h.domain_id
join pages as p on p.domain_id = h.domain_id and p.path_hash = h.path_hash
left join page_snapshots as s on s.id = d.snapshot_id and d.body is null
order by h.nr

-- name: drop_pages
delete from search_documents as d
using unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) as gone (domain_id, path_hash)
where d.domain_id = gone.domain_id and d.path_hash = gone.path_hash

-- name: drop_between
delete from search_documents as d
where (d.domain_id, d.path_hash) > (%(after_domain)s::bigint, %(after_path)s::bigint)
  and (d.domain_id, d.path_hash) <= (%(upto_domain)s::bigint, %(upto_path)s::bigint)
  and not exists (select 1 from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) as k (domain_id, path_hash)
                  where k.domain_id = d.domain_id and k.path_hash = d.path_hash)

-- name: write
insert into search_documents
    (domain_id, path_hash, kind, position, snapshot_id, title, body, language, is_relevant, at, price, currency,
     availability, brand, category, terms)
select n.domain_id, n.path_hash, n.kind, n.position, n.snapshot_id, n.title,
       case when n.kind <> 'page' then n.text end, n.language, n.is_relevant, n.at,
       n.price, n.currency, n.availability, n.brand, n.category,
       setweight(t.title, 'A') || setweight(to_tsvector(%(config)s::regconfig, n.description), 'B')
       || setweight(to_tsvector(%(config)s::regconfig, n.text), 'D')
       || array_to_tsvector(array(
              select chr(2) || word from unnest(tsvector_to_array(t.title)) as word where octet_length(word) < 1000))
       || array_to_tsvector(array_remove(array[
              chr(1) || 'd' || n.domain_id, chr(1) || 'k' || n.kind, chr(1) || 'l' || left(n.language, 100),
              case when n.is_relevant then chr(1) || 'r' end,
              case when n.availability = 'in_stock' then chr(1) || 'a' end,
              chr(1) || 'p' || p.step, case when n.availability = 'in_stock' then chr(1) || 'q' || p.step end,
              chr(1) || 'u' || n.currency, chr(1) || 'b' || left(lower(n.brand), 100),
              chr(1) || 'c' || left(lower(n.category), 100),
              chr(1) || to_char(n.at at time zone 'utc', '"y"YYYY'),
              chr(1) || to_char(n.at at time zone 'utc', '"m"YYYYMM'),
              chr(1) || to_char(n.at at time zone 'utc', '"t"YYYYMMDD')], null))
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[], %(kinds)s::text[], %(positions)s::int[],
            %(snapshot_ids)s::bigint[], %(titles)s::text[], %(descriptions)s::text[], %(texts)s::text[],
            %(languages)s::text[], %(relevants)s::boolean[], %(times)s::timestamptz[], %(prices)s::numeric[],
            %(currencies)s::text[], %(availabilities)s::text[], %(brands)s::text[], %(categories)s::text[])
     as n (domain_id, path_hash, kind, position, snapshot_id, title, description, text, language, is_relevant, at,
           price, currency, availability, brand, category)
cross join lateral (select to_tsvector(%(config)s::regconfig, n.title) as title) as t
cross join lateral (select case when n.price > 0 then least(75, greatest(-20, floor(5 * log(n.price))))::int
                                when n.price = 0 then -20 end as step) as p
order by n.domain_id, n.path_hash
on conflict (domain_id, path_hash, kind, position) do update
set snapshot_id = excluded.snapshot_id, title = excluded.title, body = excluded.body, language = excluded.language,
    is_relevant = excluded.is_relevant, at = excluded.at, terms = excluded.terms, price = excluded.price,
    currency = excluded.currency, availability = excluded.availability, brand = excluded.brand,
    category = excluded.category

-- name: found_links
-- Links out of crawled pages to domains that nobody has decided about. A link that stands on several pages is one, by the
-- page that was seen first; more domains that link to a target bring it forward.
with told as materialized (
    select o.domain_id, o.target, o.path, coalesce(o.anchor, '') as anchor, o.first_seen_at, s.title, s.text,
           (select count(*) from unnest(%(patterns)b::text[]) as p(pattern)
            where concat_ws(' ', o.anchor, o.target, o.path, s.title) ~* p.pattern) as words
    from outlinks as o
    left join page_parses as r on r.domain_id = o.domain_id and r.path_hash = o.from_hash
    left join page_snapshots as s on s.id = r.snapshot_id
    where not exists (select 1 from domains as d where d.name = o.target
                      and (d.approval <> 'pending_review' or d.standing = 'blacklisted'))
), matching as (
    select t.*, count(*) over (partition by t.target) as links,
           row_number() over (partition by t.target, t.path order by t.anchor = '', t.first_seen_at, t.domain_id) as turn
    from told as t where t.words > 0 or cardinality(%(patterns)b::text[]) = 0
)
-- Texts are read of those alone that are given.
select target, path, case when anchor = '' then coalesce(title, '') else anchor end as title,
       case when anchor <> '' and position(anchor in text) > 0
            then substr(text, greatest(position(anchor in text) - %(around)s, 1), length(anchor) + 2 * %(around)s)
            else coalesce(left(title, 2 * %(around)s), '') end as snippet
from (select * from matching where turn = 1
      order by words desc, links desc, target, path limit %(limit)s offset %(offset)s) as chosen
order by words desc, links desc, target, path
