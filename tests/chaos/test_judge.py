"""Every check of the judge can fail: a small crawl without any blow, its data doctored, and the fault told by name."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest

from bailiwick.demo.web.running import serve
from bailiwick.registry.workers import WorkerName
from tests.chaos.driver import Account
from tests.chaos.judge import Judge
from tests.chaos.run import prepare
from tests.chaos.tenures import Death
from tests.chaos.web import Ground, give_sitemaps, make_ground
from tests.e2e.tools import Land
from tests.servers import TestServers


@dataclass
class Crawled:
    """A crawl that is over, and who judges it."""

    land: Land
    ground: Ground
    judge: Judge

    def faults(self) -> set[str]:
        return set(self.judge.judge(Account()).faults)


@pytest.fixture(scope="module")
def crawled(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    ground = make_ground(40, seed=5, hosts=3)
    with serve(ground.web) as running, servers.cloned("pg18") as url:
        give_sitemaps(ground, running)
        land = Land(tmp_path_factory.mktemp("judged"), running, url)
        judge = prepare(land, ground)
        names = [land.name(host) for host in ground.hosts]
        land.run("crawl", *names, "--no-parse", "--depth", "all", "--resolve", running.resolve)
        yield Crawled(land, ground, judge)


@pytest.fixture
def copied(crawled: Crawled) -> Iterator[Crawled]:
    """The same crawl with a database and a log that a test may spoil."""
    url = crawled.land.database_url
    before, _, after = url.partition("?")
    head, _, name = before.rpartition("/")
    with psycopg.connect(f"{head}/postgres?{after}", autocommit=True) as control:
        control.execute(f"create database {name}_spoilt template {name}")
        try:
            log = copy(crawled.land.running.log)
            log._entries = log._entries.copy()
            running = replace(crawled.land.running, log=log)
            land = replace(crawled.land, database_url=f"{head}/{name}_spoilt?{after}", running=running)
            judge = copy(crawled.judge)
            judge.land, judge._tenures, judge._history = land, copy(judge._tenures), copy(judge._history)
            judge._tenures._land = judge._history._land = land
            judge._bodies = lambda _verdict: None  # the slowest check has its own test
            yield Crawled(land, crawled.ground, judge)
        finally:
            control.execute(f"drop database {name}_spoilt with (force)")


def test_a_sound_crawl_has_no_fault(crawled: Crawled) -> None:
    verdict = crawled.judge.judge(Account())
    assert verdict.faults == {}
    figures = verdict.figures
    count = len(crawled.ground.reachable)
    assert (figures.pages_answered, figures.page_rows, figures.bodies_verified) == (count, count, count)
    assert (figures.lost, figures.refetches, figures.leases, figures.requests > count) == (0, 0, 3, True)


_ONE = "(domain_id, path_hash) = (select domain_id, path_hash from pages where path <> '/' order by 1, 2 limit 1)"
_COPY = (
    """
insert into fetch_log (fetched_at, domain_id, path_hash, run_id, lease_no, status, outcome, bytes, milliseconds,
                       images_found)
select fetched_at, domain_id, path_hash, run_id, {lease_no}, status, outcome, bytes, milliseconds, images_found
from fetch_log where """
    + _ONE
)

SPOILT_ROWS = {
    "a page row is removed": (f"delete from pages where {_ONE}", {"a page is lost", "an answer has no page"}),
    "a page waits again": (f"update pages set state = 'pending' where {_ONE}", {"a page is lost"}),
    "a page is poison": (f"update pages set last_outcome = 'poison' where {_ONE}", {"a page was condemned"}),
    "a page out of nowhere": (
        "insert into pages (domain_id, path_hash, path) select min(domain_id), 7, '/nowhere' from pages",
        {"a page that nobody links to"},
    ),
    "a log row is doubled": (
        _COPY.format(lease_no="lease_no"),
        {"a flush was written twice", "the log has more fetches than answers", "the books differ from the log"},
    ),
    "a fetch is logged for another lease": (
        _COPY.format(lease_no="lease_no + 1"),
        {"the log has more fetches than answers", "the books differ from the log by run"},
    ),
    "a counter is off": (
        "update domain_progress set pages_crawled = pages_crawled + 1",
        {"the books differ from the log"},
    ),
    "a count of pages is off": (
        "update domain_progress set pages_waiting = 1",
        {"the books differ from the pages"},
    ),
    "a tenure overlaps": (
        """insert into tenure_book (at, domain_id, lease_no, flush_no, worker, ran_until, was_released)
           select at, domain_id, lease_no, 1, worker, at + interval '1 second', false from tenure_book""",
        {"a lease was taken from a living holder"},
    ),
    "a result came late": (
        """insert into lease_history (at, domain_id, key_hash, lease_no, worker, crashes)
           select at, domain_id, key_hash, lease_no + 1, 'm/b/1/1.0', 1 from lease_history where worker is not null""",
        {"a late result was written"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT_ROWS)
def test_spoilt_rows_are_found(copied: Crawled, name: str) -> None:
    sql, wanted = SPOILT_ROWS[name]
    copied.land.rows_done(sql)
    assert wanted <= copied.faults()


def test_a_number_that_another_process_had_kills_nobody_and_saves_nobody(copied: Crawled) -> None:
    """A run of an hour gets numbers of processes twice."""
    copied.land.rows_done(SPOILT_ROWS["a tenure overlaps"][0])
    rows = copied.land.rows("select worker, extract(epoch from min(at))::float8 as at from tenure_book group by worker")
    held = [(WorkerName.parse(row.worker), row.at) for row in rows]
    before = [Death(name.pid, name.process_started - 900, at - 800) for name, at in held]
    later = [Death(name.pid, name.process_started + 900, at + 1000) for name, at in held]
    own = [Death(name.pid, name.process_started, at - 0.1) for name, at in held]
    fault = "a lease was taken from a living holder"
    assert fault in copied.judge.judge(Account(deaths=before + later)).faults
    assert fault not in copied.judge.judge(Account(deaths=before + own + later)).faults


def _too_close(copied: Crawled) -> None:
    """A request comes half its host's delay after another."""
    log, host = copied.land.running.log, copied.ground.hosts[0]
    first = log.entries(host)[1]
    soon = copied.ground.delays[host] / 2
    log._entries.append(replace(first, received=first.received + soon, at=first.at + soon, status=404))


def _impatient(copied: Crawled) -> None:
    """A page is asked for within the crawl delay of robots.txt, though not within the domain's own."""
    log, host = copied.land.running.log, next(iter(copied.ground.wishes))
    last = log.entries(host)[-1]
    soon = copied.ground.delays[host] + 0.02
    log._entries.append(replace(last, received=last.received + soon, at=last.at + soon, status=404))


def _without_lease(copied: Crawled) -> None:
    log, host = copied.land.running.log, copied.ground.hosts[0]
    first = log.entries(host)[0]
    log._entries.append(replace(first, received=first.received - 60, at=first.at - 60))


def _fetched_again(copied: Crawled) -> None:
    """Once more, though nobody was hit."""
    log = copied.land.running.log
    last = log.entries(copied.ground.hosts[0])[-1]
    log._entries.append(replace(last, received=last.received + 1, at=last.at + 1, status=200, whole=True))


def _unanswered(copied: Crawled) -> None:
    """The server has never seen the request for a page that is stored."""
    log = copied.land.running.log
    log._entries.remove(next(e for e in log.entries() if e.path == "/"))


SPOILT_LOGS: dict[str, tuple[Callable[[Crawled], None], str]] = {
    "too close": (_too_close, "requests too close"),
    "within a crawl delay": (_impatient, "requests too close"),
    "without a lease": (_without_lease, "a request without a lease"),
    "fetched again": (_fetched_again, "more was fetched again than was in flight"),
    "unanswered": (_unanswered, "a page has no answer"),
}


@pytest.mark.parametrize("name", SPOILT_LOGS)
def test_spoilt_logs_are_found(copied: Crawled, name: str) -> None:
    spoil, wanted = SPOILT_LOGS[name]
    spoil(copied)
    assert wanted in copied.faults()


@contextmanager
def _flipped(pack: Path) -> Iterator[None]:
    """One bit in the middle of a pack, until the block ends."""
    whole = pack.read_bytes()
    where = len(whole) // 2
    pack.write_bytes(whole[:where] + bytes([whole[where] ^ 1]) + whole[where + 1 :])
    try:
        yield
    finally:
        pack.write_bytes(whole)


def test_a_flipped_bit_in_a_body_is_found(crawled: Crawled) -> None:
    packs = [path for path in (crawled.land.home / ".bailiwick" / "packs").rglob("*") if path.is_file()]
    with ExitStack() as stack:
        stack.enter_context(_flipped(max(packs, key=lambda path: path.stat().st_size)))
        assert {"a body is not what was served", "storage verify found a fault"} <= crawled.faults()
    assert crawled.faults() == set()
