"""What tests of the crawl's database half share: leases with their runs, batches of results, and the books."""

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.base.sections import CrawlSettings
from bailiwick.base.settings import Settings
from bailiwick.crawl import jobs, runs
from bailiwick.crawl.desk import Desk
from bailiwick.crawl.facts import Known, SendingEnds, boottime
from bailiwick.crawl.flush import flush
from bailiwick.crawl.jobs import Job, JobOptions
from bailiwick.crawl.linkgate import LinkGate
from bailiwick.crawl.outcomes import MEANINGS, Effect, Outcome
from bailiwick.crawl.results import Batch, Flushed, PageResult, Taken
from bailiwick.crawl.runs import Assignment
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.crawl.traps.patterns import LinkRules
from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.model.urls import page_key
from bailiwick.net.gates import Pace
from bailiwick.ports import BodyRef, StoredBody
from bailiwick.registry.leases import Lease
from tests.registry.tools import admit, claimed

ALL = JobOptions()
TODAY = date(2026, 11, 1)


@dataclass(frozen=True)
class Held:
    """A leased domain and the run that it serves."""

    lease: Lease
    run: Assignment

    @property
    def id(self) -> int:
        return self.lease.domain_id

    @property
    def worker(self) -> str:
        return self.lease.worker


class NoStore:
    """Bodies go nowhere: these tests are about rows."""

    def put(self, stored: StoredBody, body_hash: bytes | None = None) -> BodyRef:
        raise NotImplementedError

    def sync(self) -> None:
        return

    def get(self, ref: BodyRef) -> StoredBody:
        raise NotImplementedError

    def close(self) -> None:
        return


def desk_of(database: Database, worker: str = "w1", **crawl: Any) -> Desk:
    """A desk whose worker has a name of its own, so that one process can have several."""
    made = Desk(database, Settings(crawl=CrawlSettings(**crawl)), NoStore(), agent="Bailiwick")
    made.worker = worker
    return made


def slice_of(held: Held, **crawl: Any) -> Slice:
    known = Known(0, 0, 0, 0, 0, None, 86400)
    gate = LinkGate(LinkRules(), TrapGuard(TODAY))
    return Slice(held.lease, held.run, known, CrawlSettings(**crawl), SendingEnds(boottime(), 1800), Pace(0), gate)


def slice_without_database(
    name: DomainName, number: int = 1, *, base_url: str | None = None, max_depth: int = 3, **crawl: Any
) -> Slice:
    """A slice that nobody leased, for tests of what needs no database."""
    lease = Lease(number, name, 1, "w1", datetime.now(UTC), 0, base_url, "active", "general", 3, 0, 5, 1000)
    run = Assignment(1, 1, 1000, 0, max_depth, 0, 0, JobOptions())
    known, gate = Known(1, 1, 0, 0, 0, None, 86400), LinkGate(LinkRules(), TrapGuard(TODAY))
    return Slice(lease, run, known, CrawlSettings(**crawl), SendingEnds(boottime(), 60), Pace(0), gate)


def hold(conn: Connection, *names: str, worker: str = "w1", job_ids: Sequence[int] | None = None) -> list[Held]:
    """These domains (admitted if they are new), leased and assigned to their runs, in this order."""
    ids = [domain.id for domain in admit(conn, *names)]
    by_id = {lease.domain_id: lease for lease in claimed(conn, worker, len(ids), among=ids)}
    assert by_id.keys() == set(ids), "not all of them could be leased"
    served = runs.assign(conn, list(by_id.values()), job_ids)
    return [Held(by_id[domain_id], served[domain_id]) for domain_id in ids]


def job_of(conn: Connection, name: str, *domains: str, priority: int = 5, options: JobOptions = ALL) -> Job:
    ids = [domain.id for domain in admit(conn, *domains)]
    return jobs.create(conn, name, ids, options, local_admin(conn), priority=priority)


def hash_of(path: str) -> int:
    return int.from_bytes(page_key(path), "big", signed=True)


def body_of(text: str) -> bytes:
    return sha256(text.encode()).digest()


def plant(conn: Connection, domain_id: int, *paths: str, **columns: Any) -> None:
    """Pages that are known, with the counters that go with them; due now unless said otherwise."""
    values = {"depth": 0, "state": "pending", "wait": "0 seconds"} | columns
    wait = values.pop("wait")
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    for path in paths:
        conn.execute(
            text(f"""
                insert into pages (domain_id, path_hash, path, next_at, {names})
                values (:domain_id, :path_hash, :path, bailiwick_now() + cast(:wait as interval), {marks})"""),
            values | {"domain_id": domain_id, "path_hash": hash_of(path), "path": path, "wait": wait},
        )
    conn.execute(
        text("""
            insert into domain_progress as p (domain_id, pages_discovered, pages_waiting, pages_failed)
            values (:id, :count, :waiting, :failed)
            on conflict (domain_id) do update set pages_discovered = p.pages_discovered + excluded.pages_discovered,
                pages_waiting = p.pages_waiting + excluded.pages_waiting,
                pages_failed = p.pages_failed + excluded.pages_failed"""),
        {"id": domain_id, "count": len(paths)}
        | {
            "waiting": len(paths) if values["state"] == "pending" else 0,
            "failed": len(paths) if values["state"] == "failed" else 0,
        },
    )


def taken(path: str, depth: int = 0, *, state: str = "pending", retries: int = 0) -> Taken:
    return Taken(hash_of(path), path, depth, retries, state, None, None, None, None)


def fetched(
    path: str, outcome: Outcome = Outcome.OK, *, depth: int = 0, state: str = "pending", **facts: Any
) -> PageResult:
    """One fetch of a page, in the effect of its outcome; a changed page has a body."""
    effect = facts.pop("effect", MEANINGS[outcome].effect)
    retries = facts.pop("retries", 0)
    usual: dict[str, Any] = {"bytes_received": 100, "milliseconds": 7, "status": 200}
    if effect is Effect.CHANGED and outcome is Outcome.OK:
        usual |= {"body_hash": body_of(path), "text_hash": 7, "ref": BodyRef(1, 2, 3)}
        usual |= {"content_type": "text/html", "wait_seconds": 86400.0}
    return PageResult(taken(path, depth, state=state, retries=retries), outcome, effect, **(usual | facts))


def batch(held: Held, flush_no: int, *results: PageResult, links: Sequence[tuple[str, int]] = (), **more: Any) -> Batch:
    """What a slice would hand over: its results, and links as (path, depth), each found on the home page."""
    rows = [(hash_of(path), path, depth, hash_of("/")) for path, depth in links]
    return Batch(
        domain_id=held.id,
        lease_no=held.lease.lease_no,
        run_id=held.run.run_id,
        flush_no=flush_no,
        results=list(results),
        links=rows,
        outlinks=list(more.pop("outlinks", ())),
        requests=more.pop("requests", len(results)),
        **more,
    )


def flushed(database: Database, *batches: Batch, worker: str = "w1") -> dict[int, Flushed]:
    """A flush in a transaction of its own."""
    with database.begin() as conn:
        return flush(conn, batches, worker=worker, system_id=system_actor(conn).id)


def rows(conn: Connection, sql: str, **values: Any) -> list[Any]:
    return list(conn.execute(text(sql), values).all())


def value(conn: Connection, sql: str, **values: Any) -> Any:
    return conn.execute(text(sql), values).scalar_one()


def page_row(conn: Connection, held: Held, path: str) -> Any:
    return conn.execute(
        text("select * from pages where domain_id = :id and path = :path"), {"id": held.id, "path": path}
    ).one()


_PROGRESS = """
select p.domain_id, p.pages_discovered, n.known, p.pages_waiting, n.waiting, p.pages_failed, n.failed,
       p.pages_crawled, l.fetches, p.total_error_count, l.errors, p.images_found, l.images, p.bytes_fetched, l.bytes,
       p.outlinks_found, o.outlinks
from domain_progress as p
cross join lateral (select count(*) as known, count(*) filter (where state = 'pending') as waiting,
                           count(*) filter (where state = 'failed') as failed
                    from pages where domain_id = p.domain_id) as n
cross join lateral (select count(*) as fetches, coalesce(sum(images_found), 0) as images,
                           coalesce(sum(bytes), 0) as bytes,
                           count(*) filter (where outcome = any(:errors)) as errors
                    from fetch_log where domain_id = p.domain_id) as l
cross join lateral (select count(*) as outlinks from outlinks where domain_id = p.domain_id) as o
where (p.pages_discovered, p.pages_waiting, p.pages_failed, p.pages_crawled, p.total_error_count, p.images_found,
       p.bytes_fetched, p.outlinks_found)
   is distinct from (n.known, n.waiting, n.failed, l.fetches, l.errors, l.images, l.bytes, o.outlinks)
"""
_RUNS = """
select r.run_id, r.domain_id, r.pages_done, count(f.*), r.error_count, r.bytes_fetched
from run_domains as r left join fetch_log as f on f.run_id = r.run_id and f.domain_id = r.domain_id
group by r.run_id, r.domain_id
having (r.pages_done, r.error_count, r.bytes_fetched)
    is distinct from (count(f.*), count(*) filter (where f.outcome = any(:errors)), coalesce(sum(f.bytes), 0))
"""
_STRAY = """
select 'parse' as what, q.domain_id, q.path_hash from parse_queue as q
left join pages as p using (domain_id, path_hash) where p.body_hash is distinct from q.body_hash
union all
select 'log', f.domain_id, f.path_hash from fetch_log as f
left join pages as p using (domain_id, path_hash) where p.path is null
"""
ERRORS = [outcome.value for outcome, meaning in MEANINGS.items() if meaning.is_error]


def balanced(conn: Connection) -> None:
    """The books agree: counters with pages, log and links, runs with the log; what waits for parsing has its body."""
    assert rows(conn, _PROGRESS, errors=ERRORS) == []
    assert rows(conn, _RUNS, errors=ERRORS) == []
    assert rows(conn, _STRAY) == []


def contents(conn: Connection, *tables: str) -> dict[str, list[Any]]:
    """Everything that is in these tables."""
    return {table: sorted(map(str, rows(conn, f"select * from {table}"))) for table in tables}


PAGE_TABLES = ("pages", "fetch_log", "parse_queue", "outlinks", "outbox", "page_requests", "domain_progress")


def at_once(*works: Callable[[], object], seconds: float = 60) -> list[BaseException]:
    """Do these in threads of their own; what they raised."""
    raised: list[BaseException] = []
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        try:
            barrier.wait(20)
            work()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"
    return raised


@contextmanager
def beside(work: Callable[[], object]) -> Any:
    """Work that goes on in a thread while the body runs; it has to end soon after, without an error."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(30)
        assert not thread.is_alive(), "it waits for ever"
    if raised:
        raise raised[0]


def blocked(database: Database) -> bool:
    """Whether any session of this database waits for a lock."""
    with database.bare() as conn:
        return bool(
            value(
                conn,
                "select exists (select 1 from pg_stat_activity where datname = current_database() "
                "and wait_event_type = 'Lock')",
            )
        )


def limits(**given: Any) -> JobOptions:
    return JobOptions.model_validate(given)
