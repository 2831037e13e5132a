"""A worker process for the lease tests: `python -m tests.registry.lease_worker roam|obey URL LOG SEED`.

`roam` claims, renews, writes under its fence and releases until it is killed; what it believes goes to its log, a JSON
line each. `obey` does one thing for each line on its standard input and answers with a line.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, text

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import BailiwickError
from bailiwick.base.sections import CooldownSettings, DatabaseSettings, LeaseSettings, PrioritySettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.registry.apply import SQL
from bailiwick.registry.leases import Lease, Rules, Wish, claim, renew
from bailiwick.registry.release import Outcome, release
from bailiwick.registry.workers import bury_the_dead, register, this_worker

LEASE_SECONDS = 2
PER_KEY = 4
RULES = Rules(LeaseSettings(seconds=LEASE_SECONDS, per_shared_key=PER_KEY), PrioritySettings())
COOLDOWNS = CooldownSettings(exhausted_days=0)
_MOST_HELD = 4


def fenced_write(conn: Connection, lease: Lease) -> bool:
    """A result of the lease's holder, as a flush writes it: the fence first, in the same transaction."""
    fence = {"domain_id": lease.domain_id, "lease_no": lease.lease_no, "worker": lease.worker}
    asked = {"ids": [lease.domain_id], "lease_nos": [lease.lease_no], "worker": lease.worker}
    if conn.exec_driver_sql(SQL["fence"], asked).one_or_none() is None:
        return False
    insert = "insert into fenced_writes (domain_id, lease_no, worker) values (:domain_id, :lease_no, :worker)"
    conn.execute(text(insert), fence)
    return True


class Worker:
    """One process, its leases and its log."""

    def __init__(self, database: Database, log: Path, seed: int) -> None:
        self.database = database
        self.log = log.open("a", buffering=1)
        self.chance = random.Random(seed)
        self.me = this_worker()
        self.name = str(self.me)
        self.held: dict[int, Lease] = {}
        with self.database.begin() as conn:
            register(conn, self.me)

    def say(self, what: str, lease: Lease | None = None, **facts: object) -> None:
        where = {"domain_id": lease.domain_id, "lease_no": lease.lease_no} if lease else {}
        self.log.write(json.dumps({"what": what, "worker": self.name, **where, **facts}) + "\n")

    def roam(self) -> None:
        while True:
            with self._told():
                self._bury()
                self._claim()
                self._write()
                self._renew()
                self._release()
            time.sleep(self.chance.uniform(0.05, 0.25))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BailiwickError as error:
            self.say("error", message=error.message)

    def _bury(self) -> None:
        if self.chance.random() < 0.2:
            with self.database.begin() as conn:
                count = bury_the_dead(conn)
            if count:
                self.say("buried", count=count)

    def _claim(self) -> None:
        if len(self.held) >= _MOST_HELD:
            return
        with self.database.begin() as conn:
            got = claim(conn, Wish(self.name, self.chance.randint(1, 3)), RULES, system_actor(conn))
            now = conn.exec_driver_sql("select bailiwick_now()").scalar_one()
        for lease in got:
            self.say("claimed", lease, at=now.isoformat(), until=lease.expires_at.isoformat())
        self.held |= {lease.domain_id: lease for lease in got}

    def _write(self) -> None:
        for lease in list(self.held.values()):
            with self.database.begin() as conn:
                done = fenced_write(conn, lease)
            self.say("wrote" if done else "write refused", lease)

    def _renew(self) -> None:
        leases = list(self.held.values())
        with self.database.begin() as conn:
            renewed = renew(conn, leases, RULES)
        for lost in [lease for lease in leases if lease.domain_id not in renewed]:
            del self.held[lost.domain_id]
            with self.database.begin() as conn:
                late_write, late_release = fenced_write(conn, lost), self._let_go(conn, lost)
            self.say("lost", lost, wrote=late_write, released=late_release)

    def _release(self) -> None:
        if self.held and self.chance.random() < 0.5:
            lease = self.held.pop(self.chance.choice(list(self.held)))
            with self.database.begin() as conn:
                done = self._let_go(conn, lease)
            self.say("released" if done else "release refused", lease)

    def _let_go(self, conn: Connection, lease: Lease) -> bool:
        outcome = Outcome(self.chance.choice(("active", "active", "exhausted")))
        return release(conn, lease, outcome, RULES, COOLDOWNS, system_actor(conn))

    def obey(self) -> None:
        """`claim`, `renew`, `write`, `release`; `begin` writes and commits only at the line after it."""
        for line in sys.stdin:
            with self.database.begin() as conn:
                lease = next(iter(self.held.values()), None)
                match line.strip(), lease:
                    case "claim", None:
                        self.held = {x.domain_id: x for x in claim(conn, Wish(self.name, 1), RULES, system_actor(conn))}
                        answer = bool(self.held)
                    case "renew", Lease() as mine:
                        answer = bool(renew(conn, [mine], RULES))
                    case "write", Lease() as mine:
                        answer = fenced_write(conn, mine)
                    case "begin", Lease() as mine:
                        answer = fenced_write(conn, mine)
                        print(json.dumps(answer), flush=True)
                        sys.stdin.readline()
                    case "release", Lease() as mine:
                        answer = self._let_go(conn, mine)
                    case other:
                        raise ValueError(other)
            print(json.dumps(answer), flush=True)


def main(mode: str, url: str, log: str, seed: str) -> None:
    with Database(Path("/nowhere"), Settings(database=DatabaseSettings(url=url))) as database:
        worker = Worker(database, Path(log), int(seed))
        worker.say("started")
        worker.obey() if mode == "obey" else worker.roam()


if __name__ == "__main__":
    main(*sys.argv[1:])
