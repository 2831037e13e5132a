"""Times and priorities in sitemaps: what is read, and what is not."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.net.sitemap_values import parse_lastmod, parse_priority


def day(year: int, month: int, number: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, number, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", day(2024, 1, 1)),
        ("2024-07", day(2024, 7, 1)),
        (" 2024-07-08\n", day(2024, 7, 8)),
        ("2024-07-08T09:10Z", day(2024, 7, 8, 9, 10)),
        ("2024-07-08T09:10:11.123456789+01:00", day(2024, 7, 8, 8, 10, 11)),
        ("2024-07-08t09:10:11z", day(2024, 7, 8, 9, 10, 11)),
        ("2024-07-08 09:10:11 -0130", day(2024, 7, 8, 10, 40, 11)),
        ("2024-07-08T09:10:11", day(2024, 7, 8, 9, 10, 11)),
        ("2024-12-31T23:59:60Z", day(2025, 1, 1)),
        ("2024-12-31T24:00:00Z", day(2025, 1, 1)),
        ("Mon, 08 Jul 2024 09:10:11 GMT", day(2024, 7, 8, 9, 10, 11)),
        ("Mon, 8 Jul 24 09:10:11 EST", day(2024, 7, 8, 14, 10, 11)),
        ("08 Jul 2024 09:10:11 -0000", day(2024, 7, 8, 9, 10, 11)),
        ("2024-02-30", None),
        ("2024-13", None),
        ("2024-07-08T25:00Z", None),
        ("2024-07-08T09:10+99:00", None),
        ("9999-12-31T23:59:59-10:00", None),
        ("0001-01-01T00:00:00+10:00", None),
        ("1970-01-01T00:00:00Z", None),
        ("\u0662\u0660\u0662\u0664", None),
        ("Mon, 99 Jul 2024 09:10:11 GMT", None),
        ("Mon, 08 Jul 2024 09:10:11 +999999999", None),
        ("now", None),
        ("", None),
    ],
)
def test_lastmod(text: str, expected: datetime | None) -> None:
    assert parse_lastmod(text) == expected


@given(st.text() | st.from_regex(r"\A(\w{3}, )?\d{1,9} \w{3} [-+0-9:. ]{0,30}\w{0,4}\Z"))
def test_any_text_is_a_time_or_none(text: str) -> None:
    found = parse_lastmod(text)
    assert found is None or found.tzinfo is UTC


ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
FIRST, LAST = datetime(1990, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001 - hypothesis adds the zones


@given(st.datetimes(FIRST, LAST, timezones=ZONES))
def test_times_that_python_writes_are_read(moment: datetime) -> None:
    assert parse_lastmod(moment.isoformat()) == moment.replace(microsecond=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.5", 0.5), (" 1 ", 1.0), ("1.0", 1.0), ("0", 0.0), (".8", 0.8), ("1.1", None), ("-0.1", None), ("0,5", None),
     ("nan", None), ("1e-1", None), ("", None), ("\u0661", None), ("9" * 99, None)],
)  # fmt: skip
def test_priority(text: str, expected: float | None) -> None:
    assert parse_priority(text) == expected
