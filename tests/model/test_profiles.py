"""Profiles as values: what is refused, the mark."""

import pytest
from pydantic import ValidationError

from bailiwick.base.bands import DEFAULT_BANDS
from bailiwick.model.profile_files import list_profiles, load_profile
from bailiwick.model.profiles import Profile
from bailiwick.model.scoring import ScorePolicy

PLAIN = Profile(name="plain", title="Plain", topic="Cats", keywords={"cat": 1.0})


def test_the_built_in_profiles_are_the_six_of_the_design() -> None:
    listed = list_profiles(None)
    assert [one.name for one in listed] == ["funding", "general", "images", "link-vetting", "products", "services"]
    assert all(one.is_builtin and one.error is None for one in listed)
    general = load_profile("general", None)
    assert general.takes_everything
    assert general.markdown == "all"
    assert len({one.profile.mark for one in listed if one.profile}) == 6


def test_bands_of_a_profile_are_checked_like_those_of_the_settings() -> None:
    assert PLAIN.bands is None
    with pytest.raises(ValidationError, match=r"no band for scores from 0\.9 to 1"):
        Profile(name="x", title="X", bands=({"name": "a", "min": 0, "max": 0.9, "action": "reject"},))
    own = Profile(name="x", title="X", bands=DEFAULT_BANDS)
    assert own.bands == DEFAULT_BANDS


def test_a_scoring_policy_is_data_with_a_version() -> None:
    changed = ScorePolicy(flags={"write_for_us": 2})
    assert ScorePolicy().version == ScorePolicy().version != changed.version
    assert (ScorePolicy().flag("write_for_us"), changed.flag("write_for_us")) == (-1, 2)
    assert PLAIN.model_copy(update={"scoring": changed}).mark == PLAIN.mark
    with pytest.raises(ValidationError, match="there is no shoe"):
        ScorePolicy(factors={"shoe": 1})
    with pytest.raises(ValidationError, match="at least one layer"):
        ScorePolicy(layers={"domain": 0, "rules": 0, "sophistication": 0})


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
