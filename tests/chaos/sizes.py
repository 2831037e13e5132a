"""How much is done, and how large a web lasts for it."""

from tests.chaos.driver import Plan
from tests.chaos.run import LEASE_SECONDS

_PAGES_A_KILL = 90
_FEWEST_PAGES = 600


def ci_plan(seed: int) -> Plan:
    """For every run of the tests: a minute and a half, or twice that where much else runs."""
    return Plan(36, 2, 2, 9, LEASE_SECONDS, seed, limit_seconds=420, least_open=20)


def long_plan(kills: int, *, seed: int) -> Plan:
    """One stop, one restart and a few lost answers for every so many kills."""
    few = max(2, kills // 20)
    limit = 120 + 6.0 * kills
    return Plan(kills, few, few, 3 * few, LEASE_SECONDS, seed, limit_seconds=limit)


def pages_for(plan: Plan) -> int:
    """So many that workers have something to do until the last blow, on a quick machine, too."""
    return _FEWEST_PAGES + _PAGES_A_KILL * plan.kills
