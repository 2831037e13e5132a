"""Where engines put the result, and how many of them found it."""

from collections.abc import Sequence
from datetime import date

from bailiwick.model.discovery import Case, Opinion, Sighting
from bailiwick.model.profiles import Profile

_FIRST = 0.65
"""The score of the first place in one engine's answer to one query: being found is no proof."""
_HALF_AT = 20
"""The place at which a position counts half as much."""
_ENGINE, _QUERY = 0.15, 0.05
_SHOWN_NAMES = 3


_UNRANKED = 0.5
"""What several engines without places begin with."""


class AgreementJudge:
    """Silent where nobody says where the result was found, or one engine alone that ranks nothing."""

    name = "agreement"

    def __init__(self, _profile: Profile, _today: date) -> None:
        """Places are the same for every profile."""

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [_opinion(case.sightings) if case.sightings else None for case in cases]


def _opinion(sightings: tuple[Sighting, ...]) -> Opinion | None:
    engines = sorted({seen.engine for seen in sightings})
    ranked = [seen for seen in sightings if seen.is_ranked]
    if not ranked and len(engines) == 1:
        return None
    # A file without places answers every query with every row: that is no agreement of queries.
    queries = {seen.query for seen in ranked}
    best = max(1, min((seen.position for seen in ranked), default=1))
    alone = _FIRST * _HALF_AT / (_HALF_AT + best - 1) if ranked else _UNRANKED
    score = alone + (len(engines) - 1) * _ENGINE + max(len(queries) - 1, 0) * _QUERY
    found = engines[0] if len(engines) == 1 else f"{len(engines)} engines ({', '.join(engines[:_SHOWN_NAMES])})"
    asked = f", by {len(queries):,} queries" if len(queries) > 1 else ""
    place = f", best place {best:,}" if ranked else ""
    return Opinion(min(score, 1.0), f"found by {found or 'an engine'}{asked}{place}")
