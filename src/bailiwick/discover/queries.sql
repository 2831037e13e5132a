-- name: domains_by_name
-- What judging needs to know of domains, as they are now.
select d.id, d.name, d.approval, d.standing, d.no_funds_year, d.retry_after, d.last_processed_at, d.is_proposed, d.version,
       bailiwick_now() as now,
       (select count(*) from candidates as c where c.domain_id = d.id and c.session_id = %(session_id)s) as done
from domains as d where d.name = any(%(names)b::text[]) order by d.id

-- name: histories
-- What domains gave before. Counted up to a bound: nobody is judged by more.
select d.id, d.high_quality_candidate_count as high_candidates, d.low_quality_candidate_count as low_candidates,
       decided.approved, decided.rejected, d.pages_crawled,
       (select count(*) from (select 1 from page_parses as p join page_snapshots as s on s.id = p.snapshot_id
                              where p.domain_id = d.id and s.is_relevant limit 200) as few) as pages_relevant,
       (select count(*) from (select 1 from items as i where i.domain_id = d.id limit 200) as few) as items
from domains as d
cross join lateral (select count(*) filter (where c.state = 'approved') as approved,
                           count(*) filter (where c.state = 'rejected') as rejected
                    from candidates as c where c.domain_id = d.id) as decided
where d.id = any(%(ids)s::bigint[])

-- name: add_candidates
-- A page that is a candidate already, in any session, is not one again.
insert into candidates (session_id, domain_id, name, url, path, path_hash, title, snippet, engine, query, position,
                        found_by, profile, confidence, threshold, judge_scores, reasoning, organization_name,
                        program_name, state)
select %(session_id)s, n.domain_id, n.name, n.url, n.path, n.path_hash, n.title, n.snippet, n.engine, n.query,
       n.position, n.found_by, %(profile)s, n.confidence, n.threshold, n.judge_scores, n.reasoning,
       n.organization_name, n.program_name,
       case when n.confidence < n.threshold then 'skipped_low_confidence' else 'pending_crawl' end
from unnest(%(domain_id)s::bigint[], %(name)b::text[], %(url)b::text[], %(path)b::text[], %(path_hash)s::bigint[],
            %(title)b::text[], %(snippet)b::text[], %(engine)b::text[], %(query)b::text[], %(position)s::int[],
            %(found_by)b::jsonb[], %(confidence)s::float8[], %(threshold)s::float8[], %(judge_scores)b::jsonb[],
            %(reasoning)b::text[], %(organization_name)b::text[], %(program_name)b::text[])
     as n(domain_id, name, url, path, path_hash, title, snippet, engine, query, position, found_by, confidence,
          threshold, judge_scores, reasoning, organization_name, program_name)
where not exists (select 1 from candidates as c where c.domain_id = n.domain_id and c.path_hash = n.path_hash
                    and c.state <> 'skipped_low_confidence')
order by n.domain_id, n.path_hash
on conflict do nothing
returning domain_id, path, confidence, state

-- name: ask_for_pages
-- Of an approved domain they are crawled with the next slice, of any other once it is approved.
insert into page_requests (domain_id, kind, path, priority, asked_by)
select n.domain_id, 'candidate', n.path, 1, %(actor)s
from unnest(%(domain_id)s::bigint[], %(path)b::text[]) as n(domain_id, path)
order by n.domain_id, n.path
on conflict do nothing

-- name: crawled_candidates
-- Candidates whose page was fetched and read as far as it can be (a redirect and a spreadsheet cannot), on domains where
-- nobody is at work and nothing waits to be parsed.
select c.id, c.version, c.domain_id, c.path_hash
from candidates as c
join pages as p on p.domain_id = c.domain_id and p.path_hash = c.path_hash and p.path = c.path
join crawl_queue as q on q.domain_id = c.domain_id
where c.state = 'pending_crawl' and c.id > %(after)s and p.state = 'fetched'
  and (q.worker is null or q.wake_at <= bailiwick_now())
  and not exists (select 1 from parse_queue as w where w.domain_id = c.domain_id)
  and (p.last_outcome in ('redirected', 'other_type')
       or exists (select 1 from page_parses as r where r.domain_id = c.domain_id and r.path_hash = c.path_hash))
order by c.id limit %(limit)s

-- name: programmes_found
-- Funding programmes on the candidate's own page first, then on others of its domain.
select pg.path, i.data
from items as i
join page_parses as r on r.domain_id = i.domain_id and r.path_hash = i.path_hash and r.snapshot_id = i.snapshot_id
join pages as pg on pg.domain_id = i.domain_id and pg.path_hash = i.path_hash
where i.domain_id = %(domain_id)s and i.kind = 'funding_programme'
order by i.path_hash <> %(path_hash)s, i.confidence desc, i.id limit %(limit)s

-- name: items_by_kind
select i.kind, count(*) as count
from items as i
join page_parses as r on r.domain_id = i.domain_id and r.path_hash = i.path_hash and r.snapshot_id = i.snapshot_id
where i.domain_id = %(domain_id)s group by i.kind order by i.kind

-- name: verify_items
-- What an approved candidate gives: programmes and contacts of its page, and of those pages of its domain that are no
-- candidates of their own.
update items as i set verified_at = bailiwick_now()
from page_parses as r
where i.domain_id = %(domain_id)s and i.kind in ('contact', 'funding_programme') and i.verified_at is null
  and r.domain_id = i.domain_id and r.path_hash = i.path_hash and r.snapshot_id = i.snapshot_id
  and (i.path_hash = %(path_hash)s
       or not exists (select 1 from candidates as c where c.domain_id = i.domain_id and c.path_hash = i.path_hash
                        and c.state <> 'skipped_low_confidence'))
