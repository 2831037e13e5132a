"""Merge and purge: what touches a domain's content takes its lease first, like any worker."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, case, delete, func, null, select, text, update
from sqlalchemy.exc import IntegrityError

from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.base.sections import NamesSettings
from bailiwick.db.tables import (
    candidates,
    crawl_queue,
    domain_memory,
    domain_progress,
    domains,
    fetch_log,
    image_fetches,
    image_sightings,
    item_rejects,
    items,
    outlinks,
    page_parses,
    page_requests,
    page_snapshots,
    pages,
    parse_queue,
    parser_stats,
    parser_tries,
    products,
    refused_links,
    sitemaps,
    snapshot_history,
)
from bailiwick.ledger import outbox
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move, move
from bailiwick.model.names import DomainName
from bailiwick.model.transitions import APPROVAL, STANDING
from bailiwick.registry.apply import lock_queue, requeue
from bailiwick.registry.permission import ADMINS, require
from bailiwick.registry.records import Domain, find, get, get_by_id
from bailiwick.registry.standing import standing_after_lift

_PAGE = 5000
_CONTENT_TABLES = (
    parse_queue,
    page_parses,
    page_snapshots,
    snapshot_history,
    items,
    item_rejects,
    products,
    parser_tries,
    image_sightings,
)
_PAGE_TABLES = (pages, *_CONTENT_TABLES, image_fetches, outlinks, fetch_log, sitemaps, refused_links)
"""What is kept of single pages; without foreign keys, so it is moved and removed by hand."""
STRICTNESS = ("rejected", "suspended", "pending_review", "approved")
"""Of two records of one domain, the stricter approval holds: the earlier in this list."""
_SUMMED = (
    "pages_discovered",
    "pages_crawled",
    "images_found",
    "images_stored",
    "total_error_count",
    "processing_count",
    "high_quality_candidate_count",
    "low_quality_candidate_count",
)


@dataclass(frozen=True, slots=True)
class Planned:
    """One record that should be part of another one, by today's rules for names."""

    source: DomainName
    target: DomainName


def plan(conn: Connection, names: NamesSettings) -> Iterator[Planned]:
    """Every domain whose name would be another one today. Reads page by page; changes nothing."""
    after = ""
    while True:
        page = list(
            conn.execute(
                select(domains.c.name).where(domains.c.name > after).order_by(domains.c.name).limit(_PAGE)
            ).scalars()
        )
        for name in page:
            today = DomainName.parse(name, allow_private=True, collapse_subdomains=names.collapse_subdomains)
            if today.name != name:
                yield Planned(DomainName(name), today)
        if len(page) < _PAGE:
            return
        after = page[-1]


def merge(conn: Connection, planned: Planned, actor: Actor) -> Domain:
    """Make one record of two, or rename the only one there is. One event tells of it."""
    require(actor, ADMINS)
    if planned.source == planned.target:
        raise UsageError(f"{planned.source} cannot be merged with itself")
    source, target = get(conn, planned.source), find(conn, planned.target)
    if target is None:
        return _rename(conn, source, planned.target, actor)
    take_lease(conn, [source, target])
    source, target = get_by_id(conn, source.id), get_by_id(conn, target.id)  # what was decided while we waited counts
    target = _merge_approval(conn, source, target, actor)
    target = _merge_standing(conn, source, target, actor)
    _merge_rows(conn, source, target)
    _merge_pages(conn, source, target)
    conn.execute(delete(parser_stats).where(parser_stats.c.domain_id == source.id))
    _merge_jobs(conn, source, target)
    _merge_candidates(conn, source, target)
    _merge_evaluations(conn, source, target)
    conn.execute(delete(domains).where(domains.c.id == source.id))
    _tell_moved(conn, source, target)
    record(
        conn,
        actor,
        Subject("domain", target.name.name, target.id),
        Act("merge", before=source.name.name, after=target.name.name, details={"merged_id": source.id}),
    )
    requeue(conn, [target.id])
    return get(conn, target.name)


def purge(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    """Remove what was collected from a domain; the record, its decisions and its trail stay.

    Bodies are gone with the next `storage sweep` that rewrites their packs.
    """
    require(actor, ADMINS)
    take_lease(conn, [domain])
    for table in (page_requests, domain_progress, domain_memory, *_PAGE_TABLES, parser_stats):
        conn.execute(delete(table).where(table.c.domain_id == domain.id))
    conn.execute(update(candidates).where(candidates.c.domain_id == domain.id).values(facts=null()))
    zero = dict.fromkeys((*_SUMMED[:5], "crawl_depth_reached", "consecutive_error_count"), 0)
    gone = dict.fromkeys(("image_yield_rate", "avg_images_per_page", "error_rate"))
    conn.execute(
        update(domains).where(domains.c.id == domain.id).values({**zero, **gone, "version": domains.c.version + 1})
    )
    counted = {name: domain.row[name] for name in _SUMMED[:5]}
    record(conn, actor, Subject("domain", domain.name.name, domain.id), Act("purge", reason=reason, details=counted))
    _tell_moved(conn, domain)
    requeue(conn, [domain.id])
    return get(conn, domain.name)


def _tell_moved(conn: Connection, *concerned: Domain) -> None:
    """Listeners look at the content of these domains anew: some of it is gone, or came from another one."""
    outbox.put(conn, [outbox.Message("domain_content_moved", "domain", domain.id, {}) for domain in concerned])


def take_lease(conn: Connection, held: list[Domain]) -> None:
    """Hold these domains for the length of this transaction; a worker that is at one of them is refused afterwards."""
    ids = [domain.id for domain in held]
    lock_queue(conn, ids)
    busy = conn.execute(
        select(domains.c.name)
        .join(crawl_queue, crawl_queue.c.domain_id == domains.c.id)
        .where(
            crawl_queue.c.domain_id.in_(ids),
            crawl_queue.c.worker.is_not(None),
            crawl_queue.c.wake_at > func.bailiwick_now(),
        )
        .limit(1)
    ).scalar()
    if busy is not None:
        raise ConflictError(
            f"{busy} is being crawled", hint=f"bailiwick lease release {busy}, or wait until its slice ends"
        )
    conn.execute(
        update(crawl_queue)
        .where(crawl_queue.c.domain_id.in_(ids))
        .values(
            lease_no=crawl_queue.c.lease_no + 1,
            # A holder whose time ran out may still be sending: the next one waits a full delay.
            crashes=case((crawl_queue.c.worker.is_not(None), 1), else_=crawl_queue.c.crashes),
            worker=None,
            run_id=None,
            wake_at=None,
        )
    )


def _rename(conn: Connection, source: Domain, name: DomainName, actor: Actor) -> Domain:
    take_lease(conn, [source])
    values = {"name": name.name, "site": name.site, "shared_key": name.shared_key, "version": domains.c.version + 1}
    try:
        conn.execute(update(domains).where(domains.c.id == source.id).values(values))
    except IntegrityError as error:
        raise ConflictError(f"{name} has come in meanwhile", hint="merge again") from error
    conn.execute(
        update(crawl_queue)
        .where(crawl_queue.c.domain_id == source.id)
        .values(key_hash=func.hashtextextended(name.shared_key, 0))
    )
    act = Act("merge", before=source.name.name, after=name.name)
    record(conn, actor, Subject("domain", name.name, source.id), act)
    _tell_moved(conn, source)
    requeue(conn, [source.id])
    return get(conn, name)


def _merge_approval(conn: Connection, source: Domain, target: Domain, actor: Actor) -> Domain:
    if STRICTNESS.index(source.approval) >= STRICTNESS.index(target.approval):
        return target
    why = source.row["review_reason"] or f"{source.name} was {source.approval}"
    wish = Move(
        APPROVAL,
        target.id,
        "merge",
        target.approval_seen,
        f"merged with {source.name}, which was {source.approval}",
        to=source.approval,
        changes={"review_reason": why, "reviewed_by": source.row["reviewed_by"]},
    )
    move(conn, wish, actor)
    return get_by_id(conn, target.id)


def _merge_standing(conn: Connection, source: Domain, target: Domain, actor: Actor) -> Domain:
    if source.standing != "blacklisted" or target.standing == "blacklisted":
        return target
    changes = {name: source.row[name] for name in ("blacklisted_by", "blacklisted_at", "blacklist_reason")}
    changes["standing_before"] = standing_after_lift(target.standing)
    wish = Move(STANDING, target.id, "blacklist", target.standing_seen, source.row["blacklist_reason"], changes=changes)
    move(conn, wish, actor)
    return get_by_id(conn, target.id)


def _merge_rows(conn: Connection, source: Domain, target: Domain) -> None:
    """Counters summed, earliest first sight kept, wishes moved without doubles."""
    sums = ", ".join(f"{name} = t.{name} + s.{name}" for name in _SUMMED)
    pair = {"source": source.id, "target": target.id}
    conn.execute(
        text(f"""
            update domains as t set {sums}, first_seen_at = least(t.first_seen_at, s.first_seen_at),
                seed_rank = least(t.seed_rank, s.seed_rank),
                crawl_depth_reached = greatest(t.crawl_depth_reached, s.crawl_depth_reached),
                best_confidence_score = greatest(t.best_confidence_score, s.best_confidence_score),
                is_proposed = t.is_proposed or s.is_proposed,
                notes = nullif(concat_ws(E'\\n', t.notes, s.notes), ''),
                version = t.version + 1
            from domains as s where t.id = :target and s.id = :source"""),  # noqa: S608 - names of our own
        pair,
    )
    counted = (*_SUMMED[:5], "pages_waiting", "pages_failed", "pages_refused", "requests_made", "bytes_fetched")
    latest = ("crawl_depth_reached", "last_request_at")
    progress = ", ".join(
        [f"{name} = t.{name} + excluded.{name}" for name in counted]
        + [f"{name} = greatest(t.{name}, excluded.{name})" for name in latest]
    )
    columns = ", ".join((*counted, *latest))
    conn.execute(
        text(f"""
            insert into domain_progress as t (domain_id, {columns}) select :target, {columns}
            from domain_progress as s where s.domain_id = :source
            on conflict (domain_id) do update set {progress}"""),  # noqa: S608
        pair,
    )
    conn.execute(
        text("""
            insert into page_requests (domain_id, kind, path, priority, asked_by, contact, asked_at)
            select :target, kind, path, priority, asked_by, contact, asked_at
            from page_requests where domain_id = :source on conflict do nothing"""),
        pair,
    )


def _merge_pages(conn: Connection, source: Domain, target: Domain) -> None:
    """A page that both know is the target's; all others move. Counted anew, because some were known twice."""
    pair = {"source": source.id, "target": target.id}
    columns = ", ".join(column.name for column in pages.c if column.name != "domain_id")
    # Before the pages: the body that waits, and the content, are those of a page which gives way.
    for table in _CONTENT_TABLES:
        conn.execute(
            text(f"""
                delete from {table.name} as s using pages as t
                where s.domain_id = :source and t.domain_id = :target and s.path_hash = t.path_hash"""),  # noqa: S608
            pair,
        )
    # By insertion: another domain is another partition, and what is known there already has to give way.
    conn.execute(
        text(f"""
            with moved as (delete from pages where domain_id = :source returning *)
            insert into pages (domain_id, {columns}) select :target, {columns} from moved
            on conflict do nothing"""),  # noqa: S608 - names of our own
        pair,
    )
    for name in ("outlinks", "image_fetches"):
        conn.execute(
            text(f"""
                delete from {name} as s using {name} as t
                where s.domain_id = :source and t.domain_id = :target and s.url_hash = t.url_hash"""),  # noqa: S608
            pair,
        )
    # Its sitemaps are named by the target's own robots.txt, too, if they still are; links are judged anew.
    for table in (sitemaps, refused_links):
        conn.execute(delete(table).where(table.c.domain_id == source.id))
    for name in (*(table.name for table in _CONTENT_TABLES), "outlinks", "image_fetches", "fetch_log"):
        conn.execute(text(f"update {name} set domain_id = :target where domain_id = :source"), pair)  # noqa: S608
    conn.execute(
        text("""
            with counted as (
                select count(*) as known, count(*) filter (where state = 'pending') as waiting,
                       count(*) filter (where state = 'failed') as failed,
                       (select count(*) from outlinks where domain_id = :target) as outlinks
                from pages where domain_id = :target
            ), progress as (
                update domain_progress
                set pages_discovered = c.known, pages_waiting = c.waiting, pages_failed = c.failed,
                    outlinks_found = c.outlinks
                from counted as c where domain_id = :target and c.known > 0
            )
            update domains set pages_discovered = c.known from counted as c where id = :target and c.known > 0"""),
        pair,
    )


def _merge_candidates(conn: Connection, source: Domain, target: Domain) -> None:
    """A find that both have is the target's."""
    pair = {"source": source.id, "target": target.id}
    conn.execute(
        text("""
            update candidates as s set domain_id = :target where s.domain_id = :source and not (
                s.state <> 'skipped_low_confidence' and exists (
                    select 1 from candidates as t where t.domain_id = :target and t.path_hash = s.path_hash
                      and t.state <> 'skipped_low_confidence'))"""),
        pair,
    )


def _merge_evaluations(conn: Connection, source: Domain, target: Domain) -> None:
    """URLs that were evaluated, and what people decided about them; one that both have in one job is the target's."""
    pair = {"source": source.id, "target": target.id}
    conn.execute(
        text("""
            update job_urls as s set domain_id = :target where s.domain_id = :source and not exists (
                select 1 from job_urls as t
                where t.job_id = s.job_id and t.domain_id = :target and t.path_hash = s.path_hash)"""),
        pair,
    )
    for name in ("evaluations", "review_queue"):
        moved = f"update {name} as e set domain_id = :target from job_urls as u"  # noqa: S608
        conn.execute(text(f"{moved} where e.domain_id = :source and u.id = e.url_id and u.domain_id = :target"), pair)


def _merge_jobs(conn: Connection, source: Domain, target: Domain) -> None:
    """Jobs and runs that know both have one of them: counted together, open as long as one of them was."""
    pair = {"source": source.id, "target": target.id}
    conn.execute(
        text("""
            update job_domains as t set is_open = true from job_domains as s
            where t.domain_id = :target and s.domain_id = :source and s.job_id = t.job_id and s.is_open"""),
        pair,
    )
    conn.execute(
        text("""
            update run_domains as t
            set pages_done = t.pages_done + s.pages_done, requests_done = t.requests_done + s.requests_done,
                error_count = t.error_count + s.error_count, bytes_fetched = t.bytes_fetched + s.bytes_fetched,
                stop_reason = case when s.ended_at is null and t.ended_at is not null then s.stop_reason
                                   else t.stop_reason end,
                ended_at = case when s.ended_at is null then null else t.ended_at end
            from run_domains as s
            where t.domain_id = :target and s.domain_id = :source and s.run_id = t.run_id"""),
        pair,
    )
    for name, others in (("job_domains", "job_id"), ("run_domains", "run_id")):
        conn.execute(
            text(f"""
                update {name} as s set domain_id = :target where s.domain_id = :source and not exists (
                    select 1 from {name} as t where t.domain_id = :target and t.{others} = s.{others})"""),  # noqa: S608
            pair,
        )
    # As jobs do it when they move: held if only paused ones want it.
    conn.execute(
        text("""
            update domains as d set is_held = coalesce(w.is_paused and not w.is_running, false)
            from (select bool_or(j.state = 'paused') as is_paused, bool_or(j.state = 'running') as is_running
                  from job_domains as jd join jobs as j on j.id = jd.job_id
                  where jd.domain_id = :target and jd.is_open) as w
            where d.id = :target"""),
        pair,
    )
