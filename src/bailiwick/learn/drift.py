"""Whether the model still agrees with people: by week, and a warning when it does so less.

People see what the model is unsure of, so agreement is far from 100% and that is no fault. What a sound model can
tell is how much agreement to expect: of pages at 0.7 it is right about 70%. Less than that, or less than before, is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import sqrt
from statistics import fmean

from sqlalchemy import Connection, select

from bailiwick.db.tables import labels
from bailiwick.learn.examples import known_task

_RECENT_WEEKS = 4
_LEAST_DECISIONS = 30
_DEVIATIONS = 2.0
_MOST_DECISIONS = 100_000


@dataclass(frozen=True, slots=True)
class Decision:
    """What the model had said, and what a person said then."""

    at: datetime
    probability: float
    is_wanted: bool

    @property
    def agrees(self) -> bool:
        return (self.probability >= 0.5) == self.is_wanted

    @property
    def expected(self) -> float:
        """How likely the model itself finds it that the person agrees."""
        return max(self.probability, 1 - self.probability)


@dataclass(frozen=True, slots=True)
class Week:
    """Monday, and the decisions from there on."""

    start: date
    decisions: int
    agreed: int
    expected: float
    """Agreement that the model promised, as a share."""
    auc: float | None
    """None: people said one thing only."""
    brier: float

    @property
    def agreement(self) -> float:
        return self.agreed / self.decisions


@dataclass(frozen=True, slots=True)
class Drift:
    """Weeks that had decisions, oldest first, and what there is to worry about."""

    weeks: tuple[Week, ...]
    warnings: tuple[str, ...]


def drift(conn: Connection, task: str, profile: str, *, weeks: int = 26, model_id: int | None = None) -> Drift:
    """Over decisions on what a model had scored before; of all models in turn, or of one."""
    probability = labels.c.material["learned_probability"].as_float()
    query = (
        select(labels.c.decided_at, probability.label("probability"), labels.c.is_wanted)
        .where(labels.c.task == known_task(task), labels.c.profile == profile, probability.is_not(None))
        .order_by(labels.c.id.desc())
        .limit(_MOST_DECISIONS)
    )
    if model_id is not None:
        query = query.where(labels.c.material["model_id"].as_integer() == model_id)
    found = [Decision(row.decided_at, row.probability, row.is_wanted) for row in conn.execute(query)]
    return drift_of(found, weeks=weeks)


def drift_of(decisions: Sequence[Decision], *, weeks: int = 26) -> Drift:
    """Without the database. The newest `weeks` that have decisions are shown; all count as what was before."""
    by_week: dict[date, list[Decision]] = {}
    for one in decisions:
        by_week.setdefault(_monday(one.at), []).append(one)
    if not by_week:
        return Drift((), ())
    since = max(by_week) - timedelta(weeks=_RECENT_WEEKS - 1)
    recent = [one for start, inside in by_week.items() if start >= since for one in inside]
    before = [one for start, inside in by_week.items() if start < since for one in inside]
    shown = sorted(by_week)[-weeks:]
    return Drift(tuple(_week(start, by_week[start]) for start in shown), tuple(_warnings(recent, before)))


def _monday(at: datetime) -> date:
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def _week(start: date, inside: Sequence[Decision]) -> Week:
    return Week(
        start=start,
        decisions=len(inside),
        agreed=sum(one.agrees for one in inside),
        expected=fmean(one.expected for one in inside),
        auc=_auc(inside),
        brier=fmean((one.probability - one.is_wanted) ** 2 for one in inside),
    )


def _auc(inside: Sequence[Decision]) -> float | None:
    """By ranks; equal probabilities count half."""
    ordered = sorted(one.probability for one in inside)
    first = {value: place for place, value in reversed(list(enumerate(ordered)))}
    last = {value: place for place, value in enumerate(ordered)}
    wanted = [one.probability for one in inside if one.is_wanted]
    unwanted = len(inside) - len(wanted)
    if not wanted or not unwanted:
        return None
    ranks = sum((first[value] + last[value]) / 2 + 1 for value in wanted)
    return (ranks - len(wanted) * (len(wanted) + 1) / 2) / (len(wanted) * unwanted)


def _warnings(recent: Sequence[Decision], before: Sequence[Decision]) -> list[str]:
    """By two standard errors, and only where there is enough to tell."""
    if len(recent) < _LEAST_DECISIONS:
        return []
    said = []
    now = fmean(one.agrees for one in recent)
    expected = fmean(one.expected for one in recent)
    error = sqrt(sum(one.expected * (1 - one.expected) for one in recent)) / len(recent)
    if now < expected - _DEVIATIONS * error:
        said.append(
            f"people agree with {now:.0%} of the last {len(recent):,} decisions where the model expects {expected:.0%}"
        )
    if len(before) >= _LEAST_DECISIONS:
        then = fmean(one.agrees for one in before)
        pooled = (now * len(recent) + then * len(before)) / (len(recent) + len(before))
        error = sqrt(pooled * (1 - pooled) * (1 / len(recent) + 1 / len(before)))
        if now < then - _DEVIATIONS * error:
            said.append(f"agreement fell from {then:.0%} to {now:.0%} in the last {_RECENT_WEEKS} weeks")
    return said
