"""Days in a text: "29 January 2027", "Feb. 12, 2027", "15. März 2027", "1er mars 2027", "30.06.2026", "2027-02-15"."""

import re
from dataclasses import dataclass
from datetime import date

_MOST_CHARS = 4_000
_MOST_DAYS = 40
_MONTHS = {
    1: "january jan januar jänner janvier janv enero ene januari gennaio",
    2: "february feb februar feber février fevrier févr fév febrero februari febbraio",
    3: "march mar märz maerz mrz mars marzo maart mrt",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo mei maggio",
    6: "june jun juni juin junio giugno",
    7: "july jul juli juillet juil julio luglio",
    8: "august aug août aout agosto ago augustus",
    9: "september sep sept septembre septiembre set settembre",
    10: "october oct oktober okt octobre octubre ottobre",
    11: "november nov novembre noviembre",
    12: "december dec dezember dez décembre decembre déc diciembre dic dicembre",
}
_NUMBER = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAME = "|".join(sorted(_NUMBER, key=len, reverse=True))
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th|er|º|\.)?"
_YEAR = r"(?P<{0}>(?:19|20)\d\d)"
_WRITTEN = re.compile(
    rf"(?<![\w.]){_DAY.format('d1')}\s{{0,2}}(?:de\s|of\s)?(?P<m1>{_NAME})\b\.?,?\s{{0,2}}(?:de\s|"
    rf"del\s)?{_YEAR.format('y1')}\b"
    rf"|\b(?P<m2>{_NAME})\b\.?\s{{1,2}}{_DAY.format('d2')},?\s{{1,2}}{_YEAR.format('y2')}\b"
    rf"|(?<![\w-])(?P<y3>(?:19|20)\d\d)-(?P<m3>[01]\d)-(?P<d3>[0-3]\d)(?!\d)"
    rf"|(?<![\w./-])(?P<a>[0-3]?\d)(?P<sep>[./-])(?P<b>[0-3]?\d)(?P=sep)(?P<y4>20\d\d)(?!\d)",
    re.IGNORECASE,
)
_HAS_YEAR = re.compile(r"(?:19|20)\d\d")
_LAST_MONTH = 12


@dataclass(frozen=True, slots=True)
class Day:
    """A day, and where in its text it stands."""

    day: date
    start: int
    end: int


def days_in(text: str, *, is_month_first: bool = False) -> list[Day]:
    """All days with a year. `is_month_first`: how 02/01/2027 is meant where both readings are possible."""
    found: list[Day] = []
    if not _HAS_YEAR.search(text):
        return found
    for match in _WRITTEN.finditer(text[:_MOST_CHARS]):
        day = _day(match, is_month_first=is_month_first)
        if day is not None:
            found.append(Day(day, match.start(), match.end()))
            if len(found) >= _MOST_DAYS:
                break
    return found


def _day(match: "re.Match[str]", *, is_month_first: bool) -> date | None:
    if match["y1"]:
        return _valid(match["y1"], _NUMBER[match["m1"].lower()], match["d1"])
    if match["y2"]:
        return _valid(match["y2"], _NUMBER[match["m2"].lower()], match["d2"])
    if match["y3"]:
        return _valid(match["y3"], int(match["m3"]), match["d3"])
    first, second = int(match["a"]), int(match["b"])
    day_first = match["sep"] == "." or not is_month_first
    if first > _LAST_MONTH:
        day_first = True
    elif second > _LAST_MONTH and match["sep"] != ".":
        day_first = False
    return _valid(match["y4"], second if day_first else first, first if day_first else second)


def _valid(year: str, month: int, day: str | int) -> date | None:
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def iso_day(text: str | None) -> date | None:
    """The day of a machine-readable time."""
    try:
        return date.fromisoformat((text or "").strip()[:10])
    except ValueError:
        return None
