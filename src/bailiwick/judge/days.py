"""Days and years among the words of a title and a snippet, in several languages, and which of them are deadlines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bailiwick.model.words import words_of

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro januari stycznia ledna januára января",
    "february feb februar février fevrier febrero febbraio fevereiro februari lutego února februára февраля",
    "march mar märz maerz mars marzo março marco maart marca března марта",
    "april apr avril abril aprile kwietnia dubna apríla апреля",
    "may mai mayo maggio maio mei maj maja května mája мая",
    "june jun juni juin junio giugno junho czerwca června júna июня",
    "july jul juli juillet julio luglio julho lipca července júla июля",
    "august aug août aout agosto augustus augusti sierpnia srpna augusta августа",
    "september sep sept septembre septiembre settembre setembro września září septembra сентября",
    "october oct oktober okt octobre octubre ottobre outubro października října októbra октября",
    "november nov novembre noviembre novembro listopada listopadu novembra ноября",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro grudnia prosince decembra декабря",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_BEFORE_A_DEADLINE = frozenset(
    words_of(
        "deadline deadlines due by until till before closes closing close ends end submit submitted apply expires "
        "frist bewerbungsfrist einreichfrist bis limite avant jusqu plazo hasta fecha scadenza entro prazo "
        "até termin termín deadlinen uiterlijk sluit senast frist do до"
    )
)
_REACH = 6
"""How many words before a day make it a deadline."""
_SINCE = frozenset(words_of("since founded established est seit gegründet depuis fondée desde fundada dal sinds od"))
_FIRST_YEAR, _LAST_YEAR = 2000, 2100
_MOST_WORDS = 400


@dataclass(frozen=True, slots=True)
class Days:
    """What a text says of time."""

    deadlines: tuple[date, ...]
    years: tuple[int, ...]
    """All years that are named, but those since which something is so."""


_NONE = Days((), ())


def days_in(words: Sequence[str]) -> Days:
    deadlines, years = [], []
    for position, word in enumerate(words[:_MOST_WORDS]):
        if len(word) == 4 and word.isdecimal() and word.isascii() and _FIRST_YEAR <= int(word) <= _LAST_YEAR:
            if not _SINCE.isdisjoint(words[max(0, position - 2) : position]):
                continue
            years.append(int(word))
            day, start = _day_at(words, position)
            if day is not None and not _BEFORE_A_DEADLINE.isdisjoint(words[max(0, start - _REACH) : start]):
                deadlines.append(day)
    return Days(tuple(deadlines), tuple(years)) if years else _NONE


def _day_at(words: Sequence[str], position: int) -> tuple[date | None, int]:
    """The day that a year at this position ends (30 April 2021, April 30, 2021) or begins (2021-04-30)."""
    year = int(words[position])
    before = [words[at] if at >= 0 else "" for at in (position - 2, position - 1)]
    # Spanish and Portuguese put a word between: 10 de mayo de 2018.
    start = position - 2
    if before[1] == "de" and position >= 4:
        before, start = [words[position - 4], words[position - 2]], position - 4
    for day, month in (before, before[::-1]):
        if (found := _day(year, month, day)) is not None:
            return found, start
    after = list(words[position + 1 : position + 3])
    if len(after) == 2 and after[0].isdecimal() and len(after[0]) == 2:
        return _day(year, after[0], after[1]), position
    return (_month_end(year, MONTHS[before[1]]), position - 1) if before[1] in MONTHS else (None, position)


def _day(year: int, month: str, day: str) -> date | None:
    number = MONTHS.get(month) or _number(month)
    chosen = _number(day.rstrip("snrtdh")) if day[:1].isdecimal() else None
    try:
        return date(year, number, chosen) if number and chosen else None
    except ValueError:
        return None


def _number(word: str) -> int | None:
    return int(word) if 0 < len(word) <= 2 and word.isdecimal() and word.isascii() else None


def _month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) if year < _LAST_YEAR else date(year, month, 28)
