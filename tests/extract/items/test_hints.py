"""What is looked for first must be in all that the dear expression behind it finds: of each, texts that it matches."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from bailiwick.extract.items import addresses, deadlines, emails, links, money, opportunity, page_facts, phones
from bailiwick.extract.items.hints import may_say
from bailiwick.extract.items.product import sight, words

MANY = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize(("kind", "pattern"), opportunity._KIND)
@MANY
@given(data=st.data())
def test_kinds_of_opportunities(kind: str, pattern: re.Pattern[str], data: DataObject) -> None:
    assert may_say(data.draw(st.from_regex(pattern)), opportunity._KIND_PARTS[kind])


@pytest.mark.parametrize("pattern", [pattern for _, pattern in links._TEXT])
@MANY
@given(data=st.data())
def test_links_to_apply(pattern: re.Pattern[str], data: DataObject) -> None:
    assert may_say(data.draw(st.from_regex(pattern)), links._PARTS)


@MANY
@given(st.from_regex(deadlines._ROLLING))
def test_rolling_deadlines(text: str) -> None:
    assert any(part in text for part in deadlines._ROLLING_PARTS)


@MANY
@given(st.from_regex(page_facts._ELIGIBLE_SENTENCE))
def test_who_may_apply(text: str) -> None:
    assert any(part in text for part in page_facts._ELIGIBLE_PARTS)


@pytest.mark.parametrize(("hint", "pattern"), [(hint, pattern) for _, hint, pattern in addresses._PATTERNS])
@MANY
@given(data=st.data())
def test_postal_codes(hint: re.Pattern[str], pattern: re.Pattern[str], data: DataObject) -> None:
    text = data.draw(st.from_regex(pattern.pattern.replace("}+", "}")))  # hypothesis knows no possessive repeats
    if pattern.search(text):
        assert addresses._MAY_BE_CODE.search(text)
        assert hint.search(text)


@MANY
@given(st.from_regex(money._SUM))
def test_amounts(text: str) -> None:
    assert money.names_money(text)


@MANY
@given(st.from_regex(phones._SHAPE))
def test_numbers_to_call(text: str) -> None:
    assert phones._DIGITS.search(text)


@MANY
@given(st.from_regex(emails._HINT))
def test_hidden_addresses(text: str) -> None:
    assert emails._may_be_hidden(text)


@pytest.mark.parametrize("mark", list(sight._CALLED.values()))
@MANY
@given(data=st.data())
def test_names_of_a_shops_elements(mark: re.Pattern[str], data: DataObject) -> None:
    assert sight._ANY_CALLED.search(data.draw(st.from_regex(mark)))


def test_words_of_shops_are_found_in_a_page_as_in_each_of_its_texts() -> None:
    texts = ["in stock: 3", "nicht verfügbar!", "au panier", "ajouter au panier", "купить", "nothing", "加入購物車"]
    found = sight.Texts([None] * len(texts), list(range(len(texts))), texts).telling()
    assert [one.place for one in found] == [at for at, text in enumerate(texts) if words.says_something(text)]
    assert [words.says_something(text) for text in texts] == [True, True, False, True, True, False, True]
