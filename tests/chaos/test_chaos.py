"""Dozens of kills, with requests open, in every run of the tests; `make chaos KILLS=1000` for a long one."""

import sys

import pytest

from tests.chaos import report, sizes
from tests.chaos.run import run
from tests.chaos.web import make_ground


@pytest.mark.timeout(540)
def test_nothing_is_lost_doubled_or_rude_while_workers_are_killed(capsys: pytest.CaptureFixture[str]) -> None:
    """P1, P2 and P3 over kills, stops past the lease, restarts of the database and lost answers to COMMIT."""
    plan = sizes.ci_plan(seed=1)
    done = run(make_ground(sizes.pages_for(plan), seed=plan.seed), plan, workers=3)
    with capsys.disabled():
        print(f"\n{report.table(report.rows(done))}", file=sys.stderr)  # seen with xdist, too
    assert done.verdict.faults == {}, report.faults(done)
    assert done.account.count("kill") >= 36
    assert done.account.open_kills >= 20
    assert done.account.outlived == 2
    assert done.account.count("restart") == 2
    assert sum(done.drops.values()) >= 5
