-- How site parsers do.

-- name: write_tries
insert into parser_tries (domain_id, path_hash, kind, parser, version, outcome, why)
select * from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(kind)b::text[], %(parser)b::text[],
                     %(version)s::int[], %(outcome)b::text[], %(why)b::text[])
on conflict (domain_id, path_hash, kind) do update
set parser = excluded.parser, version = excluded.version, outcome = excluded.outcome, why = excluded.why,
    tried_at = bailiwick_now()

-- name: drop_tries
-- What parsers made of these pages before, of kinds for which they were not tried now.
delete from parser_tries as t
using unnest(%(all_domains)s::bigint[], %(all_paths)s::bigint[]) as n(d, p)
where t.domain_id = n.d and t.path_hash = n.p
  and not exists (select 1 from unnest(%(domain_id)s::bigint[], %(path_hash)s::bigint[], %(kind)b::text[]) as k(d, p, k)
                  where k.d = t.domain_id and k.p = t.path_hash and k.k = t.kind)

-- name: count_tries
-- A new version goes on with the last tries of the one before: it may be what broke.
insert into parser_stats as s (domain_id, parser, version, tried, succeeded, recent, fell_from)
select n.d, n.parser, n.version, length(n.recent), length(replace(n.recent, '0', '')),
       right(coalesce(last.recent, '') || n.recent, %(kept)s), last.fell_from
from unnest(%(domain_id)s::bigint[], %(parser)b::text[], %(version)s::int[], %(recent)b::text[])
     as n(d, parser, version, recent)
left join lateral (select l.recent, l.fell_from from parser_stats as l
                   where l.domain_id = n.d and l.parser = n.parser and l.version <> n.version
                   order by l.last_tried_at desc limit 1) as last on true
order by n.d, n.parser, n.version
on conflict (domain_id, parser, version) do update
set tried = s.tried + excluded.tried, succeeded = s.succeeded + excluded.succeeded,
    recent = right(s.recent || right(excluded.recent, excluded.tried::int), %(kept)s), last_tried_at = bailiwick_now()
returning s.domain_id, s.parser, s.version, s.recent, s.fell_from

-- name: mark_fallen
update parser_stats as s set fell_from = %(fell_from)s from domains as d
where s.domain_id = %(domain_id)s and s.parser = %(parser)b and d.id = s.domain_id
returning d.name

-- name: parser_rates
-- How parsers do: of each version over all domains.
select parser, version, sum(tried)::bigint as tried, sum(succeeded)::bigint as succeeded, count(*) as domains,
       count(*) filter (where fell_from is not null) as fallen
from parser_stats group by parser, version

-- name: parser_rates_by_domain
select s.parser, s.version, d.name as domain, s.domain_id, s.tried, s.succeeded, s.recent, s.fell_from, s.last_tried_at
from parser_stats as s join domains as d on d.id = s.domain_id
where (s.domain_id, s.parser, s.version) > (%(after_domain)s, %(after_parser)b, %(after_version)s)
  and (%(domain_id)s::bigint is null or s.domain_id = %(domain_id)s)
order by s.domain_id, s.parser, s.version limit %(limit)s

-- name: parser_failures
-- Pages on which a parser failed the last time, and why.
select d.name as domain, p.path, t.parser, t.version, t.kind, t.outcome, t.why, t.tried_at, t.domain_id, t.path_hash
from (
    select * from parser_tries as t
    where t.outcome <> 'succeeded' and (%(domain_id)s::bigint is null or t.domain_id = %(domain_id)s)
      and (t.domain_id, t.path_hash, t.kind) > (%(after_domain)s, %(after_path)s, %(after_kind)b)
    order by t.domain_id, t.path_hash, t.kind limit %(limit)s) as t
join domains as d on d.id = t.domain_id
cross join lateral (
    select path from pages where domain_id = t.domain_id and path_hash = t.path_hash offset 0) as p
order by t.domain_id, t.path_hash, t.kind
