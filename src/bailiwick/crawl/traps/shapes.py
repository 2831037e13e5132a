"""What a path says about itself: its folder, a session's token, a date, its parameters. Pure and remembered by nobody,
but for folders, which the links of a site share.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from bailiwick.crawl.traps.memory import Kind, key_of

_NO_DIGITS = str.maketrans("", "", "0123456789")
_FOUR_DIGITS = re.compile(r"[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Folder:
    """A path up to its last slash."""

    key: int
    """The same for folders that differ in numbers only."""
    pattern: str
    names: tuple[str, ...]
    is_doubled: bool
    """It has a name twice."""
    is_odd: bool
    """May hold a date or a token."""


@lru_cache(maxsize=20_000)
def folder_of(directory: str) -> Folder:
    """Shared by all domains: some 10 MB at most, and most links of a site cost one look here."""
    pattern = directory.translate(_NO_DIGITS)
    names = tuple(name for name in directory.split("/") if name)
    is_odd = _FOUR_DIGITS.search(directory) is not None or any(is_odd_name(name) for name in names)
    return Folder(key_of(Kind.FOLDER, pattern), pattern, names, most_of(names) > 1, is_odd)


def is_odd_name(name: str) -> bool:
    """Whether a name may hold a date or a token, and is worth a closer look."""
    return _FOUR_DIGITS.search(name) is not None or len(name) > 22 and _is_dense(name) or ";" in name or "(" in name


def _is_dense(name: str) -> bool:
    """Without the hyphens of a title. (UUIDs have some.)"""
    return name.partition(".")[0].isalnum() or len(name) == 36


def most_of(names: tuple[str, ...]) -> int:
    """How often the most frequent of them comes. Numbers do not count: /11/11/11 is a date."""
    words = [name for name in names if not name.isdigit()]
    return 1 if len(set(words)) == len(words) else max(words.count(word) for word in set(words))


def repeats_in(names: tuple[str, ...]) -> int:
    """How often in a row the same sequence of names comes, at most; again, of numbers alone it does not count."""
    return max((_run(names, size) for size in range(1, len(names) // 2 + 1)), default=1)


def _run(names: tuple[str, ...], size: int) -> int:
    """The most times in a row that a sequence of this many names comes."""
    most = same = 0
    for at in range(size, len(names)):
        same = same + 1 if names[at] == names[at - size] else 0
        if same >= size and not all(name.isdigit() for name in names[at - size + 1 : at + 1]):
            most = max(most, same // size)
    return most + 1


# Session tokens

_SESSION_NAMES = (
    "sid|s|sess|sessid|session|sessionid|session_id|session_key|sess_id|usersession|phpsessid|jsessionid|oscsid|osadminid|"
    "xtcsid|zenid|cfid|cftoken|aspsessionid[a-z]*"
)
_SESSION_PARAMETER = re.compile(rf"(?:^|&)({_SESSION_NAMES})=([0-9A-Za-z_.!~,-]+)(?=&|$)", re.I)
_PATH_PARAMETER = re.compile(r";(jsessionid|phpsessid|sid|sessionid|session)=[^/;]*", re.I)
_COOKIELESS = re.compile(r"/\((?:[A-Za-z]\([0-9A-Za-z]*\))+\)")  # ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/page.aspx
_RANDOM = re.compile(
    r"(?<=[/=])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9A-Za-z]{23,128})(?=[/&.;]|$)", re.I
)


@dataclass(frozen=True, slots=True)
class Token:
    """A path with what looks like a session's token in it."""

    key: int
    """Where the token is: under which parameter name, or after which folder."""
    rest: str
    """The path without it."""
    is_named: bool
    """Known for a session's by its name, not by its looks only."""


def token_of(head: str, query: str) -> Token | None:
    """The first token of a path; all of them are taken out of the rest."""
    name = ""
    if ";" in head and (found := _PATH_PARAMETER.search(head)):
        name, head = found[1], _PATH_PARAMETER.sub("", head)
    if "/(" in head and _COOKIELESS.search(head):
        name, head = "()", _COOKIELESS.sub("", head) or "/"
    if query and (given := [found for found in _SESSION_PARAMETER.finditer(query) if _is_session(found[1], found[2])]):
        name = given[0][1]
        taken = {found[0].lstrip("&") for found in given}
        query = "&".join(part for part in query.split("&") if part not in taken)
    rest = f"{head}?{query}" if query else head
    if name:
        return Token(key_of(Kind.TOKEN, f";{name.lower()}"), rest, is_named=True)
    return _random_token(rest)


def _is_session(name: str, value: str) -> bool:
    """`sid` may be the number of a story: a token is long, and letters and digits are mixed in it."""
    return name.lower() in ("cfid", "cftoken") or len(value) >= 12 and _is_mixed(value)


def _is_mixed(value: str) -> bool:
    digits = sum(char.isdigit() for char in value)
    return 2 <= digits and any(char.isalpha() for char in value)


def _random_token(path: str) -> Token | None:
    found = next((found for found in _RANDOM.finditer(path) if _is_mixed(found[0])), None)
    if found is None:
        return None
    rest = _RANDOM.sub(lambda each: "*" if _is_mixed(each[0]) else each[0], path)
    before = path[: found.start()]
    name = re.split("[?&]", before)[-1] if before[-1] == "=" else before.translate(_NO_DIGITS)
    return Token(key_of(Kind.TOKEN, name), rest, is_named=False)


# Dates

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
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?|-?w(?P<week>[0-9]{1,2}))(?:t[0-9:%a-f+.-]*)?", re.I
)
_PACKED_VALUE = re.compile(r"(?P<year>[0-9]{4})(?P<month>0[1-9]|1[0-2])(?P<day>[0-2][0-9]|3[01])?")
_HINTS = re.compile(r"calend|kalend|agenda|archiv|date|datum|month|monat|mois|week|termin|events?\b|\bday", re.I)
_PARTS = {
    **dict.fromkeys(("year", "yr", "y", "jahr", "annee", "ano", "cal_year", "yearid"), "year"),
    **dict.fromkeys(("month", "mo", "mon", "m", "monat", "mois", "mes", "cal_month", "monthid"), "month"),
    **dict.fromkeys(("day", "d", "tag", "jour", "dia", "cal_day"), "day"),
    **dict.fromkeys(("week", "w", "kw", "woche"), "week"),
}


@dataclass(frozen=True, slots=True)
class Span:
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
        return _span_in_query(head, query)
    found = _DATE_AT_END.search(head) or (_PACKED_AT_END.search(head) if _HINTS.search(head) else None)
    return None if found is None else _span(found.groupdict(), head.translate(_NO_DIGITS))


def _span_in_query(head: str, query: str) -> Span | None:
    parts: dict[str, str | None] = {}
    others: list[str] = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        found = _DATE_VALUE.fullmatch(value) or (_PACKED_VALUE.fullmatch(value) if _HINTS.search(name) else None)
        kind = _PARTS.get(name.lower())
        if found is not None:
            parts |= {"year": parts.get("year") or found["year"], **_set(found)}
            others.append(name)
        elif kind is not None and value.isdecimal():
            parts.setdefault(kind, value)
            others.append(name)
        elif any(char.isdigit() for char in value):
            return None
        else:
            others.append(part)
    return _span(parts, f"{head.translate(_NO_DIGITS)}?{'&'.join(sorted(others))}")


def _set(found: re.Match[str]) -> dict[str, str | None]:
    return {name: value for name, value in found.groupdict().items() if value and name != "year"}


def _span(parts: dict[str, str | None], pattern: str) -> Span | None:
    year, month, day, week = (int(parts.get(name) or 0) for name in ("year", "month", "day", "week"))
    if not 1800 <= year <= 2200 or month > 12 or day > 31 or week > 53:
        return None
    family = key_of(Kind.DATES, pattern)
    if week and not month:
        ordinal = max(week - 1, 0) * 7
        return Span(family, (year * 12 + ordinal // 31) * 32 + ordinal % 31, 7)
    if not month:
        return Span(family, year * 12 * 32, 12 * 32)
    return Span(family, (year * 12 + month - 1) * 32 + day, 1 if day else 32)


# Parameters

_PAGING = frozenset(
    """
    page p pg pn paged pagenum pageno page_no pageindex pagenumber seite start offset skip from first cursor limit
    per_page perpage pagesize page_size
    """.split()  # noqa: SIM905 (four lines of quotes otherwise)
)
_LIST = re.compile(r"[,|;~+]|%(?:2C|7C|3B|20)")
_MOST_PARAMETERS = 40


def parameters_of(query: str) -> tuple[list[str], list[str]]:
    """(filters, pages): each `name=value` of a query, sorted; those that only turn pages are kept apart.

    A list of values (`colour=red,blue`) counts as so many parameters.
    """
    filters: set[str] = set()
    pages: list[str] = []
    for part in query.split("&")[:_MOST_PARAMETERS]:
        name, _, value = part.partition("=")
        if value.isdecimal() and name.lower() in _PAGING:
            pages.append(part)
        else:
            filters |= {f"{name}={one}" for one in _LIST.split(value)[:_MOST_PARAMETERS]}
    return sorted(filters), sorted(pages)


def names_in(query: str) -> str:
    return "&".join(sorted({part.partition("=")[0] for part in query.split("&")}))
