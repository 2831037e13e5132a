"""What is done to the workers: kills, stops, restarts of the database and lost answers, in an order out of a seed.

Everything is bounded: so many blows, and a limit in seconds. A crawl that ends before the last blow is no pass: the
web was too small for it (`OutOfWorkError`).
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
import psycopg

from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.demo.web.log import Entry
from tests.chaos.proxy import CommitProxy
from tests.chaos.tenures import Death, pid_of
from tests.chaos.workers import Crew
from tests.e2e.tools import Land

_AIMED = 0.8
"""This share of the kills waits for an open request; the others come whenever they come."""
_AIM_SECONDS = 8.0
_SAMPLE_SECONDS = 0.5


class OutOfWorkError(AssertionError):
    """The crawl was over before the blows were."""


@dataclass(frozen=True)
class Plan:
    """How much of what, and when it has to be over."""

    kills: int
    stops: int
    restarts: int
    drops: int
    lease_seconds: float
    seed: int = 1
    limit_seconds: float = 240.0
    least_open: int = 0
    """Further kills are added until so many had a request open."""
    pauses: tuple[float, float] = (0.4, 1.8)
    """Seconds between two blows: an engine needs a second or two before it has anything to lose."""

    def blows(self, dice: random.Random) -> list[str]:
        """All of them in a random order; the first is a kill."""
        others = ["kill"] * (self.kills - 1) + ["stop"] * self.stops
        others += ["restart"] * self.restarts + ["drop"] * self.drops
        dice.shuffle(others)
        return ["kill", *others]


@dataclass(frozen=True)
class Blow:
    """One thing that was done. Times are seconds since the start."""

    kind: str
    seconds: float
    domains: int
    """Domains that were held by whoever was hit."""
    had_open: bool = False
    """A request of the engine that was killed was open in the server's log at that moment."""


@dataclass(frozen=True)
class Sample:
    """What the database knew at a moment."""

    seconds: float
    known: int
    written: int


@dataclass
class Account:
    """What the driver did."""

    blows: list[Blow] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)
    outlived: int = 0
    """Stops at whose end no lease of the stopped engine was left."""
    lost_claims: int = 0
    """Claims whose COMMIT was not answered."""
    seconds: float = 0.0

    def count(self, kind: str) -> int:
        return sum(blow.kind == kind for blow in self.blows)

    @property
    def open_kills(self) -> int:
        return sum(blow.had_open for blow in self.blows)

    @property
    def hit_domains(self) -> int:
        """How often a domain's holder was hit."""
        return sum(blow.domains for blow in self.blows)


Holding = dict[int, set[tuple[str, int]]]
"""Engine -> (host, number of the lease) of what it holds."""


@dataclass
class Driver:
    """One run. `run` returns when the crawl is done; AssertionError if it never is."""

    land: Land
    crew: Crew
    server: EmbeddedServer
    proxy: CommitProxy
    plan: Plan
    account: Account = field(default_factory=Account)
    _stopped: dict[int, tuple[float, set[tuple[str, int]]]] = field(default_factory=dict)
    _conn: "psycopg.Connection[tuple[object, ...]] | None" = None

    def run(self) -> Account:
        dice, self._start = random.Random(self.plan.seed), time.monotonic()
        try:
            self._pass(3.0)
            for kind in self.plan.blows(dice):
                self._pass(dice.uniform(*self.plan.pauses))
                self._check_work()
                getattr(self, f"_{kind}")(dice)
            while self.account.open_kills < self.plan.least_open:
                self._pass(dice.uniform(*self.plan.pauses))
                self._check_work()
                self._kill(dice)
            self._finish()
        finally:
            for engine in list(self._stopped):
                os.kill(engine, signal.SIGCONT)
            self._hang_up()
        self.account.lost_claims = self.proxy.dropped["claim"]
        self.account.seconds = self._elapsed
        return self.account

    # Blows

    def _kill(self, dice: random.Random) -> None:
        engine, entry = self._target(dice)
        held = self._held().get(engine, set())
        at, wall = time.monotonic(), time.time()
        with suppress(psutil.NoSuchProcess):  # it died of something else
            self.account.deaths.append(Death.of(engine, wall))
        self.crew.kill(engine, with_parent=dice.random() < 0.5)
        # Once more: what it claimed in between. Nobody has to wait before he takes over, so the first look counts, too.
        held |= self._held().get(engine, set())
        had_open = (
            entry is not None
            and entry.host in {host for host, _ in held}
            and (entry.answered is None or entry.answered >= at)
        )
        self._note("kill", len(held), had_open=had_open)

    def _stop(self, dice: random.Random) -> None:
        """Wherever it is, in a transaction or not."""
        engine, _ = self._target(dice, aimed=True)
        os.kill(engine, signal.SIGSTOP)
        held = self._held().get(engine, set())
        self._stopped[engine] = (time.monotonic() + self.plan.lease_seconds + 1.0, held)
        self._note("stop", len(held))

    def _restart(self, dice: random.Random) -> None:
        """Immediate: as if the machine had lost power, but for what the kernel has."""
        held = sum(map(len, self._held().values()))
        self.server.stop(mode=signal.SIGQUIT)
        time.sleep(dice.uniform(0.0, 0.5))
        self.server.ensure_running()
        self._note("restart", held)

    def _drop(self, dice: random.Random) -> None:
        """Costs nothing but time, so nobody counts as hit."""
        self.proxy.arm("claim" if dice.random() < 0.25 else "flush")
        self._note("drop", 0)

    # Aim

    def _target(self, dice: random.Random, *, aimed: bool | None = None) -> tuple[int, Entry | None]:
        """An engine, and a request of its own that is open right now, if that was waited for."""
        if aimed or (aimed is None and dice.random() < _AIMED):
            deadline = time.monotonic() + _AIM_SECONDS
            while time.monotonic() < deadline:
                shots = list(self._shots())
                if shots:
                    return dice.choice(shots)
                self._pass(0.01)
        return self._any_engine(dice), None

    def _shots(self) -> Iterator[tuple[int, Entry]]:
        holders = {host: engine for engine, held in self._held().items() for host, _ in held}
        for entry in self.land.running.log.open_requests():
            engine = holders.get(entry.host)
            if engine is not None and engine not in self._stopped and self.crew.has(engine) and entry.open:
                yield engine, entry

    def _any_engine(self, dice: random.Random) -> int:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            engines = [engine for engine in self.crew.engines() if engine not in self._stopped]
            if engines:
                return dice.choice(engines)
            self._pass(0.05)
        raise AssertionError("no engine was started for half a minute")

    # Time passes

    def _pass(self, seconds: float) -> None:
        """Let time pass; keep the crew full, wake who was stopped long enough, look at the figures."""
        until = time.monotonic() + seconds
        while True:
            assert self._elapsed < self.plan.limit_seconds, f"not over after {self._elapsed:.0f} s: {self._figures()}"
            self.crew.fill()
            self._wake()
            self._sample()
            rest = until - time.monotonic()
            if rest <= 0:
                return
            time.sleep(min(rest, 0.1))

    def _wake(self) -> None:
        for engine, (due, leases) in list(self._stopped.items()):
            # Once its time is over, its leases have run out or are somebody else's. On a busy machine a bit later.
            if time.monotonic() >= due and not self._lives(leases):
                os.kill(engine, signal.SIGCONT)
                del self._stopped[engine]
                self.account.outlived += bool(leases)

    def _lives(self, leases: set[tuple[str, int]]) -> bool:
        rows = self._ask("""
            select d.name, q.lease_no from crawl_queue as q join domains as d on d.id = q.domain_id
            where q.worker is not null and q.wake_at > now()""")
        return any((str(name).partition(":")[0], number) in leases for name, number in rows)

    def _check_work(self) -> None:
        waiting = self._ask("select count(*) from domains where crawl <> 'exhausted'")
        if waiting == [(0,)]:
            raise OutOfWorkError(f"all is crawled after {len(self.account.blows)} blows: a larger web is needed")

    def _finish(self) -> None:
        """The last blow has fallen: until every page is fetched and every command has ended."""
        while self._stopped or self._ask("select count(*) from domains where crawl <> 'exhausted'") != [(0,)]:
            self._pass(0.3)
        while not self.crew.is_empty:
            assert self._elapsed < self.plan.limit_seconds, "commands do not end"
            time.sleep(0.1)
        self._sample(always=True)

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._start

    def _sample(self, *, always: bool = False) -> None:
        last = self.account.samples[-1].seconds if self.account.samples else -1.0
        if always or self._elapsed - last >= _SAMPLE_SECONDS:
            [(known, written)] = self._figures()
            self.account.samples.append(Sample(round(self._elapsed, 2), int(str(known)), int(str(written))))

    def _figures(self) -> list[tuple[object, ...]]:
        return self._ask("select coalesce(sum(pages_discovered), 0), coalesce(sum(pages_discovered - pages_waiting), 0)"
                         " from domain_progress")  # fmt: skip

    def _note(self, kind: str, domains: int, *, had_open: bool = False) -> None:
        self.account.blows.append(Blow(kind, round(self._elapsed, 2), domains, had_open))

    def _held(self) -> Holding:
        rows = self._ask("""
            select q.worker, d.name, q.lease_no from crawl_queue as q join domains as d on d.id = q.domain_id
            where q.worker is not null""")
        held: Holding = {}
        for worker, name, number in rows:
            held.setdefault(pid_of(str(worker)), set()).add((str(name).partition(":")[0], int(str(number))))
        return held

    def _ask(self, sql: str) -> list[tuple[object, ...]]:
        """By a connection that is kept, and made anew after a restart."""
        for _ in range(3):
            try:
                if self._conn is None:
                    self._conn = psycopg.connect(self.land.database_url, autocommit=True)
                return self._conn.execute(sql).fetchall()  # type: ignore[arg-type]
            except psycopg.OperationalError:
                self._hang_up()
        raise AssertionError("the database does not answer its own driver")

    def _hang_up(self) -> None:
        if self._conn is not None:
            self._conn.close()
            self._conn = None
