"""How a slice begins: at which pace, after which rest, and with what the rules on links have learned."""

from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from bailiwick.base.settings import Settings
from bailiwick.crawl.addresses import is_own
from bailiwick.crawl.desk import Opened
from bailiwick.crawl.facts import SendingEnds
from bailiwick.crawl.images.turn import SliceImages
from bailiwick.crawl.linkgate import LinkGate, link_rules
from bailiwick.crawl.seen import SeenLinks, SeenTable
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.net.gates import Pace

CONTROL_SECONDS = 2.0
"""How often a worker looks whether its leases are still its own."""


class Images(Protocol):
    """What an engine does about images, as far as a slice has to know."""

    awaits_parsing: bool

    def are_wanted(self, profile: str) -> bool: ...


_OTHERS_LEARN_SECONDS = 2.5 * CONTROL_SECONDS


def open_slice(
    opened: Opened, settings: Settings, *, first_after_seconds: float, seen: SeenTable, images: Images
) -> Slice:
    """The slice of a domain that was just leased. `first_after_seconds`: what its host is owed for other reasons."""
    options = opened.run.options
    delay = _delay(opened)
    rest = max(_rest(opened, delay), opened.known.held_seconds, first_after_seconds)
    traps = TrapGuard.from_json(opened.known.traps, datetime.now(UTC).date(), settings.traps)
    return Slice(
        lease=opened.lease,
        run=opened.run,
        known=opened.known,
        settings=settings.crawl,
        sending=SendingEnds(opened.claimed_at, settings.lease.seconds),
        pace=Pace(delay, first_after_seconds=rest, most_at_once=opened.lease.max_concurrent_requests),
        gate=LinkGate(link_rules(options.include, options.exclude), traps, kept=opened.known.refused_links),
        seen=SeenLinks(seen),
        images=SliceImages(
            is_wanted=images.are_wanted(opened.lease.profile),
            is_own=partial(is_own, opened.lease.name),
            awaits_parsing=images.awaits_parsing,
        ),
    )


def _delay(opened: Opened) -> float:
    """What the job or the domain says, and never less than any of its robots.txt asks for."""
    asked = opened.run.options.delay_seconds
    delays = [verdict.robots.crawl_delay_seconds or 0.0 for verdict in opened.known.robots.values()]
    return max(opened.lease.crawl_delay_seconds if asked is None else asked, *delays, 0.0)


def _rest(opened: Opened, delay: float) -> float:
    """Until the first request: what is left of the delay, all of it after a take-over."""
    if opened.lease.taken_over:
        # Where the database's clock was set forward, whoever lost the lease learns of it when it next looks.
        return max(delay, _OTHERS_LEARN_SECONDS) if opened.known.has_other_workers else delay
    sent_ago = opened.known.sent_seconds_ago
    return 0.0 if sent_ago is None else max(delay - sent_ago, 0.0)
