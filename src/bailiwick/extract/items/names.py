"""What a page is about by its heading, and whose site it is."""

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from bailiwick.extract.items.lines import Line, Zone

if TYPE_CHECKING:
    from bailiwick.extract.items.source import Source

_PARTS = re.compile(r"\s+(?:[|\u2013\u2014:·»>-]|::)\s+|\s*\|\s*|\s::\s")
_GENERIC = re.compile(
    r"^(?:home|contacto?|contact us|about(?: us)?|welcome.*|kontakt|startseite|impressum|accueil|inicio|visit.*|find us|anfahrt|our team|"
    r"people|team|news|grants|our grants|jobs|vacancies|opportunities|join us|careers?|services?|infos pratiques|öffnungszeiten|"
    r"opening (?:times|hours)|plan your visit|l.équipe|say hello|get in touch|enquire|so finden sie uns|volunteer|support|index)$",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"(?:©|\(c\)|copyright)\s{0,2}(?:\d{4}(?:\s?[-–]\s?\d{4})?)?,?\s{0,2}([^.|·©]{2,80})", re.IGNORECASE)
_ORGANISATIONS = frozenset(
    "Organization NGO LocalBusiness Corporation GovernmentOrganization CollegeOrUniversity WebSite EducationalOrganization".split()
)
_BRAND = "navbar-brand site-title custom-logo-link brand-logo masthead__name site-branding header-title-text".split()
_MOST = 120


def page_heading(source: "Source") -> str | None:
    """The first heading of the matter that tells something; else the title's first part."""
    best = None
    for line in source.lines:
        if line.zone in (Zone.MAIN, Zone.HEADER) and 1 <= line.level <= 3 and 2 < len(line.text) <= 200:  # noqa: PLR2004
            if best is None or line.level < best.level:
                best = line
            if best.level == 1:
                break
    if best is not None and not is_generic(best.text):
        return best.text
    parts = title_parts(source)
    return next((part for part in parts if not is_generic(part)), None) or (best.text if best else None)


def title_parts(source: "Source") -> list[str]:
    title = next(source.tree.iter("title"), None)
    text = " ".join("".join(title.itertext()).split())[:300] if title is not None else ""
    return [part for part in (part.strip() for part in _PARTS.split(text)) if part]


def is_generic(text: str) -> bool:
    return _GENERIC.match(text.strip(" .!")) is not None


def site_name(source: "Source") -> tuple[str, float] | None:
    """Whose site it is, by what several places of the page agree on; with how sure that is."""
    votes: dict[str, float] = defaultdict(float)
    shown: dict[str, str] = {}

    def vote(name: str | None, weight: float) -> None:
        name = " ".join((name or "").split()).strip(" .,|–-©")
        if 2 < len(name) <= _MOST and not is_generic(name):  # noqa: PLR2004
            key = _key(name)
            shown.setdefault(key, name)
            votes[key] += weight

    for thing in source.things[:50]:
        if thing.is_a(_ORGANISATIONS):
            vote(thing.text("name"), 3)
    vote(source.meta.get("og:site_name"), 3)
    for part in title_parts(source)[:5]:
        vote(part, 1.2)
    for text in _brand_texts(source):
        vote(text, 1.5)
    for line in source.lines:
        if line.zone is Zone.FOOTER or line.tag == "address" or "©" in line.text:
            _vote_footer(line, vote)
    heading = next((line.text for line in source.lines if line.level == 1 and line.zone is Zone.MAIN), None)
    if not votes:
        return None
    for key, name in shown.items():
        votes[key] += 2 * _kinship(name, source.host)
        if heading and _key(heading) == key and len(title_parts(source)) > 1:
            votes[key] -= 1
    best = max(votes, key=lambda key: (votes[key], -len(key)))
    return shown[best], min(0.8, 0.4 + 0.1 * votes[best])


def _vote_footer(line: Line, vote: "object") -> None:
    if found := _COPYRIGHT.search(line.text[:300]):
        vote(re.sub(r"^\d{4}\s?", "", found[1]), 1.5)  # type: ignore[operator]
    elif len(line.text) <= _MOST and line.zone is Zone.FOOTER:
        vote(re.split(r"[,·|]", line.text)[0], 0.5)  # type: ignore[operator]


def _brand_texts(source: "Source") -> list[str]:
    found = []
    for line in source.lines[:40]:
        if line.zone is Zone.HEADER or (line.zone is not Zone.FOOTER and _is_brand(line)):
            if len(line.text) <= 80 and not line.level:  # noqa: PLR2004
                found.append(line.text)
    for image in list(source.tree.iter("img"))[:8]:
        alt = (image.get("alt") or "").strip()
        if alt and ("logo" in (image.get("src") or "") + (image.get("class") or "") or image.getparent().tag == "a"):
            found.append(alt)
    return found[:12]


def _is_brand(line: Line) -> bool:
    node = line.node
    names = (node.get("class") or "") if node is not None else ""
    return any(name in names for name in _BRAND) or any(link.href == "/" and link.text == line.text for link in line.links)


def _key(name: str) -> str:
    return re.sub(r"^the", "", re.sub(r"[\W_]+", "", name.casefold()))


_FOLD = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "è": "e", "ê": "e", "à": "a", "á": "a", "í": "i", "ó": "o", "ú": "u", "ñ": "n", "ç": "c", "œ": "oe", "&": "and"})


def _kinship(name: str, host: str) -> float:
    """How much of a host's own label is words of the name, 0 to 1."""
    labels = host.removeprefix("www.").split(".")
    words = [re.sub(r"[^a-z0-9]", "", word.casefold().translate(_FOLD)) for word in name.split()]
    best = 0.0
    for label in labels[:-1]:
        bare = re.sub(r"[^a-z0-9]", "", label.casefold())
        if len(bare) < 3:  # noqa: PLR2004
            continue
        covered = sum(len(word) for word in dict.fromkeys(words) if len(word) > 2 and word in bare)  # noqa: PLR2004
        initials = "".join(word[:1] for word in words)
        best = max(best, min(1.0, covered / len(bare)), 0.8 if initials == bare else 0)
    return best
