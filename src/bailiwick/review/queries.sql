-- name: waiting_up_to
-- How many wait for review, counted up to a bound.
select count(*) from (select 1 from review_queue where reviewed_at is null limit %(most)s) as few

-- name: held_by
-- What this reviewer holds already and has not decided.
select id from review_queue
where reviewed_at is null and claimed_by = %(actor)s and claimed_until > bailiwick_now()
order by claimed_until, id limit 1

-- name: next_by_age
-- The first that nobody holds. What somebody else is taking at this moment is passed over.
select id from review_queue
where reviewed_at is null and (claimed_until is null or claimed_until <= bailiwick_now())
  and (not %(others_own)s or submitted_by <> %(actor)s)
order by queued_at, id limit 1 for update skip locked

-- name: next_by_information
select id from review_queue
where reviewed_at is null and (claimed_until is null or claimed_until <= bailiwick_now())
  and (not %(others_own)s or submitted_by <> %(actor)s)
order by information desc, id limit 1 for update skip locked

-- name: mark_stale
-- What waits longer than so many days; what a reviewer is at is left for the next time.
update review_queue set is_stale = true
where id = any(array(
    select id from review_queue
    where reviewed_at is null and not is_stale and queued_at < bailiwick_now() - make_interval(days => %(days)s)
    order by queued_at, id limit %(limit)s for update skip locked))

-- name: evaluations_by_band
-- Past evaluations by the band they had and by the one that their score has among these cut points. What trust decided
-- no band did.
select e.band, e.action, width_bucket(e.confidence, %(cuts)s::float8[]) as nth, count(*) as evaluations
from evaluations as e
where e.profile <> all(%(own)b::text[])
  and not exists (select 1 from url_results as r where r.url_id = e.url_id and r.reason = 'trusted_domain')
group by 1, 2, 3 order by 4 desc, 1, 2, 3
