"""The queue while people decide, lists come in and workers claim, all at once: no deadlock, nothing forgotten."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import BailiwickError, ConflictError, NotFoundError, UsageError
from bailiwick.base.sections import DatabaseSettings, LeaseSettings, PrioritySettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl
from bailiwick.registry import priority
from bailiwick.registry.apply import lock_queue
from bailiwick.registry.imports import Import, add_batch
from bailiwick.registry.leases import Lease, Rules, Wish, claim, promote, renew, revoke
from bailiwick.registry.merge import Planned, merge, purge
from bailiwick.registry.records import Domain, get
from bailiwick.registry.release import BlockCode, Outcome, release
from bailiwick.registry.seeds import Seed
from bailiwick.registry.submit import Submission, submit, submit_url
from bailiwick.registry.workers import WorkerName, bury_the_dead, register, this_worker
from tests.registry.tools import COOLDOWNS, RULES, admit, claimed, faults, released, shift_clock
from tests.servers import TestServers, available_kinds

SECONDS = 8.0
NAMES = [f"b{n}.{site}.org" for site in ("one", "two", "three") for n in range(8)]
SINGLE = Rules(LeaseSettings(per_shared_key=1), PrioritySettings())
OUTCOMES = (
    *(Outcome("active"), Outcome("active"), Outcome("exhausted")),
    Outcome("blocked", BlockCode.FORBIDDEN, "403"),
    Outcome("unreachable", BlockCode.UNREACHABLE, "DNS"),
)
_LEFT_BEHIND = """
select key_hash from crawl_queue where is_parked or worker is not null or ready_key is not null
group by key_hash having bool_or(is_parked) and count(*) filter (where not is_parked) < :per_key
"""


class Turmoil:
    """Threads that each do one kind of thing over and over, every time in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.until = time.monotonic() + SECONDS
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.threads: list[threading.Thread] = []

    def add(self, turn: Callable[["Turmoil", random.Random], None]) -> None:
        chance = random.Random(len(self.threads))
        self.threads.append(threading.Thread(target=self._repeat, args=(turn, chance)))

    def run(self) -> None:
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join(SECONDS + 60)
        assert not any(thread.is_alive() for thread in self.threads), "somebody waits for ever"

    def once(self, what: str, act: Callable[[Connection, Actor], object]) -> None:
        """What is refused by a rule of ours is fine; what the database refuses (a deadlock, a time-out) is not."""
        try:
            with self.database.begin() as conn:
                act(conn, local_admin(conn))
        except (ConflictError, NotFoundError, UsageError):
            self.counts[f"{what}, refused"] += 1
        except BailiwickError as error:
            self.failures.append(f"{what}: {error.message} ({getattr(error.__cause__, 'orig', None)})")
        else:
            self.counts[what] += 1

    def _repeat(self, turn: Callable[["Turmoil", random.Random], None], chance: random.Random) -> None:
        while time.monotonic() < self.until and not self.failures:
            turn(self, chance)


def _decides(turmoil: Turmoil, chance: random.Random) -> None:
    verb = chance.choice(("turn", "turn", "turn", "reject", "blacklist", "lift", "no funds", "note", "trust"))

    def act(conn: Connection, me: Actor) -> None:
        domain = _any(conn, chance)
        match verb:
            case "turn" if domain.approval == "approved":
                approve.suspend(conn, domain, me, reason="so")
            case "turn" if domain.approval == "suspended":
                approve.resume(conn, domain, me)
            case "turn" if domain.approval == "rejected":
                submit(conn, Submission(domain.name, context="again"), me)
            case "turn":
                approve.approve(conn, domain, me)
            case "reject":
                approve.reject(conn, domain, me, reason="so")
            case "blacklist":
                approve.blacklist(conn, domain, me, reason="so")
            case "lift":
                approve.lift_blacklist(conn, domain, me)
            case "no funds":
                approve.mark_no_funds(conn, domain, me, year=2020 + chance.randint(0, 9), reason=None)
            case "note":
                approve.note(conn, domain, me, text="seen")
            case _:
                approve.set_trust(conn, domain, me, trusted=True, reason=None)

    turmoil.once(verb, act)


def _asks(turmoil: Turmoil, chance: random.Random) -> None:
    verb = chance.choice(("recrawl", "reset", "url"))

    def act(conn: Connection, me: Actor) -> None:
        domain = _any(conn, chance)
        if verb == "url":
            submit_url(conn, PageUrl.parse(f"https://{domain.name}/{chance.randint(1, 9)}"), me)
        else:
            time.sleep(0.005)  # a person looks first: what a worker does meanwhile must not be undone
            (approve.recrawl if verb == "recrawl" else approve.reset)(conn, domain, me)

    turmoil.once(verb, act)


def _steps_in(turmoil: Turmoil, chance: random.Random) -> None:
    verb = chance.choice(("merge", "purge", "revoke"))

    def act(conn: Connection, me: Actor) -> None:
        domain = _any(conn, chance)
        if verb == "merge":
            merge(conn, Planned(domain.name, DomainName(chance.choice(NAMES))), me)
        elif verb == "purge":
            purge(conn, domain, me, reason=None)
        else:
            revoke(conn, domain, me, RULES, reason=None)

    turmoil.once(verb, act)


def _keeps_order(turmoil: Turmoil, chance: random.Random) -> None:
    weights = PrioritySettings(rank=chance.choice((0.1, 1.0)))
    turmoil.once("reprioritize", lambda conn, _: priority.run_once(conn, weights))
    turmoil.once("bury", lambda conn, _: bury_the_dead(conn))


def _brings_lists(turmoil: Turmoil, chance: random.Random) -> None:
    names = chance.sample(NAMES, 12)  # in any order: the import sorts
    seeds = [Seed(DomainName.parse(name), chance.randint(1, 10_000)) for name in names]
    how = Import("list", approve=True)
    turmoil.once("import", lambda conn, me: add_batch(conn, seeds, how, me, RULES.priority))


def _worker(name: WorkerName) -> Callable[[Turmoil, random.Random], None]:
    def turn(turmoil: Turmoil, chance: random.Random) -> None:
        held: list[Lease] = []

        def take(conn: Connection, me: Actor) -> None:
            register(conn, name)
            held.extend(claimed(conn, str(name), chance.randint(1, 6)))

        turmoil.once("claim", take)
        turmoil.once("renew", lambda conn, _: renew(conn, held, RULES))
        for lease in held:
            if chance.random() < 0.8:
                outcome = chance.choice(OUTCOMES)
                turmoil.once("release", partial(_release, lease=lease, outcome=outcome))

    return turn


def _release(conn: Connection, _: Actor, *, lease: Lease, outcome: Outcome) -> None:
    released(conn, lease, outcome)


@pytest.mark.slow
def test_everybody_at_once(quiet_database: Database) -> None:
    with quiet_database.begin() as conn:
        admit(conn, *NAMES)
    turmoil = Turmoil(quiet_database)
    for turn in (_decides, _decides, _asks, _steps_in, _keeps_order, _brings_lists):
        turmoil.add(turn)
    for n in range(3):
        turmoil.add(_worker(_dead(n)))
    turmoil.run()
    print(dict(sorted(turmoil.counts.items())))
    assert turmoil.failures == []
    assert all(turmoil.counts[what] for what in ("claim", "release", "turn", "merge", "import", "reprioritize", "bury"))
    with quiet_database.read() as conn:
        assert faults(conn) == []
    shift_clock(quiet_database, "1 hour")
    _nothing_is_left_behind(quiet_database)


def _nothing_is_left_behind(database: Database) -> None:
    """A few claims later no parked domain waits for a place that is free, and all that may be leased is leased."""
    with database.begin() as conn:
        for _ in range(10):
            promote(conn, RULES, system_actor(conn))
        assert conn.execute(text(_LEFT_BEHIND), {"per_key": RULES.lease.per_shared_key}).all() == []
        may = "select name from domains as d where domain_refusal(d, bailiwick_now()) is null"
        leasable = set(conn.execute(text(may)).scalars())
        seen: set[str] = set()
        while got := claimed(conn, "heir", 50):
            seen |= {lease.name.name for lease in got}
            assert all(released(conn, lease, Outcome("exhausted")) for lease in got)
        assert seen == leasable
        assert faults(conn) == []


def test_a_place_is_filled_though_the_woken_domain_is_refused(quiet_database: Database) -> None:
    """A release wakes one of the parked; if that one is suspended before anybody leases it, another has its place."""
    with quiet_database.begin() as conn:
        admit(conn, "a.example.org", "b.example.org", "c.example.org")
        woken = _lease_one_and_release_it(conn)
        approve.suspend(conn, get(conn, DomainName(woken)), local_admin(conn), reason="so")
        [lease] = claim(conn, Wish("next", 5), SINGLE, system_actor(conn))
        assert lease.name.name != woken


@pytest.mark.parametrize("undo", [True, False])
def test_a_place_is_filled_though_the_parked_were_locked(quiet_database: Database, undo: bool) -> None:
    """A release passes over what somebody else has locked, and that somebody may change nothing in the end."""
    with quiet_database.begin() as conn:
        admit(conn, "a.example.org", "b.example.org")
        [held] = claim(conn, Wish("first", 5), SINGLE, system_actor(conn))
        [other] = conn.execute(text("select domain_id from crawl_queue where is_parked")).scalars()
    with quiet_database.begin() as busy:
        busy.execute(text("select 1 from crawl_queue where domain_id = :id for update"), {"id": other})
        with quiet_database.begin() as conn:
            assert release(conn, held, Outcome("exhausted"), SINGLE, COOLDOWNS, system_actor(conn))
        if undo:
            busy.rollback()
    with quiet_database.begin() as conn:
        [lease] = claim(conn, Wish("next", 5), SINGLE, system_actor(conn))
        assert lease.domain_id == other


def test_a_place_is_filled_though_a_purge_ended_the_lease(quiet_database: Database) -> None:
    with quiet_database.begin() as conn:
        admit(conn, "a.example.org", "b.example.org")
        [held] = claim(conn, Wish("first", 5), SINGLE, system_actor(conn))
    shift_clock(quiet_database, "31 minutes")
    with quiet_database.begin() as conn:
        domain = purge(conn, get(conn, held.name), local_admin(conn), reason=None)
        approve.suspend(conn, domain, local_admin(conn), reason="so")
        [lease] = claim(conn, Wish("next", 5), SINGLE, system_actor(conn))
        assert lease.domain_id != held.domain_id


@pytest.mark.parametrize("verb", [approve.recrawl, approve.reset])
def test_a_release_between_look_and_decision_is_not_undone(
    quiet_database: Database, verb: Callable[[Connection, Domain, Actor], Domain]
) -> None:
    """Workers leave the version alone, so what they did to the crawl axis has to be looked at once more."""
    with quiet_database.begin() as conn:
        admit(conn, "example.org")
        [lease] = claimed(conn)
        seen = get(conn, lease.name)
        assert released(conn, lease, Outcome("exhausted"))
        assert verb(conn, seen, local_admin(conn)).refusal is None
        assert len(claimed(conn)) == 1


def test_what_is_decided_while_a_merge_waits_counts(quiet_database: Database) -> None:
    planned = _two_to_merge(quiet_database)
    merge_too = _Behind(quiet_database, lambda conn, me: merge(conn, planned, me))
    with quiet_database.begin() as conn:
        approve.suspend(conn, get(conn, planned.source), local_admin(conn), reason="complaint")
        merge_too.start_and_wait()
    assert merge_too.outcome() is None
    with quiet_database.read() as conn:
        assert get(conn, planned.target).approval == "suspended"


@pytest.mark.parametrize("verb", [approve.recrawl, approve.reset])
def test_a_wish_for_a_domain_that_is_being_merged_away_is_no_deadlock(
    quiet_database: Database, verb: Callable[[Connection, Domain, Actor], Domain]
) -> None:
    """The wish's foreign key locks the domain: it has to ask for the queue row first, like everybody."""
    planned = _two_to_merge(quiet_database)
    with quiet_database.read() as conn:
        source, target = get(conn, planned.source), get(conn, planned.target)
    wish_too = _Behind(quiet_database, lambda conn, me: verb(conn, source, me))
    with quiet_database.begin() as conn:
        lock_queue(conn, [source.id, target.id])
        wish_too.start_and_wait()
        merge(conn, planned, local_admin(conn))
    assert isinstance(wish_too.outcome(), NotFoundError)


def test_a_rename_to_a_name_that_comes_in_meanwhile_is_a_conflict(quiet_database: Database) -> None:
    planned = Planned(DomainName("blog.example.org"), DomainName("example.org"))
    with quiet_database.begin() as conn:
        admit(conn, planned.source.name, actor=local_admin(conn))
    rename_too = _Behind(quiet_database, lambda conn, me: merge(conn, planned, me))
    with quiet_database.begin() as conn:
        admit(conn, planned.target.name)
        rename_too.start_and_wait()
    assert isinstance(rename_too.outcome(), ConflictError)


class _Behind:
    """Something that is done in another thread, and has to wait for what this one has done and not committed."""

    def __init__(self, database: Database, act: Callable[[Connection, Actor], object]) -> None:
        self._database, self._act = database, act
        self._thread = threading.Thread(target=self._run)
        self._error: BailiwickError | None = None

    def start_and_wait(self) -> None:
        self._thread.start()
        _until_somebody_waits(self._database)

    def outcome(self) -> BailiwickError | None:
        """The error of ours that it ended with."""
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self._error

    def _run(self) -> None:
        try:
            with self._database.begin() as conn:
                self._act(conn, local_admin(conn))
        except BailiwickError as error:
            self._error = error


def _two_to_merge(database: Database) -> Planned:
    with database.begin() as conn:
        admit(conn, "blog.example.org", "example.org", actor=local_admin(conn))
    return Planned(DomainName("blog.example.org"), DomainName("example.org"))


def _lease_one_and_release_it(conn: Connection) -> str:
    """Of three domains of one operator: one is leased and released, one is woken, one stays parked."""
    system = system_actor(conn)
    [held] = claim(conn, Wish("first", 5), SINGLE, system)
    assert release(conn, held, Outcome("exhausted"), SINGLE, COOLDOWNS, system)
    ready = "select name from domains join crawl_queue on domain_id = id where ready_key is not null"
    woken: str = conn.execute(text(ready)).scalar_one()
    return woken


def _until_somebody_waits(database: Database) -> None:
    for _ in range(400):
        with database.read() as conn:
            waits = (
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
            )
            if conn.execute(text(waits)).scalar_one():
                return
        time.sleep(0.02)
    raise AssertionError("nobody waits")


def _any(conn: Connection, chance: random.Random) -> Domain:
    return get(conn, DomainName(chance.choice(NAMES)))


def _dead(number: int) -> WorkerName:
    """The name of an earlier process with our number: whoever holds the funeral finds it gone."""
    me = this_worker()
    return WorkerName(me.machine, me.boot, me.pid, me.process_started - 100 - number)


@pytest.fixture
def quiet_database(servers: TestServers) -> Iterator[Database]:
    """On the first server only: what is shown here does not depend on its version."""
    with (
        servers.cloned(available_kinds()[0]) as url,
        Database(Path("/nowhere"), Settings(database=DatabaseSettings(url=url))) as database,
    ):
        yield database
