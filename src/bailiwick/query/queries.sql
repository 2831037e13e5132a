-- name: pages_now
-- What these pages hold now; whatever they held when the message was written.
select c.domain_id, c.path_hash, c.snapshot_id, o.name as domain, coalesce(o.base_url, 'https://' || o.name) as origin,
       p.path, s.title, s.description, s.text, s.language, s.is_relevant, coalesce(s.published_at, s.first_seen_at) as at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) as k (domain_id, path_hash)
join page_parses as c on c.domain_id = k.domain_id and c.path_hash = k.path_hash
join page_snapshots as s on s.id = c.snapshot_id
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as o on o.id = k.domain_id

-- name: items_now
select snapshot_id, kind, position, data from items where snapshot_id = any(%(snapshot_ids)s::bigint[])

-- name: parsed_after
-- The next pages in the order of keys.
select domain_id, path_hash from page_parses
where (domain_id, path_hash) > (%(domain_id)s::bigint, %(path_hash)s::bigint) and domain_id <= %(last)s::bigint
order by domain_id, path_hash limit %(limit)s

-- name: fetched_after
select domain_id, path_hash from pages
where (domain_id, path_hash) > (%(domain_id)s::bigint, %(path_hash)s::bigint) and domain_id <= %(last)s::bigint
order by domain_id, path_hash limit %(limit)s

-- name: domains_after
select id as domain_id, 0::bigint as path_hash from domains
where id > %(domain_id)s::bigint and id <= %(last)s::bigint order by id limit %(limit)s

-- name: candidates_after
-- In the order of domains, and of ids within each.
select domain_id, id as path_hash from candidates
where (domain_id, id) > (%(domain_id)s::bigint, %(path_hash)s::bigint) and domain_id >= %(domain_id)s::bigint
  and domain_id <= %(last)s::bigint
order by domain_id, id limit %(limit)s

-- name: evaluations_after
select domain_id, id as path_hash from evaluations
where (domain_id, id) > (%(domain_id)s::bigint, %(path_hash)s::bigint) and domain_id <= %(last)s::bigint
order by domain_id, id limit %(limit)s

-- name: horizon
-- Whatever was written with a time before this can be seen by now: no transaction is open that began earlier, and times
-- are those of the transaction's start.
select least(now(), min(xact_start)) + (bailiwick_now() - now()) - interval '1 second'
from pg_stat_activity
where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()

-- name: about_how_many
select sum(c.reltuples)::bigint from pg_class as c
left join pg_inherits as i on i.inhrelid = c.oid
where case %(walk)s::text when 'domains_after' then c.oid = 'domains'::regclass
                          when 'parsed_after' then c.oid = 'page_parses'::regclass
                          when 'candidates_after' then c.oid = 'candidates'::regclass
                          when 'evaluations_after' then c.oid = 'evaluations'::regclass
                          else i.inhparent = 'pages'::regclass end

-- name: export_pages
select u.url, encode(sha256(convert_to(u.url, 'UTF8')), 'hex') as url_sha256, d.name as domain, p.path, p.state,
       p.last_status as status, p.last_outcome as outcome, p.content_type, p.depth,
       p.first_seen_at, p.last_fetched_at as fetched_at, p.last_changed_at as changed_at, p.fetch_count, p.change_count,
       p.is_noindex, encode(p.body_hash, 'hex') as body_hash, c.outcome as parse_outcome, c.parsed_at,
       s.kind as content_kind, s.title, s.description, s.language, s.author, s.canonical, s.published_at, s.modified_at,
       s.words, s.text, s.markdown, s.is_relevant, s.relevance, s.relevance_reason, s.relevance_source,
       encode(s.content_hash, 'hex') as content_hash, s.first_seen_at as content_first_seen_at,
       s.last_seen_at as content_last_seen_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, path_hash, nr)
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as d on d.id = k.domain_id
cross join lateral (select rtrim(coalesce(d.base_url, 'https://' || d.name), '/') || p.path as url) as u
left join page_parses as c on c.domain_id = k.domain_id and c.path_hash = k.path_hash
left join page_snapshots as s on s.id = c.snapshot_id
where p.last_outcome is not null and (not %(only_relevant)s or s.is_relevant)
  and (%(since)s::timestamptz is null
       or greatest(p.last_changed_at, c.parsed_at, case when p.fetch_count <= 1 then p.last_fetched_at end)
          >= %(since)s::timestamptz)
order by k.nr

-- name: export_bodies
select u.url, p.last_fetched_at as fetched_at, p.pack_id, p.pack_offset, p.pack_length
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, path_hash, nr)
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as d on d.id = k.domain_id
cross join lateral (select rtrim(coalesce(d.base_url, 'https://' || d.name), '/') || p.path as url) as u
left join page_parses as c on c.domain_id = k.domain_id and c.path_hash = k.path_hash
left join page_snapshots as s on s.id = c.snapshot_id
where p.pack_id is not null and (not %(only_relevant)s or s.is_relevant)
  and (%(since)s::timestamptz is null
       or greatest(p.last_changed_at, c.parsed_at, case when p.fetch_count <= 1 then p.last_fetched_at end)
          >= %(since)s::timestamptz)
order by k.nr

-- name: export_items
select i.kind, i.position, u.url, encode(sha256(convert_to(u.url, 'UTF8')), 'hex') as url_sha256, d.name as domain,
       i.data, i.confidence, i.extractor, i.extractor_version, encode(i.content_hash, 'hex') as content_hash,
       s.title as page_title, s.language, s.is_relevant, i.first_seen_at, i.updated_at, p.last_fetched_at as fetched_at,
       i.verified_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, path_hash, nr)
join page_parses as c on c.domain_id = k.domain_id and c.path_hash = k.path_hash
join page_snapshots as s on s.id = c.snapshot_id
join items as i on i.snapshot_id = c.snapshot_id
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as d on d.id = k.domain_id
cross join lateral (select rtrim(coalesce(d.base_url, 'https://' || d.name), '/') || p.path as url) as u
where (cardinality(%(item_kinds)s::text[]) = 0 or i.kind = any(%(item_kinds)s::text[]))
  and (not %(only_relevant)s or s.is_relevant)
  and (%(since)s::timestamptz is null or greatest(i.updated_at, c.parsed_at, i.verified_at) >= %(since)s::timestamptz)
order by k.nr, i.kind, i.position

-- name: export_products
select u.url, encode(sha256(convert_to(u.url, 'UTF8')), 'hex') as url_sha256, d.name as domain, t.position,
       t.product_name, t.description, t.price::float8 as price, t.currency, t.availability, t.rating::float8 as rating,
       t.review_count, t.brand, t.category, t.sku, t.metadata, t.confidence, t.parser, t.parser_version,
       encode(t.content_hash, 'hex') as content_hash, t.created_at, t.updated_at, t.gone_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, path_hash, nr)
join products as t on t.domain_id = k.domain_id and t.path_hash = k.path_hash
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as d on d.id = k.domain_id
cross join lateral (select rtrim(coalesce(d.base_url, 'https://' || d.name), '/') || p.path as url) as u
where %(since)s::timestamptz is null or greatest(t.updated_at, t.gone_at) >= %(since)s::timestamptz
order by k.nr, t.position

-- name: export_domains
select d.name as domain, d.site, d.base_url, d.approval, d.standing, d.crawl, d.profile, d.is_trusted, d.source,
       d.seed_rank, d.priority_score, d.pages_discovered, d.pages_crawled, d.images_found, d.images_stored,
       d.image_yield_rate, d.error_rate, d.review_reason, d.block_reason, d.blacklist_reason, d.reviewed_at,
       d.first_seen_at, d.last_crawled_at, d.next_crawl_after, d.updated_at
from unnest(%(domain_ids)s::bigint[]) with ordinality as k (domain_id, nr)
join domains as d on d.id = k.domain_id
where %(since)s::timestamptz is null or d.updated_at >= %(since)s::timestamptz
order by k.nr

-- name: export_images
select s.url, u.url as page, encode(sha256(convert_to(u.url, 'UTF8')), 'hex') as page_sha256, d.name as domain,
       s.position, s.image_type, s.alt_text, s.found_in, s.discovery_type, s.product_id,
       coalesce(f.outcome, 'not_wanted') as outcome, f.error, s.image_id, encode(i.sha256, 'hex') as sha256, i.path,
       i.mime, i.width, i.height, i.file_size, encode(int8send(i.perceptual_hash), 'hex') as perceptual_hash,
       s.first_seen_at, s.last_seen_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, path_hash, nr)
join image_sightings as s on s.domain_id = k.domain_id and s.path_hash = k.path_hash
join pages as p on p.domain_id = k.domain_id and p.path_hash = k.path_hash
join domains as d on d.id = k.domain_id
cross join lateral (select rtrim(coalesce(d.base_url, 'https://' || d.name), '/') || p.path as url) as u
left join image_fetches as f on f.domain_id = s.domain_id and f.url_hash = s.url_hash
left join images as i on i.id = s.image_id
where %(since)s::timestamptz is null
   or greatest(s.first_seen_at, f.fetched_at, i.created_at) >= %(since)s::timestamptz
order by k.nr, s.position

-- name: export_candidates
-- Programmes and contacts are those that the candidate's approval verified and that its pages still give.
select c.url, encode(sha256(convert_to(c.url, 'UTF8')), 'hex') as url_sha256, d.name as domain, c.id, c.session_id,
       c.state as status, c.confidence as confidence_score, c.threshold, c.title, c.snippet, c.engine, c.query,
       c.position, c.found_by, c.profile, c.judge_scores, c.reasoning,
       c.organization_name as extracted_organization_name, c.program_name as extracted_program_name, v.programmes,
       v.contacts, c.facts, m.name as reviewed_by, c.reviewed_at, c.review_notes, c.crawled_at, c.found_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, id, nr)
join candidates as c on c.id = k.id
join domains as d on d.id = c.domain_id
left join members as m on m.id = c.reviewed_by
cross join lateral (
    select coalesce(jsonb_agg(i.told order by i.id) filter (where i.kind = 'funding_programme'), '[]') as programmes,
           coalesce(jsonb_agg(i.told order by i.id) filter (where i.kind = 'contact'), '[]') as contacts
    from (select i.id, i.kind, i.data || jsonb_build_object('page', p.path) as told
          from items as i
          join page_parses as r on r.domain_id = i.domain_id and r.path_hash = i.path_hash
               and r.snapshot_id = i.snapshot_id
          join pages as p on p.domain_id = i.domain_id and p.path_hash = i.path_hash
          where c.state = 'approved' and i.domain_id = c.domain_id and i.kind in ('contact', 'funding_programme')
            and i.verified_at is not null
            and (i.path_hash = c.path_hash
                 or not exists (select 1 from candidates as o where o.domain_id = i.domain_id
                                  and o.path_hash = i.path_hash and o.state <> 'skipped_low_confidence'))) as i
) as v
where (cardinality(%(states)s::text[]) = 0 or c.state = any(%(states)s::text[]))
  and (%(since)s::timestamptz is null
       or greatest(c.found_at, c.crawled_at, c.assigned_at, c.reviewed_at) >= %(since)s::timestamptz)
order by k.nr

-- name: export_evaluations
select e.url, encode(sha256(convert_to(e.url, 'UTF8')), 'hex') as url_sha256, d.name as domain, e.title, e.profile,
       e.job_id, e.confidence as confidence_score, e.band as confidence_band, e.action, o.status,
       coalesce(r.reason, 'band') as reason, r.reviewer_notes, m.name as decided_by, r.decided_at, q.queued_at,
       q.is_stale, e.reasoning, e.sophistication_signals, e.layer1_results, e.layer2_results, e.layer3_results,
       e.layer3_by, e.evidence, e.evidence_confidence, e.learned_probability, e.model_id, e.policy_version,
       e.evaluated_at
from unnest(%(domain_ids)s::bigint[], %(path_hashes)s::bigint[]) with ordinality as k (domain_id, id, nr)
join evaluations as e on e.id = k.id
join domains as d on d.id = e.domain_id
left join url_results as r on r.url_id = e.url_id
left join review_queue as q on q.url_id = e.url_id
left join members as m on m.id = r.decided_by
cross join lateral (select coalesce(r.status, 'waiting') as status) as o
where (cardinality(%(states)s::text[]) = 0 or o.status = any(%(states)s::text[]))
  and (%(since)s::timestamptz is null
       or greatest(e.evaluated_at, r.decided_at, q.updated_at) >= %(since)s::timestamptz)
order by k.nr
