"""Leases under real processes that are killed, stopped and continued: what the database logged is proof, not belief.

A trigger writes every change of a lease to `lease_log`, in the transaction of that change; workers write results under
their fence to `fenced_writes`. Both number their rows by one sequence while they hold the domain's queue row, so for
one domain the numbers are the order in which things happened.
"""

import json
import math
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.accounts.members import system_actor
from bailiwick.base.sections import CooldownSettings, DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.registry.leases import Wish, claim, renew
from bailiwick.registry.release import Outcome, release
from tests.registry.lease_worker import PER_KEY, RULES, fenced_write
from tests.registry.tools import admit, faults, shift_clock
from tests.servers import TestServers, available_kinds

ROOT = Path(__file__).parents[2]
PROCESSES = 8
SECONDS = 16.0
NAMES = [*(f"alone{n:02}.org" for n in range(12)), *(f"b{n:02}.shared.org" for n in range(12))]
_NEVER = datetime.min.replace(tzinfo=UTC)
_TEST_TABLES = """
create sequence test_order;
create table fenced_writes (
    id bigint primary key default nextval('test_order'), domain_id bigint, lease_no int, worker text);
create table lease_log (
    id bigint primary key default nextval('test_order'), domain_id bigint, key_hash bigint, lease_no int,
    old_worker text, worker text, old_end timestamptz, new_end timestamptz, crashed boolean,
    began timestamptz default bailiwick_now(), at timestamptz default clock_timestamp());
create function log_lease() returns trigger language plpgsql as $$ begin
    insert into lease_log (domain_id, key_hash, lease_no, old_worker, worker, old_end, new_end, crashed) values
        (new.domain_id, new.key_hash, new.lease_no, old.worker, new.worker, old.wake_at, new.wake_at,
         new.crashes > old.crashes);
    return null;
end $$;
create trigger log_lease after update on crawl_queue for each row
    when (old.worker is not null or new.worker is not null) execute function log_lease();
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of either table; of a write only the first four say something."""

    id: int
    domain_id: int
    lease_no: int
    worker: str | None
    is_write: bool = True
    key_hash: int = 0
    old_worker: str | None = None
    old_end: datetime | None = None
    new_end: datetime | None = None
    crashed: bool = False
    began: datetime = _NEVER
    at: datetime = _NEVER


def _at(seconds: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


@dataclass
class Checker:
    """Replays what happened, in its order; counts it, and fails at the first thing that must not be."""

    counts: Counter[str] = field(default_factory=Counter)
    live: dict[int, tuple[str, int]] = field(default_factory=dict)
    ended: dict[int, datetime] = field(default_factory=dict)
    last_no: Counter[int] = field(default_factory=Counter)
    buried: set[tuple[int, int]] = field(default_factory=set)
    over: dict[int, str] = field(default_factory=dict)
    per_key: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    facts: set[tuple[str, int, int, str]] = field(default_factory=set)

    def replay(self, entries: list[Entry]) -> None:
        for entry in sorted(entries, key=lambda entry: entry.id):
            if entry.is_write:
                assert self.live.get(entry.domain_id) == (entry.worker, entry.lease_no), f"a late write: {entry}"
                self._count("write", entry)
            elif entry.old_worker is None:
                self._claimed(entry)
            elif entry.worker is None:
                self._ended(entry)
            elif entry.new_end != entry.old_end:
                self._moved(entry)

    def _claimed(self, entry: Entry) -> None:
        assert entry.domain_id not in self.live, f"two live leases: {entry}"
        assert entry.lease_no > self.last_no[entry.domain_id], f"a lease number twice: {entry}"
        before = self.ended.get(entry.domain_id)
        assert before is None or entry.at >= before, f"begins before the lease before it ended: {entry}"
        self._count("claim", entry)
        if how := self.over.pop(entry.domain_id, None):
            self.counts[how] += 1
        self.live[entry.domain_id] = (entry.worker or "", entry.lease_no)
        self.last_no[entry.domain_id] = entry.lease_no
        self.per_key[entry.key_hash].add(entry.domain_id)
        at_once = len(self.per_key[entry.key_hash])
        assert at_once <= PER_KEY, f"too many at once for one operator: {entry}"
        self.counts["most at once for one operator"] = max(at_once, self.counts["most at once for one operator"])

    def _moved(self, entry: Entry) -> None:
        assert self.live[entry.domain_id] == (entry.worker, entry.lease_no)
        assert entry.old_end is not None
        assert entry.new_end is not None
        assert entry.old_end > entry.began, f"a lease that had run out was renewed: {entry}"
        if entry.new_end > entry.old_end:
            self._count("renewal", entry)
        else:
            self.buried.add((entry.domain_id, entry.lease_no))

    def _ended(self, entry: Entry) -> None:
        worker, lease_no = self.live.pop(entry.domain_id)
        assert (worker, lease_no) == (entry.old_worker, entry.lease_no)
        assert entry.old_end is not None
        self.per_key[entry.key_hash].remove(entry.domain_id)
        self.ended[entry.domain_id] = min(entry.at, entry.old_end)
        if not entry.crashed:
            assert entry.old_end > entry.began, f"a lease that had run out was released: {entry}"
            self.counts["release"] += 1
            self.facts.add(("release", entry.domain_id, lease_no, worker))
        else:
            assert entry.old_end <= entry.began, f"taken away too early: {entry}"
            dead = (entry.domain_id, lease_no) in self.buried
            self.over[entry.domain_id] = "taken over from the dead" if dead else "claimed again after it ran out"

    def _count(self, what: str, entry: Entry) -> None:
        self.counts[what] += 1
        self.facts.add((what, entry.domain_id, entry.lease_no, entry.worker or ""))


class Crowd:
    """The processes. Whatever happens, all of them are gone at the end."""

    def __init__(self, url: str, logs: Path, seed: int) -> None:
        self.url, self.logs, self.chance = url, logs, random.Random(seed)
        self.running: list[subprocess.Popen[str]] = []
        self.log_of: dict[int, Path] = {}
        self.stopped: dict[int, float] = {}
        self.counts: Counter[str] = Counter()

    def __enter__(self) -> "Crowd":
        for _ in range(PROCESSES):
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            _end(process)

    def wait_until_all_work(self) -> None:
        until = time.monotonic() + 60
        while any(log.stat().st_size == 0 for log in self.logs.iterdir()):
            assert time.monotonic() < until, "the workers do not start"
            time.sleep(0.1)

    def disturb(self) -> None:
        """One thing at random; a stopped process is continued when its lease is long over."""
        for n, process in enumerate(self.running):
            if self.stopped.get(process.pid, math.inf) < time.monotonic():
                del self.stopped[process.pid]
                process.send_signal(signal.SIGCONT)
            assert process.poll() is None, f"worker {n} ended by itself: {process.returncode}"
        busy = [p for p in self.running if p.pid not in self.stopped and self.log_of[p.pid].stat().st_size > 500]
        if not busy:
            return
        chance, victim = self.chance.random(), self.chance.choice(busy)
        if chance < 0.35:
            self.counts["killed"] += 1
            _end(victim)
            self.running.remove(victim)
            self._start()
        elif chance < 0.85 and len(self.stopped) < 4:
            self.counts["stopped"] += 1
            victim.send_signal(signal.SIGSTOP)
            self.stopped[victim.pid] = time.monotonic() + self.chance.uniform(2.5, 4)

    def continue_all(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGCONT)

    def beliefs(self) -> Iterator[dict[str, object]]:
        for path in self.logs.iterdir():
            lines = path.read_text().split("\n")
            yield from map(json.loads, filter(None, lines[:-1]))  # the last one may be half: it was killed

    def _start(self) -> None:
        self.counts["started"] += 1
        number = self.counts["started"]
        log = self.logs / f"{number:03}.jsonl"
        log.touch()
        process = _worker("roam", self.url, log, seed=number)
        self.running.append(process)
        self.log_of[process.pid] = log


@pytest.mark.slow
def test_killed_and_stopped_processes_never_share_a_domain(
    lease_database: tuple[Database, str], tmp_path: Path
) -> None:
    database, url = lease_database
    with database.begin() as conn:
        admit(conn, *NAMES)
    with Crowd(url, tmp_path, seed=17) as crowd:
        crowd.wait_until_all_work()
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            time.sleep(0.6)
            crowd.disturb()
        crowd.continue_all()
        time.sleep(1)
    checker = Checker()
    checker.replay(_history(database))
    beliefs = list(crowd.beliefs())
    _compare(beliefs, checker)
    refused = Counter(
        str(line["what"]) for line in beliefs if line["what"] in ("lost", "write refused", "release refused")
    )
    print(dict(crowd.counts), dict(checker.counts), dict(refused))
    assert checker.counts["claimed again after it ran out"] > 0
    assert checker.counts["taken over from the dead"] > 0
    assert refused["lost"] > 0
    assert sum(int(str(line["count"])) for line in beliefs if line["what"] == "buried") > 0
    assert checker.counts["most at once for one operator"] == PER_KEY
    _everything_can_be_claimed_again(database)


_CLAIM = Entry(1, 7, 1, "a", is_write=False, key_hash=1, new_end=_at(2), began=_at(0), at=_at(0))
_RELEASE = replace(_CLAIM, id=2, worker=None, old_worker="a", old_end=_at(2), new_end=None, began=_at(1), at=_at(1))


@pytest.mark.parametrize(
    ("history", "what"),
    [
        ([_CLAIM, replace(_CLAIM, id=2, worker="b", lease_no=2, at=_at(1))], "two live leases"),
        ([_CLAIM, _RELEASE, replace(_CLAIM, id=3, worker="b", at=_at(2))], "a lease number twice"),
        ([_CLAIM, _RELEASE, replace(_CLAIM, id=3, worker="b", lease_no=2)], "begins before"),
        ([_CLAIM, _RELEASE, Entry(3, 7, 1, "a")], "a late write"),
        ([_CLAIM, Entry(2, 7, 1, "b")], "a late write"),
        ([replace(_CLAIM, id=n, domain_id=n) for n in range(1, PER_KEY + 2)], "too many at once"),
        ([_CLAIM, replace(_CLAIM, id=2, old_worker="a", old_end=_at(2), new_end=_at(5), began=_at(3))], "had run out"),
        ([_CLAIM, replace(_RELEASE, began=_at(3))], "had run out"),
        ([_CLAIM, replace(_RELEASE, crashed=True)], "too early"),
    ],
)
def test_the_checker_notices(history: list[Entry], what: str) -> None:
    Checker().replay([_CLAIM, Entry(2, 7, 1, "a"), replace(_RELEASE, id=3)])
    with pytest.raises(AssertionError, match=what):
        Checker().replay(history)


def _compare(beliefs: list[dict[str, object]], checker: Checker) -> None:
    """What a worker believes to have done is in the database; what was refused to it is not."""
    words = {"claimed": "claim", "wrote": "write", "released": "release"}
    for line in beliefs:
        assert line["what"] != "error", line
        if line["what"] == "lost":
            assert (line["wrote"], line["released"]) == (False, False), line
        elif fact := words.get(str(line["what"])):
            assert (fact, line["domain_id"], line["lease_no"], line["worker"]) in checker.facts, line
        elif line["what"] == "release refused":
            assert ("release", line["domain_id"], line["lease_no"], line["worker"]) not in checker.facts, line


def _everything_can_be_claimed_again(database: Database) -> None:
    """Nothing is lost and nothing is parked for ever, once the leases of the dead have run out."""
    shift_clock(database, "1 hour")
    seen: set[str] = set()
    for _ in range(len(NAMES)):
        with database.begin() as conn:
            system = system_actor(conn)
            got = claim(conn, Wish("heir", 10), RULES, system)
            for lease in got:
                assert release(conn, lease, Outcome("exhausted"), RULES, CooldownSettings(), system)
            seen |= {lease.name.name for lease in got}
            assert faults(conn) == []
    assert seen == set(NAMES)


def test_a_worker_that_was_stopped_past_its_lease_is_refused_everything(
    lease_database: tuple[Database, str], tmp_path: Path
) -> None:
    database, url = lease_database
    with database.begin() as conn:
        admit(conn, "example.org")
    with _obedient(url, tmp_path / "late") as late:
        assert _ask(late, "claim")
        assert _ask(late, "write")
        late.send_signal(signal.SIGSTOP)
        shift_clock(database, "1 hour")
        with database.begin() as conn:
            [heir] = claim(conn, Wish("heir", 1), RULES, system_actor(conn))
            assert heir.taken_over
        _tell(late, "renew", "write", "release")
        late.send_signal(signal.SIGCONT)
        assert [_answer(late) for _ in range(3)] == [False, False, False]
    with database.begin() as conn:
        assert renew(conn, [heir], RULES).keys() == {heir.domain_id}
        assert fenced_write(conn, heir)
        assert release(conn, heir, Outcome("exhausted"), RULES, CooldownSettings(), system_actor(conn))
        assert faults(conn) == []
    assert [(entry.worker == "heir") for entry in _history(database) if entry.is_write] == [False, True]


def test_a_worker_that_is_stopped_inside_a_fenced_transaction_keeps_its_domain(
    lease_database: tuple[Database, str], tmp_path: Path
) -> None:
    """Nobody takes over what is half written: its commit comes before the next lease, whatever the clock says."""
    database, url = lease_database
    with database.begin() as conn:
        admit(conn, "example.org")
    with _obedient(url, tmp_path / "late") as late:
        assert _ask(late, "claim")
        assert _ask(late, "begin")
        late.send_signal(signal.SIGSTOP)
        shift_clock(database, "1 hour")
        with database.begin() as conn:
            assert claim(conn, Wish("heir", 1), RULES, system_actor(conn)) == []
        late.send_signal(signal.SIGCONT)
        assert _ask(late, "commit"), "it began in time"
        with database.begin() as conn:
            [heir] = claim(conn, Wish("heir", 1), RULES, system_actor(conn))
        assert not _ask(late, "write")
        assert not _ask(late, "release")
    Checker().replay(_history(database))
    with database.begin() as conn:
        assert release(conn, heir, Outcome("exhausted"), RULES, CooldownSettings(), system_actor(conn))


@pytest.fixture
def lease_database(servers: TestServers) -> Iterator[tuple[Database, str]]:
    """A database that logs its leases, and its URL for other processes."""
    with (
        servers.cloned(available_kinds()[0]) as url,
        Database(Path("/nowhere"), Settings(database=DatabaseSettings(url=url))) as database,
    ):
        with database.bare() as conn:
            conn.exec_driver_sql(_TEST_TABLES)
        yield database, url


def _history(database: Database) -> list[Entry]:
    with database.read() as conn:
        writes = conn.execute(text("select id, domain_id, lease_no, worker from fenced_writes")).all()
        changes = conn.execute(
            text(
                "select id, domain_id, lease_no, worker, false, key_hash, old_worker, old_end, new_end, crashed, "
                "began, at "
                "from lease_log"
            )
        ).all()
    return [*(Entry(*row) for row in writes), *(Entry(*row) for row in changes)]


def _worker(mode: str, url: str, log: Path, *, seed: int, pipes: int | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.registry.lease_worker", mode, url, str(log), str(seed)]
    return subprocess.Popen(command, cwd=ROOT, stdin=pipes, stdout=pipes, text=True)


@contextmanager
def _obedient(url: str, log: Path) -> Iterator["subprocess.Popen[str]"]:
    process = _worker("obey", url, log, seed=1, pipes=subprocess.PIPE)
    try:
        yield process
    finally:
        _end(process)


def _ask(process: "subprocess.Popen[str]", line: str) -> bool:
    _tell(process, line)
    return _answer(process)


def _tell(process: "subprocess.Popen[str]", *lines: str) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def _answer(process: "subprocess.Popen[str]") -> bool:
    assert process.stdout is not None
    answer: bool = json.loads(process.stdout.readline())
    return answer


def _end(process: "subprocess.Popen[str]") -> None:
    """SIGKILL, which ends a stopped process too, and reap it."""
    process.kill()
    process.wait(30)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
