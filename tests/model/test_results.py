"""Plain text out of what strangers write."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.model.results import plain_text


@pytest.mark.parametrize(
    ("given_text", "plain"),
    [
        ("<b>Grants</b>  for\n artists", "Grants for artists"), ("A &amp; B &lt;tag&gt;", "A & B"),
        ("<script>alert(1)</script>x", "x"), ("a < b > c", "a < b > c"), ("<!-- hid -->seen", "seen"),
        ("\x00\x1b[31mred\u202e", "[31mred"), ("\ud800x", "x"), ("", ""), ("<<<b>>>", "<<>>"),
    ],
)  # fmt: skip
def test_markup_goes_words_stay(given_text: str, plain: str) -> None:
    assert plain_text(given_text, 100) == plain


@given(st.text(), st.integers(1, 50))
def test_it_is_one_line_without_controls_within_bounds(text: str, most: int) -> None:
    plain = plain_text(text, most)
    assert len(plain) <= most
    assert not {unicodedata.category(letter) for letter in plain} & {"Cc", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize("piece", ["<", "<a ", "<script>", "&", "&#", "<!--", "<script></scrip", "\x00"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    plain_text(piece * 1_000_000, 2000)
    assert time.process_time() - start < 0.5
