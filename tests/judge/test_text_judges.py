"""Judges that read title and snippet: keywords and meaning."""

from collections.abc import Sequence

import pytest

from bailiwick.evidence.embedding import Embedder, shipped_embedder
from bailiwick.judge.keywords import KeywordJudge
from bailiwick.judge.meaning import MeaningJudge
from bailiwick.judge.telling import ENOUGH_WORDS, MAX_EXPLANATION_CHARS, one_line, shrunk, two_decimals
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.profiles import Profile
from tests.judge.cases import TODAY, WITHOUT_TOPIC, case, profile

LONG = "nothing of the kind stands in this rather long title of a page"
EXAMPLES = {"positive": ["A long bridge of stone over the river."], "negative": ["A dentist who makes new teeth."]}


def keywords(cases: Sequence[Case], given: Profile | None = None) -> list[Opinion | None]:
    return KeywordJudge(given or profile(), TODAY).judge(cases)


def test_keywords_speak_for_a_result_and_negative_ones_against() -> None:
    bridge, dental, none = keywords([case("The old bridge"), case("Dental bridge"), case(LONG)])
    assert bridge is not None
    assert dental is not None
    assert none is not None
    assert bridge.score > 0.6 > 0.2 > dental.score > none.score == 0
    assert (bridge.explanation, none.explanation) == ("names bridge", "names no keyword")
    assert dental.explanation == "names bridge, but also dental"


def test_a_missing_text_is_no_evidence() -> None:
    assert keywords([case()]) == [None]
    assert MeaningJudge(profile(examples=EXAMPLES), TODAY).judge([case()]) == [None]


def test_an_address_alone_may_name_a_keyword() -> None:
    [opinion] = keywords([case(url="https://example.com/footbridge")])
    assert opinion is not None
    assert opinion.score > 0.5


def test_without_a_topic_nobody_reads() -> None:
    assert keywords([case("The old bridge")], WITHOUT_TOPIC) == [None]
    assert MeaningJudge(WITHOUT_TOPIC, TODAY).judge([case("The old bridge")]) == [None]


def test_few_words_speak_less_against_a_result() -> None:
    short, long = keywords([case("Peermaps"), case(LONG)])
    assert short is not None
    assert long is not None
    assert 0.5 > short.score > 0.4 > long.score
    assert shrunk(0.0, 0) == 0.5
    assert shrunk(0.2, ENOUGH_WORDS) == pytest.approx(0.2)
    assert shrunk(0.9, 1) == 0.9


def test_what_is_near_wanted_examples_scores_higher() -> None:
    near, far = MeaningJudge(profile(examples=EXAMPLES), TODAY).judge(
        [case("Stone bridges over the river Tay and how to cross them"), case("The dentist makes teeth for a smile")]
    )
    assert near is not None
    assert far is not None
    assert near.score > 0.8 > 0.3 > far.score
    assert near.explanation.startswith("like what is wanted 0.")
    assert '("A dentist who makes new teeth.")' in far.explanation


def test_the_topic_stands_in_for_examples() -> None:
    near, far = MeaningJudge(profile(), TODAY).judge(
        [case("A bridge to walk over"), case("Teeth and gums and fillings")]
    )
    assert near is not None
    assert far is not None
    assert near.score > far.score
    assert "what is not" not in near.explanation


def test_a_batch_says_the_same_as_one_by_one() -> None:
    judge = MeaningJudge(profile(examples=EXAMPLES), TODAY)
    cases = [case(f"Bridge {number} of stone", "river " * (number % 5)) for number in range(80)] + [case()]
    together, alone = judge.judge(cases), [judge.judge([one])[0] for one in cases]
    assert [one and (round(one.score, 4), one.explanation) for one in together] == [
        one and (round(one.score, 4), one.explanation) for one in alone
    ]
    assert judge.judge([]) == []


def test_without_embeddings_meaning_is_silent() -> None:
    def missing() -> Embedder | None:
        return None

    assert MeaningJudge(profile(examples=EXAMPLES), TODAY, missing).judge([case("The old bridge")]) == [None]
    assert shipped_embedder() is not None


def test_explanations_are_one_bounded_printable_line() -> None:
    assert one_line("a\nb\x1b[31m  c") == "a b [31m c"
    assert len(one_line("x" * 10_000)) == MAX_EXPLANATION_CHARS
    assert one_line("short") == "short"


def test_what_is_shown_as_the_threshold_reaches_it() -> None:
    assert [two_decimals(score) for score in (0.5999, 0.6, 0.29, 1.0, 0.0)] == ["0.59", "0.60", "0.29", "1.00", "0.00"]
