"""What every Judge must do, whatever it goes by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.judge.seats import judge_named, judge_names
from bailiwick.model.discovery import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, Case, History, SearchResult, Sighting
from bailiwick.model.names import DomainName
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import Profile
from bailiwick.model.results import plain_text
from bailiwick.ports import Judge
from tests.judge.cases import TODAY, case
from tests.suites import json_lines, suite_path

FUNDING = Profile.model_validate(load_profile("funding", None).model_dump() | {"countries": ["DE", "GB"]})
NAMES = judge_names()
JUDGES: dict[str, Judge] = {name: judge_named(name, FUNDING, TODAY) for name in NAMES}
NAUGHTY = suite_path("hostile/naughty_strings.jsonl")

hosts = st.sampled_from(
    ["example.com", "a.gov", "news.b.edu", "free-x.xyz", "192.0.2.1", "xn--80ak6aa92e.com", "localhost"]
)
counts = st.integers(0, 10**12)
sightings = st.builds(Sighting, st.text(max_size=9), st.text(max_size=9), st.integers(-5, 10**9))
cases = st.builds(
    lambda host, path, title, snippet, seen, past: Case.of(
        SearchResult(f"https://{host}/{path}", title, snippet), DomainName(host), sightings=tuple(seen), history=past
    ),
    hosts,
    st.text(max_size=40),
    st.text(max_size=80),
    st.text(max_size=200),
    st.lists(sightings, max_size=4),
    st.none() | st.builds(History, counts, counts, counts, counts, counts, counts, counts),
)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_name_that_profiles_call_it(name: str) -> None:
    assert JUDGES[name].name == name


@pytest.mark.parametrize("name", NAMES)
@given(given_cases=st.lists(cases, max_size=5))
def test_one_opinion_a_case_within_bounds_and_always_the_same(name: str, given_cases: list[Case]) -> None:
    said = JUDGES[name].judge(given_cases)
    assert len(said) == len(given_cases)
    for opinion in said:
        assert opinion is None or (0 <= opinion.score <= 1 and opinion.explanation)
    assert list(JUDGES[name].judge(given_cases)) == list(said)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_without_texts_places_and_past_is_no_evidence(name: str) -> None:
    assert JUDGES[name].judge([case(url="https://example.com/")]) == [None]


@pytest.mark.parametrize("name", NAMES)
def test_an_explanation_is_short_and_without_markup(name: str) -> None:
    hostile = case(
        "<script>alert(1)</script> Grant", "<img src=x> deadline 1 May 2021 in Germany", url="https://a.gov/"
    )
    [opinion] = JUDGES[name].judge([hostile])
    assert opinion is None or ("<" not in opinion.explanation and len(opinion.explanation) <= 300)


if NAUGHTY is not None:

    @pytest.mark.parametrize("name", NAMES)
    def test_naughty_strings_are_judged_like_any_other(name: str) -> None:
        assert NAUGHTY is not None
        texts = [str(next(iter(row.values()))) for row in json_lines(NAUGHTY)]
        naughty = [case(plain_text(text, MAX_TITLE_CHARS), plain_text(text, MAX_SNIPPET_CHARS)) for text in texts]
        raw = [case(text, text) for text in texts]
        for opinion in [*JUDGES[name].judge(naughty), *JUDGES[name].judge(raw)]:
            assert opinion is None or 0 <= opinion.score <= 1
