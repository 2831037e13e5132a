"""The queue while people decide, lists come in and workers claim, all at once: no deadlock, nothing forgotten."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import BailiwickError, ConflictError, NotFoundError, UsageError
from bailiwick.base.settings import DatabaseSettings, LeaseSettings, PrioritySettings, Settings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl
from bailiwick.registry import priority
from bailiwick.registry.imports import Import, add_batch
from bailiwick.registry.leases import Rules, Wish, claim, promote, renew, revoke
from bailiwick.registry.merge import Planned, merge, purge
from bailiwick.registry.records import Domain, find, get
from bailiwick.registry.release import BlockCode, Outcome, release
from bailiwick.registry.seeds import Seed
from bailiwick.registry.submit import Submission, submit, submit_url
from bailiwick.registry.workers import WorkerName, bury_the_dead, register, this_worker
from tests.registry.tools import COOLDOWNS, RULES, admit, claimed, faults, released, shift_clock
from tests.servers import TestServers, available_kinds

SECONDS = 8.0
NAMES = [*(f"alone{n}.org" for n in range(6)), *(f"b{n}.one.org" for n in range(9)), *(f"b{n}.two.org" for n in range(9))]
OUTCOMES = (
    *(Outcome("active"), Outcome("active"), Outcome("exhausted")),
    Outcome("blocked", BlockCode.FORBIDDEN, "403"),
    Outcome("unreachable", BlockCode.UNREACHABLE, "DNS"),
)
_LEFT_BEHIND = """
select key_hash, count(*) filter (where is_parked) as parked, count(*) filter (where not is_parked) as taken
from crawl_queue where is_parked or worker is not null or ready_key is not null
group by key_hash
having bool_or(is_parked) and count(*) filter (where not is_parked) < :per_key
"""

Deed = Callable[[Connection, random.Random, Actor], None]


class Turmoil:
    """Threads that each do one kind of thing over and over, every time in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.until = time.monotonic() + SECONDS
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.threads: list[threading.Thread] = []

    def keep(self, name: str, deed: Deed) -> None:
        seed = len(self.threads)
        self.threads.append(threading.Thread(target=self._repeat, args=(name, deed, random.Random(seed))))

    def work(self, worker: WorkerName) -> None:
        self.threads.append(threading.Thread(target=self._work, args=(worker, random.Random(len(self.threads)))))

    def run(self) -> None:
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join(SECONDS + 60)
        assert not any(thread.is_alive() for thread in self.threads), "somebody waits for ever"

    def _repeat(self, name: str, deed: Deed, chance: random.Random) -> None:
        while time.monotonic() < self.until:
            if self._once(name, lambda conn: deed(conn, chance, local_admin(conn))):
                time.sleep(chance.uniform(0, 0.02))

    def _work(self, worker: WorkerName, chance: random.Random) -> None:
        name = str(worker)
        while time.monotonic() < self.until:
            held = self._once("claim", lambda conn: self._claim(conn, worker, chance)) or []
            self._once("renew", lambda conn: renew(conn, held, RULES) if held else None)
            for lease in held:
                if chance.random() < 0.8:
                    self._once("release", lambda conn, lease=lease: released(conn, lease, chance.choice(OUTCOMES)))
        assert name

    def _claim(self, conn: Connection, worker: WorkerName, chance: random.Random) -> list[object]:
        register(conn, worker)
        return list(claimed(conn, str(worker), chance.randint(1, 5)))

    def _once(self, what: str, act: Callable[[Connection], object]) -> object:
        try:
            with self.database.begin() as conn:
                done = act(conn)
        except (ConflictError, NotFoundError, UsageError) as error:
            self.counts[f"{what}: {error.code}"] += 1
            return None
        except BailiwickError as error:
            self.failures.append(f"{what}: {error.message} {getattr(error.__cause__, 'orig', '')}")
            return None
        self.counts[what] += 1
        return done
