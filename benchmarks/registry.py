"""Import, claims and lists at full size, on an embedded server with durable settings. `make bench-registry`.

Prints figures with their raw samples; changes nothing outside a temporary directory. A run of a few seconds:
`python benchmarks/registry.py --domains 20000 --leases 1000 --seconds 2`.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TextIO

import psutil
from sqlalchemy import Connection, CursorResult, Row, text
from sqlalchemy.dialects.postgresql import psycopg

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.registry.apply import SQL
from bailiwick.registry.imports import BATCH, Import, add_all, add_batch
from bailiwick.registry.leases import Lease, Rules, Wish, claim
from bailiwick.registry.listing import Filter, Sort, list_query
from bailiwick.registry.release import Outcome, release
from bailiwick.registry.seeds import Seed, read_seeds

SETTINGS = Settings()
RULES = Rules(SETTINGS.lease, SETTINGS.priority)
SMALL = 10_000
CLAIM = 10
CLAIMS_EXPLAINED = 20
ENDINGS = ("com", "com", "com", "org", "net", "de", "co.uk", "io", "fr", "com.br")
SHOWN = (
    "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_compression", "shared_buffers",
    "max_wal_size", "work_mem",
)  # fmt: skip


def main() -> None:
    options = arguments()
    print(f"cores: {os.cpu_count()}, load before: {os.getloadavg()}")
    with registry() as database:
        show_settings(database)
        fill(database, SMALL)
        small = measure_buffers(database, "10,000 domains, no leases")
    with registry() as database:
        measure_import(database, options.domains)
        lived_in(database)
        lease_many(database, options.leases)
        vacuum(database)
        large = measure_buffers(database, f"{options.domains:,} domains, {options.leases:,} live leases")
        print(f"buffers a claim, large / small: {large / small:.2f} (at most 1.5)\n")
        measure_lists(database, options.domains)
        measure_claims(database, options)
    print(f"load after: {os.getloadavg()}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", type=int, default=1_000_000)
    parser.add_argument("--leases", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--workers", type=int, default=16)
    return parser.parse_args()


@contextmanager
def registry() -> Iterator[Database]:
    """A new embedded server with our schema, as a user gets it."""
    directory = Path(tempfile.mkdtemp(prefix="bailiwick-bench-"))
    directory.chmod(0o755)
    data = directory / ".bailiwick"
    data.mkdir()
    with Database(data, SETTINGS) as database:
        try:
            database.ensure_schema()
            yield database
        finally:
            database.close()
            database.server.stop()  # type: ignore[union-attr]
            shutil.rmtree(directory, ignore_errors=True)


def show_settings(database: Database) -> None:
    with database.read() as conn:
        found = {name: conn.execute(text(f"show {name}")).scalar_one() for name in SHOWN}
    print("\n".join(f"{name} = {value}" for name, value in found.items()), end="\n\n")


# Import


@contextmanager
def tranco(count: int) -> Iterator[TextIO]:
    """A file like a Tranco list. It is written before the clock starts."""
    with tempfile.TemporaryFile("w+", prefix="bailiwick-bench-") as file:
        file.writelines(tranco_lines(count))
        file.seek(0)
        yield file


def tranco_lines(count: int) -> Iterator[str]:
    """Every name once, a fifth of them below another one."""
    names = random.Random(1)
    for rank in range(1, count + 1):
        word = "".join(names.choices("abcdefghijklmnopqrstuvwxyz", k=names.randint(4, 10)))
        below = "" if rank % 5 else "blog."
        ending = ENDINGS[rank // 7 % len(ENDINGS)] if rank % 101 else "github.io"  # many domains of one operator
        yield f"{rank},{below}{word}{rank:x}.{ending}\n"


def seeds(lines: Iterable[str]) -> Iterator[Seed]:
    for seed in read_seeds(lines, allow_private=False, collapse_subdomains=False):
        if isinstance(seed, Seed):
            yield seed


def fill(database: Database, count: int) -> None:
    with database.begin() as conn:
        actor = local_admin(conn)
    with tranco(count) as lines:
        for _ in add_all(database.begin, seeds(lines), Import("small", approve=True), actor, RULES.priority):
            pass
    lived_in(database)
    vacuum(database)


def measure_import(database: Database, count: int) -> None:
    """The whole path: lines, names, suffixes, COPY, rows and indexes, a durable commit a batch."""
    how = Import("tranco_2026-02-05", approve=True)
    with database.begin() as conn:
        actor = local_admin(conn)
    me, done, marks = psutil.Process(), 0, {count // 10: 0, count // 2: 0, count: 0}
    with tranco(count) as lines:
        cpu, start, samples = busy_seconds(database), time.perf_counter(), []
        for batch in add_all(database.begin, seeds(lines), how, actor, RULES.priority):
            done += batch.added
            samples.append(time.perf_counter() - start)
            marks |= {mark: me.memory_info().rss for mark, rss in marks.items() if not rss and done >= mark}
        seconds = time.perf_counter() - start
    client, server = (after - before for after, before in zip(busy_seconds(database), cpu, strict=True))
    print(f"import: {done:,} domains in {seconds:.1f} s: {done / seconds:,.0f} a second (at least 20,000)")
    print(f"  CPU: client {client / done * 1e6:.1f}, server {server / done * 1e6:.1f} microseconds a domain")
    print("  client memory: " + ", ".join(f"{rss / 2**20:.0f} MB at {mark:,}" for mark, rss in marks.items()))
    print(f"  seconds at each batch of {BATCH:,}: {' '.join(f'{s:.2f}' for s in samples)}")
    again = list(seeds(tranco_lines(min(count, BATCH))))
    start = time.perf_counter()
    with database.begin() as conn:
        assert add_batch(conn, again, how, actor, RULES.priority) == 0
    seconds = time.perf_counter() - start
    print(f"  a batch of known ones, one thread: {len(again) / seconds:,.0f} a second\n")


def busy_seconds(database: Database) -> tuple[float, float]:
    """CPU seconds of this process and of all the server's."""
    with database.read() as conn:
        backend = psutil.Process(conn.execute(text("select pg_backend_pid()")).scalar_one())
    postmaster = backend.parent()
    assert postmaster is not None
    family = [postmaster, *postmaster.children()]
    ended = postmaster.cpu_times().children_user + postmaster.cpu_times().children_system
    mine = time.process_time()
    return mine, ended + sum(sum(process.cpu_times()[:2]) for process in family)


# A registry that has been used


def lived_in(database: Database) -> None:
    """Three in ten were crawled before, in every state that this leads to; a few are suspended or blacklisted."""
    crawled = """
        update domains set crawl = 'active', pages_discovered = id % 500, pages_crawled = id % 400,
            image_yield_rate = (id % 300) / 100.0, error_rate = (id % 20) / 100.0,
            last_crawled_at = bailiwick_now() - (id % 90) * interval '8 hours'
        where id % 10 < 3"""
    ended = """
        update domains set crawl = case when id % 100 < 11 then 'exhausted' else 'blocked' end,
            block_reason = case when id % 100 >= 11 then '403' end, block_reason_code = 'forbidden',
            next_crawl_after = bailiwick_now() + (1 + id % 14) * interval '1 day'
        where id % 10 < 3 and id % 100 < 20"""
    suspended = "update domains set approval = 'suspended', review_reason = 'complaint' where id % 200 = 7"
    blacklisted = """
        update domains set standing = 'blacklisted', blacklist_reason = 'spam', blacklisted_by = 1,
            blacklisted_at = bailiwick_now() where id % 500 = 9"""
    with database.bare() as conn:
        for statement in (crawled, ended, suspended, blacklisted):
            conn.execute(text(statement))
        ids = conn.execute(text("select id from domains where id % 10 < 3 or id % 10 in (7, 9)")).scalars().all()
        conn.execute(text("update crawl_queue set is_new = false where domain_id % 10 < 3"))
        conn.exec_driver_sql(SQL["requeue"], {"ids": list(ids)})


def lease_many(database: Database, count: int) -> None:
    held = 0
    while held < count:
        with database.begin() as conn:
            held += len(claim(conn, Wish("elsewhere", 500), RULES, system_actor(conn)))


def vacuum(database: Database) -> None:
    with database.connect() as conn:
        conn.autocommit = True
        conn.execute("vacuum analyze domains, crawl_queue, domain_progress")


# Claims


class Explaining:
    """A connection that explains each statement before it runs it. The first run is rolled back."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.buffers = 0

    def exec_driver_sql(self, statement: str, parameters: dict[str, object]) -> "CursorResult[tuple[object, ...]]":
        trial = self._conn.begin_nested()
        explained = f"explain (analyze, buffers, timing off, format json) {statement}"
        [plan] = self._conn.exec_driver_sql(explained, parameters).scalar_one()
        trial.rollback()
        self.buffers += plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
        return self._conn.exec_driver_sql(statement, parameters)


def measure_buffers(database: Database, what: str) -> float:
    samples = []
    for _ in range(CLAIMS_EXPLAINED):
        with database.begin() as conn:
            counting = Explaining(conn)
            held = claim(counting, Wish("measured", CLAIM), RULES, system_actor(conn))  # type: ignore[arg-type]
            assert len(held) == CLAIM
            samples.append(counting.buffers)
    print(f"buffers touched by a claim of {CLAIM}, {what}: median {statistics.median(samples):.0f}")
    print(f"  {' '.join(map(str, samples))}")
    return statistics.median(samples)


Sample = tuple[float, int]
"""Milliseconds of a claim, and how many domains it got."""
SPEC_TABLE = """
create table spec_domains (
    id bigint primary key, domain varchar(255) not null unique, status text not null, claimed_by varchar(255),
    claim_expires_at timestamptz, version integer not null default 0, pages_discovered bigint not null,
    pages_crawled bigint not null, images_stored bigint not null default 0, max_pages_per_run integer default 1000,
    image_yield_rate double precision, error_rate double precision, priority_score integer not null,
    seed_rank integer, source varchar(100), first_seen_at timestamptz not null, last_crawled_at timestamptz,
    next_crawl_after timestamptz);
insert into spec_domains select id, name, crawl, null, null, 0, pages_discovered, pages_crawled, images_stored, 1000,
    image_yield_rate, error_rate, priority_score, seed_rank, source, first_seen_at, last_crawled_at, next_crawl_after
    from domains where approval = 'approved' and standing = 'discovered' order by id;
create index on spec_domains (priority_score desc, last_crawled_at nulls first) where status in ('pending', 'active');
create index on spec_domains (claimed_by, claim_expires_at) where claimed_by is not null;
analyze spec_domains;
"""
SPEC_CLAIM = """
with candidates as (
    select id, version from spec_domains
    where status in ('pending', 'active')
      and (next_crawl_after is null or next_crawl_after < current_timestamp)
      and (claimed_by is null or claim_expires_at < current_timestamp)
    order by priority_score desc, last_crawled_at asc nulls first
    limit %(limit)s
    for update skip locked
)
update spec_domains set claimed_by = %(worker)s, claim_expires_at = current_timestamp + interval '30 minutes',
    version = spec_domains.version + 1
from candidates where spec_domains.id = candidates.id and spec_domains.version = candidates.version
returning spec_domains.*
"""
SPEC_RELEASE = """
update spec_domains set claimed_by = null, claim_expires_at = null, status = 'active',
    pages_crawled = pages_crawled + 1, images_stored = images_stored + 0, version = version + 1
where id = %(id)s and claimed_by = %(worker)s and version = %(version)s returning id
"""


@dataclass(frozen=True)
class Load:
    """What all workers did together in the time they had."""

    claims: int
    domains: int
    seconds: float
    claim_ms: list[float]

    @property
    def rate(self) -> float:
        return self.claims / self.seconds

    def __str__(self) -> str:
        spread = statistics.quantiles(self.claim_ms, n=20) if len(self.claim_ms) > 1 else [0.0] * 19
        return (
            f"{self.rate:8.1f} claims/s  {self.domains / self.seconds:9,.0f} domains/s  "
            f"claim p50 {spread[9]:.1f} ms, p95 {spread[18]:.1f} ms  ({self.claims} claims in {self.seconds:.1f} s)"
        )


def measure_claims(database: Database, options: argparse.Namespace) -> None:
    """By many processes; the specification's query on a table and index of its own, the other indexes left out."""
    held = f"{options.leases:,} live leases"
    loads = {("ours", held): run_workers(database, OURS, options)}
    with database.bare() as conn:
        conn.connection.cursor().execute(SPEC_TABLE)
    loads["specification's", "no leases"] = run_workers(database, SPEC, options)
    with database.bare() as conn:
        conn.exec_driver_sql(SPEC_CLAIM, {"limit": options.leases, "worker": "elsewhere"})
    with database.connect() as conn:
        conn.autocommit = True
        conn.execute("vacuum analyze spec_domains")
    loads["specification's", held] = run_workers(database, SPEC, options)
    for released in (False, True):
        print(f"claims of {CLAIM} by {options.workers} processes{', each then released' if released else ''}")
        for (whose, leases), load in loads.items():
            print(f"  {whose}, {leases:24} {load[released]}")
        ours, fresh, used = (load[released].rate for load in loads.values())
        print(f"  ours / specification's: {ours / used:.2f} with leases, {ours / fresh:.2f} without")


@dataclass(frozen=True)
class Way:
    """How a worker gets domains and gives them back."""

    claim: Callable[[Connection, str, Actor], Sequence[object]]
    release: Callable[[Connection, str, Actor, Sequence[object]], None]


def our_claim(conn: Connection, worker: str, system: Actor) -> Sequence[Lease]:
    return claim(conn, Wish(worker, CLAIM), RULES, system)


def our_release(conn: Connection, worker: str, system: Actor, held: Sequence[Lease]) -> None:
    for lease in held:
        assert release(conn, lease, Outcome("active"), RULES, SETTINGS.cooldown, system), worker


def spec_claim(conn: Connection, worker: str, _: Actor) -> Sequence[Row[tuple[object, ...]]]:
    return conn.exec_driver_sql(SPEC_CLAIM, {"limit": CLAIM, "worker": worker}).all()


def spec_release(conn: Connection, worker: str, _: Actor, held: Sequence[Row[tuple[object, ...]]]) -> None:
    for row in held:
        assert conn.exec_driver_sql(SPEC_RELEASE, {"id": row.id, "worker": worker, "version": row.version}).one()


OURS, SPEC = Way(our_claim, our_release), Way(spec_claim, spec_release)  # type: ignore[arg-type]


def run_workers(database: Database, way: Way, options: argparse.Namespace) -> list[Load]:
    """Claims alone, then claims with release, each for the time asked for."""
    data = database.server.data_root  # type: ignore[union-attr]
    database.close()  # a connection does not survive a fork
    fork = multiprocessing.get_context("fork")
    loads = []
    for released in (False, True):
        barrier = fork.Barrier(options.workers)
        with ProcessPoolExecutor(options.workers, fork, initializer=_meet_at, initargs=(barrier,)) as pool:
            job = partial(work, data, way, options.seconds, released)
            found = list(pool.map(job, range(options.workers)))
        samples = [sample for _, some in found for sample in some]
        longest = max(seconds for seconds, _ in found)
        loads.append(Load(len(samples), sum(n for _, n in samples), longest, [ms for ms, _ in samples]))
    return loads


def work(data: Path, way: Way, limit_seconds: float, released: bool, number: int) -> tuple[float, list[Sample]]:
    worker, samples = f"worker-{number}", []
    with Database(data, SETTINGS) as database:
        with database.begin() as conn:
            system = system_actor(conn)
        _barrier.wait(60)
        start = time.perf_counter()
        while (begun := time.perf_counter()) - start < limit_seconds:
            with database.begin() as conn:
                held = way.claim(conn, worker, system)
            samples.append(((time.perf_counter() - begun) * 1000, len(held)))
            if released:
                with database.begin() as conn:
                    way.release(conn, worker, system, held)
        return time.perf_counter() - start, samples


def _meet_at(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - how a pool's initializer hands something over
    _barrier = barrier


_barrier: Barrier


# Lists


def measure_lists(database: Database, count: int) -> None:
    values = {
        "approval": ("approved", "suspended", "rejected"), "standing": ("discovered", "blacklisted"),
        "crawl": ("pending", "active", "blocked", "unreachable"), "site": ("no-such-site.org",),
        "source": ("tranco_2026-02-05", "no such list"), "prefix": ("a", "blog.q"),
    }  # fmt: skip
    assert values.keys() == {field.name for field in fields(Filter)}
    filters = [("all", Filter())] + [
        (f"{name}={value}", Filter(**{name: value})) for name, some in values.items() for value in some
    ]
    print("lists of 50, first of three runs and median, milliseconds")
    slowest = 0.0
    for sort in Sort:
        for what, which in filters:
            with database.read() as conn:
                runs = [explain_list(conn, which, sort) for _ in range(3)]
            milliseconds = [ms for ms, _ in runs]
            slowest = max(slowest, statistics.median(milliseconds))
            print(
                f"  {sort:13} {what:26} {milliseconds[0]:8.2f} {statistics.median(milliseconds):8.2f}  "
                + ", ".join(runs[0][1])
            )
        with database.read() as conn:
            middle = list_query(conn, Filter(), sort=sort, limit=1, after=None).offset(count // 5)
            name = conn.execute(middle).mappings().one()["name"]
            runs = [explain_list(conn, Filter(), sort, after=name) for _ in range(3)]
        milliseconds = [ms for ms, _ in runs]
        what = f"page behind {count // 5:,}"
        print(f"  {sort:13} {what:26} {milliseconds[0]:8.2f} {statistics.median(milliseconds):8.2f}")
    print(f"slowest median of a first page: {slowest:.2f} ms\n")


def explain_list(conn: Connection, which: Filter, sort: Sort, *, after: str | None = None) -> tuple[float, list[str]]:
    query = list_query(conn, which, sort=sort, limit=50, after=after)
    compiled = query.compile(dialect=psycopg.dialect(), compile_kwargs={"literal_binds": True})
    [plan] = conn.exec_driver_sql(f"explain (analyze, timing off, format json) {compiled}").scalar_one()
    return plan["Execution Time"], list(nodes(plan["Plan"]))


def nodes(plan: dict[str, object]) -> Iterator[str]:
    index = plan.get("Index Name")
    yield f"{plan['Node Type']}({index})" if index else str(plan["Node Type"])
    for child in plan.get("Plans", ()):  # type: ignore[attr-defined]
        yield from nodes(child)


if __name__ == "__main__":
    main()
