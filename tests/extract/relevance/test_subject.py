"""The words of a page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.extract.relevance.subject import Subject
from bailiwick.model.words import words_of

TYPESET = "a_b 1 \x1f \x00 \u2018It\u2019s\u201d \u2014 na\u00efve \u2026 STRASSE Stra\u00dfe\xa0\u0130"


@given(st.text(alphabet=st.one_of(st.characters(max_codepoint=127), st.sampled_from(TYPESET)), max_size=60))
def test_the_quick_way_finds_the_same_words(text: str) -> None:
    assert words_of(text) == re.findall(r"\w+", text.casefold())


@pytest.mark.parametrize("text", ["", TYPESET, TYPESET.encode("ascii", "ignore").decode(), "\u6f22\u5b57 kanji"])
def test_words_are_the_same_for_odd_text(text: str) -> None:
    assert words_of(text) == re.findall(r"\w+", text.casefold())


def test_long_parts_are_bounded() -> None:
    words = Subject("https://x.example/" + "a/" * 9000, "b " * 9000, "c " * 9000, "d " * 90_000).words()
    assert max(map(len, (words.title, words.url, words.description))) <= 1000
    assert len(words.body) == 1250
