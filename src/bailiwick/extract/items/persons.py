"""Names of persons and their roles, told from each other and from headings."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re

_TITLE = (
    r"(?:Dr|Prof|Professor|Mr|Mrs|Ms|Miss|Sir|Dame|Rev|Captain|Capt|Cllr|Herr|Frau|Mme|M|Mlle|Sr|Sra|Ing|Mag|"
    r"Dipl\.-Ing|dhr|mevr|drs)\.?"
)
_PARTICLE = r"(?:de|van|von|der|den|del|della|la|le|el|El|bin|al|Al|zu|ten|ter|dos|da|di|du|y|Mc|O)"
_WORD = r"[A-ZÀ-ÝŁŚŽČŠĐ](?:[a-zà-ÿłśžčšđ'’]{1,20}(?:-?[A-ZÀ-Ý][a-zà-ÿ]{1,20})?|\.)"
NAME = re.compile(rf"^(?:{_TITLE}\s){{0,2}}{_WORD}(?:\s(?:{_PARTICLE}\s){{0,2}}{_WORD}){{1,3}}$")
_TITLES = re.compile(rf"^(?:{_TITLE}\s){{1,2}}")
_NO_NAME_TEXT = """
    about academy access accueil action admin advice africa after agency all america annual apply april area art
    arts asia assistant association august avenue bank bar board book booking books box bureau business café
    call care career careers center centre chair chamber chief church city class clinic club college committee
    community company contact contacts coordinator copyright council country course customer data december
    dental department desk detail details development digital director directors district donate east editor
    education email emergency enquiries estate europe events executive family fax february find follow food
    foundation france free friday friends front full fund further general get girls giving global grant grants
    group guest guide hall harbour head health help home hospital hotel hours house how human impressum inn
    institute information january job jobs join july june junior kontakt lab laboratory lane lead learn legal
    library line list local location london lunch main make manager map march market master media medical meet
    meeting member members monday more museum music national network new news newsletter next north november
    number october office officer online open opening orchestra order our partner partners people person phone
    place plan planning police policy post postal president press primary principal privacy professor programme
    program project public quick read reception regional registered related relations report request research
    resource resources road room sales saturday school search secretary section security senior september
    service services shop show sign site skip social society south special square staff start state station
    street student students studio sunday supervisor support team technical telephone terms theatre thursday
    tickets time today tourist tower town trade training trust tuesday unit united university useful value view
    village visit volunteer warehouse web website wednesday welcome west what when where who why with work
    worker world write year you young your youth verein gemeinde stadt straße platz bürgermeister bauamt
    öffnungszeiten leitung zimmer montag dienstag mittwoch donnerstag freitag samstag sonntag schulleitung
    einwohnermeldeamt musikschule rathaus ansprechpartner équipe théâtre directrice directeur régisseur
    billetterie horaires lundi mardi mercredi jeudi vendredi samedi dimanche centro director directora
    coordinadora coordinador lunes martes miércoles jueves viernes sábado domingo beheerder wijkcentrum
    openingstijden maandag dinsdag woensdag donderdag vrijdag zaterdag zondag website bibliotheek orders writer
    producer content video contributing way ética código richiesta fattura tarjeta paulo sp gmbh ltd park campus
    quay close court gardens hill bridge mill green english deutsch français español nederlands
"""
_NO_NAME = frozenset(_NO_NAME_TEXT.split())
_ROLE = re.compile(
    r"director|manager|officer|co-?ordinator|secretary|treasurer|president|\bchair|\bhead\b|\blead\b|leader|"
    r"principal|partner|teacher|supervisor|"
    r"researcher|professor|lecturer|assistant|editor|captain|master\b|maintainer|founder|owner|\bceo\b|\bcto\b|"
    r"\bcfo\b|psychologist|therapist|worker|"
    r"advis[eo]r|counsel|engineer|consultant|administrator|representative|specialist|technician|librarian|curator|"
    r"nurse|doctor|trustee|warden|"
    r"leiter|leitung|bürgermeister|vorstand|obmann|obfrau|kassier|geschäftsführ|sekretär|referent|berater|amt$|"
    r"direktor|beauftragt|vorsitzend|inhaber|"
    r"directeur|directrice|président|régisseur|responsable|chargée? d|secrétaire|billetterie|trésori|gérant|"
    r"coordinat|"
    r"directora|coordinador|presidente|secretari|tesorer|encargad|"
    r"beheerder|voorzitter|secretaris|penningmeester|opbouwwerker|coördinator|medewerker|contactpersoon",
    re.IGNORECASE,
)
_DEPARTMENT = re.compile(
    r"office|press|media|careers?|jobs|sales|security|new business|support|enquir|inquir|box office|tickets|"
    r"bookings?|reception|admissions|billing|"
    r"membership|fundraising|volunteering|events|hr\b|human resources|marketing|customer|amt\b|verwaltung|presse|"
    r"vertrieb|billetterie|réservation|"
    r"comptabilité|prensa|ventas|administración|taquilla|pers\b|verkoop|administratie|legal|finance|accounts|"
    r"helpdesk|service desk",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:tel(?:efon|ephone|éfono|efoon)?|tél(?:éphone)?|phone|fon|mobil[e]?|mobiel|fax|telefax|e-?mail(?:adresse)?|"
    r"mail|contact(?:o| us)?|kontakt|t|e|"
    r"web(?:site)?|adresse?|address|or|oder|questions?|fragen|get in touch|find us|say hello|enquire|write|"
    r"where to find us|ansprechpartner(?:in)?|"
    r"booking|anmeldung|reservierung|terminvereinbarung|intake|in a crisis|refer yourself|candidature|"
    r"ihre bewerbung|inscription|rendez-vous|"
    r"solicitar el servicio|toll-free helpline|hours?|name|position|officers.*|our team|people|equipo|team|"
    r"regional offices|call today|contact the.*)$",
    re.IGNORECASE,
)
_MOST_ROLE = 60


def is_name(text: str) -> bool:
    """Two to four words that are written like a person's name, none of which is a word of headings."""
    if not NAME.match(text) or len(text) > 60:
        return False
    bare = _TITLES.sub("", text)
    words = [word.strip(".").casefold() for word in bare.split()]
    return not _ROLE.search(bare) and (bare != text or not any(word in _NO_NAME for word in words))


def has_title(text: str) -> bool:
    return _TITLES.match(text) is not None


def is_role(text: str) -> bool:
    return _is_short(text) and _ROLE.search(text) is not None and not is_label(text)


def is_department(text: str) -> bool:
    return _is_short(text) and _DEPARTMENT.search(text) is not None and not is_label(text)


def is_label(text: str) -> bool:
    """A word that leads to an address or a number and says nothing about whose it is."""
    return _LABEL.match(text.strip(" :.–-")) is not None


def may_be_role(text: str) -> bool:
    """What stands beside a name and could be one: short, without digits."""
    return _is_short(text) and not re.search(r"[\d@:]|\bwww\.", text) and not is_label(text) and text[:1].isalpha()


def _is_short(text: str) -> bool:
    return 2 < len(text) <= _MOST_ROLE and len(text.split()) <= 7
