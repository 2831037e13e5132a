"""Dates in URLs: the day, month or year that a page is about."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from bailiwick.crawl.traps.memory import Kind, key_of

WIDTHS = (1, 7, 32, 12 * 32)
"""Days of a span: of a date, a week, a month, a year."""
_NO_DIGITS = str.maketrans("", "", "0123456789")
_DATE_AT_END = re.compile(
    r"(?<![0-9])(?P<year>[0-9]{4})"
    r"(?:(?P<sep>[-/_.])(?P<month>0?[1-9]|1[0-2])(?:(?P=sep)(?P<day>0?[1-9]|[12][0-9]|3[01]))?"
    r"|[-/_]?w(?:eek)?[-/_]?(?P<week>[0-5]?[0-9]))"
    r"(?:\.[a-z]{2,5})?(?:/(?:year|month|week|day|list|agenda|grid|map|photo|summary|print|today))?/?$",
    re.I,
)
_PACKED_AT_END = re.compile(
    r"(?<![0-9])(?P<year>[0-9]{4})(?P<month>0[1-9]|1[0-2])(?P<day>[0-2][0-9]|3[01])?(?:\.[a-z]{2,5})?/?$", re.I
)
_DATE_VALUE = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?|-?w(?P<week>[0-9]{1,2}))(?:t[0-9:%a-f+.-]*)?",
    re.I,
)
_PACKED_VALUE = re.compile(r"(?P<year>[0-9]{4})(?P<month>0[1-9]|1[0-2])(?P<day>[0-2][0-9]|3[01])?")
_HINTS = re.compile(r"calend|kalend|agenda|archiv|date|datum|month|monat|mois|week|termin|events?\b|\bday", re.I)
_PARTS = {
    **dict.fromkeys(("year", "yr", "y", "jahr", "annee", "ano", "cal_year", "yearid"), "year"),
    **dict.fromkeys(("month", "mo", "mon", "m", "monat", "mois", "mes", "cal_month", "monthid"), "month"),
    **dict.fromkeys(("day", "d", "tag", "jour", "dia", "cal_day"), "day"),
    **dict.fromkeys(("week", "w", "kw", "woche"), "week"),
}


class Span(NamedTuple):
    """The date, month or year that a page is about: nothing else is in its path. In days of months that all have 32."""

    family: int
    """The same for pages that differ in the date only."""
    start: int
    days: int

    def is_within(self, other: "Span") -> bool:
        return other.start <= self.start and self.start + self.days <= other.start + other.days


def span_of(head: str, query: str) -> Span | None:
    """None for a page that has a date *and* a title, a number or an id: that is an article."""
    if query:
        parts, others = _dates_in(query)
        if parts:
            return _span(parts, f"{head}?{'&'.join(others)}")
        if any(char.isdigit() for char in query):
            return None
    found = _DATE_AT_END.search(head) or _PACKED_AT_END.search(head)
    if found is None:
        return None
    is_segment = head[: found.start()].endswith("/") and found.re is _DATE_AT_END
    # `story-2019-5.html` is the fifth story and `/product/201905` a product, but `calendar-2019-5.html` is a month.
    return _span(found.groupdict(), f"{head}?{query}") if is_segment or _HINTS.search(head) else None


def _dates_in(query: str) -> tuple[dict[str, str | None], list[str]]:
    """(year, month, day, week, as far as they are there; the rest, sorted); nothing, if the rest has numbers, too."""
    parts: dict[str, str | None] = {}
    others: list[str] = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        kind = _PARTS.get(name.lower())
        found = _DATE_VALUE.fullmatch(value) or (
            _PACKED_VALUE.fullmatch(value) if kind or _HINTS.search(name) else None
        )
        if found is not None:
            parts |= {each: given for each, given in found.groupdict().items() if given}
            others.append(name)
        elif kind is not None and len(value) <= 4 and value.isdecimal():
            parts.setdefault(kind, value)
            others.append(name)
        elif any(char.isdigit() for char in value):
            return {}, []
        else:
            others.append(part)
    return parts, sorted(others)


def _span(parts: Mapping[str, str | None], path: str) -> Span | None:
    year, month, day, week = (int(parts.get(name) or 0) for name in ("year", "month", "day", "week"))
    if not 1800 <= year <= 2200 or month > 12 or day > 31 or week > 53:
        return None
    if week and not month:
        ordinal = (week - 1) * 7
        start, days = (year * 12 + ordinal // 31) * 32 + ordinal % 31, 7
    elif month:
        start, days = (year * 12 + month - 1) * 32 + day, 1 if day else 32
    else:
        start, days = year * 12 * 32, 12 * 32
    return Span(key_of(Kind.DATES, f"{days} {path.translate(_NO_DIGITS)}"), start, days)
