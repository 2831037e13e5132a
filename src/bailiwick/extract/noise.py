"""What changes in a text without its meaning changing, taken out before it is hashed.

The rule: **what moves by itself faster than a day is noise; what a person had to write is content.** Noise stands in
lines of its own or in short ones (bylines, footers, teasers). In a line of more than 160 characters all is content:
that is a paragraph, and somebody wrote it. In short lines:

- *Age.* "5 minutes ago" is noise; so are days, weeks and years in a line of at most 80 characters.
- *Stamps.* After "generated", "updated", "server time" and their like, the time of day is noise, the date is not: a
  page that was revised says so by its day. Times elsewhere (opening hours, race results) are content.
- *Render times.* "Generated in 0.12 seconds, 12 queries" is noise.
- *Today.* "Today is Monday, 16 November" is noise, date and all.
- *Countdowns.* Hours, minutes and seconds left are noise; days left are content: a deadline that moves shows there.
- *Counters* of views, visitors, likes and shares are noise. Prices, stock, ratings, reviews, comments and downloads are
  content.
- *Tokens* are noise behind a label that says so (request ID, session, nonce). Any other long string is content:
  checksums and commits are what some pages are about.
- *Labels of advertisements* that stand alone, and session parameters in URLs, are noise.

White space and invisible characters never count, letter case does. Every rule has a few words without which it cannot
match: looking for these first, in the short lines alone, is what makes this cheap.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Change: TypeAlias = Callable[[re.Match[str]], str]

_LONGEST_LINE = 160
_SHORT_LINE = 80
_FINE = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)"
_COARSE = r"(?:d|days?|w|wks?|weeks?|mo|months?|y|yrs?|years?)"
_SOME = (
    r"(?:(?:about|almost|over|around|circa|environ|etwa|unos?|less than|more than) )?"
    r"(?:\d+|an?|one|une?|uno|una|eine[rm]?|een)"
)
_TIME = (
    r"(?:\d{1,2}[:h]\d{2}(?::\d{2})?(?:[.,]\d{1,6})?|\d{1,2}\.\d{2}(?= ?uhr)) *(?:[ap]\.?m\b\.?|uhr\b|h\b)?"
    r" *(?:\(?(?:utc|gmt|cest|cet|e[sd]t|c[sd]t|m[sd]t|p[sd]t|bst|z)\b\)?)?(?: *[+-]\d{2}:?\d{2})?"
)
_MADE = (
    r"(?:generated|rendered|served|cached|updated|refreshed|retrieved|synchroni[sz]ed|loaded|checked|page created|"
    r"page built|(?:server|current|local) time|time now|generiert|erzeugt|aktualisiert|serverzeit|générée?|"
    r"mise? à jour|generado|actualizado|generato|aggiornato|bijgewerkt|gegenereerd|atualizado)"
)
_SEEN = (
    r"(?:(?:page ?)?views?|visits?|visitors?|hits|reads|likes?|shares?|impressions?|followers|"
    r"(?:users?|guests?) online|online(?: now)?|(?:people|others|users) (?:are )?(?:viewing|watching|looking|reading)|"
    r"aufrufe|besucher|vues|visites|visitas|visualizzazioni|weergaven|visualizações)"
)
_SEEN_BEFORE = r"(?:(?:page )?views?|viewed|visits?|visitors?|hits|reads|likes?|shares?|online|aufrufe|besucher)"
_LEFT = r"(?=(?:left|remaining|übrig|verbleibend|restantes?)\b)"
_AD = (
    r"(?:advertisements?|advertising|advert|ads?|sponsored(?: content| links?)?|anzeigen?|werbung|publicité|publicidad|"
    r"pubblicità|(?:story|article) continues (?:below|after)(?: this)? advertisement)"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One kind of noise. `hints` are in lower case; one of them is in every text that it matches."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    change: str | Change = ""


def _rule(hints: str, pattern: str, change: str | Change = "") -> _Rule:
    return _Rule(tuple(hints.split("|")), re.compile(pattern, re.I | re.M), change)


def _if_short(found: re.Match[str]) -> str:
    """Only what stands in a very short line goes."""
    start = found.string.rfind("\n", 0, found.start()) + 1
    end = found.string.find("\n", found.end())
    return found[0] if (len(found.string) if end < 0 else end) - start > _SHORT_LINE else ""


def _if_with_digit(token: re.Match[str]) -> str:
    return token[1] if any(char.isdigit() for char in token[2]) else token[0]


# No expression may match a newline: lines are counted again afterwards.
_IN_SHORT_LINES = (
    _rule(" ago", rf"\b{_SOME} ?{_FINE} ago\b|\b(?:a few )?moments? ago\b"),
    _rule(" ago", rf"\b{_SOME} ?{_COARSE} ago\b", _if_short),
    _rule("just now", r"\bjust now$"),
    _rule("vor ", rf"\bvor {_SOME} (?:sekunden?|minuten?|stunden?)\b"),
    _rule("vor ", rf"\bvor {_SOME} (?:tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)\b", _if_short),
    _rule("il y a ", rf"\bil y a {_SOME} (?:secondes?|minutes?|heures?)\b"),
    _rule("il y a ", rf"\bil y a {_SOME} (?:jours?|semaines?|mois|ans?)\b", _if_short),
    _rule("hace ", rf"\bhace {_SOME} (?:segundos?|minutos?|horas?)\b"),
    _rule("hace ", rf"\bhace {_SOME} (?:días?|semanas?|mes(?:es)?|años?)\b", _if_short),
    _rule(" fa\n| fa | fa,", rf"\b{_SOME} (?:second[io]|minut[io]|or[ae]) fa\b"),
    _rule(" fa\n| fa | fa,", rf"\b{_SOME} (?:giorn[io]|settiman[ae]|mes[ei]|ann[io]) fa\b", _if_short),
    _rule("geleden", rf"\b{_SOME} (?:seconden?|minuten?|uur|uren) geleden\b"),
    _rule("geleden", rf"\b{_SOME} (?:dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar) geleden\b", _if_short),
    _rule("today is|today's date|heute ist", r"^.{0,3}\b(?:today is|today's date(?: is)?|heute ist)\b[^\n]{0,60}$"),
    _rule(
        "adverti|advert\n|\nad\n|\nads\n|sponsored|anzeige|werbung|publicit|publicid|pubblicit",
        rf"^[^\w\n]*{_AD}[^\w\n]*$",
    ),
)
_IN_SHORT_LINES_WITH_DIGITS = (
    _rule(
        "generated|rendered|served|cached|updated|refreshed|retrieved|synchroni|loaded|checked|page created|page built|"
        " time|generiert|erzeugt|aktualisiert|serverzeit|généré|à jour|generado|actualizado|generato|aggiornato|"
        "bijgewerkt|gegenereerd|atualizado",
        rf"\b({_MADE}\b[^\n]{{0,60}}?)(?<![\d.:/-]){_TIME}",
        r"\1",
    ),
    _rule(
        "generated|rendered|served|loaded|page created|page built|erzeugt|généré| time",
        r"\b(?:(?:page )?(?:generated|rendered|served|loaded|created|built|erzeugt|générée?)|"
        r"(?:generation|execution|render|load|response) time)[^\n\d]{0,20}\d+(?:[.,]\d+)? ?"
        r"(?:ms|milliseconds?|s|secs?|seconds?|sekunden|secondes)\b"
        r"(?:[^\n\d]{0,12}\d+ (?:sql |db |database )?(?:queries|requests))?",
    ),
    _rule(
        "left|remaining|übrig|verbleibend|restant",
        rf"(?:\b\d{{1,3}} ?(?:{_FINE}|std|stunden?|minuten?)\b[ ,:]*(?:and )?)+{_LEFT}"
        rf"|\b\d{{1,3}}:\d{{2}}:\d{{2}} *{_LEFT}",
    ),
    _rule(
        "s in ",
        rf"(?<=(?:nds|ses|res|rts) in )(?:\d{{1,3}}:\d{{2}}:\d{{2}}|(?:\d{{1,3}} ?{_FINE}\b[ ,:]*(?:and )?)+)",
    ),
    _rule(
        "view|visit|hits|read|like|share|impression|follower|online|watching|looking|aufrufe|besucher|vues|visuali|weergaven",
        rf"(?<![\d.,])\d[\d.,' \u00a0]*[km]?\+? ?{_SEEN}\b|\b{_SEEN_BEFORE} ?[:=(]? ?\d[\d.,]*[km]?\b(?: times)?",
        _if_short,
    ),
    _rule(
        " id|-id|token|nonce|session",
        r"\b((?:request|trace|session|correlation|ray|support|incident|visitor|csrf|xsrf)[ _-]?(?:id|token|nonce|key)?"
        r" ?[:#=] ?|nonce ?[:=] ?)([\w.+/=-]{6,})",
        _if_with_digit,
    ),
    _rule("sid=|sessionid=|sessid=|session=", r"[;?&](?:jsessionid|phpsessid|sid|sessionid|session)=[\w.!-]+"),
)
_has_digit = re.compile(r"\d").search
_INVISIBLE = tuple(char.encode() for char in "\u00a0\u200b\u200c\u200d\ufeff\u00ad\u202f")


def without_noise(text: str) -> bytes:
    """The part of a text that counts, without white space, as bytes to be hashed."""
    lines = text.split("\n")
    short = [place for place, line in enumerate(lines) if 0 < len(line) <= _LONGEST_LINE]
    is_changed = _quieten(lines, short, _IN_SHORT_LINES)
    with_digits = [place for place in short if _has_digit(lines[place])]
    if _quieten(lines, with_digits, _IN_SHORT_LINES_WITH_DIGITS) or is_changed:
        text = "".join(lines)
    raw = text.encode("utf-8", "replace").translate(None, b" \t\r\n\f\v")
    if not raw.isascii():
        for invisible in _INVISIBLE:
            raw = raw.replace(invisible, b"")
    return raw


def _quieten(lines: list[str], places: list[int], rules: tuple[_Rule, ...]) -> bool:
    """Take the noise out of the lines at these places. Whether anything was changed."""
    joined = "\n".join([lines[place] for place in places])
    lowered = f"\n{joined.lower()}\n"
    quiet = joined
    for rule in rules:
        for hint in rule.hints:
            if hint in lowered:
                quiet = rule.pattern.sub(rule.change, quiet)
                break
    if quiet == joined:
        return False
    for place, line in zip(places, quiet.split("\n"), strict=True):
        lines[place] = line
    return True
