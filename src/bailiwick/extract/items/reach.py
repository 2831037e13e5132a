"""By what a page's people are reached: addresses and numbers of their own, not of who made the site."""

import re
from dataclasses import dataclass

from bailiwick.extract.items.emails import email_of_link, emails_in
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.phones import Phone, e164, phones_in

_CREDIT = re.compile(
    r"web ?site (?:by|design)|\bsite (?:by|design)|web ?design|website:|designed by|design:|powered by|developed by|"
    r"built by|theme by|hosted by|hosting|"
    r"site réalisé|réalisation|création du site|umsetzung|realisierung|webdesign|programmierung|konzept|diseño web|"
    r"desarrollo web|realisatie|webbureau|"
    r"web agency|webagentur|made with|photography:|photos? by|fotos?:|photo:|bildnachweis|credits?:",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"after hours call|poison control|others near you|weitere \w+$|similar|sister shop|"
    r"hurricane hotline|crisis line|in a crisis|emergenc",
    re.IGNORECASE,
)
_FREE_MAIL_TEXT = """
    gmail.com googlemail.com outlook.com hotmail.com hotmail.co.uk yahoo.com yahoo.co.uk yahoo.fr gmx.de gmx.net
    gmx.at web.de t-online.de icloud.com aol.com orange.fr wanadoo.fr free.fr laposte.net btinternet.com
    bluewin.ch protonmail.com proton.me posteo.de mailbox.org rediffmail.com ziggo.nl kpnmail.nl telenet.be
"""
_FREE_MAIL = frozenset(_FREE_MAIL_TEXT.split())


_MOST_MARKS = 400


@dataclass(frozen=True, slots=True)
class Mark:
    """An e-mail address or a number, and where it stands."""

    at: int
    start: int
    zone: Zone
    email: str | None = None
    telephone: str | None = None


def read_marks(lines: list[Line], host: str, country: str | None) -> list[Mark]:
    """All of a page, in order; each once a line."""
    found: list[Mark] = []
    for at, line in enumerate(lines):
        if line.zone in (Zone.NAV, Zone.ASIDE) or line.tag in ("pre", "code"):
            continue
        here = [*_linked(at, line, country), *_written(at, line, country)]
        if here and not is_credit(lines, at):
            known: set[str | None] = set()
            for mark in here:
                told = mark.email or mark.telephone
                if told not in known and not _is_strange(mark, line, host):
                    known.add(told)
                    found.append(mark)
        if len(found) >= _MOST_MARKS:
            break
    return found


def _linked(at: int, line: Line, country: str | None) -> list[Mark]:
    found = []
    for link in line.links:
        start = max(0, line.text.find(link.text))
        if email := email_of_link(link.href):
            found.append(Mark(at, start, line.zone, email=email))
        elif link.href[:4].lower() == "tel:" and (number := e164(link.href[4:].strip(), country, is_trusted=True)):
            found.append(Mark(at, start, line.zone, telephone=number))
    return found


def _written(at: int, line: Line, country: str | None) -> list[Mark]:
    text = line.text
    found = [Mark(at, text.find(email.partition("@")[0]), line.zone, email=email) for email in emails_in(text)]
    if not line.has_digit:
        return found
    phones = [one for one in phones_in(text, country) if not one.is_fax and _is_told(line, one)]
    return found + [Mark(at, one.start, line.zone, telephone=one.number) for one in phones]


def _is_told(line: Line, phone: Phone) -> bool:
    """A number in running text needs a word that says what it is."""
    return phone.is_labelled or len(line.text) < 90 or line.row > 0


def _is_strange(mark: Mark, line: Line, host: str) -> bool:
    before = line.text[max(0, mark.start - 80) : mark.start]
    return _CREDIT.search(before) is not None or (mark.email is not None and not _is_own(mark.email, host, line.zone))


def is_credit(lines: list[Line], at: int) -> bool:
    """Whether a line speaks of others than those whose page it is."""
    line = lines[at]
    if _CREDIT.search(line.text) or _OTHERS.search(line.text):
        return True
    above = lines[at - 1] if at else None
    return above is not None and above.level > 0 and _OTHERS.search(above.text) is not None


def _is_own(email: str, host: str, zone: Zone) -> bool:
    """At the page's own domain, of a free service, or in the matter of the page; not a stranger's at its foot."""
    domain = email.rpartition("@")[2]
    if domain in _FREE_MAIL or zone in (Zone.MAIN, Zone.HEADER):
        return True
    return _same_site(domain, host)


def _same_site(domain: str, host: str) -> bool:
    one, other = domain.removeprefix("www."), host.removeprefix("www.")
    return (
        one == other
        or one.endswith("." + other)
        or other.endswith("." + one)
        or one.split(".")[0] == other.split(".")[0]
    )
