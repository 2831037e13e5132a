"""What the domain gave before: people's decisions first, then earlier judging, then what its pages held."""

from collections.abc import Sequence
from datetime import date

from bailiwick.model.discovery import Case, History, Opinion
from bailiwick.model.profiles import Profile

# A person's decision counts as much as three results that were judged.
_DECIDED, _JUDGED = 3.0, 1.0
# However many pages were crawled, their share counts no more than this many judged results.
_PAGES_AT_MOST = 6.0
_PAGES_EACH = 0.2
_ITEMS_AT_MOST = 3.0


class HistoryJudge:
    """Silent about a domain that is new, or gave nothing yet to tell by."""

    name = "history"

    def __init__(self, _profile: Profile, _today: date) -> None:
        """History is the same for every profile."""

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [_opinion(case.history) if case.history else None for case in cases]


def _opinion(past: History) -> Opinion | None:
    pages = min(past.pages_crawled * _PAGES_EACH, _PAGES_AT_MOST)
    relevant = min(past.pages_relevant / past.pages_crawled, 1.0) if past.pages_crawled else 0.0
    good = past.approved_candidates * _DECIDED + past.high_candidates * _JUDGED + pages * relevant
    good += min(past.items, _ITEMS_AT_MOST)
    bad = past.rejected_candidates * _DECIDED + past.low_candidates * _JUDGED + pages * (1 - relevant)
    if good + bad <= 0:
        return None
    return Opinion((1 + good) / (2 + good + bad), _explained(past))


def _explained(past: History) -> str:
    told = []
    if past.approved_candidates or past.rejected_candidates:
        told.append(f"{past.approved_candidates:,} approved and {past.rejected_candidates:,} rejected by people")
    if past.high_candidates or past.low_candidates:
        told.append(f"{past.high_candidates:,} good and {past.low_candidates:,} poor results")
    if past.pages_crawled:
        told.append(f"{past.pages_relevant:,} of {past.pages_crawled:,} pages relevant")
    if past.items:
        told.append(f"{past.items:,} items")
    return "before: " + "; ".join(told)
