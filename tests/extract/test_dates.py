"""Moments as pages write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.extract.dates import moment_of, pdf_moment

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01T13:00:00+01:00", NOON),
        ("2026-03-01T13:00:00.000+0100", NOON),
        ("2026-03-01 12:00", NOON),
        ("20260301T120000Z", NOON),
        (" 2026-03-01 ", DAY),
        ("2026/03/01", DAY),
        ("2026-03-01T25:61:00", DAY),
        ("Sun, 01 Mar 2026 13:00:00 +0100", NOON),
        ("March 1, 2026", DAY),
        ("Mar. 1st, 2026 at noon", DAY),
        ("1 March 2026", DAY),
        ("Published on the 1st of March 2026", DAY),
        ("2026-13-01", None),
        ("30 February 2026", None),
        ("0000-00-00", None),
        ("1970-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("2026-03-01" * 20, None),
    ],
)
def test_moments(text: str | None, moment: datetime | None) -> None:
    assert moment_of(text) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("D:20260301130000+01'00'", NOON),
        ("D:20260301120000Z", NOON),
        ("D:20260301070000-05'00", NOON),
        ("20260301", DAY),
        ("D:20261399", None),
        ("D:00000000000000", None),
        ("D:", None),
        ("", None),
        (None, None),
    ],
)
def test_moments_of_pdf(text: str | None, moment: datetime | None) -> None:
    assert pdf_moment(text) == moment


@given(st.text(max_size=40) | st.from_regex(r"[D:0-9TZ+\-'. /]{0,30}", fullmatch=True))
def test_any_text(text: str) -> None:
    for found in (moment_of(text), pdf_moment(text)):
        assert found is None or found.tzinfo is UTC
