"""The three axes of a few domains against a model of our own: whatever is done in whatever order, both agree.

One example is one transaction that is rolled back at its end; each step is a savepoint, as an entry point would have
its own transaction. The clock is a setting of that transaction, so every time is exact.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import text

from bailiwick.accounts.members import system_actor
from bailiwick.approve import service as approve
from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.base.sections import CooldownSettings, DatabaseSettings, LeaseSettings, PrioritySettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.registry import apply as apply_module
from bailiwick.registry import merge as merging
from bailiwick.registry import priority, standing
from bailiwick.registry.leases import Lease, Rules, Wish, claim, renew, revoke, wanted
from bailiwick.registry.records import Domain, get
from bailiwick.registry.release import BlockCode, Outcome, release
from bailiwick.registry.submit import Answer, Submission, submit
from tests.ledger.tools import make_member
from tests.registry.tools import faults
from tests.servers import TestServers, available_kinds

NAMES = ("alpha.org", "a.alpha.org", "b.alpha.org", "c.alpha.org", "beta.org")
PER_KEY = 1
RULES = Rules(LeaseSettings(per_shared_key=PER_KEY), PrioritySettings())
COOLDOWNS = CooldownSettings()
START = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEASE = timedelta(minutes=30)

# What the specifications say, put down once more: (state, verb) -> state.
APPROVAL = {
    ("pending_review", "approve"): "approved",
    ("pending_review", "reject"): "rejected",
    ("suspended", "reject"): "rejected",
    ("approved", "suspend"): "suspended",
    ("suspended", "resume"): "approved",
}
TURNS = {"pending_review": "approve", "approved": "suspend", "suspended": "resume", "rejected": "approve"}
VERBS = (
    *("turn", "turn", "approve", "reject", "suspend", "resume", "trust", "distrust", "blacklist", "lift", "no_funds"),
    *("note", "say nothing", "recrawl", "reset", "be late", "judge", "judge", "judged", "judged", "fail"),
)
STRICT = {"rejected": 0, "suspended": 1, "pending_review": 2, "approved": 3}
JUDGE = {
    "discovered": "process",
    "processed_high_quality": "process",
    "processed_low_quality": "process",
    "processing_failed": "retry",
    "no_funds_this_year": "new_year",
}
ENDS = {"active": "start", "exhausted": "exhaust", "blocked": "block", "unreachable": "lose"}
CODES = {
    BlockCode.LOGIN_WALL: 30,
    BlockCode.RATE_LIMITED: 7,
    BlockCode.FORBIDDEN: 14,
    BlockCode.ROBOTS_DENIED: 90,
    BlockCode.ERROR_LIMIT: 7,
}
OUTCOMES = (
    Outcome("active"),
    Outcome("exhausted"),
    *(Outcome("blocked", code, str(code)) for code in CODES),
    Outcome("unreachable", BlockCode.UNREACHABLE, "no address"),
)

Trail = tuple[str, str, str | None, str, object, object]
"""Author, domain, machine, verb, before, after."""

names = st.sampled_from(NAMES)
people = st.sampled_from(("ann", "ann", "ann", "ann", "rob", "rob", "sue", "vic"))
workers = st.sampled_from(("w1", "w2", "w3"))


@dataclass
class Held:
    """A lease as the model has it; it may have run out and nobody has noticed yet."""

    worker: str
    lease_no: int
    ends: datetime


@dataclass
class Known:
    """One domain as the model has it."""

    id: int
    approval: str
    submitter: str
    standing: str = "discovered"
    crawl: str = "pending"
    before: str = "discovered"
    year: int = 0
    due: datetime | None = None
    retries: int = 0
    high: int = 0
    low: int = 0
    wakes: datetime | None = None
    held: Held | None = None
    numbers: set[int] = field(default_factory=set)

    def refusal(self, now: datetime) -> str | None:
        """Why it may not be leased."""
        if self.approval != "approved":
            return self.approval
        if self.standing == "blacklisted" or (self.standing == "no_funds_this_year" and now.year <= self.year):
            return self.standing
        is_shut = self.crawl in ("blocked", "unreachable")
        if is_shut and self.due is None:
            return "retries_used_up"
        if self.due is not None and self.due > now:
            return "cooling_down" if is_shut else "not_due"
        return None

    def settle(self, now: datetime) -> None:
        """Somebody looked at it: from when on may it be looked at again because of the time alone?"""
        refusal = self.refusal(now)
        self.wakes = None
        if self.held is None and refusal in ("cooling_down", "not_due"):
            self.wakes = self.due
        elif self.held is None and refusal == "no_funds_this_year":
            self.wakes = datetime(self.year + 1, 1, 1, tzinfo=UTC)


class Axes(RuleBasedStateMachine):
    """Everything that can happen to a domain."""

    database: ClassVar[Database]

    def __init__(self) -> None:
        super().__init__()
        self.conn = self.database.engine.connect()
        self.conn.begin()
        self.now = START
        self.domains: dict[str, Known] = {}
        self.leases: list[Lease] = []
        self.expected: list[Trail] = []
        self._set_clock()
        roles = {"ann": Role.ADMIN, "rob": Role.REVIEWER, "sue": Role.SUBMITTER, "vic": Role.VIEWER}
        self.actors: dict[str, Actor] = {name: make_member(self.conn, name, role) for name, role in roles.items()}
        self.system = self.actors["system"] = system_actor(self.conn)
        self.last_event: int = self.conn.execute(text("select coalesce(max(id), 0) from events")).scalar_one()

    def teardown(self) -> None:
        self.conn.close()

    # Coming in

    @initialize(approved=st.lists(st.sampled_from((True, True, False)), min_size=len(NAMES), max_size=len(NAMES)))
    def first_seeds(self, approved: list[bool]) -> None:
        for name, is_approved in zip(NAMES, approved, strict=True):
            self._submit(name, "ann" if is_approved else "sue", admit=is_approved)

    @rule(name=names, who=people, admit=st.booleans(), context=st.sampled_from((None, "please")))
    def hand_in(self, name: str, who: str, admit: bool, context: str | None) -> None:
        self._submit(name, who, admit=admit, context=context)

    # What people decide

    @rule(name=names, who=people, verb=st.sampled_from(VERBS), years=st.integers(-1, 1))
    def somebody_decides(self, name: str, who: str, verb: str, years: int) -> None:
        if name not in self.domains:
            return
        match verb:
            case "turn":
                self._decide(name, who, TURNS[self.domains[name].approval])
            case "approve" | "reject" | "suspend" | "resume":
                self._decide(name, who, verb)
            case "trust" | "distrust":
                self._trust(name, who, trusted=verb == "trust")
            case "no_funds":
                self._no_funds(name, who, years=years)
            case "note" | "say nothing":
                self._note(name, who, "seen" if verb == "note" else " ")
            case "judge":
                self._judging_starts(name)
            case "judged":
                self._judging_ends(name, [(0.0, 0.59), (), (0.6, 1.0)][years])
            case "fail":
                self._judging_fails(name)
            case "be late":
                self._decide_on_what_is_no_longer_so(name, approve.suspend if years else approve.blacklist)
            case _:
                acts = (self._blacklist, self._lift, self._recrawl, self._reset)
                next(act for act in acts if act.__name__ == f"_{verb}")(name, who)

    def _decide(self, name: str, who: str, verb: str) -> None:
        known = self.domains[name]
        target = APPROVAL.get((known.approval, verb))
        legal = target and _decides(who) and not (verb == "approve" and known.submitter == who)
        act = self._by(getattr(approve, verb), name, who, reason="so")
        if self._try(legal, act) and target:
            self._moved(name, who, "approval", verb, known.approval, target)
            known.approval = target
            known.settle(self.now)

    def _trust(self, name: str, who: str, *, trusted: bool) -> None:
        known = self.domains[name]
        was_trusted = self._see(name).is_trusted
        approves = trusted and known.approval == "pending_review"
        legal = _decides(who) and not (trusted and known.approval in ("rejected", "suspended"))
        legal = legal and not (approves and known.submitter == who)
        act = self._by(approve.set_trust, name, who, trusted=trusted, reason=None)
        if self._try(legal, act):
            if approves:
                self._moved(name, who, "approval", "approve", "pending_review", "approved")
                known.approval = "approved"
            self._noted(name, who, "trust" if trusted else "distrust", was_trusted, trusted)
            known.settle(self.now)

    def _blacklist(self, name: str, who: str) -> None:
        known = self.domains[name]
        legal = who == "ann" and known.standing != "blacklisted"
        if self._try(legal, self._by(approve.blacklist, name, who, reason="spam")):
            self._moved(name, who, "standing", "blacklist", known.standing, "blacklisted")
            known.before = "discovered" if known.standing == "processing" else known.standing
            known.standing = "blacklisted"
            known.settle(self.now)

    def _lift(self, name: str, who: str) -> None:
        known = self.domains[name]
        legal = who == "ann" and known.standing == "blacklisted"
        if self._try(legal, self._by(approve.lift_blacklist, name, who)):
            self._moved(name, who, "standing", "lift", "blacklisted", known.before)
            known.standing = known.before
            known.settle(self.now)

    def _no_funds(self, name: str, who: str, *, years: int) -> None:
        known = self.domains[name]
        year = self.now.year + years
        act = self._by(approve.mark_no_funds, name, who, year=year, reason=None)
        if self._try(_decides(who) and known.standing != "blacklisted", act):
            if known.standing == "no_funds_this_year":
                self._noted(name, who, "mark_no_funds", known.year, year)
            else:
                self._moved(name, who, "standing", "mark_no_funds", known.standing, "no_funds_this_year")
            known.standing, known.year = "no_funds_this_year", year
            known.settle(self.now)

    def _note(self, name: str, who: str, words: str) -> None:
        known = self.domains[name]
        legal = _decides(who) and bool(words.strip())
        if self._try(legal, self._by(approve.note, name, who, text=words)):
            self._noted(name, who, "note", None, words)
            known.settle(self.now)

    def _recrawl(self, name: str, who: str) -> None:
        known = self.domains[name]
        shut = known.refusal(self.now) in ("cooling_down", "retries_used_up")
        legal = who != "vic" and known.approval == "approved" and known.standing != "blacklisted" and not shut
        if self._try(legal, self._by(approve.recrawl, name, who)):
            if known.crawl == "exhausted":
                self._crawled(name, who, "refresh", "pending")
            else:
                self._noted(name, who, "recrawl", None, None)
            known.due = None
            known.settle(self.now)

    def _reset(self, name: str, who: str) -> None:
        known = self.domains[name]
        legal = _decides(who) and known.approval == "approved" and known.standing != "blacklisted"
        if self._try(legal, self._by(approve.reset, name, who)):
            if known.crawl in ("exhausted", "blocked", "unreachable"):
                self._crawled(name, who, "reset", "pending")
            else:
                self._noted(name, who, "reset", None, None)
            known.due, known.retries = None, 0
            known.settle(self.now)

    def _decide_on_what_is_no_longer_so(self, name: str, verb: Callable[..., Domain]) -> None:
        seen = self._see(name)
        older = dataclasses.replace(seen, version=seen.version - 1)
        self._try(False, lambda: verb(self.conn, older, self.actors["ann"], reason="late"))

    # Judging

    def _judging_starts(self, name: str) -> None:
        known = self.domains[name]
        verb = JUDGE.get(known.standing)
        if self._try(verb, lambda: standing.start(self.conn, [self._see(name).id], self.system, reason="a session")):
            self._moved(name, "system", "standing", str(verb), known.standing, "processing")
            known.standing = "processing"
            known.settle(self.now)

    def _judging_ends(self, name: str, found: tuple[float, ...]) -> None:
        known = self.domains[name]
        legal = known.standing == "processing"
        high, low = sum(confidence >= 0.6 for confidence in found), sum(confidence < 0.6 for confidence in found)

        def finish() -> None:
            rated = [standing.Rated(self._see(name).id, high, low, max(found, default=None))]
            standing.finish(self.conn, rated, self.system, low_quality_after=3, reason="a session")

        if self._try(legal, finish):
            known.high, known.low = known.high + high, known.low + low
            verb, end = "leave_open", "discovered"
            if known.high:
                verb, end = "rate_high", "processed_high_quality"
            elif known.low >= 3:
                verb, end = "rate_low", "processed_low_quality"
            self._moved(name, "system", "standing", verb, "processing", end)
            known.standing = end
            known.settle(self.now)

    def _judging_fails(self, name: str) -> None:
        known = self.domains[name]
        legal = known.standing == "processing"
        if self._try(legal, lambda: standing.fail(self.conn, {self._see(name).id: "no model"}, self.system)):
            self._moved(name, "system", "standing", "fail", "processing", "processing_failed")
            known.standing = "processing_failed"
            known.settle(self.now)

    # Leases

    @rule(worker=workers, limit=st.integers(1, 4))
    def claim(self, worker: str, limit: int) -> None:
        self._time_has_come()
        free = Counter(_key(n) for n, k in self.domains.items() if k.held is None and k.refusal(self.now) is None)
        live = Counter(_key(n) for n, k in self.domains.items() if k.held is not None)
        possible = sum(min(count, max(PER_KEY - live[key], 0)) for key, count in free.items())
        with self.conn.begin_nested():
            got = claim(self.conn, Wish(worker, limit), RULES, self.system)
        assert len(got) == min(limit, possible), "no more than there are, and no slot left empty"
        for lease in got:
            known = self.domains[lease.name.name]
            assert (lease.domain_id, lease.crawl) == (known.id, known.crawl)
            assert known.held is None, "two live leases on one domain"
            assert known.refusal(self.now) is None, "leased against the rule"
            assert lease.lease_no > max(known.numbers, default=0), "a lease number twice"
            known.numbers.add(lease.lease_no)
            known.held = Held(worker, lease.lease_no, self.now + LEASE)
            known.wakes = None
            live[_key(lease.name.name)] += 1
        assert max(live.values(), default=0) <= PER_KEY
        self.leases = (self.leases + got)[-8:]

    @rule(pick=st.integers(0, 7), outcome=st.sampled_from((None, *OUTCOMES)))
    def use_a_lease(self, pick: int, outcome: Outcome | None) -> None:
        """Mostly a live one, now and then one that is lost."""
        live = [lease for lease in self.leases if self._holder(lease)]
        if some := live if live and pick else self.leases:
            lease = some[pick % len(some)]
            self._heartbeat(lease) if outcome is None else self._release(lease, outcome)

    def _heartbeat(self, lease: Lease) -> None:
        known = self._holder(lease)
        assert set(wanted(self.conn, [lease])) == ({lease.domain_id} if known else set())
        renewed = renew(self.conn, [lease], RULES)
        assert renewed == ({lease.domain_id: self.now + LEASE} if known else {})
        if known and known.held:
            known.held.ends = self.now + LEASE

    def _release(self, lease: Lease, outcome: Outcome) -> None:
        known = self._holder(lease)
        with self.conn.begin_nested():
            done = release(self.conn, lease, outcome, RULES, COOLDOWNS, self.system)
        assert done == (known is not None), "exactly the holder of a live lease can release it"
        if known is None:
            return
        name = next(name for name, other in self.domains.items() if other is known)
        if known.crawl != "active" and (known.crawl, outcome.crawl) != ("pending", "unreachable"):
            self._crawled(name, "system", "start", "active")
        if known.crawl != outcome.crawl:
            self._crawled(name, "system", ENDS[outcome.crawl], outcome.crawl)
        known.held = None
        known.retries = known.retries + 1 if outcome.code else 0
        days = 14 if outcome.crawl == "exhausted" else CODES.get(outcome.code, 7) if outcome.code else None
        known.due = self.now + timedelta(days=days) if days and known.retries <= 3 else None
        known.settle(self.now)

    def _revoke(self, name: str, who: str) -> None:
        known = self.domains[name]

        def act() -> None:
            assert revoke(self.conn, self._see(name), self.actors[who], RULES, reason="stuck") == bool(known.held)

        if self._try(_decides(who), act) and known.held:
            self._noted(name, who, "release_lease", None, None)
            known.held = None
            known.settle(self.now)

    # Content, order, time

    @rule(name=names, into=names, who=people, verb=st.sampled_from(("revoke", "purge", "merge")))
    def an_admin_steps_in(self, name: str, into: str, who: str, verb: str) -> None:
        if name not in self.domains:
            return
        if verb == "merge":
            self._merge(name, into, who)
        else:
            (self._revoke if verb == "revoke" else self._purge)(name, who)

    def _purge(self, name: str, who: str) -> None:
        known = self.domains[name]
        legal = who == "ann" and not self._is_busy(known)
        if self._try(legal, self._by(merging.purge, name, who, reason=None)):
            self._noted(name, who, "purge", None, None)
            known.held = None
            known.settle(self.now)

    def _merge(self, name: str, into: str, who: str) -> None:
        source, target = self.domains[name], self.domains.get(into)
        legal = who == "ann" and name != into and not any(self._is_busy(k) for k in (source, target) if k)
        planned = merging.Planned(DomainName(name), DomainName(into))
        if not self._try(legal, lambda: merging.merge(self.conn, planned, self.actors[who])):
            return
        self._noted(into, who, "merge", name, into)
        del self.domains[name]
        if target is None:
            target = self.domains[into] = source
        else:
            self._absorb(into, target, source, who)
        target.held = None
        target.settle(self.now)

    def _absorb(self, into: str, target: Known, source: Known, who: str) -> None:
        if STRICT[source.approval] < STRICT[target.approval]:
            self._moved(into, who, "approval", "merge", target.approval, source.approval)
            target.approval = source.approval
        if source.standing == "blacklisted" != target.standing:
            self._moved(into, who, "standing", "blacklist", target.standing, "blacklisted")
            target.before = "discovered" if target.standing == "processing" else target.standing
            target.standing = "blacklisted"
        target.high += source.high
        target.low += source.low

    @rule(jump=st.sampled_from((10 * 60, 10 * 60, 31 * 60, 8 * 86400, 15 * 86400, 91 * 86400)))
    def time_passes(self, jump: int) -> None:
        self.now += timedelta(seconds=jump)
        self._set_clock()
        priority.run_once(self.conn, RULES.priority, batch=4)

    # Agreement

    @invariant()
    def both_agree(self) -> None:
        rows = self.conn.execute(
            text(
                "select d.name, d.id, approval, standing, crawl, domain_refusal(d, bailiwick_now()) as refusal, "
                "worker, case when worker is not null then wake_at end as ends, "
                "case when worker is not null then lease_no end as lease_no "
                "from domains as d join crawl_queue as q on q.domain_id = d.id"
            )
        )
        found = {row.name: tuple(row)[1:] for row in rows}
        held = {n: (k.held.worker, k.held.ends, k.held.lease_no) if k.held else (None,) * 3 for n, k in self._all()}
        assert found == {
            n: (k.id, k.approval, k.standing, k.crawl, k.refusal(self.now), *held[n]) for n, k in self._all()
        }

    @invariant()
    def the_queue_agrees(self) -> None:
        assert faults(self.conn) == []

    @invariant()
    def each_move_has_its_event(self) -> None:
        rows = self.conn.execute(
            text(
                "select e.id, m.name, subject_name, machine, verb, before, after from events as e "
                "join members as m on m.id = e.actor_id where e.id > :last order by e.id"
            ),
            {"last": self.last_event},
        ).all()
        assert Counter(tuple(row)[1:] for row in rows) == Counter(self.expected)
        self.last_event = max((row.id for row in rows), default=self.last_event)
        self.expected = []

    # How it is done

    def _submit(self, name: str, who: str, *, admit: bool, context: str | None = None) -> None:
        known, actor = self.domains.get(name), self.actors[who]
        what = Submission(DomainName.parse(name), context=context, admit=admit)
        answers: list[Answer] = []
        blacklisted = known is not None and known.standing == "blacklisted"
        wishes = {"pending_review": admit, "rejected": context is not None}
        wants_move = known is None or (wishes.get(known.approval, False) and not blacklisted)
        may = who == "ann" or not (wants_move and admit) or (known is not None and known.approval == "rejected")
        if not self._try(may and who != "vic", lambda: answers.append(submit(self.conn, what, actor).answer)):
            return
        [answer] = answers
        if known is None:
            verb, state = ("admit", "approved") if admit else ("submit", "pending_review")
            assert answer == (Answer.ADMITTED if admit else Answer.SUBMITTED)
            known = self.domains[name] = Known(self._see(name).id, state, who)
            self.expected.append((who, name, None, verb, None, state))
        elif blacklisted:
            assert answer == Answer.BLACKLISTED
        elif not wants_move:
            said = {"approved": "already_approved", "pending_review": "already_pending"}
            assert answer == said.get(known.approval, known.approval)
        elif known.approval == "rejected":
            assert answer == Answer.RESUBMITTED
            self._moved(name, who, "approval", "resubmit", "rejected", "pending_review")
            known.approval, known.submitter = "pending_review", who
        else:
            assert answer == Answer.ADMITTED
            self._moved(name, who, "approval", "admit", "pending_review", "approved")
            known.approval = "approved"
        if wants_move:
            known.settle(self.now)

    def _time_has_come(self) -> None:
        """What a claim does first: leases that ran out end, and what is due is pending again."""
        for name, known in self._all():
            ran_out = known.held is not None and known.held.ends <= self.now
            if ran_out:
                known.held = None
            if ran_out or (known.wakes is not None and known.wakes <= self.now):
                if known.refusal(self.now) is None and known.crawl in ("blocked", "unreachable", "exhausted"):
                    verb = "refresh" if known.crawl == "exhausted" else "retry"
                    self._crawled(name, "system", verb, "pending")
                known.settle(self.now)

    def _by(self, verb: Callable[..., Domain], name: str, who: str, **words: object) -> Callable[[], Domain]:
        return lambda: verb(self.conn, self._see(name), self.actors[who], **words)

    def _try(self, legal: object, act: Callable[[], object]) -> bool:
        """Do it, or see that it is refused by an error of ours. Says whether it was legal."""
        if legal:
            with self.conn.begin_nested():
                act()
        else:
            with pytest.raises((UsageError, ConflictError)), self.conn.begin_nested():
                act()
        return bool(legal)

    def _holder(self, lease: Lease) -> Known | None:
        for _, known in self._all():
            if known.id == lease.domain_id and known.held and self._is_busy(known):
                held = known.held
                return known if (held.worker, held.lease_no) == (lease.worker, lease.lease_no) else None
        return None

    def _is_busy(self, known: Known) -> bool:
        return known.held is not None and known.held.ends > self.now

    def _see(self, name: str) -> Domain:
        return get(self.conn, DomainName(name))

    def _all(self) -> list[tuple[str, Known]]:
        return list(self.domains.items())

    def _moved(self, name: str, who: str, machine: str, verb: str, before: str, after: str) -> None:
        self.expected.append((who, name, machine, verb, before, after))

    def _noted(self, name: str, who: str, verb: str, before: object, after: object) -> None:
        self.expected.append((who, name, None, verb, before, after))

    def _crawled(self, name: str, who: str, verb: str, target: str) -> None:
        known = self.domains[name]
        self._moved(name, who, "crawl", verb, known.crawl, target)
        known.crawl = target

    def _set_clock(self) -> None:
        self.conn.execute(text("select set_config('bailiwick_test.now', :now, true)"), {"now": self.now.isoformat()})


def _decides(who: str) -> bool:
    return who in ("ann", "rob")


def _key(name: str) -> str:
    return name[-len("beta.org") :].removeprefix(".") if name.endswith("beta.org") else "alpha.org"


@pytest.fixture
def clocked(servers: TestServers) -> Iterator[Database]:
    """A database whose clock is a setting of the transaction."""
    kind = available_kinds()[0]
    with servers.cloned(kind) as url:
        opened = Database(Path("/nowhere"), Settings(database=DatabaseSettings(url=url)))
        with opened as database, database.bare() as conn:
            conn.execute(
                text(
                    "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                    "return current_setting('bailiwick_test.now')::timestamptz"
                )
            )
            conn.commit()
            yield database


def _run(database: Database, *, examples: int, phases: tuple[Phase, ...] = tuple(Phase)) -> None:
    class OnThisDatabase(Axes):
        pass

    OnThisDatabase.database = database
    run_state_machine_as_test(
        OnThisDatabase,
        settings=settings(
            max_examples=examples,
            stateful_step_count=60,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_whatever_is_done_model_and_database_agree(clocked: Database) -> None:
    _run(clocked, examples=40)


def test_the_model_notices_a_queue_that_is_not_kept_up(clocked: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `requeue` after a decision the same machine fails: it is able to."""
    monkeypatch.setattr(apply_module, "requeue", lambda conn, ids: None)
    with pytest.raises(AssertionError):
        _run(clocked, examples=10, phases=(Phase.generate,))
