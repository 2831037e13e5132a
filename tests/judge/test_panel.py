"""The judges together: weights, thresholds, and judges that fail."""

from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import EntryPoint

import pytest

from bailiwick.base.errors import ProfileError
from bailiwick.judge import Panel, seats
from bailiwick.judge.telling import MAX_EXPLANATION_CHARS
from bailiwick.model.discovery import Case, History, Opinion, Sighting
from bailiwick.model.profile_files import load_profile, profile_names
from bailiwick.model.profiles import Profile
from bailiwick.ports import Judge
from tests.judge.cases import TODAY, WITHOUT_TOPIC, case, profile


class Says:
    """A judge with one opinion on everything."""

    def __init__(self, name: str, opinion: Opinion | None) -> None:
        self.name, self._opinion = name, opinion

    def judge(self, cases: Sequence[Case]) -> Sequence[Opinion | None]:
        return [self._opinion] * len(cases)


class Fails:
    name = "fails"

    def judge(self, cases: Sequence[Case]) -> Sequence[Opinion | None]:
        raise RuntimeError(f"no\nidea of {len(cases)}")


def panel(*judges: tuple[Judge, float], threshold: float | None = None) -> Panel:
    seated = profile(judges=[{"name": judge.name, "weight": weight} for judge, weight in judges])
    return Panel(seated, TODAY, threshold=threshold, judges={judge.name: judge for judge, _ in judges})


def test_confidence_is_the_weighted_mean_of_those_with_evidence() -> None:
    judges = (Says("a", Opinion(0.9, "good")), 2.0), (Says("b", Opinion(0.3, "poor")), 1.0), (Says("c", None), 5.0)
    [judgment] = panel(*judges).judge([case("A title")])
    assert judgment.confidence_score == pytest.approx((0.9 * 2 + 0.3) / 3)
    assert [(score.judge_name, score.weight) for score in judgment.judge_scores] == [("a", 2.0), ("b", 1.0)]
    assert judgment.reasoning == "0.70, at least 0.6. a 0.90: good; b 0.30: poor"
    assert (judgment.domain_name, judgment.should_crawl, judgment.threshold) == ("example.com", True, 0.6)


def test_no_evidence_is_confidence_0_and_said_so() -> None:
    [judgment] = panel((Says("a", None), 1.0)).judge([case()])
    assert (judgment.confidence_score, judgment.should_crawl, judgment.judge_scores) == (0, False, ())
    assert judgment.reasoning == "no judge had anything to go by"


@pytest.mark.parametrize(("score", "crawl"), [(0.6, True), (0.5999, False), (1.0, True), (0.0, False)])
def test_the_threshold_itself_is_enough(score: float, crawl: bool) -> None:
    judges = [(Says(name, Opinion(score, "")), weight) for name, weight in (("a", 0.1), ("b", 0.7), ("c", 0.2))]
    [judgment] = panel(*judges).judge([case()])
    assert judgment.should_crawl is crawl
    assert judgment.reasoning.startswith("0.59, below" if score == 0.5999 else f"{score:.2f}, ")


def test_another_threshold() -> None:
    [judgment] = panel((Says("a", Opinion(0.5, "so so")), 1.0), threshold=0.5).judge([case()])
    assert (judgment.should_crawl, judgment.threshold) == (True, 0.5)


@pytest.mark.parametrize(
    "bad",
    [
        Fails(), Says("fails", Opinion(1.5, "more than all")), Says("fails", Opinion(float("nan"), "")),
        Says("fails", Opinion(-0.1, "")),
    ],
)  # fmt: skip
def test_a_judge_that_fails_loses_only_its_own_say(bad: Judge) -> None:
    judgments = panel((Says("a", Opinion(0.8, "good")), 1.0), (bad, 9.0)).judge([case("x"), case("y")])
    assert [judgment.confidence_score for judgment in judgments] == [0.8, 0.8]
    assert all("; fails failed and was not heard: " in judgment.reasoning for judgment in judgments)
    assert all("\n" not in judgment.reasoning for judgment in judgments)


def test_too_few_opinions_are_a_failure_too() -> None:
    class Half(Says):
        def judge(self, cases: Sequence[Case]) -> Sequence[Opinion | None]:
            return super().judge(cases[1:])

    judgments = panel((Half("half", Opinion(0.8, "good")), 1.0)).judge([case("x"), case("y")])
    assert [judgment.confidence_score for judgment in judgments] == [0, 0]
    assert "half failed and was not heard: ValueError: 1 opinions on 2 results" in judgments[0].reasoning


def test_explanations_of_strangers_are_bounded() -> None:
    [judgment] = panel((Says("a", Opinion(0.8, "<b>\n" * 1000)), 1.0)).judge([case()])
    assert len(judgment.judge_scores[0].explanation) == MAX_EXPLANATION_CHARS
    assert judgment.judge_scores[0].explanation.isprintable()


def test_an_unknown_judge_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ProfileError, match="profile bridges: there is no judge astrology") as caught:
        Panel(profile(judges=[{"name": "astrology"}]), TODAY)
    assert caught.value.hint is not None
    assert "keywords, meaning, recency, organisation, credibility, geography, history, agreement" in caught.value.hint


def _entry(value: str) -> Callable[..., list[EntryPoint]]:
    def found(*, group: str, name: str | None = None) -> list[EntryPoint]:
        given = EntryPoint("judge:stars", value, group)
        return [given] if name in (None, given.name) else []

    return found


def make_stars(_profile: Profile, today: date) -> Judge:
    return Says("stars", Opinion(0.9, f"well placed on {today}"))


def test_a_third_partys_judge_is_seated_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "entry_points", _entry(f"{__name__}:make_stars"))
    [judgment] = Panel(profile(judges=[{"name": "stars"}]), TODAY).judge([case()])
    assert judgment.reasoning == "0.90, at least 0.6. stars 0.90: well placed on 2026-11-16"
    assert seats.judge_names()[-1] == "stars"


def test_a_third_partys_judge_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "entry_points", _entry("no.such.module:make"))
    with pytest.raises(ProfileError, match=r"judge stars of no\.such\.module:make cannot be made: ModuleNotFoundError"):
        Panel(profile(judges=[{"name": "stars"}]), TODAY)


@pytest.mark.parametrize("name", profile_names(None))
def test_every_built_in_profile_has_all_eight(name: str) -> None:
    found = load_profile(name, None)
    assert len(found.judges) == 8
    assert len(Panel(found, TODAY).judge([case("A title")])) == 1


def test_without_a_topic_places_and_names_still_decide() -> None:
    cases = [
        case("News of the week", url="https://free-cash.xyz/", sightings=(Sighting("a", "q", 30),)),
        case("News of the week", url="https://lakes.gov/", sightings=(Sighting("a", "q", 1), Sighting("b", "q", 2))),
        case("News of the week", history=History(high_candidates=4)),
        case("News of the week"),
    ]
    assert [judgment.should_crawl for judgment in Panel(WITHOUT_TOPIC, TODAY).judge(cases)] == [
        False,
        True,
        True,
        False,
    ]


def test_names_are_read_from_the_title() -> None:
    [judgment] = panel((Says("a", None), 1.0)).judge([case("Coastal Grant | Linden Research Council")])
    assert judgment.extracted_organization_name == "Linden Research Council"
    assert judgment.extracted_program_name == "Coastal Grant"


def test_no_cases_no_judgments() -> None:
    assert Panel(load_profile("funding", None), TODAY).judge([]) == []
