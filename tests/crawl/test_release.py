"""Many leases given back at once: the same as one by one, whatever each came to, and without those that are lost."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.base.errors import UsageError
from bailiwick.base.sections import LeaseSettings
from bailiwick.crawl.facts import Ending
from bailiwick.crawl.outcomes import Outcome as Fetched
from bailiwick.crawl.outcomes import StopReason
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Subject, latest
from bailiwick.registry.leases import Lease, Rules, Wish, claim, revoke
from bailiwick.registry.records import get_by_id
from bailiwick.registry.release import BlockCode, Outcome, Release, release, release_all
from tests.crawl.desk_tools import Held, batch, desk_of, fetched, flushed, hold, plant, rows, slice_of, value
from tests.registry.tools import COOLDOWNS, RULES, admit, claimed, shift_clock, sound

OUTCOMES: dict[str, Outcome] = {
    "active": Outcome("active"),
    "pauses": Outcome("active", pause_seconds=600),
    "rests": Outcome("active", rests=True),
    "exhausted": Outcome("exhausted"),
    "login": Outcome("blocked", BlockCode.LOGIN_WALL, "login page"),
    "limited": Outcome("blocked", BlockCode.RATE_LIMITED, "429"),
    "forbidden": Outcome("blocked", BlockCode.FORBIDDEN, "403"),
    "robots": Outcome("blocked", BlockCode.ROBOTS_DENIED, "robots.txt"),
    "errors": Outcome("blocked", BlockCode.ERROR_LIMIT, "20 errors in a row"),
    "lost": Outcome("unreachable", BlockCode.UNREACHABLE, "no such name"),
}
DAYS = {"login": 30, "limited": 7, "forbidden": 14, "robots": 90, "errors": 7, "lost": 7, "exhausted": 14, "rests": 14}
ROOMY = Rules(LeaseSettings(per_shared_key=100), RULES.priority)
STATES = ("pending", "active", "exhausted", "blocked", "unreachable")
_DOMAIN = """
select split_part(d.name, '.', 1) as what, d.crawl, d.next_crawl_after, d.block_reason, d.block_reason_code,
       d.block_retries, d.first_blocked_at, d.last_crawled_at, d.pages_discovered, d.pages_crawled, d.priority_score,
       d.version, d.error_rate, d.consecutive_error_count,
       q.worker, q.run_id, q.ready_key is null as waits, q.wake_at, q.crashes, q.wanted, q.is_parked, q.lease_no
from domains as d join crawl_queue as q on q.domain_id = d.id where d.site = :site order by 1
"""
_EVENTS = """
select split_part(e.subject_name, '.', 1) as what, e.verb, e.before, e.after, e.reason, e.machine
from events as e join domains as d on d.name = e.subject_name
where d.site = :site and e.machine = 'crawl' order by 1, e.id
"""


def end_all(conn: Connection, releases: Sequence[Release]) -> set[int]:
    return release_all(conn, releases, RULES, COOLDOWNS, system_actor(conn))


def _force(conn: Connection, site: str, state: str) -> None:
    """Past what moves lead to: a claim may find any state (an admin's lease of a cooled domain, say)."""
    conn.execute(text("alter table domains disable trigger user"))
    conn.execute(
        text("update domains set crawl = :state, block_reason = 'before', block_retries = 1, version = 4, "
             "first_blocked_at = case when :state in ('blocked', 'unreachable') then bailiwick_now() end "
             "where site = :site"),
        {"state": state, "site": site},
    )  # fmt: skip
    conn.execute(text("alter table domains enable trigger user"))


def test_many_at_once_are_the_same_as_one_by_one(database: Database) -> None:
    for state in STATES:
        sites = (f"{state}-one.org", f"{state}-many.org")
        with sound(database) as conn:
            one, many = (_leased(conn, site, state) for site in sites)
            for what, outcome in OUTCOMES.items():
                assert release(conn, one[what], outcome, RULES, COOLDOWNS, system_actor(conn))
            done = end_all(conn, [(many[what], outcome) for what, outcome in reversed(OUTCOMES.items())])
            assert done == {lease.domain_id for lease in many.values()}
            ends = [[tuple(row) for row in rows(conn, _DOMAIN, site=site)] for site in sites]
            trails = [[tuple(row) for row in rows(conn, _EVENTS, site=site)] for site in sites]
            assert ends[0] == ends[1], state
            assert trails[0] == trails[1], state
            assert len(ends[1]) == len(OUTCOMES)


def _leased(conn: Connection, site: str, state: str) -> dict[str, Lease]:
    """A domain for each outcome, leased; its crawl axis in this state."""
    ids = {what: admit(conn, f"{what}.{site}")[0].id for what in OUTCOMES}
    wish = Wish("w1", 100, among=list(ids.values()))
    leases = {lease.domain_id: lease for lease in claim(conn, wish, ROOMY, system_actor(conn))}
    _force(conn, site, state)
    counted = """update domain_progress as p set pages_discovered = 9, pages_crawled = 5, total_error_count = 2
                 from domains as d where d.id = p.domain_id and d.site = :site"""
    conn.execute(text(counted), {"site": site})
    return {what: leases[domain_id] for what, domain_id in ids.items()}


def _hold_all(conn: Connection) -> dict[str, Held]:
    held = hold(conn, *(f"{what}.org" for what in OUTCOMES))
    return dict(zip(OUTCOMES, held, strict=True))


def test_each_has_its_state_its_time_and_its_events(database: Database) -> None:
    with sound(database) as conn:
        held = _hold_all(conn)
        end_all(conn, [(held[what].lease, outcome) for what, outcome in OUTCOMES.items()])
        now = value(conn, "select bailiwick_now()")
        for what, outcome in OUTCOMES.items():
            domain = get_by_id(conn, held[what].id)
            assert (domain.crawl, domain.row["block_reason_code"]) == (outcome.crawl, outcome.code), what
            assert domain.row["block_reason"] == outcome.reason, what
            assert (domain.row["block_retries"], domain.version) == (1 if outcome.code else 0, 1), what
            due = domain.row["next_crawl_after"]
            rest = {"active": None, "pauses": timedelta(minutes=10)}.get(what, timedelta(days=DAYS.get(what, 0)))
            assert (None if due is None else due - now) == rest, what
            assert domain.row["worker"] is None, what
            trail = [
                event for event in latest(conn, subject=Subject("domain", f"{what}.org")) if event.machine == "crawl"
            ]
            assert [event.verb for event in reversed(trail)] == _verbs(outcome), what
            assert all(event.actor == "system" and event.reason for event in trail), what
            if outcome.code:
                assert trail[0].reason == outcome.reason, what
        [lease] = claimed(conn, "w2")
        assert str(lease.name) == "active.org"
    shift_clock(database, "11 minutes")
    with sound(database) as conn:
        assert [str(lease.name) for lease in claimed(conn, "w3")] == ["pauses.org"]
    shift_clock(database, "15 days")
    with sound(database) as conn:
        back = {str(lease.name).removesuffix(".org"): lease.crawl for lease in claimed(conn, "w4", 100)}
        assert back == {
            "active": "active", "pauses": "active", "rests": "active", "exhausted": "pending",
            "limited": "pending", "forbidden": "pending", "errors": "pending", "lost": "pending",
        }  # fmt: skip


def _verbs(outcome: Outcome) -> list[str]:
    if outcome.crawl == "unreachable":
        return ["lose"]
    return ["start", *{"exhausted": ["exhaust"], "blocked": ["block"]}.get(outcome.crawl, [])]


def test_a_fixed_frequency_is_kept(database: Database) -> None:
    with sound(database) as conn:
        held = _hold_all(conn)
        conn.execute(text("update domains set scrape_frequency_hours = 3"))
        end_all(conn, [(held[what].lease, OUTCOMES[what]) for what in ("exhausted", "rests", "active", "login")])
        rest = {row.name: row.rest for row in rows(
            conn, "select name, next_crawl_after - bailiwick_now() as rest from domains")}  # fmt: skip
        assert rest["exhausted.org"] == rest["rests.org"] == timedelta(hours=3)
        assert (rest["active.org"], rest["login.org"]) == (None, timedelta(days=30))


def test_retries_are_counted_to_their_end_and_forgotten_after_a_success(database: Database) -> None:
    names = ("stubborn.org", "better.org")
    blocked, fine = OUTCOMES["limited"], OUTCOMES["active"]
    for attempt in range(COOLDOWNS.max_retries + 1):
        shift_clock(database, f"{attempt * 8} days")
        with sound(database) as conn:
            stubborn, better = hold(conn, *names)
            end_all(conn, [(stubborn.lease, blocked), (better.lease, fine if attempt == 1 else blocked)])
    with sound(database) as conn:
        domains = {row.name: row for row in rows(conn, "select * from domains")}
        assert domains["stubborn.org"].block_retries == COOLDOWNS.max_retries + 1
        assert domains["stubborn.org"].next_crawl_after is None
        assert get_by_id(conn, domains["stubborn.org"].id).refusal == "retries_used_up"
        assert domains["better.org"].block_retries == COOLDOWNS.max_retries - 1
        age = domains["stubborn.org"].first_blocked_at - domains["better.org"].first_blocked_at
        assert timedelta(days=-17) < age < timedelta(days=-15), "counted from when it was last fine"


@pytest.mark.parametrize("loss", ["revoked", "ran out", "taken over", "released"])
def test_a_lost_lease_among_them_is_left_alone(database: Database, loss: str) -> None:
    with sound(database) as conn:
        held = _hold_all(conn)
        gone = held["exhausted"]
        if loss == "revoked":
            assert revoke(conn, get_by_id(conn, gone.id), local_admin(conn), RULES, reason="stuck")
        elif loss == "released":
            assert release(conn, gone.lease, OUTCOMES["active"], RULES, COOLDOWNS, system_actor(conn))
        else:
            conn.execute(
                text("update crawl_queue set wake_at = bailiwick_now() where domain_id = :id"), {"id": gone.id}
            )
            if loss == "taken over":
                [heir] = claimed(conn, "w2", among=[gone.id])
                assert heir.taken_over
    with sound(database) as conn:
        before = rows(conn, "select d.*, q.* from domains as d join crawl_queue as q on q.domain_id = d.id "
                            "where d.id = :id", id=gone.id)  # fmt: skip
        trail = latest(conn, subject=Subject("domain", "exhausted.org"))
        done = end_all(conn, [(held[what].lease, outcome) for what, outcome in OUTCOMES.items()])
        assert done == {one.id for what, one in held.items() if what != "exhausted"}
        after = rows(conn, "select d.*, q.* from domains as d join crawl_queue as q on q.domain_id = d.id "
                           "where d.id = :id", id=gone.id)  # fmt: skip
        assert after == before
        assert latest(conn, subject=Subject("domain", "exhausted.org")) == trail
        assert end_all(conn, [(gone.lease, OUTCOMES["exhausted"])]) == set()
        assert end_all(conn, []) == set()


def test_what_the_flushes_counted_is_copied(database: Database) -> None:
    with sound(database) as conn:
        [held, other] = hold(conn, "example.org", "other.org")
        plant(conn, held.id, "/", "/broken", "/deep", "/closed")
    results = [
        fetched("/", images=6),
        fetched("/broken", Fetched.SERVER_ERROR, status=500),
        fetched("/deep", depth=2),
        fetched("/closed", Fetched.FORBIDDEN, status=403),
    ]
    flushed(database, batch(held, 1, *results, errors_in_row=1))
    with sound(database) as conn:
        end_all(conn, [(held.lease, OUTCOMES["active"]), (other.lease, OUTCOMES["exhausted"])])
        row = get_by_id(conn, held.id).row
        assert (row["pages_discovered"], row["pages_crawled"], row["images_found"]) == (4, 4, 6)
        assert (row["crawl_depth_reached"], row["total_error_count"], row["consecutive_error_count"]) == (2, 2, 1)
        assert (row["error_rate"], row["avg_images_per_page"], row["image_yield_rate"]) == (0.5, 1.5, 0.0)
        assert row["last_crawled_at"] == value(conn, "select bailiwick_now()")
        quiet = get_by_id(conn, other.id).row
        assert (quiet["pages_crawled"], quiet["error_rate"], quiet["avg_images_per_page"]) == (0, None, None)


def test_places_of_a_shared_key_are_filled_again(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, *(f"blog{n}.example.org" for n in range(9)))
        first = claimed(conn, limit=20)
        assert len(first) == RULES.lease.per_shared_key == 4
        end_all(conn, [(lease, Outcome("exhausted")) for lease in first])
        second = claimed(conn, limit=20)
        assert len(second) == 4
        assert {lease.domain_id for lease in first}.isdisjoint(lease.domain_id for lease in second)


def test_an_outcome_needs_its_reason() -> None:
    for crawl, code, reason in (
        ("blocked", None, None),
        ("blocked", BlockCode.FORBIDDEN, ""),
        ("unreachable", BlockCode.UNREACHABLE, None),
        ("active", BlockCode.FORBIDDEN, "403"),
        ("exhausted", BlockCode.FORBIDDEN, "403"),
    ):
        with pytest.raises(UsageError, match="do not go together"):
            Outcome(crawl, code, reason)


ENDINGS: dict[str, tuple[Ending, str, str | None]] = {
    # name: (how the slice ended, crawl axis, refusal)
    "turn": (Ending(None), "active", None),
    "retry-later": (Ending(None, pause_seconds=300), "active", "not_due"),
    "empty": (Ending(StopReason.FRONTIER_EMPTY), "exhausted", "not_due"),
    "budget": (Ending(StopReason.PAGE_BUDGET), "active", "not_due"),
    "requests": (Ending(StopReason.REQUEST_BUDGET), "active", "not_due"),
    "cap": (Ending(StopReason.KNOWN_PAGES_CAP), "active", "not_due"),
    "depth": (Ending(StopReason.DEPTH_LIMIT), "active", "not_due"),
    "time": (Ending(StopReason.TIME_BUDGET), "active", None),
    "shutdown": (Ending(StopReason.SHUTDOWN), "active", None),
    "storage": (Ending(StopReason.STORAGE_FULL), "active", None),
    "login": (Ending(StopReason.LOGIN_WALL, blamed=Fetched.LOGIN, why="w"), "blocked", "cooling_down"),
    "forbidden": (Ending(StopReason.ERROR_LIMIT, blamed=Fetched.FORBIDDEN, why="w"), "blocked", "cooling_down"),
    "limited": (Ending(StopReason.RATE_LIMITED, blamed=Fetched.RATE_LIMITED, why="w"), "blocked", "cooling_down"),
    "dns": (Ending(StopReason.UNREACHABLE, blamed=Fetched.DNS_FAILURE, why="w"), "unreachable", "cooling_down"),
}


def test_each_end_of_a_slice_by_the_desk(database: Database) -> None:
    """Domain, run and lease in one transaction; the run ends with the reasons that end it, and with those alone."""
    desk = desk_of(database)
    with sound(database) as conn:
        held = dict(zip(ENDINGS, hold(conn, *(f"{what}.org" for what in ENDINGS)), strict=True))
    done = desk.release([(slice_of(held[what]), ending) for what, (ending, _, _) in ENDINGS.items()])
    assert done == {one.id for one in held.values()}
    with sound(database) as conn:
        for what, (ending, crawl, refusal) in ENDINGS.items():
            domain = get_by_id(conn, held[what].id)
            assert (domain.crawl, domain.refusal) == (crawl, refusal), what
            assert domain.row["last_run_id"] == held[what].run.run_id, what
            [run] = rows(conn, "select * from run_domains where domain_id = :id", id=domain.id)
            over = ending.reason is not None and ending.reason.ends_run
            assert (run.stop_reason, run.ended_at is not None) == (ending.reason, over), what
        assert value(conn, "select count(*) from crawl_queue where worker is not null or run_id is not null") == 0
    assert desk.release([(slice_of(held["turn"]), Ending(StopReason.PAGE_BUDGET))]) == set(), "only once"
    with sound(database) as conn:
        [run] = rows(conn, "select * from run_domains where domain_id = :id", id=held["turn"].id)
        assert run.stop_reason is None
