"""Reads an answer of WHOIS (RFC 3912): text in as many forms as there are registries, by the forms of `asyncwhois`.

Only its expressions for what we need are used, on short text: some of its parsers take minutes for 16 KB of blanks.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from bailiwick.score.facts.known import plain, spellings
from bailiwick.score.facts.registrants import is_private

if TYPE_CHECKING:
    from asyncwhois.tldparsers import TLDParser

_MAX_CHARS = 10_000
_MAX_LINE_CHARS = 300
_MOST_DATES = 20
_COMMENT = ("%", "#", ">>>", "--")
_REFERRAL = re.compile(
    r"^[ \t]*(?:refer|whois|registrar whois server|whois server|referralserver)[ \t]*:[ \t]*(?:r?whois://)?([^\s/]+)",
    re.IGNORECASE | re.MULTILINE,
)
_LIMIT = re.compile(
    r"(?:quota|limit|rate|number of (?:queries|requests|connections))[^\n]{0,40}exceed|"
    r"exceeded[^\n]{0,40}(?:quota|limit)|"
    r"too many (?:queries|requests|connections)|rate.?limit|blacklisted|access denied|try again later",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"no match|not found|no entries found|no data found|no object found|not registered|nothing found|not known|"
    r"does not exist|is available|status:[ \t]*(?:free|available)|no such domain",
    re.IGNORECASE,
)
# Of registries that `asyncwhois` does not know, and in place of expressions of it that never end.
_CREATED = (
    r"^[ \t]*(?:domain )?(?:created|creation|registered|registration|activated)(?:[ \t]+(?:on|date|time))?[ \t.]*:(.+)",
    r"domain name commencement date:(.+)",
    r"\[(?:created on|registered date)\](.+)",
)
_EXPIRES = (
    r"^[ \t]*(?:expires?|expiry|expiration|paid-till|renewal)(?:[ \t]+(?:on|date|time))?[ \t.]*:(.+)",
    r"\[expires on\](.+)",
)
_REGISTRAR = (r"^[ \t]*(?:sponsoring )?registrar(?:[ \t]+name)?[ \t.]*:(.+)",)
_REGISTRANT = (r"^[ \t]*(?:registrant|holder|owner)(?:[ \t]+name)?[ \t.]*:(.+)",)
_ORGANISATION = (r"^[ \t]*(?:registrant|holder|owner)[ \t]+organi[sz]ation[ \t.]*:(.+)",)
_ENDLESS = r"\w\W]+"
"""In an expression: it tries every pair of places, and every length between them."""
_GAP = re.compile(r"\[\\s\\S\]\*\?|\[\\s\\w\\W\]\*\?|\[\\s\\W\\w\]\*\?")
_YEAR_FIRST = re.compile(r"(?<!\d)(?:(\d{4})[-./](\d\d)[-./](\d\d)|((?:19|20)\d\d)([01]\d)([0-3]\d))(?!\d)")
_DAY_FIRST = re.compile(r"(\d{1,2})[-.](\d{1,2})[-.](\d{4})(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:1|2)\d{3}(?!\d)")
_TIME = re.compile(r"[T ]?\d{1,2}:\d{2}.*")


@dataclass(frozen=True, slots=True)
class WhoisAnswer:
    """What a WHOIS server says of a domain."""

    registered_on: date | None = None
    expires_on: date | None = None
    registrar: str | None = None
    is_private: bool | None = None

    @property
    def says_something(self) -> bool:
        return self.registered_on is not None or self.registrar is not None

    @property
    def says_all(self) -> bool:
        return None not in (self.registered_on, self.registrar, self.is_private)


def decoded(answer: bytes) -> str:
    """Text without comments, empty lines and control characters, no longer than answers are."""
    try:
        text = answer.decode()
    except UnicodeDecodeError:
        text = answer.decode("latin-1")
    lines, length = [], 0
    for line in dict.fromkeys(map(_tidy, text.splitlines())):
        if line.strip() and not line.lstrip().startswith(_COMMENT):
            length += len(line) + 1
            if length > _MAX_CHARS:
                break
            lines.append(line)
    return "\n".join(lines) + "\n"


def referral(text: str) -> str | None:
    """The server that this one refers to, perhaps with a port."""
    found = _REFERRAL.search(text)
    return found[1].rstrip(".:").lower() if found else None


def names_it(text: str, name: str) -> bool:
    """Whether the text is about this very name: a root server's is about its end."""
    spelt = "|".join(map(re.escape, spellings(name)))
    return re.search(rf"(?<![\w.-])(?:{spelt})(?![\w-]|\.\w)", text, re.IGNORECASE) is not None


def silence_words(text: str) -> str:
    """Why an answer tells nothing."""
    if not text.strip():
        return "the answer is empty"
    if asks_for_less(text):
        return "it says that we ask too much"
    return "it knows no such domain" if _UNKNOWN.search(text) else "the answer holds no registration"


def asks_for_less(text: str) -> bool:
    """A limit was reached; answers that say more than that are longer."""
    return len(text) < 1500 and _LIMIT.search(text) is not None


def read_whois(text: str, name: str) -> WhoisAnswer:
    """What can be read in decoded text."""
    from asyncwhois import tldparsers
    from asyncwhois.parse import TLDBaseKeys

    end = name.rpartition(".")[2].upper()
    parser = getattr(tldparsers, f"Regex{end}", tldparsers.TLDParser)()
    own = {key: expression for key, expression in parser.reg_expressions.items() if _ENDLESS not in (expression or "")}

    def first(key: TLDBaseKeys, others: Iterable[str]) -> str | None:
        return next((value for found in _found((own.get(key), *others), text) if (value := plain(found))), None)

    return WhoisAnswer(
        min(_days(parser, _found((own.get(TLDBaseKeys.CREATED), *_CREATED), text)), default=None),
        max(_days(parser, _found((own.get(TLDBaseKeys.EXPIRES), *_EXPIRES), text)), default=None),
        first(TLDBaseKeys.REGISTRAR, _REGISTRAR),
        is_private(
            first(TLDBaseKeys.REGISTRANT_ORGANIZATION, _ORGANISATION), first(TLDBaseKeys.REGISTRANT_NAME, _REGISTRANT)
        ),
    )


def _tidy(line: str) -> str:
    """Indented as it was: some forms go by that."""
    return "".join(letter if letter.isprintable() else " " for letter in line[:_MAX_LINE_CHARS]).rstrip()


def _found(expressions: Iterable[str | None], text: str) -> Iterator[str]:
    """What the first expression that finds something finds."""
    for expression in expressions:
        found = list(_matches(expression, text)) if expression else []
        if found:
            yield from found[:_MOST_DATES]
            return


def _matches(expression: str, text: str) -> Iterator[str]:
    """Each match; of one with a gap of any length the first, found in two steps: in one, it would try every pair."""
    parts = _GAP.split(expression)
    if len(parts) != 2 or "|" in expression:
        matches = re.finditer(expression, text, re.IGNORECASE | re.MULTILINE)
        yield from (match[1] for match in matches if match[1])
        return
    head = re.search(parts[0], text, re.IGNORECASE)
    tail = re.compile(parts[1], re.IGNORECASE).search(text, head.end()) if head else None
    if tail is not None and tail[1]:
        yield tail[1]


def _days(parser: "TLDParser", texts: Iterable[str]) -> Iterator[date]:
    for text in texts:
        if (day := _day(parser, text)) is not None:
            yield day


def _day(parser: "TLDParser", text: str) -> date | None:
    """The day of a date in any of many forms; without a year it is none, whatever a parser may think of it."""
    text = text.strip()[:60]
    try:
        if found := _YEAR_FIRST.search(text):
            year, month, day = (int(number) for number in found.groups() if number)
            return date(year, month, day)
        if found := _DAY_FIRST.match(text):  # with slashes it may be either: that is for the library to know
            return date(int(found[3]), int(found[2]), int(found[1]))
        if not _YEAR.search(text):
            return None
        # The time of day and its zone, of which there are odd ones, do not matter.
        read = parser._parse_date(_TIME.sub("", text))  # noqa: SLF001 - the library's forms of dates
    except (ValueError, OverflowError, TypeError):
        return None
    return read.date() if isinstance(read, datetime) else None
