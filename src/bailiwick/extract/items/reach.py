"""Whether a number or an address is the organisation's own, or of who made its site, took its pictures, runs its theme."""

import re

from bailiwick.extract.items.lines import Line, Zone

_CREDIT = re.compile(
    r"web ?site (?:by|design)|\bsite (?:by|design)|web ?design|website:|designed by|design:|powered by|developed by|built by|theme by|hosted by|hosting|"
    r"site réalisé|réalisation|création du site|umsetzung|realisierung|webdesign|programmierung|konzept|diseño web|desarrollo web|realisatie|webbureau|"
    r"web agency|webagentur|made with|photography:|photos? by|fotos?:|photo:|bildnachweis|credits?:",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"after hours call|poison control|others near you|weitere \w+$|similar|sister shop|hurricane hotline|crisis line|in a crisis|emergenc", re.IGNORECASE)
_FREE_MAIL = frozenset(
    "gmail.com googlemail.com outlook.com hotmail.com hotmail.co.uk yahoo.com yahoo.co.uk yahoo.fr gmx.de gmx.net gmx.at web.de t-online.de "
    "icloud.com aol.com orange.fr wanadoo.fr free.fr laposte.net btinternet.com bluewin.ch protonmail.com proton.me posteo.de mailbox.org "
    "rediffmail.com ziggo.nl kpnmail.nl telenet.be".split()
)


def is_credit(lines: list[Line], at: int, host: str) -> bool:
    """Whether a line speaks of others than those whose page it is."""
    line = lines[at]
    if _CREDIT.search(line.text) or _OTHERS.search(line.text):
        return True
    above = lines[at - 1] if at else None
    return above is not None and above.level > 0 and _OTHERS.search(above.text) is not None and host != ""


def credit_cuts(text: str, start: int) -> bool:
    """Whether what stands before a place in a line says that it is somebody else's."""
    return _CREDIT.search(text[max(0, start - 80) : start]) is not None


def is_own(email: str, host: str, zone: Zone) -> bool:
    """An address at the page's own domain, of a free service, or in the matter of the page; not a stranger's at its foot."""
    domain = email.rpartition("@")[2]
    if domain in _FREE_MAIL or zone in (Zone.MAIN, Zone.HEADER):
        return True
    return _same_site(domain, host)


def _same_site(domain: str, host: str) -> bool:
    one, other = domain.removeprefix("www."), host.removeprefix("www.")
    return one == other or one.endswith("." + other) or other.endswith("." + one) or one.split(".")[0] == other.split(".")[0]
