"""The values in sitemaps and feeds: times by W3C and RFC 822, priorities. What is neither is None."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""Before there was a web nothing on it was changed: 0001-01-01 and 1970-01-01 are how programs write *unknown*."""


def parse_lastmod(text: str) -> datetime | None:
    """The time in UTC; one without a zone is taken to be in it, a day or a month begins with its first moment."""
    text = text.strip()
    try:
        found = _w3c(text) or parsedate_to_datetime(text)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):  # the last two: what parsedate makes of some garbage
        return None
    return found if found >= _EARLIEST else None


def _w3c(text: str) -> datetime | None:
    """W3C's note on date and time, and what is commonly written for it; ValueError where a day does not exist."""
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or "0") for part in match.groups()[:6])
    # 60 is a leap second, 24:00 the end of a day.
    start = datetime(year, month or 1, day or 1, tzinfo=_zone(match[7]))
    if hour > 24 or minute > 59 or second > 60:
        raise ValueError(text)
    return start + timedelta(hours=hour, minutes=minute, seconds=second)


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def parse_priority(text: str) -> float | None:
    """0.0 to 1.0, as sitemaps.org has it."""
    value = float(text) if re.fullmatch(r"\s*(?:\d+\.?\d*|\.\d+)\s*", text, re.ASCII) else -1.0
    return value if 0 <= value <= 1 else None
