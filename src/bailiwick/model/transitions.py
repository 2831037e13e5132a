"""Every state machine as data: (from, verb, to, who). One function moves states by them: `bailiwick.ledger.move`.

The database refuses what is not in here: migrations copy these rows into `state_moves`, and a test compares both.
"""

from collections.abc import Iterable

from bailiwick.model.states import BIRTH, Machine, Role, Transition

ADMIN = frozenset({Role.ADMIN})
DECIDERS = frozenset({Role.REVIEWER, Role.ADMIN})
SYSTEM = frozenset({Role.SYSTEM})
ANYBODY = frozenset({Role.SUBMITTER, Role.REVIEWER, Role.ADMIN, Role.SYSTEM})
POLICY = ADMIN | SYSTEM


def _each(
    sources: Iterable[str], verb: str, target: str, who: frozenset[Role], *, reason: bool = False
) -> tuple[Transition, ...]:
    return tuple(Transition(source, verb, target, who, reason) for source in sources if source != target)


APPROVAL = Machine(
    "approval",
    "domains",
    "approval",
    "may we?",
    (
        Transition(BIRTH, "submit", "pending_review", ANYBODY),
        Transition(BIRTH, "admit", "approved", POLICY),
        Transition("pending_review", "admit", "approved", POLICY),
        Transition("pending_review", "approve", "approved", DECIDERS),
        Transition("pending_review", "reject", "rejected", DECIDERS, needs_reason=True),
        Transition("approved", "suspend", "suspended", DECIDERS, needs_reason=True),
        Transition("suspended", "resume", "approved", DECIDERS),
        Transition("suspended", "reject", "rejected", DECIDERS, needs_reason=True),
        Transition("rejected", "resubmit", "pending_review", ANYBODY, needs_reason=True),
        # Of two records of one domain, the stricter decision holds.
        Transition("approved", "merge", "rejected", ADMIN, needs_reason=True),
        Transition("approved", "merge", "suspended", ADMIN, needs_reason=True),
        Transition("approved", "merge", "pending_review", ADMIN, needs_reason=True),
        Transition("pending_review", "merge", "rejected", ADMIN, needs_reason=True),
        Transition("pending_review", "merge", "suspended", ADMIN, needs_reason=True),
        Transition("suspended", "merge", "rejected", ADMIN, needs_reason=True),
    ),
)

_STANDINGS = (
    "discovered",
    "processing",
    "processed_high_quality",
    "processed_low_quality",
    "no_funds_this_year",
    "processing_failed",
)
STANDING = Machine(
    "standing",
    "domains",
    "standing",
    "is it worth it?",
    (
        Transition(BIRTH, "discover", "discovered", ANYBODY),
        *_each(("discovered", "processed_high_quality", "processed_low_quality"), "process", "processing", SYSTEM),
        Transition("processing", "rate_high", "processed_high_quality", SYSTEM),
        Transition("processing", "rate_low", "processed_low_quality", SYSTEM),
        Transition("processing", "leave_open", "discovered", SYSTEM),
        Transition("processing", "fail", "processing_failed", SYSTEM, needs_reason=True),
        Transition("processing_failed", "retry", "processing", SYSTEM),
        *_each(_STANDINGS, "mark_no_funds", "no_funds_this_year", DECIDERS),
        Transition("no_funds_this_year", "new_year", "processing", POLICY),
        *_each(_STANDINGS, "blacklist", "blacklisted", ADMIN, reason=True),
        *(Transition("blacklisted", "lift", state, ADMIN) for state in _STANDINGS if state != "processing"),
    ),
)

# Specification 002 section 7.2 gives the pairs; the verbs are ours.
CRAWL = Machine(
    "crawl",
    "domains",
    "crawl",
    "how far are we?",
    (
        Transition(BIRTH, "discover", "pending", ANYBODY),
        *_each(("pending", "exhausted", "blocked", "unreachable"), "start", "active", SYSTEM),
        Transition("active", "exhaust", "exhausted", SYSTEM),
        Transition("active", "block", "blocked", SYSTEM, needs_reason=True),
        *_each(("pending", "active"), "lose", "unreachable", SYSTEM, reason=True),
        *_each(("blocked", "unreachable"), "retry", "pending", SYSTEM),
        Transition("exhausted", "refresh", "pending", ANYBODY),
        *_each(("exhausted", "blocked", "unreachable"), "reset", "pending", DECIDERS),
    ),
)

CANDIDATE = Machine(
    "candidate",
    "candidates",
    "state",
    "does this find become a source?",
    (
        Transition(BIRTH, "accept", "pending_crawl", SYSTEM),
        Transition(BIRTH, "skip", "skipped_low_confidence", SYSTEM),
        Transition("pending_crawl", "crawled", "pending_review", SYSTEM),
        Transition("pending_review", "assign", "in_review", DECIDERS),
        Transition("in_review", "release", "pending_review", DECIDERS | SYSTEM),
        Transition("in_review", "approve", "approved", DECIDERS),
        Transition("in_review", "reject", "rejected", DECIDERS, needs_reason=True),
    ),
)

REVIEW = Machine(
    "review",
    "review_queue",
    "state",
    "what did a person decide about this URL?",
    (
        Transition(BIRTH, "queue", "waiting", SYSTEM),
        Transition("waiting", "approve", "approved", DECIDERS),
        Transition("waiting", "reject", "rejected", DECIDERS, needs_reason=True),
        *_each(("approved", "rejected"), "requeue", "waiting", ADMIN, reason=True),
        # Within the grace period, by who decided.
        *_each(("approved", "rejected"), "undo", "waiting", DECIDERS),
    ),
)

JOB = Machine(
    "job",
    "jobs",
    "state",
    "should this work go on?",
    (
        Transition(BIRTH, "create", "running", DECIDERS | SYSTEM),
        Transition("running", "pause", "paused", DECIDERS),
        Transition("paused", "resume", "running", DECIDERS),
        Transition("running", "finish", "finished", SYSTEM),
        *_each(("running", "paused"), "cancel", "cancelled", DECIDERS),
        *_each(("finished", "cancelled"), "restart", "running", DECIDERS | SYSTEM),
    ),
)

MEMBER = Machine(
    "member",
    "members",
    "state",
    "may this person still act?",
    (
        Transition(BIRTH, "join", "active", POLICY),
        Transition("active", "disable", "disabled", ADMIN, needs_reason=True),
        Transition("disabled", "enable", "active", ADMIN),
    ),
)

MACHINES: tuple[Machine, ...] = (APPROVAL, STANDING, CRAWL, CANDIDATE, REVIEW, JOB, MEMBER)
