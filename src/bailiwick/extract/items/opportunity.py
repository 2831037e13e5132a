"""Opportunities: posts, places for learners and volunteers, residencies, competitions, tenders."""

import re

from bailiwick.extract.items.calendar_days import iso_day
from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.deadlines import find_deadline
from bailiwick.extract.items.evidence import LABELLED, MARKUP, SEEN, Values
from bailiwick.extract.items.hints import may_say
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.links import find_apply_url
from bailiwick.extract.items.money import names_money, sums_in
from bailiwick.extract.items.pairs import Pair
from bailiwick.extract.items.parts import Part, parts_of
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Thing, everything_in
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("opportunity", 1)
_TYPES = frozenset(("JobPosting", "VolunteerAction", "EducationalOccupationalProgram"))
_JOB = (
    r"\bjobs?\b|vacanc|career|recrut|recruit|hiring|\bstellen?\b|karriere|bewerbung|empleo|oferta de empleo|\bcdi\b|"
    r"\bcdd\b|vacature|"
    r"\([mwfdhx]\s?/\s?[mwfdhx](?:\s?/\s?[mwfdhx])?\)|salary|wage\b|employer|phd position|postdoc|position is|"
    r"seeking a|cherche un|\bpost\b"
)
_TENDER = (
    r"\btenders?\b|procurement|request for proposals for the supply|marché public|appel d.offres|ausschreibung|"
    r"licitaci|aanbesteding|"
    r"contracting authority"
)
_INTERNSHIP = (
    r"\bintern(?:ship)?s?\b|praktik(?:um|ant)|\bstages?\b|stagiaire|prácticas|becari[oa]s?\b|\bpraktikumsplatz"
)
_KINDS = {
    "internship": _INTERNSHIP,
    "apprenticeship": r"apprentice|ausbildung\b|azubi|lehrstelle|alternance|apprenti|leerling|aprendiz",
    "volunteering": r"volunteer|ehrenamt|freiwillige|bénévol|vrijwillig|voluntari",
    "fellowship": r"fellowship",
    "scholarship": r"scholarship|stipendium|beca\b|studiebeurs",
    "residency": r"residenc[ye]|artist in residence|résidence d",
    "competition": r"competition|wettbewerb|concours|concurso|wedstrijd|prijsvraag",
    "tender": _TENDER,
    "call": r"call for (?:submissions|papers|entries|artists|proposals)|open call|call for",
    "job": _JOB,
}
"""In this order: what is more special comes first."""
_KIND_PARTS_TEXT = {
    "internship": "intern|praktik|stage|stagiaire|prácticas|becari",
    "apprenticeship": "apprenti|ausbildung|azubi|lehrstelle|alternance|leerling|aprendiz",
    "volunteering": "volunteer|ehrenamt|freiwillige|bénévol|vrijwillig|voluntari",
    "fellowship": "fellowship",
    "scholarship": "scholarship|stipendium|beca|studiebeurs",
    "residency": "residenc|artist in residence|résidence d",
    "competition": "competition|wettbewerb|concours|concurso|wedstrijd|prijsvraag",
    "tender": "tender|procurement|request for proposals|marché public|appel d|ausschreibung|licitaci|aanbesteding|"
    "contracting authority",
    "call": "call for|open call",
    "job": "job|vacanc|career|recrut|recruit|hiring|stelle|karriere|bewerbung|empleo|cdi|cdd|vacature|/|salary|wage|"
    "employer|phd position|postdoc|position is|seeking a|cherche un|post",
}
_KIND_PARTS = {kind: tuple(parts.split("|")) for kind, parts in _KIND_PARTS_TEXT.items()}
"""One of these is in each of a kind's words."""
_KIND = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _KINDS.items())
_FUNDING_NAME = re.compile(
    r"grant|\bfunds?\b|funding|bursar|scheme|voucher|subsid|f[öo]rder|appel à projets|bourse|subvention|ayuda|"
    r"regeling|awards?\b|relief|programme",
    re.IGNORECASE,
)
_PAY_LABEL = re.compile(
    r"^(?:salary|pay|wage|stipend|compensation|remuneration|fee paid|expenses|support|prizes?|honorarium|"
    r"estimated value.*|value|the stipend|our offer|offer|"
    r"vergütung|gehalt|lohn|entgelt|wir bieten|salaire|rémunération|indemnité|montant estimé|salario|remuneración|"
    r"retribución|vergoeding|salaris|what you get)\b"
)
_WEAK_PAY = re.compile(r"^(?:our offer|offer|wir bieten|what you get|support|value)")
_PAY_SENTENCE = re.compile(
    r"salary|honorarium|stipend|per hour|an hour|per annum|a year\b|per year|a month|per month|monthly|wage|brutto|"
    r"brut\b|pro stunde|vergütung|bruto|net per|pay\b|al mes|"
    r"first prize|par an\b|im monat|receive|expenses"
)
_ORGANISATION = re.compile(
    r"^(?:employer|company|organi[sz]ation|contracting authority|hiring organi[sz]ation|"
    r"arbeitgeber|employeur|pouvoir adjudicateur|empresa|werkgever|buyer)$"
)
_MARK_LABEL = re.compile(
    r"^(?:salary|wage|hours|contract(?: type)?|location|closing date|closes|reference|vacancy number|"
    r"(?:time )?commitment|"
    r"start date|duration|department|job type|age|where|employer|about you|about the (?:role|job)|(?:your|the) role|"
    r"what you.ll (?:do|need)|requirements|responsibilities|qualifications|profile|benefits|contracting authority|"
    r"procedure|"
    r"jury|prizes|interested|(?:ihre|deine) aufgaben|aufgaben|(?:ihr|dein) profil|wir bieten|missions?|"
    r"profil recherché|"
    r"salaire|tipo de contrato|salario|funciones|wat (?:vragen|bieten) wij|functie-eisen|vergütung)\b"
)
_SHORT = 50
_STEMS_TEXT = """
    intern praktik stage stagiaire práctic becari apprenti ausbildung azubi lehrstelle alternance leerling
    aprendiz volunteer ehrenamt freiwillig bénévol vrijwillig voluntari fellowship scholarship stipend beca
    studiebeurs residenc résidence competition wettbewerb concours concurso wedstrijd prijsvraag tender
    procurement marché appel ausschreibung licitaci aanbesteding call job vacanc career recru hiring stelle
    karriere bewerb empleo cdi vacature salary wage employer phd postdoc position seeking cherche candidat
    artist wanted post
"""
_STEMS = tuple(_STEMS_TEXT.split())


def opportunities_of(source: Source) -> Gathered:
    """The opportunities that a page describes: one, or one for each of its parts."""
    if not source.is_html:
        return Gathered()
    things = [thing for thing in everything_in(source.things) if thing.is_a(_TYPES)]
    if not things and (
        source.facts.is_article_or_product or not any(word.startswith(_STEMS) for word in source.facts.words)
    ):
        return Gathered()
    found = Gathered()
    if len(things) > 1:
        for position, thing in enumerate(things[:50]):
            values = Values()
            _read_markup(thing, values)
            found.add(_checked(source, values, position))
        return found
    parts = [] if things else parts_of(source.lines, source.pairs, lambda part: _is_part(source, part))
    for position, part in enumerate(parts):
        values = Values()
        values.note("name", part.name, LABELLED)
        values.note("kind", _kind_of(part.name, " ".join(line.text for line in part.lines)), SEEN)
        _read_text(source, part.lines, part.pairs, values)
        found.add(_checked(source, values, position))
    if parts:
        return found
    values = Values()
    if things:
        _read_markup(things[0], values)
    _read_text(source, source.lines, source.pairs, values)
    heading = source.facts.heading or ""
    kind = _page_kind(source, heading)
    if not things and not _is_opportunity(source, heading, kind, values):
        return Gathered()
    values.note("name", heading, LABELLED)
    values.note("kind", kind or "job", SEEN)
    return _checked(source, values, 0)


def _checked(source: Source, values: Values, position: int) -> Gathered:
    values.note_found("organisation", source.facts.site)
    values.note_found("description", source.facts.description if position == 0 else None)
    return checked(ItemKind.OPPORTUNITY, values.with_url(source.url), values.sure, MAKER, position=position)


def _is_opportunity(source: Source, heading: str, kind: str | None, values: Values) -> bool:
    if kind is None or (_FUNDING_NAME.search(heading) and kind in ("job", "call", "scholarship")):
        return False
    labels = sum(
        1
        for pair in source.pairs
        if pair.zone is Zone.MAIN and (_MARK_LABEL.match(pair.label) or _PAY_LABEL.match(pair.label))
    )
    marks = values.has("deadline", "applyUrl", "compensation") + min(2, labels) + _has_apply_button(source)
    is_named = _kind_of(heading + " " + source.facts.path, "") is not None
    return marks >= 1 + (kind == "job") + (not is_named)


def _has_apply_button(source: Source) -> bool:
    """A button that opens a form on the page leads nowhere else."""
    return any(
        line.tag == "button" and line.text.casefold().startswith(("apply", "bewerben", "postuler"))
        for line in source.lines
    )


def _is_part(source: Source, part: Part) -> bool:
    text = " ".join(line.text for line in part.lines)
    if _kind_of(part.name, text) is None or _MARK_LABEL.match(part.name.casefold()) or len(part.name) > 80:
        return False
    return find_apply_url(part.lines, source.base_url) is not None and not _FUNDING_NAME.search(part.name)


def _page_kind(source: Source, heading: str) -> str | None:
    """By heading, title and address first; by the text only where these say nothing."""
    title = source.content.title or ""
    return _kind_of(f"{heading} | {title} {source.facts.path}", source.facts.main_words)


def _kind_of(name: str, text: str) -> str | None:
    name = name.replace("-", " ")
    for kind, pattern in _KIND:
        if pattern.search(name):
            if kind == "scholarship" and re.search(r"startstipendium", name, re.IGNORECASE):
                continue
            return kind
    text = text[:3_000]
    best, most = None, 0
    for kind, pattern in _KIND if text else ():
        if may_say(text, _KIND_PARTS[kind]) and (count := len(pattern.findall(text))) > most:
            best, most = kind, count
    return best


_EMPLOYMENT = {
    "INTERN": "internship",
    "VOLUNTEER": "volunteering",
    "APPRENTICE": "apprenticeship",
    "APPRENTICESHIP": "apprenticeship",
}


def _read_markup(thing: Thing, values: Values) -> None:
    values.note("name", thing.text("title", "name"), MARKUP)
    values.note("organisation", thing.text("hiringOrganization", "provider", "organizer"), MARKUP)
    types = [text.upper() for text in thing.texts("employmentType")]
    kind = next((_EMPLOYMENT[text] for text in types if text in _EMPLOYMENT), None)
    if thing.is_a(("VolunteerAction",)):
        kind = "volunteering"
    name = thing.text("title", "name") or ""
    by_name = _kind_of(name, "")
    values.note("kind", kind or by_name or ("job" if thing.is_a(("JobPosting",)) else None), MARKUP if kind else 0.8)
    until = iso_day(thing.text("validThrough", "applicationDeadline"))
    posted = iso_day(thing.text("datePosted"))
    if until is not None and not (posted is not None and until < posted):
        values.note("deadline", until.isoformat(), MARKUP)
    values.note("compensation", _salary(thing), 0.8)


_UNITS = {"HOUR": "hour", "DAY": "day", "WEEK": "week", "MONTH": "month", "YEAR": "year"}


def _salary(thing: Thing) -> str | None:
    for salary in thing.things("baseSalary", "estimatedSalary"):
        currency = salary.text("currency") or ""
        value = next(iter(salary.things("value")), salary)
        least, most, one = value.text("minValue"), value.text("maxValue"), value.text("value")
        unit = _UNITS.get((value.text("unitText") or "").upper())
        amount = f"{least}-{most}" if least and most else one or least or most
        if amount:
            return f"{amount} {currency}".strip() + (f" per {unit}" if unit else "")
    return thing.text("baseSalary")


def _read_text(source: Source, lines: list[Line], pairs: list[Pair], values: Values) -> None:
    is_whole = lines is source.lines
    deadline = (
        source.facts.deadline if is_whole else find_deadline(lines, pairs, is_month_first=source.facts.is_month_first)
    )
    if deadline is not None and deadline.day is not None:
        values.note("deadline", deadline.day.isoformat(), deadline.sure)
    values.note_found("applyUrl", find_apply_url(lines, source.base_url))
    for pair in pairs:
        if pair.zone is Zone.MAIN and _ORGANISATION.match(pair.label) and len(pair.value) < 120:
            values.note("organisation", pair.value, LABELLED + 0.05)
    values.note_found("compensation", _compensation(source, lines, pairs))


def _compensation(source: Source, lines: list[Line], pairs: list[Pair]) -> tuple[str, float] | None:
    best: tuple[float, str] | None = None
    for pair in pairs:
        if pair.zone is not Zone.MAIN or not _PAY_LABEL.match(pair.label) or not pair.lines:
            continue
        is_weak = _WEAK_PAY.match(pair.label) is not None
        for place, text in enumerate(pair.lines[:6]):
            has_money = bool(sums_in(text, source.host, source.content.language))
            pays = _PAY_SENTENCE.search(text.casefold()) is not None
            if is_weak and not (has_money and pays) and not (place == 0 and (pays or has_money)):
                continue
            score = 1.5 + 0.4 * has_money + 0.8 * pays - 0.2 * place - (0.5 if is_weak else 0)
            if best is None or score > best[0]:
                best = (score, (_paying_part(source, text) if len(text) > _SHORT else None) or _clause(text))
    if best is not None:
        return best[1], LABELLED
    told = [line.text for line in lines if line.has_digit and line.zone is Zone.MAIN]
    if names_money("\n".join(told)):
        for text in told:
            if pay := _paying_part(source, text):
                return pay, SEEN
    return None


def _paying_part(source: Source, text: str) -> str | None:
    """Of a line that speaks of pay the words around the sum."""
    lowered = text.casefold()
    found = sums_in(text, source.host, source.content.language)
    if not found or (not _PAY_SENTENCE.search(lowered) and len(text) > 30):
        return None
    for one in found:
        around = lowered[max(0, one.start - 40) : one.end + 30]
        if _PAY_SENTENCE.search(around) or (one.is_range and len(text) <= 30):
            tail = re.match(
                r"(?:\s?(?:gross|net|brut|brutto|brutos?))?\s?(?:(?:per|a|an|pro|par|al|im|each)\s\w+(?:\s\w+)?|"
                r"brutos anuales|(?:brut )?mensuel|monthly stipend|monthly)?",
                text[one.end :],
            )
            return (text[one.start : one.end] + (tail[0] if tail else "")).strip(" ,.")
    return None


def _clause(text: str) -> str:
    """Without what follows the pay in the same breath."""
    cut = re.split(r"(?<=[a-zà-ÿ)€])[,;.]\s+(?!\d)", text.strip())
    return cut[0][:300]
