"""Opening hours: "Mon - Thu: 07:30 - 20:00", "Di–Fr 9–12 Uhr und 13.30–18.30 Uhr", "Du mardi au samedi : 10h - 19h"."""

# ruff: noqa: RUF001, RUF002 - pages write dashes and quotes of many kinds

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from bailiwick.extract.items.lines import Line, Zone

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NAMES = (
    "monday mondays mon mo m montag lundi lunes maandag ma",
    "tuesday tuesdays tues tue tu dienstag di mardi martes dinsdag",
    "wednesday wednesdays wed we mittwoch mi mercredi miércoles miercoles woensdag wo",
    "thursday thursdays thurs thu th donnerstag do jeudi jueves donderdag",
    "friday fridays fri fr f freitag vendredi viernes vrijdag vr",
    "saturday saturdays sat sa samstag sonnabend samedi sábado sabado zaterdag za",
    "sunday sundays sun su sonntag so dimanche domingo zondag zo",
)
_DAY = {name: number for number, names in enumerate(_NAMES) for name in names.split()}
_GROUPS = {
    "weekdays": range(5), "weekday": range(5), "werktags": range(5), "weekends": range(5, 7), "weekend": range(5, 7),
    "daily": range(7), "täglich": range(7), "all days": range(7), "every day": range(7), "7 days a week": range(7),
    "tous les jours": range(7), "todos los días": range(7), "dagelijks": range(7),
}  # fmt: skip
_WORD = "|".join(sorted((re.escape(name) for name in _DAY), key=len, reverse=True))
_GROUP = "|".join(re.escape(name) for name in _GROUPS)
_DAYS = re.compile(
    rf"(?<![\w@])(?P<group>{_GROUP})(?!\w)"
    rf"|(?<![\w@.])(?P<from>{_WORD})\.?(?:\s{{0,2}}(?:-|–|—|to|bis|au|a|tot|t/m|"
    rf"through)\s{{0,2}}(?P<to>{_WORD}))?(?![\w@])",
    re.IGNORECASE,
)
_CLOCK = (
    r"(?P<{0}h>[0-2]?\d)(?:(?:[:.]|"
    r"\s?[hH])(?P<{0}m>[0-5]\d))?(?:\s?[hH](?![a-z\d]))?(?:\s?(?P<{0}p>[ap])\.?m\b\.?)?"
)
_SPAN = re.compile(
    rf"(?<![\d€£$.,]){_CLOCK.format('a')}\s{{0,2}}(?:uhr\s)?(?:-|–|—|to|bis|until|à|a|"
    rf"tot)\s{{0,2}}{_CLOCK.format('b')}(?![\d€£$%])",
    re.IGNORECASE,
)
_SHORT_NAME = 2
_AFTER_SHORT = re.compile(r"\s{0,2}(?:$|[-–—:.,;/&|(\d]|to\b|bis\b|und\b|and\b|closed|geschlossen)", re.IGNORECASE)
_CLOSED = re.compile(r"closed|geschlossen|fermé|cerrado|gesloten", re.IGNORECASE)
_MOST_LINES = 30
_NOON, _MIDNIGHT = 12, 24

Opening = tuple[int, str, str]
"""Number of the day, opens, closes."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    opens: str
    closes: str


def find_hours(lines: list[Line]) -> list[Opening]:
    """Hours of a page: of the first run of lines that name days and times."""
    found: list[Opening] = []
    days: list[int] = []
    last = None
    for at, line in enumerate(lines):
        if line.zone in (Zone.NAV, Zone.ASIDE) or not line.text or len(line.text) > 250:
            continue
        if found and last is not None and at - last > 3:
            break
        here = _read_line(line.text, days)
        days = here[1]
        found += here[0]
        if here[0] or here[1] or (found and _CLOSED.search(line.text)):
            last = at
    return sorted(set(found)) if len(found) < 7 * _MOST_LINES else []


def _read_line(text: str, waiting: list[int]) -> tuple[list[Opening], list[int]]:
    """What a line says, with the days that wait for their times on the next one."""
    spans = [span for match in _SPAN.finditer(text) if (span := _span(match)) is not None]
    named = [(match.start(), _days(match)) for match in _DAYS.finditer(text) if _is_meant(text, match)]
    if not spans:
        is_list = bool(named) and len(text) < 60 and not _CLOSED.search(text) and not re.search(r"\d", text)
        return [], [day for _, days in named for day in days] if is_list else []
    if not named:
        is_bare = bool(waiting) and _SPAN.match(text.strip()) is not None
        return [(day, span.opens, span.closes) for day in waiting for span in spans] if is_bare else [], []
    return _in_order(named, spans, [match.start() for match in _CLOSED.finditer(text)]), []


def _in_order(named: "list[tuple[int, list[int]]]", spans: "list[_Span]", closed: list[int]) -> list[Opening]:
    """Days take the times that follow them, up to the next days; days that are closed take none."""
    found: list[Opening] = []
    days: list[int] = []
    is_told = False
    events: list[tuple[int, list[int] | _Span | None]] = [*named, *((span.start, span) for span in spans)]
    events += [(at, None) for at in closed]
    for _, event in sorted(events, key=lambda one: one[0]):
        if isinstance(event, list):
            days = event if is_told else days + event
            is_told = False
            continue
        if event is not None:
            found += [(day, event.opens, event.closes) for day in days]
        is_told = True
    return found


def _is_meant(text: str, match: "re.Match[str]") -> bool:
    """A day of the week, not of the calendar ("on Friday 29 January"), nor a short word that only looks like one."""
    if re.match(r"\w+,?\s\d{1,2}\.?\s(?!uhr|am|pm)[A-Za-zÀ-ÿ]{3}", text[match.start() :], re.IGNORECASE):
        return False
    if match["group"] or match["to"] or len(match["from"]) > _SHORT_NAME:
        return True
    return match["from"][0].isupper() and _AFTER_SHORT.match(text, match.end()) is not None


def _days(match: "re.Match[str]") -> list[int]:
    if match["group"]:
        return list(_GROUPS[match["group"].lower()])
    first = _DAY[match["from"].lower()]
    if not match["to"]:
        return [first]
    last = _DAY[match["to"].lower()]
    return list(range(first, last + 1)) if first <= last else [*range(first, 7), *range(last + 1)]


def _span(match: "re.Match[str]") -> "_Span | None":
    start_hour, end_hour = int(match["ah"]), int(match["bh"])
    start_half, end_half = (match["ap"] or "").lower(), (match["bp"] or "").lower()
    if end_half and not start_half:
        start_half = end_half if start_hour <= end_hour and _NOON not in (start_hour, end_hour) else "a"
    start, end = _hour(start_hour, start_half), _hour(end_hour, end_half)
    if not end_half and not start_half and end <= start <= _NOON:
        end += _NOON  # 7:30-5:30
    if start > _MIDNIGHT or end > _MIDNIGHT or start == end:
        return None
    if not (start_half or match["am"] or match["bm"] or re.search(r"[hH]|uhr", match[0]) or end - start >= 2):
        return None
    return _Span(match.start(), f"{start:02}:{match['am'] or '00'}", f"{end % 24:02}:{match['bm'] or '00'}")


def _hour(hour: int, half: str) -> int:
    if half == "p" and hour < _NOON:
        return hour + _NOON
    return 0 if half == "a" and hour == _NOON else hour


def as_items(openings: Iterable[Opening]) -> list[JsonValue]:
    """As zyte-common-items has them."""
    return [{"dayOfWeek": DAYS[day], "opens": opens, "closes": closes} for day, opens, closes in openings]


def day_number(text: str) -> int | None:
    """Of a day's name, also of its address at schema.org."""
    return _DAY.get(text.rpartition("/")[2].strip().lower())


def read_compact(text: str) -> list[Opening]:
    """schema.org's `openingHours`: Mo-Fr 09:00-18:00."""
    return _read_line(text[:200], [])[0]
