"""A run as a table, as JSON and as a plot."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.svg import Points, lines

from tests.chaos.run import Run

Row = tuple[str, str, str]
"""What was counted, how much it is, what it has to be."""


def rows(run: Run) -> list[Row]:
    """The figures of a run in the order in which they are read."""
    account, plan, f = run.account, run.plan, run.verdict.figures
    drops = ", ".join(f"{count} {kind}" for kind, count in sorted(run.drops.items()))
    return [
        ("workers; seconds; seed", f"{run.workers}; {account.seconds:.0f}; {plan.seed}", ""),
        ("kills (SIGKILL)", f"{account.count('kill'):,}", f"{plan.kills:,}"),
        ("… with a request of theirs open", f"{account.open_kills:,}", ""),
        ("requests cut off in the server's log", f"{f.cut_off:,}", ""),
        ("stops past the lease (SIGSTOP)", f"{account.outlived:,}", f"{plan.stops:,}"),
        ("restarts of the database (immediate)", f"{account.count('restart'):,}", f"{plan.restarts:,}"),
        ("connections dropped after COMMIT", f"{sum(run.drops.values()):,} ({drops})", f"{plan.drops:,} armed"),
        ("leases; taken over; given up unused", f"{f.leases:,}; {f.taken_over:,}; {f.let_go:,}", ""),
        ("pages reachable", f"{f.pages_reachable:,}", ""),
        ("pages answered with 200", f"{f.pages_answered:,}", "the same"),
        ("page rows", f"{f.page_rows:,}", "the same"),
        ("pages lost", f"{f.lost:,}", "0"),
        ("rows doubled", f"{f.doubled_rows:,}", "0"),
        ("pages fetched again", f"{f.refetches:,}", f"at most {f.refetch_bound:,}"),
        ("… most for one domain at one blow", f"{f.most_at_one_blow:,}", ""),
        ("pages condemned as poison", f"{f.poison:,}", "0"),
        ("counters that differ", f"{f.counter_differences:,}", "0"),
        ("bodies read again, and as served", f"{f.bodies_verified:,}", f"{f.page_rows:,}"),
        ("leases that overlap", f"{f.lease_overlaps:,}", "0"),
        ("requests; closer than the delay", f"{f.requests:,}; {f.pace_breaches:,}", "0"),
        ("smallest gap less its delay, ms", f"{f.smallest_margin_ms:+.1f}", "about 0, or more"),
        ("commands started again after giving up", f"{sum(end.code == 1 for end in run.ends):,}", ""),
    ]


def table(found: Sequence[Row]) -> str:
    """For a terminal and for a page: Markdown, in columns."""
    whole = [("what", "counted", "wanted"), *found]
    widths = [max(len(row[n]) for row in whole) for n in range(3)]
    made = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in whole]
    made.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in made)


def faults(run: Run) -> str:
    return "\n".join(f"FAULT {check}: {'; '.join(found)}" for check, found in run.verdict.faults.items())


def plot(run: Run) -> str:
    """Pages over time, with a tick at the foot for each blow."""
    samples = run.account.samples
    highest = max((sample.known for sample in samples), default=1)
    return lines(
        "Pages while workers are killed",
        {
            "pages known": [(s.seconds, s.known) for s in samples],
            "pages fetched and written": [(s.seconds, s.written) for s in samples],
            "kills": _ticks(run, {"kill"}, 0.05 * highest),
            "stops, restarts, lost answers": _ticks(run, {"stop", "restart", "drop"}, 0.1 * highest),
        },
        x_label="seconds",
        y_label="pages",
    )


def _ticks(run: Run, kinds: set[str], height: float) -> Points:
    marks: list[tuple[float, float]] = [(0.0, 0.0)]
    for blow in run.account.blows:
        if blow.kind in kinds:
            marks += [(blow.seconds, 0.0), (blow.seconds, height), (blow.seconds, 0.0)]
    return marks


def save(run: Run, directory: Path) -> None:
    """`chaos.svg` and `chaos.json`."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "chaos.svg").write_text(plot(run))
    whole = {
        "plan": asdict(run.plan),
        "workers": run.workers,
        "load": os.getloadavg(),
        "table": rows(run),
        "figures": asdict(run.verdict.figures),
        "faults": run.verdict.faults,
        "drops": run.drops,
        "blows": [[b.kind, b.seconds, b.domains, b.had_open] for b in run.account.blows],
        "samples": [[s.seconds, s.known, s.written] for s in run.account.samples],
    }
    (directory / "chaos.json").write_text(_compact(whole))


def _compact(whole: dict[str, object]) -> str:
    """One line a key: it is read by people, too, and kept beside the docs."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in whole.items()) + "\n}\n"
