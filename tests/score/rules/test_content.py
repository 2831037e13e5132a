"""Words are counted in every script; what is short is thin unless it was cut."""

from dataclasses import replace

import pytest

from bailiwick.score.rules.content import count_words
from tests.score.rules.pages import assessed, page_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("One two, three.", 3),
        ("It's well-known: 3.5 apples", 4),
        ("snake_case", 2),
        ("Привет, мир", 2),
        ("안녕하세요 세계 여러분", 3),
        ("我们今天去市场买了很多新鲜的水果", 10),
        ("今日は市場へ行って果物をたくさん買いました", 10),
        ("วันนี้เราไปตลาดซื้อผลไม้สดมากมาย", 6),
        ("Python 是一种编程语言", 5),
        ("-- // ...", 0),
    ],
)
def test_words_of_many_scripts(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_long_chinese_page_is_not_thin() -> None:
    page = replace(page_of("<p>x</p>"), text="我们今天去市场买了很多新鲜的水果。" * 40)
    thin = assessed(page)[0].content_quality.thin_content
    assert (thin.detected, thin.word_count, thin.threshold) == (False, 400, 300)


def test_the_threshold_is_the_policy_s() -> None:
    page = replace(page_of("<p>x</p>"), text="word " * 50)
    assert assessed(page)[0].content_quality.thin_content.detected
    assert not assessed(page, thin_words=50)[0].content_quality.thin_content.detected


def test_a_page_that_was_cut_is_thin_to_nobody() -> None:
    cut = replace(page_of("<p>x</p>"), text="word " * 50, is_truncated=True)
    results, proofs = assessed(cut)
    assert "thin_content" in results.unchecked
    assert "thin_content" not in proofs
    assert assessed(replace(cut, text="word " * 500))[0].content_quality.thin_content.checked
