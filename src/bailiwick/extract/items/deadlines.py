"""Until when one may apply: the day that a page names for it, not those of news, interviews and past rounds."""

import re
from dataclasses import dataclass
from datetime import date

from bailiwick.extract.items.calendar_days import days_in
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.pairs import Pair

LABEL = re.compile(
    r"\bdeadlines?\b|clos(?:ing|es|e)\b|apply (?:by|before)|\bdue\b|last date|submission window|key dates|"
    r"\btimeline|when\b|"
    r"antragsfrist|bewerbungs(?:schluss|frist)|einreich(?:frist|schluss)|einsendeschluss|abgabefrist|\bfristen?\b|"
    r"anmeldeschluss|date limite|délai|clôture|calendrier|plazo|fecha límite|cierre|indieningstermijn|"
    r"sluitings(?:datum|termijn)|"
    r"uiterste|important dates|how to apply|ihre bewerbung|candidature|aanvragen\b|aanvraagtermijn",
)
_STRONG_LABEL = re.compile(
    r"\bdeadline|closing date|^clos(?:es|ing)|applications? (?:close|due|deadline)|apply (?:by|before)|last date|"
    r"antragsfrist|"
    r"bewerbungs(?:schluss|frist)|einreich|einsendeschluss|anmeldeschluss|date limite|délai de|plazo|fecha límite|"
    r"indieningstermijn|"
    r"sluitingsdatum|submissions? close|applications? due|uiterste|submission deadline"
)
_OTHER_LABEL = re.compile(
    r"clarification|question|interview|decision|result|inquiry|opens?\b|opening|start|begin|publi|posted|advertised|"
    r"listed|updated|"
    r"stand\b|demo|commission|auszahlung|ouverture|annonce|last checked|voyage|dates?$|session|listed|last updated"
)
_BEFORE = re.compile(
    r"(?:\bby\b|\bbefore\b|\buntil\b|\bdue\b|clos(?:es|e|ing)\b|deadline|no later than|reach us|last date|"
    r"\bbis\b|\bbis zum\b|\bspätestens\b|einsendeschluss|frist|schluss|\bavant le\b|jusqu.au|date limite|délai|"
    r"\bhasta\b|\bal\b|antes del|plazo|\btot\b|uiterlijk|\bt/m\b|\bvóór\b|\bclose\b)"
)
_NEAR = re.compile(
    r"appl(?:y|ication)|submi|proposal|tender|entr(?:y|ies)|expressions? of interest|candidat|dossier|offres|bewerb|"
    r"antr[aä]g|"
    r"einreich|anmeld|einsende|solicit|inscripci|presentaci|aanvra|indien|aanmeld|deadline|clos|scheme|form\b|"
    r"fristen?|letters"
)
_AGAINST = re.compile(
    r"post(?:ed|ing)|publi|updat|open(?:s|ed|ing)\b|interview|decision|decide|result|announce|winner|notif|tell you|"
    r"award(?:ed)? by|"
    r"start|begin|last round|previous|last year|closed on|demo day|session|questions?|clarification|induction|"
    r"drop-in|"
    r"sold|since|stand\b|veröffentlicht|aktualisiert|beginn|ab sofort|auszahlung|ouverture|rencontre|annonce|"
    r"lauréat|prise de poste|"
    r"voyage|spent by|publicad|zum 1\. august|feiern|am \d|last checked|visits?|released|fixed term until|bop de"
)
_ROLLING = re.compile(
    r"\brolling\b|year[- ]round|any ?time|no (?:fixed )?deadline|open[- ]ended call|ongoing|laufend|jederzeit|"
    r"ganzjährig|"
    r"keine frist|en continu|toute l.année|au fil de l.eau|todo el año|plazo abierto|doorlopend|het hele jaar|"
    r"continuously|continuous basis"
)
_ROLLING_TEXT = """
    rolling|year-round|year round|any time|anytime|deadline|open-ended call|open ended call|ongoing|laufend|jederzeit|
    ganzjährig|keine frist|en continu|toute l|au fil de l|todo el año|plazo abierto|doorlopend|het hele jaar|
    continuously|continuous basis
"""
_ROLLING_PARTS = tuple(part.strip() for part in _ROLLING_TEXT.split("|"))
"""One of these is in each way to say so."""
_CONTEXT = 70


@dataclass(frozen=True, slots=True)
class Deadline:
    """A day, or none and rolling."""

    day: date | None
    is_rolling: bool
    sure: float


def find_deadline(lines: list[Line], pairs: list[Pair], *, is_month_first: bool = False) -> Deadline | None:
    """The best candidate of a page or of a part of it."""
    best: tuple[float, date] | None = None
    for weight, label, text in _texts(lines, pairs):
        for score, day in _scored(text, label, is_month_first=is_month_first):
            total = score + weight
            if best is None or total > best[0]:
                best = (total, day)
    least = 1.0
    if best is not None and best[0] >= least:
        return Deadline(best[1], is_rolling=False, sure=min(0.95, 0.5 + 0.1 * best[0]))
    return _rolling(lines, pairs)


def _texts(lines: list[Line], pairs: list[Pair]) -> "list[tuple[float, str, str]]":
    """Texts that may hold one, with what their label is worth."""
    found: list[tuple[float, str, str]] = []
    for pair in pairs:
        if pair.zone not in (Zone.MAIN, Zone.HEADER) or not LABEL.search(pair.label):
            continue
        if _OTHER_LABEL.search(pair.label) and not _STRONG_LABEL.search(pair.label):
            continue
        if re.search(r"clarification|question|inquiry|interview", pair.label):
            continue
        strong = _STRONG_LABEL.search(pair.label) is not None
        weight = (3.0 if strong else 0.6) + (0.3 if pair.is_structural else 0)
        found += [(weight if place < 2 else weight - 1.5, pair.label, text) for place, text in enumerate(pair.lines)]
    found += [(0.0, "", line.text) for line in lines if line.zone is Zone.MAIN and line.has_digit]
    return found


def _scored(text: str, label: str, *, is_month_first: bool) -> "list[tuple[float, date]]":
    found = []
    lowered = text.casefold()
    for place, day in enumerate(days_in(text, is_month_first=is_month_first)):
        start = max(lowered.rfind(". ", 0, day.start), lowered.rfind("; ", 0, day.start), 0)
        before = lowered[max(start, day.start - _CONTEXT) : day.start]
        sentence = lowered[start : day.end + _CONTEXT]
        score = 0.0
        if _BEFORE.search(before[-30:]):
            score += 1.0
        if _NEAR.search(sentence[: len(before) + 40] if start else lowered[: day.end + _CONTEXT]) or _NEAR.search(
            label
        ):
            score += 0.6
        near = before[-45:].rpartition(",")[2] if "," in before[-45:] else before[-45:]
        if _AGAINST.search(near):
            score -= 2.5
        score -= 0.05 * place
        if label and place and not _BEFORE.search(before[-30:]):
            score -= 0.5
        found.append((score, day.day))
    return found


def _rolling(lines: list[Line], pairs: list[Pair]) -> Deadline | None:
    for pair in pairs:
        if pair.zone is Zone.MAIN and _STRONG_LABEL.search(pair.label):
            value = pair.value.casefold()[:200]
            if _ROLLING.search(value) or re.match(r"(?:none|keine|aucune?|geen|ninguno)\b", value):
                return Deadline(None, is_rolling=True, sure=0.85)
    matter = [line.text for line in lines if line.zone is Zone.MAIN]
    whole = "\n".join(matter).casefold()
    if not any(part in whole for part in _ROLLING_PARTS):
        return None
    for lowered in whole.split("\n"):
        if _ROLLING.search(lowered) and _NEAR.search(lowered):
            return Deadline(None, is_rolling=True, sure=0.65)
    return None
