"""What a page is about by its heading, and whose site it is."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from bailiwick.extract.items.lines import Line, Zone

if TYPE_CHECKING:
    from bailiwick.extract.items.source import Source

_PARTS = re.compile(r"\s+(?:[|\u2013\u2014:·»>-]|::)\s+|\s*\|\s*|\s::\s")
_GENERIC = re.compile(
    r"^(?:home|contacto?|contact us|about(?: us)?|welcome.*|kontakt|startseite|impressum|accueil|inicio|visit.*|"
    r"find us|anfahrt|our team|"
    r"people|team|news|grants|our grants|jobs|vacancies|opportunities|join us|careers?|services?|infos pratiques|"
    r"öffnungszeiten|"
    r"opening (?:times|hours)|plan your visit|l.équipe|say hello|get in touch|enquire|so finden sie uns|volunteer|"
    r"support|index)$",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"(?:©|\(c\)|copyright)\s{0,2}(?:\d{4}(?:\s?[-–]\s?\d{4})?)?,?\s{0,2}([^.|"
    r"·©]{2,80})",
    re.IGNORECASE,
)
_ORGANISATIONS_TEXT = """
    Organization NGO LocalBusiness Corporation GovernmentOrganization CollegeOrUniversity WebSite
    EducationalOrganization
"""
_ORGANISATIONS = frozenset(_ORGANISATIONS_TEXT.split())
_BRAND_TEXT = """
    navbar-brand site-title custom-logo-link brand-logo masthead__name site-branding header-title-text
"""
_BRAND = _BRAND_TEXT.split()
_MOST = 120


def page_heading(source: "Source") -> str | None:
    """The first heading of the matter that tells something; else the title's first part."""
    best = None
    for line in source.lines:
        if line.zone in (Zone.MAIN, Zone.HEADER) and 1 <= line.level <= 3 and 2 < len(line.text) <= 200:
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


class _Votes:
    """Names by what speaks for each; spellings of one name count as one."""

    def __init__(self) -> None:
        self.weights: dict[str, float] = defaultdict(float)
        self.shown: dict[str, str] = {}

    def add(self, name: str | None, weight: float) -> None:
        name = " ".join((name or "").split()).strip(" .,|–-©")
        if 2 < len(name) <= _MOST and not is_generic(name):
            key = _key(name)
            self.shown.setdefault(key, name)
            self.weights[key] += weight


def site_name(source: "Source") -> tuple[str, float] | None:
    """Whose site it is, by what several places of the page agree on; with how sure that is."""
    votes = _Votes()
    for thing in source.things[:50]:
        if thing.is_a(_ORGANISATIONS):
            votes.add(thing.text("name"), 3)
    votes.add(source.meta.get("og:site_name"), 3)
    parts = title_parts(source)
    heading = next((line.text for line in source.lines if line.level == 1 and line.zone is Zone.MAIN), None)
    for part in parts[:5]:
        is_about_page = heading is not None and heading != part and heading.casefold() in part.casefold()
        votes.add(part, 0.3 if is_about_page else 1.2)
    for text in _brand_texts(source):
        votes.add(text, 1.5)
    for line in source.lines:
        if line.zone is Zone.FOOTER or line.tag == "address" or "©" in line.text:
            _vote_footer(line, votes)
    if not votes.weights:
        return None
    if heading and len(parts) > 1 and _key(heading) in votes.weights:
        votes.weights[_key(heading)] -= 1
    for key, name in votes.shown.items():
        votes.weights[key] += 2 * _kinship(name, source.host)
    best = max(votes.weights, key=lambda key: (votes.weights[key], -len(key)))
    return votes.shown[best], min(0.8, 0.4 + 0.1 * votes.weights[best])


def _vote_footer(line: Line, votes: _Votes) -> None:
    if found := _COPYRIGHT.search(line.text[:300]):
        votes.add(re.sub(r"^\d{4}\s?", "", found[1]), 1.5)
    elif len(line.text) <= _MOST and line.zone is Zone.FOOTER:
        votes.add(re.split(r"[,·|]", line.text)[0], 0.5)


def _brand_texts(source: "Source") -> list[str]:
    found = []
    for line in source.lines[:40]:
        is_brand = line.zone is Zone.HEADER or (line.zone is not Zone.FOOTER and _is_brand(line))
        if is_brand and len(line.text) <= 80 and not line.level:
            found.append(line.text)
    for image in list(source.tree.iter("img"))[:8]:
        alt = (image.get("alt") or "").strip()
        if alt and ("logo" in (image.get("src") or "") + (image.get("class") or "") or image.getparent().tag == "a"):
            found.append(alt)
    return found[:12]


def _is_brand(line: Line) -> bool:
    node = line.node
    names = (node.get("class") or "") if node is not None else ""
    return any(name in names for name in _BRAND) or any(
        link.href == "/" and link.text == line.text for link in line.links
    )


def _key(name: str) -> str:
    return re.sub(r"^the", "", re.sub(r"[\W_]+", "", name.casefold()))


_FOLD = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "é": "e",
        "è": "e",
        "ê": "e",
        "à": "a",
        "á": "a",
        "í": "i",
        "ó": "o",
        "ú": "u",
        "ñ": "n",
        "ç": "c",
        "œ": "oe",
        "&": "and",
    }
)


def _kinship(name: str, host: str) -> float:
    """How much of a host's own label is words of the name, 0 to 1."""
    labels = host.removeprefix("www.").split(".")
    words = [re.sub(r"[^a-z0-9]", "", word.casefold().translate(_FOLD)) for word in name.split()]
    best = 0.0
    for label in labels[:-1]:
        bare = re.sub(r"[^a-z0-9]", "", label.casefold())
        if len(bare) < 3:
            continue
        covered = sum(len(word) for word in dict.fromkeys(words) if len(word) > 2 and word in bare)
        initials = "".join(word[:1] for word in words)
        best = max(best, min(1.0, covered / len(bare)), 0.8 if initials == bare else 0)
    return best
