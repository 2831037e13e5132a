"""Services: what an organisation does for people, for whom, and how it is reached."""

import re

from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.emails import emails_in
from bailiwick.extract.items.evidence import LABELLED, MARKUP, SEEN, Values
from bailiwick.extract.items.lines import Zone
from bailiwick.extract.items.names import is_generic
from bailiwick.extract.items.page_facts import address_of
from bailiwick.extract.items.phones import e164
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Thing, everything_in
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("service", 1)
_TYPES_TEXT = """
    Service GovernmentService FinancialProduct BroadcastService CableOrSatelliteService FoodService TaxiService
    WebAPI MedicalTherapy MedicalProcedure PhysicalTherapy TherapeuticProcedure
"""
_TYPES = frozenset(_TYPES_TEXT.split())
_NAME = re.compile(
    r"service|advice|advi[sc]|support|help|counsel|therap|clinic|collection|removal|repair|translation|mediation|"
    r"lesson|course|class|consult|"
    r"visiting|visits|sitting|respite|ride|transport|shuttle|beratung|hilfe|dienst|pension|begleit|betreuung|"
    r"portage|écrivain|consultation|"
    r"permanence|accompagn|acompañ|asesor|servicio|atención|taalcafé|café|hulp|spreekuur|cleaning|treatment|surgery|"
    r"sharpening|helpline|hotline|"
    r"doula|care\b|training|workshop|assistance|screening|meals|delivery",
    re.IGNORECASE,
)
_MARK_LABEL = re.compile(
    r"^(?:cost|costs|fees?|price|prices|pricing|packages|tarifs?|kosten|preis|was kostet es|what does it cost|"
    r"how it works|how to (?:enrol|enroll|refer|book|use).*|"
    r"booking|book|referrals?|refer yourself|how do i refer.*|get in touch|intake|drop-in|in a crisis|appointments?|"
    r"rendez-vous|inscription|anmeldung|"
    r"reservierung|terminvereinbarung|solicitar el servicio|documents needed|to become a .*|what happens first|"
    r"where to find us|opening hours|wanneer|"
    r"quand|horario|ansprechpartner(?:in)?|self-referral|how to access|what we (?:do|offer)|rufen sie an|"
    r"clinic hours|lieu|reviews)\b"
)
_NOT_ONE = re.compile(
    r"privacy|cookie|minutes|prüfungsordnung|history|recipe|festival|forum|how we|ideas|ideen|"
    r"ideas para|rundweg",
    re.IGNORECASE,
)
_PROVIDER = re.compile(
    r"^(?:provider|provided by|by|anbieter|träger|organi[sz]ation|prestataire|proveedor|"
    r"aanbieder)$"
)
_FUNDING_OR_POST = re.compile(
    r"\bgrants?\b|microgrant|\bfund\b|funding|bursar|subsid|f[öo]rder|subvenc|subvention|appel à projets|bourse|"
    r"ayudas|regeling|vacanc|\bjobs?\b|"
    r"salary|tender|volunteer(?:ing)? role|internship|fellowship|apprentice|scholarship|residency|competition|"
    r"closing date|bewerbungs(?:frist|schluss)",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(?:call|phone|ring|text|email|e-mail|book|contact|tél|telefon|tel\.|talk to us|write to|"
    r"rufen|schreiben|walk in|send a)\b",
    re.IGNORECASE,
)


def services_of(source: Source) -> Gathered:
    """The service that a page describes."""
    if not source.is_html:
        return Gathered()
    values = Values()
    thing = next((thing for thing in everything_in(source.things) if thing.is_a(_TYPES)), None)
    clinic = None
    if thing is None:  # a department that has a page of its own
        clinic = next(
            (one for one in source.things if one.things("parentOrganization") and one.text("name", "description")), None
        )
    marked = thing or clinic
    if marked is None and not _may_be_one(source):
        return Gathered()
    if marked is not None:
        _read_markup(source, marked, values)
    _read_text(source, values)
    _read_organisation(source, values)
    if not _is_service(source, values, is_marked=marked is not None):
        return Gathered()
    values.note("name", source.facts.heading, SEEN + 0.1)
    values.note_found("provider", source.facts.site)
    values.note_found("description", source.facts.description)
    return checked(ItemKind.SERVICE, values.with_url(source.url), values.sure, MAKER)


def _may_be_one(source: Source) -> bool:
    """The cheap questions: a page about something, that is neither news nor goods, and says how it is reached."""
    facts = source.facts
    return bool(facts.path.strip("/")) and not facts.is_article_or_product and bool(facts.marks)


def _is_service(source: Source, values: Values, *, is_marked: bool) -> bool:
    heading = source.facts.heading or ""
    top = f"{heading} {source.facts.path}"
    if _FUNDING_OR_POST.search(top) or _NOT_ONE.search(top) or not heading:
        return False
    if len(_FUNDING_OR_POST.findall(source.facts.main_words)) >= 3 or _applies(source):
        return False
    if is_marked:
        return True
    if is_generic(heading):
        return False
    labels = sum(1 for pair in source.pairs if pair.zone is Zone.MAIN and _MARK_LABEL.match(pair.label))
    reached = values.has("telephone", "email") > 0
    marks = (
        min(2, labels)
        + ("eligibility" in values.values)
        + reached
        + (_CALL.search(source.facts.main_words) is not None)
    )
    if _NAME.search(top):
        return reached and marks >= 2
    return reached and marks >= 3 and (labels > 0 or "eligibility" in values.values)


def _applies(source: Source) -> bool:
    """A page with a deadline calls for applications; a service is there all the time."""
    deadline = source.facts.deadline
    return deadline is not None and deadline.day is not None and deadline.sure > 0.75


def _read_markup(source: Source, thing: Thing, values: Values) -> None:
    values.note("name", thing.text("name", "serviceType"), MARKUP)
    values.note("description", thing.text("description"), MARKUP)
    makers = thing.things("provider", "serviceOperator", "brand", "parentOrganization")
    values.note("provider", thing.text("provider", "serviceOperator", "brand", "parentOrganization"), MARKUP)
    values.note("areaServed", thing.text("areaServed"), MARKUP)
    values.note("eligibility", _audience(thing), MARKUP)
    for one in [thing, *makers, *(p for c in thing.things("availableChannel") for p in c.things("servicePhone"))]:
        for text in one.texts("telephone")[:1]:
            values.note("telephone", e164(text, source.facts.country, is_trusted=True), MARKUP)
        for text in one.texts("email")[:1]:
            values.note("email", next(iter(emails_in(text.removeprefix("mailto:"))), None), MARKUP)
        address = address_of(one, source.facts.country)
        values.note("address", dict(address) if address else None, MARKUP)


def _audience(thing: Thing) -> str | None:
    for audience in thing.things("audience"):
        if text := audience.text("audienceType", "name", "description"):
            return text
    return thing.text("audience")


def _read_organisation(source: Source, values: Values) -> None:
    """What the markup of the site's own organisation adds: less sure than what the page says of the service."""
    site = source.facts.site
    for thing in source.things[:50]:
        if site is not None and thing.text("name") == site[0]:
            for text in thing.texts("telephone")[:1]:
                values.note("telephone", e164(text, source.facts.country, is_trusted=True), 0.4)
            address = address_of(thing, source.facts.country)
            values.note("address", dict(address) if address else None, 0.6)


def _read_text(source: Source, values: Values) -> None:
    facts = source.facts
    values.note_found("eligibility", facts.eligibility)
    _read_reach(source, values)
    own = facts.own_addresses
    if own:
        is_main = source.lines[own[0].at].zone is Zone.MAIN
        values.note("address", dict(own[0].fields), LABELLED if is_main else 0.5)
    for pair in source.pairs:
        if pair.zone is Zone.MAIN and _PROVIDER.match(pair.label) and len(pair.value) < 120:
            values.note("provider", pair.value, LABELLED)
    for line in source.lines[:60]:
        if (
            line.zone is Zone.MAIN
            and line.tag == "p"
            and (by := re.match(r"^(?:by|provided by|von)\s([A-Z].{3,80})$", line.text))
        ):
            values.note("provider", by[1], 0.75)


def _read_reach(source: Source, values: Values) -> None:
    """Number and e-mail of the matter first, of the foot second."""
    for mark in source.facts.marks:
        sure = LABELLED - 0.1 if mark.zone is Zone.MAIN else 0.5
        values.note("email", mark.email, sure)
        values.note("telephone", mark.telephone, sure)
