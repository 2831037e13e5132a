"""Judges of what was seen before, and where."""

from bailiwick.judge.agreement import AgreementJudge
from bailiwick.judge.history import HistoryJudge
from bailiwick.model.discovery import History, Opinion, Sighting
from tests.judge.cases import TODAY, case, profile


def history(past: History | None) -> Opinion | None:
    return HistoryJudge(profile(), TODAY).judge([case(history=past)])[0]


def test_no_past_or_an_empty_one_is_no_evidence() -> None:
    assert history(None) is history(History()) is None


def test_what_paid_off_before_speaks_for_the_domain() -> None:
    good, bad = history(History(high_candidates=3)), history(History(low_candidates=3))
    assert good is not None
    assert bad is not None
    assert (good.score, bad.score) == (0.8, 0.2)
    assert good.explanation == "before: 3 good and 0 poor results"


def test_people_outweigh_judges() -> None:
    told = history(History(approved_candidates=1, low_candidates=2))
    assert told is not None
    assert told.score > 0.5
    assert told.explanation == "before: 1 approved and 0 rejected by people; 0 good and 2 poor results"


def test_pages_and_items_count_within_bounds() -> None:
    dull, rich = history(History(pages_crawled=10**9)), history(History(pages_crawled=4, pages_relevant=9, items=10**9))
    assert dull is not None
    assert rich is not None
    assert 0.1 < dull.score < 0.2
    assert 0.7 < rich.score < 1
    assert "1,000,000,000 items" in rich.explanation


def agreement(*sightings: Sighting) -> Opinion | None:
    return AgreementJudge(profile(), TODAY).judge([case(sightings=sightings)])[0]


def test_nowhere_found_is_no_evidence() -> None:
    assert agreement() is None


def test_better_places_and_more_engines_score_higher() -> None:
    first, tenth = agreement(Sighting("a", "q", 1)), agreement(Sighting("a", "q", 10))
    both = agreement(Sighting("a", "q", 10), Sighting("b", "q", 3))
    asked = agreement(Sighting("a", "q", 10), Sighting("a", "r", 12))
    assert first is not None
    assert tenth is not None
    assert both is not None
    assert asked is not None
    assert first.score == 0.65
    assert first.score > tenth.score
    assert both.score > first.score
    assert asked.score > tenth.score
    assert first.explanation == "found by a, best place 1"
    assert both.explanation == "found by 2 engines (a, b), best place 3"
    assert asked.explanation == "found by a, by 2 queries, best place 10"


def test_a_crowd_is_at_most_certain() -> None:
    crowd = agreement(*(Sighting(f"engine{number}", "q", 1) for number in range(30)))
    assert crowd is not None
    assert crowd.score == 1


def test_the_row_of_a_file_is_no_place() -> None:
    rows = [Sighting("file", query, 50_000, is_ranked=False) for query in ("q", "r")]
    assert agreement(*rows) is None
    links = Sighting("links", "q", 90_000, is_ranked=False)
    several, placed = agreement(*rows, links), agreement(*rows, Sighting("brave", "q", 1))
    assert several is not None
    assert placed is not None
    assert (several.score, several.explanation) == (0.65, "found by 2 engines (file, links)")
    assert (placed.score, placed.explanation) == (0.8, "found by 2 engines (brave, file), best place 1")
