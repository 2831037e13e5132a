"""Programmes of funding: who gives how much to whom, and until when one may apply."""

import re
from dataclasses import dataclass
from datetime import date

from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.deadlines import find_deadline
from bailiwick.extract.items.evidence import LABELLED, MARKUP, SEEN, Values
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.links import find_apply_url
from bailiwick.extract.items.money import Sum, sums_in
from bailiwick.extract.items.page_facts import find_eligibility
from bailiwick.extract.items.pairs import Pair
from bailiwick.extract.items.parts import Part, parts_of
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Thing, everything_in
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("funding", 1)
_TYPES = frozenset(("MonetaryGrant", "Grant", "FundingScheme"))
_NAME = re.compile(
    r"grant|fund(?!rais)|bursar|award|scheme|voucher|subsid|f[öo]rder|stiftung|stipend|zuschuss|appel à projets|"
    r"bourse|subvention|aide\b|"
    r"ayuda|subvenci|regeling|fonds|challenge|relief|prize",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\bgrants?\b|microgrant|\bfunding\b|\bfund(?:s|ed)?\b|match(?:ed|ing)? funding|awards?\b|zuschuss|förder\w*|"
    r"subvention|subsidie|ayudas?\b|"
    r"bijdrage|financ\w*|bourses?\b|voucher|vergoed"
)
_AMOUNT_LABEL = re.compile(
    r"amount|grant size|award|funding available|how much|award range|grant amount|financing|montant|"
    r"höhe der förderung|förder(?:höhe|summe|betrag)|"
    r"cuantía|importe|bijdrage|bedrag|max\. amount|min\. amount|maximum|value"
)
_NOT_AMOUNT_LABEL = re.compile(r"total|overall|budget|match|average|fee|salary|cost|previous|past|similar|give")
_UP_TO = re.compile(
    r"(?:up to|maximum(?: of)?|max\.?|at most|no more than|bis zu|höchstens|maximal|jusqu.à|"
    r"maximaal|hasta|máximo de|tot maximaal|the maximum is|worth up to)\s?(?:de\s)?(?:circa\s)?$"
)
_FROM = re.compile(
    r"(?:minimum(?: of| grant is)?|min\.?|at least|mindestens|minimaal|ab|from|mínimo de|"
    r"the minimum grant is)\s?$"
)
_FOR = re.compile(
    r"grants?\b|awards?\b|up to|between|range|bis zu|jusqu|maxim|hasta|worth|zuschuss|subvention|bijdrage|minimaal|"
    r"zwischen|comprise|"
    r"fund\b|stipend|for each|per (?:project|pilot|holding|business)|je projekt|por (?:centro|edificio)"
)
_AGAINST = re.compile(
    r"total|in all\b|\bpot\b|pool|budget|overall|insgesamt|enveloppe|plafond|raised|paid out|legacy|income|turnover|"
    r"salar|available\b|pledged|"
    r"corpus|average|received a|gift|donat|given more|match|fee\b|groceries|coaching|overhead|samen goed|since|"
    r"share|external grant|costs?\b|"
    r"presupuesto total|m²|per month|below|under \$|under £|between £100,000|value of|wert von|spende"
)
_CLOSED = re.compile(
    r"currently closed|is (?:now )?closed|applications? (?:are|is|have) (?:now )?closed|frist ist abgelaufen|"
    r"antragsfrist ist|no longer accept|"
    r"geschlossen für|est clos|convocatoria cerrada|is gesloten|closed to applications|this (?:call|round|"
    r"fund) has closed"
)
_OPEN = re.compile(
    r"open for applications|(?:fund|call|round|scheme) is (?:now )?open|now open|"
    r"applications are (?:now )?open"
)
_ORGANISATION = re.compile(
    r"^(?:funders?|funding (?:organi[sz]ation|body|agency)|agency(?: name)?|awarding (?:body|organi[sz]ation)|"
    r"sponsor|funded by|förderstelle|fördergeber|organisme|"
    r"financeur|entidad|verstrekker|donor|provider|organi[sz]ation)$"
)
_STEMS_TEXT = """
    grant microgrant fund bursar award scheme voucher subsid förder foerder zuschuss stipend appel bourse
    subvention aide ayuda subvenci regeling fonds challenge relief prize financ bijdrage
"""
_STEMS = tuple(_STEMS_TEXT.split())
_OTHERS = re.compile(
    r"\b(?:vacancy|job|intern(?:ship)?|volunteer|apprentice|tender|recrut|residenc[ey]|competition|lecturer|"
    r"phd position|officer|engineer)\b|\(m/w/d\)|\(w/m/d\)|h/f",
    re.IGNORECASE,
)


def funding_of(source: Source) -> Gathered:
    """The programmes that a page describes: one, or one for each of its parts."""
    if not source.is_html:
        return Gathered()
    found = Gathered()
    thing = next((thing for thing in everything_in(source.things) if thing.is_a(_TYPES)), None)
    if thing is None and (
        source.facts.is_article_or_product or not any(word.startswith(_STEMS) for word in source.facts.words)
    ):
        return found
    parts = parts_of(source.lines, source.pairs, lambda part: _is_programme_part(source, part))
    for position, part in enumerate(parts):
        values = Values()
        values.note("name", part.name, LABELLED)
        _read_text(source, part.lines, part.pairs, values)
        _finish(source, values)
        found.add(
            checked(ItemKind.FUNDING_PROGRAMME, values.with_url(source.url), values.sure, MAKER, position=position)
        )
    if parts:
        return found
    values = Values()
    if thing is not None:
        _read_markup(thing, values)
    _read_text(source, source.lines, source.pairs, values)
    if thing is None and not _is_programme(source, values):
        return Gathered()
    values.note("name", source.facts.heading, LABELLED)
    _finish(source, values)
    return checked(ItemKind.FUNDING_PROGRAMME, values.with_url(source.url), values.sure, MAKER)


def _is_programme(source: Source, values: Values) -> bool:
    """A name of one and two of its marks, or a text full of them and three."""
    heading = source.facts.heading or ""
    if _OTHERS.search(heading):
        return False
    marks = values.has("amountMax", "eligibility", "applyUrl") + (values.has("deadline", "rolling") > 0)
    money = values.has("amountMax", "amountMin") > 0
    words = len(_WORDS.findall(source.facts.main_words))
    if _NAME.search(heading) or _NAME.search(source.facts.path):
        return money and marks >= 2 and words >= 1
    return money and words >= 2 and marks >= 3


def _is_programme_part(source: Source, part: Part) -> bool:
    if not _NAME.search(part.name):
        return False
    values = Values()
    _read_text(source, part.lines, part.pairs, values)
    return (
        values.has("amountMax", "amountMin") > 0 and values.has("deadline", "rolling", "eligibility", "applyUrl") >= 2
    )


def _read_markup(thing: Thing, values: Values) -> None:
    values.note("name", thing.text("name"), MARKUP)
    values.note("organisation", thing.text("funder", "sponsor", "provider"), MARKUP)
    values.note("description", thing.text("description"), MARKUP)
    for money in thing.things("amount"):
        currency = money.text("currency")
        least, most, one = money.text("minValue"), money.text("maxValue"), money.text("value")
        values.note("currency", currency.upper() if currency else None, MARKUP)
        # A single value may be the highest amount or the only one: what the text says of it is surer.
        values.note("amountMin", _plain(least) if least else None, MARKUP)
        values.note("amountMax", _plain(most) if most else (_plain(one) if one else None), MARKUP if most else SEEN)


def _read_text(source: Source, lines: list[Line], pairs: list[Pair], values: Values) -> None:
    host, language = source.host, source.content.language
    amount = find_amount(lines, pairs, host, language)
    if amount is not None:
        values.note("amountMin", _plain(str(amount.least)) if amount.least is not None else None, amount.sure)
        values.note("amountMax", _plain(str(amount.most)) if amount.most is not None else None, amount.sure)
        values.note("currency", amount.currency, amount.sure)
    is_whole = lines is source.lines
    deadline = (
        source.facts.deadline if is_whole else find_deadline(lines, pairs, is_month_first=source.facts.is_month_first)
    )
    if deadline is not None and deadline.day is not None:
        values.note("deadline", deadline.day.isoformat(), deadline.sure)
    elif deadline is not None:
        values.note("rolling", True, deadline.sure)
    values.note_found("eligibility", source.facts.eligibility if is_whole else find_eligibility(lines, pairs))
    values.note_found("applyUrl", find_apply_url(lines, source.base_url))
    for pair in pairs:
        if pair.zone is Zone.MAIN and _ORGANISATION.match(pair.label) and len(pair.value) < 120:
            values.note("organisation", pair.value, LABELLED)
    values.note("status", _said_status(lines), LABELLED)


def _finish(source: Source, values: Values) -> None:
    values.note_found("organisation", source.facts.site)
    values.note_found("description", source.facts.description)
    deadline = values.values.get("deadline")
    if isinstance(deadline, str):
        is_over = date.fromisoformat(deadline) < source.seen_on
        values.note("status", "closed" if is_over else "open", 0.9 if is_over else 0.8)
    elif "rolling" in values.values:
        values.note("status", "open", 0.7)
    if values.values.get("status") == "closed":
        values.values.pop("applyUrl", None)


def _said_status(lines: list[Line]) -> str | None:
    for line in lines:
        if line.zone is Zone.MAIN:
            lowered = line.text.casefold()
            if lowered in ("closed", "geschlossen", "fermé", "clos", "cerrado", "cerrada", "gesloten"):
                return "closed"
            if lowered in ("open", "offen", "ouvert", "abierta", "abierto"):
                return "open"
            if _CLOSED.search(lowered):
                return "closed"
            if _OPEN.search(lowered):
                return "open"
    return None


_LEAST_SCORE = 0.7
_LOWEST, _HIGHEST = re.compile(r"^min|\bfloor\b"), re.compile(r"^max|\bceiling\b")


@dataclass(frozen=True, slots=True)
class _Amount:
    least: float | None
    most: float | None
    currency: str | None
    sure: float


def find_amount(lines: list[Line], pairs: list[Pair], host: str, language: str | None) -> _Amount | None:
    """How much one may get: of all sums the one that is spoken of as a grant; the pot that all share is not."""
    spoken = [one for weight, text in _texts(lines, pairs) for one in _weighed(text, weight, host, language)]
    best = max(spoken, key=lambda one: one.score, default=None)
    if best is None or best.score < _LEAST_SCORE:
        return None
    sure, total = min(0.9, 0.5 + 0.15 * best.score), best.sum
    if total.is_range:
        return _Amount(total.least, total.most, total.currency, sure)
    least = next((one.sum.most for one in spoken if one.is_lowest), None)
    most = next((one.sum.most for one in spoken if one.is_highest), None)
    if least is not None and most is not None and least < most:
        return _Amount(least, most, total.currency, sure)
    return _Amount(None if best.is_highest else total.least, total.most, total.currency, sure)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A sum, and how much it is spoken of as what one may get."""

    sum: Sum
    score: float
    is_lowest: bool
    is_highest: bool


def _weighed(text: str, weight: float, host: str, language: str | None) -> list[_Spoken]:
    lowered, found = text.casefold(), []
    for place, one in enumerate(sums_in(text, host, language)):
        start = max(lowered.rfind(". ", 0, one.start), lowered.rfind("; ", 0, one.start), 0)
        before = lowered[max(start, one.start - 60) : one.start]
        after = re.split(r"[.;] ", lowered[one.end : one.end + 30])[0]
        is_up_to = _UP_TO.search(before) is not None
        score = weight + 0.8 * (_FOR.search(before) is not None) + 0.6 * one.is_range + 0.5 * is_up_to - 0.1 * place
        if _AGAINST.search(before[-40:]) or _AGAINST.search(after):
            score -= 1.6 if weight < 1 else 0.9
        is_meant = score > 0.5 and not one.is_range
        is_lowest = is_meant and _FROM.search(before) is not None
        found.append(_Spoken(one, score, is_lowest, is_up_to and not one.is_range and not is_lowest))
    return found


def _texts(lines: list[Line], pairs: list[Pair]) -> "list[tuple[float, str]]":
    found: list[tuple[float, str]] = []
    for pair in pairs:
        if pair.zone is Zone.MAIN and _AMOUNT_LABEL.search(pair.label) and not _NOT_AMOUNT_LABEL.search(pair.label):
            label = "minimum " if _LOWEST.search(pair.label) else "maximum " if _HIGHEST.search(pair.label) else ""
            found += [(1.2, label + text) for text in pair.lines[:4]]
    found += [(0.2, line.text) for line in lines if line.zone is Zone.MAIN and line.has_digit]
    return found


def _plain(text: str) -> str | None:
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return f"{number:.2f}".rstrip("0").rstrip(".") if 0 <= number < 1e12 else None
