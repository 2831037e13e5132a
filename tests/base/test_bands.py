"""Bands: what is refused, and where each score belongs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bailiwick.base.bands import DEFAULT_BANDS, Band, BandAction, Bands, Limits
from bailiwick.base.errors import SettingsError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.base.settings import check_value

EXAMPLE = [
    {"name": "high", "min": 0.8, "max": 1.0, "action": "auto_approve"},
    {"name": "medium", "min": 0.5, "max": 0.79, "action": "manual_review"},
    {"name": "low", "min": 0.3, "max": 0.49, "action": "manual_review"},
    {"name": "auto_reject", "min": 0.0, "max": 0.29, "action": "reject"},
]
"""As specification 003 has it."""


def bands(*ranges: tuple[str, float, float]) -> list[dict[str, object]]:
    return [{"name": name, "min": low, "max": high, "action": "reject"} for name, low, high in ranges]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (bands(("a", 0.5, 1), ("b", 0, 0.4)), "no band for scores between 0.4 and 0.5"),
        (bands(("a", 0.5, 1), ("b", 0, 0.5)), "bands b and a overlap at 0.5"),
        (bands(("a", 0.5, 1), ("b", 0, 0.7)), "bands b and a overlap at 0.5"),
        (bands(("a", 0.5, 1), ("b", 0.1, 0.49)), "no band for scores from 0 to 0.1"),
        (bands(("a", 0, 0.9)), "no band for scores from 0.9 to 1"),
        (bands(("a", 0.5, 1), ("a", 0, 0.49)), "a is named twice"),
        (bands(("a", 0.6, 0.5)), "min 0.6 is above max 0.5"),
        (bands(("a", 0, 1.1)), "less than or equal to 1"),
        (bands(("a", 0, float("nan"))), "finite"),
        ([], "at least 1"),
        ([EXAMPLE[0] | {"action": "ask"}], "auto_approve"),
    ],
)
def test_bands_cover_every_score_once(wrong: list[dict[str, object]], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ReviewSettings(bands=wrong)


def test_the_example_of_the_specification_is_given_back_as_written() -> None:
    assert check_value("review.bands", EXAMPLE) == EXAMPLE
    assert check_value("review.bands", EXAMPLE[2:] + EXAMPLE[:2]) == EXAMPLE[2:] + EXAMPLE[:2]
    with pytest.raises(SettingsError, match=r"review.bands: .*overlap at 0\.5"):
        check_value("review.bands", bands(("a", 0.5, 1), ("b", 0, 0.5)))


def test_the_unrounded_score_picks_the_band() -> None:
    found = Bands.of(DEFAULT_BANDS)
    scores = (0, 0.29, 0.2999, 0.3, 0.4999, 0.5, 0.79, 0.795, 0.7999, 0.8, 1)
    names = [found.band(score).name for score in scores]
    assert names == ["auto_reject"] * 3 + ["low"] * 2 + ["medium"] * 4 + ["high"] * 2


def test_where_approval_and_rejection_begin() -> None:
    assert Bands.of(DEFAULT_BANDS).limits() == Limits(0.3, 0.8)
    only = Band(name="all", min=0, max=1, action=BandAction.MANUAL_REVIEW)
    assert Bands.of([only]).limits() == Limits(0.0, 1.0)
    assert Bands.of(DEFAULT_BANDS).are_ordered
    turned = [band.model_copy(update={"action": BandAction.REJECT}) for band in DEFAULT_BANDS[:1]]
    assert not Bands.of([*turned, *DEFAULT_BANDS[1:]]).are_ordered


@given(st.lists(st.integers(1, 99), unique=True, max_size=19), st.floats(0, 1))
def test_every_score_lies_in_one_band(cuts: list[int], score: float) -> None:
    edges = [0, *sorted(cuts), 101]
    written = [
        Band(name=f"b{low}", min=low / 100, max=min(high - 1, 100) / 100, action=BandAction.REJECT)
        for low, high in pairwise(edges)
    ]
    found = Bands.of(written).band(score)
    assert found.min <= score
    assert all(score < other.min for other in written if other.min > found.min)
