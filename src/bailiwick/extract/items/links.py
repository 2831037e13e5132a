"""Where to apply: of a page's links the one that leads there."""

import re
from collections.abc import Iterable

from bailiwick.extract.addresses import absolute
from bailiwick.extract.items.hints import may_say
from bailiwick.extract.items.lines import Line, Link, Zone

_BEGINS = re.compile(
    r"^(?:apply|jetzt bewerben|bewerben|online-?\s?(?:antrag|bewerbung|application)|zum online-antrag|postuler|"
    r"candidater|déposer|"
    r"solicitar|inscribir\w*|aanvragen|direct aanvragen|aanmelden)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"start (?:your )?application|submit (?:a|an|your)\b|application form|antrag (?:stellen|ausfüllen)|"
    r"sign up to volunteer|"
    r"register and|aanvraagformulier|bewerbungsformular|candidature|mentor form|interest form|volunteer form|"
    r"go to application|"
    r"fill in the|hier anmelden|online application|apply (?:for|to|on|in|online)|sede electrónica|inscrib",
    re.IGNORECASE,
)
_HINTS = re.compile(
    r"appl(?:y|ication)|\bform\b|portal|bewerb|antrag|candidat|solicit|aanvra|aanmeld|anmeld|submit|register|"
    r"déposer|offre|sign up",
    re.IGNORECASE,
)
_PARTS = (
    *("appl", "bewerb", "antrag", "postul", "candidat", "dépos", "solicit", "inscri", "aanvra", "aanmeld", "anmeld"),
    *("submit", "sign up", "regist", "form", "fill in", "sede", "portal", "offre"),
)
"""One of these is in each text that any of the three finds."""
_TEXT = ((3.0, _BEGINS), (2.5, _SAYS), (1.2, _HINTS))
_HREF = re.compile(
    r"appl[iy]|antrag|bewerb|candidat|solicit|aanvra|aanmeld|anmeld|submit|register|form\b|inscri|respond|/eoi|"
    r"consultation",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"guidance|merkblatt|job description|privacy|cookie|newsletter|terms|login|sign in|donate|read more|how to|"
    r"staff|documents|"
    r"all jobs|faq|search",
    re.IGNORECASE,
)
_NO_HREF = re.compile(r"^(?:#|mailto:|tel:|javascript:)", re.IGNORECASE)
_NEAR = re.compile(
    r"\bapply\b|\bsubmit\b|bewerb|antrag|candidat|solicit|aanvra|aanmeld|presentaci|déposer", re.IGNORECASE
)
_LEAST, _NEARBY = 1.5, 0.5


def find_apply_url(lines: Iterable[Line], base_url: str) -> tuple[str, float] | None:
    """The address of the best link, with how sure that is; None where one applies by letter."""
    best: tuple[float, str] | None = None
    for line in lines:
        if line.zone not in (Zone.MAIN, Zone.HEADER):
            continue
        for link in line.links:
            score = _score(link)
            if score + _NEARBY >= _LEAST and _NEAR.search(line.text[:300]) is not None:
                score += _NEARBY
            if score >= _LEAST and (best is None or score > best[0]):
                best = (score, link.href)
    if best is None:
        return None
    url = absolute(best[1], base_url)
    return (url, min(0.95, 0.5 + 0.1 * best[0])) if url else None


def _score(link: Link) -> float:
    if not link.text or len(link.text) > 120 or not may_say(link.text, _PARTS) or _NO_HREF.match(link.href):
        return 0
    score = next((weight for weight, pattern in _TEXT if pattern.search(link.text)), 0.0)
    if not score:
        return 0
    score += 0.6 * (_HREF.search(link.href) is not None) + 0.4 * link.is_button
    return score - 2.5 * (_AGAINST.search(link.text) is not None)
