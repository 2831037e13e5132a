"""Moments as pages write them, to aware datetimes. What cannot be, is None."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=366)
_MOST_CHARS = 60
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = re.compile(r"(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([a-z]{3})[a-z]*\.?,?\s+(\d{4})\b", re.I)
_MONTH_FIRST = re.compile(r"\b([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b", re.I)
_MAIL = re.compile(r"[A-Za-z]{3}, \d{1,2} [A-Za-z]{3} \d{4} \d")
_PDF = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+-])(\d{2})'?(\d{2})?)?")


def moment_of(text: str | None) -> datetime | None:
    """Of ISO 8601, RFC 2822 or English words; without an offset it is taken for UTC."""
    if not text or len(text) > _MOST_CHARS:
        return None
    text = text.strip()
    return _sensible(_iso(text) or _by_numbers(text) or _mailed(text) or _by_words(text))


def pdf_moment(text: str | None) -> datetime | None:
    """Of a PDF: D:20261116120344+01'00'."""
    found = _PDF.match(text or "")
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    sign, hours, minutes = found.groups()[6:]
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        given = datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=UTC)
        return _sensible(given + offset if sign == "-" else given - offset)
    except (ValueError, OverflowError):
        return None


def _sensible(given: datetime | None) -> datetime | None:
    """No page is older than the web, and none is dated more than a year ahead."""
    if given is None:
        return None
    try:
        moment = given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _EARLIEST <= moment <= datetime.now(UTC) + _AHEAD else None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _by_numbers(text: str) -> datetime | None:
    """2026/11/16, or an ISO date with something odd after it."""
    found = _NUMBERS.match(text)
    return _day(int(found[1]), int(found[2]), int(found[3])) if found else None


def _by_words(text: str) -> datetime | None:
    if found := _DAY_FIRST.search(text):
        day, month, year = found.groups()
    elif found := _MONTH_FIRST.search(text):
        month, day, year = found.groups()
    else:
        return None
    short = month.lower()
    return _day(int(year), _MONTHS.index(short) + 1, int(day)) if short in _MONTHS else None


def _mailed(text: str) -> datetime | None:
    if not _MAIL.match(text):  # the reader of mail makes a date of anything
        return None
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
