"""Numbers on their way into statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.db.sql import array_of


@pytest.mark.parametrize(
    ("numbers", "written"),
    [([], "{}"), ([1, -(2**63)], "{1,-9223372036854775808}"), ([None, 0], "{NULL,0}"), ([True, False], "{True,False}")],
)
def test_written_as_the_database_reads_them(numbers: list[int | None], written: str) -> None:
    assert array_of(numbers) == written


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_no_digit_of_a_score_is_lost(scores: list[float]) -> None:
    assert [float(part) for part in array_of(scores).strip("{}").split(",") if part] == scores
