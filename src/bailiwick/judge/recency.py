"""Whether what the result speaks of is still to be had: closed calls, passed deadlines, money that was given."""

from collections.abc import Sequence
from datetime import date

from bailiwick.judge.days import Days, days_in
from bailiwick.judge.phrases import Phrases
from bailiwick.judge.recency_words import CLOSED, GIVEN, HEADLINE_VERBS, OPEN
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.profiles import Profile

_FUTURE_DEADLINE, _OPEN, _THIS_YEAR, _LAST_YEAR = 0.9, 0.85, 0.6, 0.45
_OLD_YEAR, _GIVEN, _PAST_DEADLINE, _CLOSED = 0.2, 0.15, 0.1, 0.05


class RecencyJudge:
    """Silent where neither words nor days say anything of time."""

    name = "recency"

    def __init__(self, _profile: Profile, today: date) -> None:
        self._today = today
        self._closed, self._given, self._open = Phrases(CLOSED), Phrases(GIVEN), Phrases(OPEN)

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [self._opinion(case) for case in cases]

    def _opinion(self, case: Case) -> Opinion | None:
        words = case.words.title + case.words.description
        days = days_in(words)
        latest = max(days.deadlines, default=None)
        if latest is not None and latest >= self._today:
            return Opinion(_FUTURE_DEADLINE, f"open until {latest:%Y-%m-%d}")
        if closed := self._closed.first_in(words):
            return Opinion(_CLOSED, f'says "{closed}"')
        if latest is not None:
            return Opinion(_PAST_DEADLINE, f"the deadline {latest:%Y-%m-%d} has passed")
        if given := self._given.first_in(words) or _headline(case.words.title):
            return Opinion(_GIVEN, f'tells what was given or done: "{given}"')
        if opened := self._open.first_in(words):
            return Opinion(_OPEN, f'says "{opened}"')
        return self._by_year(days)

    def _by_year(self, days: Days) -> Opinion | None:
        if not days.years:
            return None
        latest = max(days.years)
        age = self._today.year - latest
        score = _THIS_YEAR if age <= 0 else _LAST_YEAR if age == 1 else _OLD_YEAR
        return Opinion(score, f"the latest year that it names is {latest}")


def _headline(title: Sequence[str]) -> str | None:
    """A verb as headlines have it; never the first word, where it may be an order to the reader."""
    return next((word for word in title[1:] if word in HEADLINE_VERBS), None)
