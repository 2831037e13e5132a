"""Profiles as values: what is refused, the mark, the bands."""

import pytest
from pydantic import ValidationError

from bailiwick.model.profile_files import list_profiles, load_profile
from bailiwick.model.profiles import DEFAULT_BANDS, Band, BandAction, Profile

PLAIN = Profile(name="plain", title="Plain", topic="Cats", keywords={"cat": 1.0})


def bands(*ranges: tuple[str, float, float]) -> tuple[dict[str, object], ...]:
    return tuple({"name": name, "min": low, "max": high, "action": "reject"} for name, low, high in ranges)


def test_the_built_in_profiles_are_the_six_of_the_design() -> None:
    listed = list_profiles(None)
    assert [one.name for one in listed] == ["funding", "general", "images", "link-vetting", "products", "services"]
    assert all(one.is_builtin and one.error is None for one in listed)
    general = load_profile("general", None)
    assert general.takes_everything
    assert general.markdown == "all"
    assert len({one.profile.mark for one in listed if one.profile}) == 6


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (bands(("a", 0.5, 1), ("b", 0, 0.4)), "no band for scores between 0.4 and 0.5"),
        (bands(("a", 0.5, 1), ("b", 0, 0.5)), "bands b and a overlap at 0.5"),
        (bands(("a", 0.5, 1), ("b", 0, 0.7)), "bands b and a overlap at 0.5"),
        (bands(("a", 0.5, 1), ("b", 0.1, 0.49)), "no band for scores from 0 to 0.1"),
        (bands(("a", 0, 0.9)), "no band for scores from 0.9 to 1"),
        (bands(("a", 0.5, 1), ("a", 0, 0.49)), "a is named twice"),
        (bands(("a", 0.5, 0.79), ("b", 0.8, 1), ("c", 0, 0.49)), "written in order"),
        (bands(("a", 0.6, 0.5)), "min 0.6 is above max 0.5"),
        (bands(("a", 0, 1.1)), "less than or equal to 1"),
        (bands(("a", 0, float("nan"))), "finite"),
        ((), "at least 1"),
    ],
)
def test_bands_cover_every_score_once(wrong: tuple[dict[str, object], ...], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Profile(name="x", title="X", bands=wrong)


def test_every_score_has_a_band_also_between_two_decimals() -> None:
    assert PLAIN.bands == DEFAULT_BANDS
    found = {PLAIN.band(score / 1000).name for score in range(1001)}
    assert found == {"high", "medium", "low", "auto_reject"}
    assert [PLAIN.band(score).name for score in (0, 0.294, 0.296, 0.7949, 0.796, 1)] == [
        "auto_reject", "auto_reject", "low", "medium", "high", "high",
    ]  # fmt: skip
    upward = PLAIN.model_copy(update={"bands": DEFAULT_BANDS[::-1]})
    assert Profile.model_validate(upward.model_dump()).band(0.5) == Band(
        name="medium", min=0.5, max=0.79, action=BandAction.MANUAL_REVIEW
    )


def test_the_mark_is_stable_signed_and_moves_with_what_decides_parsing() -> None:
    assert PLAIN.mark == 2120780788558670252
    assert PLAIN.model_copy(update={"title": "Other", "bands": DEFAULT_BANDS[::-1], "judge_threshold": 0.1}).mark == (
        PLAIN.mark
    )
    for change in (
        {"topic": "Dogs"}, {"relevance_threshold": 0.6}, {"keywords": {"cat": 2.0}}, {"markdown": "all"},
        {"model": {"extract": "missing"}},
    ):  # fmt: skip
        assert Profile.model_validate({**PLAIN.model_dump(), **change}).mark != PLAIN.mark


def test_the_order_of_keywords_does_not_matter_to_the_mark() -> None:
    one, other = ({"a1": 1.0, "b1": 2.0}, {"b1": 2.0, "a1": 1.0})
    assert len({Profile(name="x", title="X", topic="Tea", keywords=words).mark for words in (one, other)}) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"keywords": {"cat": 1}}, "need a topic"),
        ({"topic": "Cats"}, "a topic needs keywords"),
        ({"extractors": ["article", "article"]}, "named twice"),
        ({"extractors": ["poem"]}, "Input should be"),
        ({"judges": [{"name": "a"}, {"name": "a"}]}, "named twice"),
        ({"judges": [{"name": "a", "weight": 0}]}, "greater than 0"),
        ({"asset_hosts": ["https://cdn.example"]}, "pattern"),
        ({"images": {"min_width": -1}}, "greater than or equal"),
        ({"model": {"use": "sometimes"}}, "off"),
    ],
)
def test_parts_that_nothing_reads_yet_are_checked_for_form(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Profile.model_validate({"name": "x", "title": "X", **wrong})
