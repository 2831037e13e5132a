"""Leases: exclusive, fenced, polite to operators, and given back in every way a lease can end."""

import threading
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.db.engine import Database
from bailiwick.db.tables import crawl_queue, domains, workers
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.registry import leases as lease_module
from bailiwick.registry.leases import promote, renew, revoke, wanted
from bailiwick.registry.records import get
from bailiwick.registry.release import BlockCode, Outcome
from bailiwick.registry.workers import WorkerName, bury_the_dead, machine_id, register, this_worker
from tests.registry.tools import RULES, admit, claimed, faults, released, shift_clock, sound

ACTIVE = Outcome("active")


def _names(count: int) -> list[str]:
    return [f"site{n:04}.org" for n in range(count)]


def test_a_claim_is_exclusive_and_numbered(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, *_names(3))
        first = claimed(conn, "w1", 2)
        second = claimed(conn, "w2", 5)
        assert len(first) == 2
        assert {lease.domain_id for lease in first}.isdisjoint(lease.domain_id for lease in second)
        assert {lease.lease_no for lease in first + second} == {1}
        assert not first[0].taken_over
        assert claimed(conn, "w3", 5) == []


def test_what_is_not_approved_is_never_leased(database: Database) -> None:
    from bailiwick.registry.submit import Submission, submit

    with sound(database) as conn:
        submit(conn, Submission(DomainName.parse("waiting.org")), system_actor(conn))
        assert claimed(conn) == []


def test_a_claim_rechecks_the_rule_on_the_rows_it_takes(database: Database) -> None:
    """Even a queue row that a stray statement left ready does not get through."""
    with database.begin() as conn:
        admit(conn, "example.org")
        conn.execute(text("update domains set approval = 'suspended', review_reason = 'by hand'"))
        assert faults(conn) != []
        assert claimed(conn) == []
        assert faults(conn) == []


def test_order_is_partly_crawled_then_priority_then_least_recent(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, "old.org", "recent.org", "partly.org", "ranked.org")
        for lease in claimed(conn):
            released(conn, lease, ACTIVE)
        conn.execute(text("update crawl_queue set ready_key = null, wake_at = bailiwick_now()"))
        conn.execute(
            text(
                """update domains set crawl = 'exhausted', next_crawl_after = bailiwick_now(),
                   last_crawled_at = bailiwick_now() - case name when 'old.org' then interval '9 days'
                        when 'recent.org' then interval '8 days' else interval '1 day' end
                   where name <> 'partly.org'"""
            )
        )
        conn.execute(text("update domains set seed_rank = 1 where name = 'ranked.org'"))
        order = [str(lease.name) for lease in claimed(conn)]
    assert order == ["partly.org", "ranked.org", "old.org", "recent.org"]


def test_a_share_of_each_claim_is_for_new_domains(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, *_names(20))
        for lease in claimed(conn, limit=10):
            released(conn, lease, ACTIVE)
        kinds = Counter(lease.crawl for lease in claimed(conn, limit=10))
        assert kinds == {"active": 8, "pending": 2}
        assert len(claimed(conn, limit=20)) == 10, "what is left of either kind fills the rest"


def test_at_most_four_leases_a_shared_key_and_the_parked_are_woken(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, *(f"blog{n}.example.org" for n in range(10)), "other.org")
        held = claimed(conn, limit=20)
        assert Counter(lease.name.shared_key for lease in held) == {"example.org": 4, "other.org": 1}
        parked = conn.execute(select(crawl_queue.c.domain_id).where(crawl_queue.c.is_parked)).all()
        assert len(parked) == 6
        assert claimed(conn, limit=20) == [], "a parked domain is not even looked at"
        seen = {lease.domain_id for lease in held}
        for lease in [lease for lease in held if lease.name.shared_key == "example.org"]:
            assert released(conn, lease, Outcome("exhausted"))
            [woken] = claimed(conn, limit=20)
            assert woken.domain_id not in seen
            seen.add(woken.domain_id)


def test_a_lease_that_ran_out_is_taken_over_and_fenced(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, "example.org")
        [late] = claimed(conn, "late")
    shift_clock(database, "31 minutes")
    with sound(database) as conn:
        assert renew(conn, [late], RULES) == {}, "a lease that ran out cannot be renewed"
        assert not released(conn, late, ACTIVE)
        [taken] = claimed(conn, "next")
        assert (taken.lease_no, taken.crashes, taken.taken_over) == (2, 1, True)
        assert not released(conn, late, ACTIVE)
        assert wanted(conn, [late]) == {}
        assert released(conn, taken, ACTIVE)
        [again] = claimed(conn, "third")
        assert (again.lease_no, again.crashes) == (3, 0), "a clean release resets"


def test_a_heartbeat_extends_from_now(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, "example.org")
        [lease] = claimed(conn)
    shift_clock(database, "10 minutes")
    with sound(database) as conn:
        until = renew(conn, [lease], RULES)[lease.domain_id]
        assert timedelta(minutes=9) < until - lease.expires_at < timedelta(minutes=11)
    shift_clock(database, "35 minutes")
    with sound(database) as conn:
        assert claimed(conn, "other") == []
        assert released(conn, lease, ACTIVE)


@pytest.mark.parametrize(
    ("outcome", "crawl", "days"),
    [
        (Outcome("active"), "active", None),
        (Outcome("exhausted"), "exhausted", 14),
        (Outcome("blocked", BlockCode.LOGIN_WALL, "login page"), "blocked", 30),
        (Outcome("blocked", BlockCode.RATE_LIMITED, "429"), "blocked", 7),
        (Outcome("blocked", BlockCode.FORBIDDEN, "403"), "blocked", 14),
        (Outcome("blocked", BlockCode.ROBOTS_DENIED, "robots.txt"), "blocked", 90),
        (Outcome("unreachable", BlockCode.UNREACHABLE, "DNS"), "unreachable", 7),
    ],
)
def test_each_outcome_has_its_state_and_cooldown(
    database: Database, outcome: Outcome, crawl: str, days: int | None
) -> None:
    with sound(database) as conn:
        admit(conn, "example.org")
        [lease] = claimed(conn)
        assert released(conn, lease, outcome)
        domain = get(conn, lease.name)
        assert domain.crawl == crawl
        assert domain.row["block_reason_code"] == outcome.code
        assert (domain.refusal is None) == (days is None)
        version = domain.version
        assert version == 1, "workers leave the version alone"
        trail = [event.verb for event in latest(conn, subject=Subject("domain", "example.org"))]
        assert trail[-1] == "admit"
        assert len(trail) >= 2
    if days is not None:
        shift_clock(database, f"{days - 1} days")
        with sound(database) as conn:
            assert claimed(conn) == []
        shift_clock(database, f"{days} days 1 minute")
        with sound(database) as conn:
            [again] = claimed(conn)
            assert again.crawl == "pending", "its time had come"


def test_after_three_retries_only_a_reset_helps(database: Database) -> None:
    from bailiwick.approve.service import reset

    blocked = Outcome("blocked", BlockCode.RATE_LIMITED, "429")
    with sound(database) as conn:
        admit(conn, "example.org")
    for attempt in range(4):
        shift_clock(database, f"{attempt * 8} days")
        with sound(database) as conn:
            [lease] = claimed(conn)
            assert released(conn, lease, blocked)
    shift_clock(database, "3000 days")
    with sound(database) as conn:
        assert claimed(conn) == []
        domain = get(conn, lease.name)
        assert domain.refusal == "retries_used_up"
        reset(conn, domain, local_admin(conn))
        [again] = claimed(conn)
        assert released(conn, again, ACTIVE)
        assert get(conn, lease.name).row["block_retries"] == 0


def test_suspending_asks_the_holder_to_stop(database: Database) -> None:
    from bailiwick.approve.service import resume, suspend

    with sound(database) as conn:
        [domain] = admit(conn, "example.org")
        [lease] = claimed(conn)
        me = local_admin(conn)
        assert wanted(conn, [lease]) == {domain.id: "run"}
        domain = suspend(conn, domain, me, reason="complaint")
        assert wanted(conn, [lease]) == {domain.id: "stop"}
        assert released(conn, lease, ACTIVE)
        assert claimed(conn) == []
        resume(conn, get(conn, domain.name), me)
        assert len(claimed(conn)) == 1


def test_a_revoked_lease_is_fenced_at_once(database: Database) -> None:
    with sound(database) as conn:
        [domain] = admit(conn, "example.org")
        [lease] = claimed(conn)
        assert revoke(conn, domain, local_admin(conn), RULES, reason="stuck")
        assert not revoke(conn, domain, local_admin(conn), RULES, reason="stuck")
        assert not released(conn, lease, ACTIVE)
        [fresh] = claimed(conn, "other")
        assert fresh.lease_no > lease.lease_no
        assert fresh.taken_over, "the old holder may still be sending"


def test_the_dead_of_this_machine_lose_their_leases_at_once(database: Database) -> None:
    me = this_worker()
    assert me.is_alive
    dead = WorkerName(machine_id(), me.boot, me.pid, me.process_started - 100)  # this pid, an earlier process
    elsewhere = WorkerName("another-machine", "another-boot", 1, 1.0)
    with sound(database) as conn:
        admit(conn, "dead.org", "mine.org", "elsewhere.org")
        for worker, name in ((dead, "dead.org"), (me, "mine.org"), (elsewhere, "elsewhere.org")):
            register(conn, worker)
            among = list(conn.execute(select(domains.c.id).where(domains.c.name == name)).scalars())
            assert len(claimed(conn, str(worker), among=among)) == 1
        assert bury_the_dead(conn) == 1
        [taken] = claimed(conn, "next")
        assert (str(taken.name), taken.taken_over) == ("dead.org", True)
        assert {row.name for row in conn.execute(select(workers.c.name))} == {str(me), str(elsewhere)}


def test_claimers_at_once_share_without_overlap(database: Database) -> None:
    with database.begin() as conn:
        admit(conn, *_names(60), *(f"b{n}.example.com" for n in range(12)))
    got: list[list[int]] = []
    barrier = threading.Barrier(6)

    def work(name: str) -> None:
        barrier.wait(20)
        mine: list[int] = []
        for _ in range(10):
            with database.begin() as conn:
                mine += [lease.domain_id for lease in claimed(conn, name, 5)]
        got.append(mine)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    everything = [domain_id for mine in got for domain_id in mine]
    assert len(everything) == len(set(everything)) == 64
    with database.read() as conn:
        assert faults(conn) == []


def test_promoting_is_bounded_and_repeatable(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_module, "_PROMOTE_LIMIT", 4)
    with sound(database) as conn:
        admit(conn, *_names(10))
        for lease in claimed(conn, limit=10):
            released(conn, lease, Outcome("exhausted"))
    shift_clock(database, "15 days")
    with sound(database) as conn:
        system = system_actor(conn)
        assert [promote(conn, RULES, system) for _ in range(4)] == [4, 4, 2, 0]
