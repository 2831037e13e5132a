"""Where to apply: of a page's links the one that leads there."""

import re
from collections.abc import Iterable

from bailiwick.extract.addresses import absolute
from bailiwick.extract.items.lines import Line, Link, Zone

_TEXT = (
    (3.0, re.compile(r"^(?:apply|jetzt bewerben|online-?\s?(?:antrag|bewerbung|application)|apply now|postuler|candidater|déposer|solicitar|inscribir\w*|aanvragen|direct aanvragen|bewerben|aanmelden|zum online-antrag)\b", re.I)),
    (2.5, re.compile(r"start (?:your )?application|submit (?:a|an|your)\b|application form|antrag (?:stellen|ausfüllen)|sign up to volunteer|register and|aanvraagformulier|bewerbungsformular|candidature|mentor form|interest form|volunteer form|go to application|fill in the|hier anmelden|online application|apply (?:for|to|on|in|online)|sede electrónica|inscrib", re.I)),
    (1.2, re.compile(r"appl(?:y|ication)|\bform\b|portal|bewerb|antrag|candidat|solicit|aanvra|aanmeld|anmeld|submit|register|déposer|offre|sign up", re.I)),
)
_HREF = re.compile(r"apply|appl[iy]|antrag|bewerb|candidat|solicit|aanvra|aanmeld|anmeld|submit|register|form\b|inscri|respond|/eoi|consultation", re.I)
_AGAINST = re.compile(r"guidance|merkblatt|job description|privacy|cookie|newsletter|terms|login|sign in|donate|read more|how to|staff|documents|all jobs|faq|search", re.I)
_NO_HREF = re.compile(r"^(?:#|mailto:|tel:|javascript:)", re.I)
_NEAR = re.compile(r"\bapply\b|\bsubmit\b|bewerb|antrag|candidat|solicit|aanvra|aanmeld|presentaci|déposer", re.I)
_LEAST = 1.5


def find_apply_url(lines: Iterable[Line], base_url: str) -> tuple[str, float] | None:
    """The address of the best link, with how sure that is; None where one applies by letter."""
    best: tuple[float, str] | None = None
    for line in lines:
        if line.zone not in (Zone.MAIN, Zone.HEADER):
            continue
        for link in line.links:
            score = _score(link) + 0.5 * (_NEAR.search(line.text[:300]) is not None)
            if score >= _LEAST and (best is None or score > best[0]):
                best = (score, link.href)
    if best is None:
        return None
    url = absolute(best[1], base_url)
    return (url, min(0.95, 0.5 + 0.1 * best[0])) if url else None


def _score(link: Link) -> float:
    if _NO_HREF.match(link.href) or not link.text or len(link.text) > 120:  # noqa: PLR2004
        return 0
    score = next((weight for weight, pattern in _TEXT if pattern.search(link.text)), 0.0)
    if not score:
        return 0
    score += 0.6 * (_HREF.search(link.href) is not None) + 0.4 * link.is_button
    return score - 2.5 * (_AGAINST.search(link.text) is not None)
