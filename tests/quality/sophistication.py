"""Pairs of pages for layer 3: a real page, and the same page spoiled in one respect."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from statistics import mean
from zlib import crc32

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.model.content import Content, ContentKind
from bailiwick.model.layers import SIGNALS
from bailiwick.model.material import Lookalike, PageMaterial, SiteMaterial
from bailiwick.model.names import DomainName
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.sophistication import assess_locally
from tests.quality import spoiling
from tests.suites import suite_path

ARTICLES, PRODUCTS = suite_path("articles"), suite_path("products")
PAIRS = 100
LARGEST = 350_000
COMPARED = 5_000
"""Stored texts that each page is held against."""
WAYS = {
    "without styles": "design_quality",
    "copied": "content_originality",
    "repeated": "content_originality",
    "unsigned": "authority_indicators",
    "broken": "professional_presentation",
}
"""How a page is spoiled, and the signal that should tell."""
GENTLY = {
    "a little repeated": "content_originality",
    "a little unclosed": "professional_presentation",
}
"""Ways that leave most of a page as it was. Tried on some of the pages, for time's sake."""
_SOME = 3
_LIMITS = ContentLimits()


@dataclass(frozen=True, slots=True)
class RealPage:
    key: str
    url: str
    html: str

    @property
    def site(self) -> str:
        return DomainName.parse(self.url, collapse_subdomains=True).name

    @property
    def is_held_out(self) -> bool:
        """By its site: two pages of one template are never on both sides."""
        return crc32(self.site.encode()) % 2 == 1


@dataclass(frozen=True, slots=True)
class Pair:
    page: RealPage
    before: dict[str, float]
    after: dict[str, float]

    def drop(self, signal: str) -> float:
        return self.before[signal] - self.after[signal]


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one way to spoil pages."""

    pairs: int
    wins: float
    """The share of pairs in which the page as it was has the better score in the signal that should tell."""
    aside: float
    """The share in which every other signal moved less."""
    moved: dict[str, float]
    """How far each signal moved, on average."""


@cache
def real_pages() -> tuple[RealPage, ...]:
    """A hundred of both suites in the order of their keys, which are hashes; without the largest, for time's sake."""
    found = [RealPage(key, url, html) for key, url, html in _stored() if len(html) <= LARGEST]
    return tuple(sorted(found, key=lambda page: page.key)[:PAIRS])


def _stored() -> Iterator[tuple[str, str, str]]:
    for folder in (ARTICLES, PRODUCTS):
        if folder is None:
            continue
        for key, case in json.loads((folder / "ground-truth.json").read_text(encoding="utf-8")).items():
            body = gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())
            opened = open_body(body, "text/html; charset=utf-8", _LIMITS)
            assert isinstance(opened, Opened)
            yield key, case["url"], opened.text


def material_of(html: str, url: str) -> PageMaterial:
    content = read_opened(Opened(ContentKind.HTML, b"", html), url, _LIMITS)
    if not isinstance(content, Content):
        return PageMaterial(url, html, "")
    dates = [moment.date() if moment else None for moment in (content.published_at, content.modified_at)]
    return PageMaterial(url, html, content.text, content.title or "", content.language, (), dates[0], dates[1])


@cache
def _material(page: RealPage) -> PageMaterial:
    return material_of(page.html, page.url)


@cache
def pairs(way: str) -> tuple[Pair, ...]:
    pages = real_pages()[::_SOME] if way in GENTLY else real_pages()
    return tuple(Pair(page, _scores(page, ""), _scores(page, way)) for page in pages)


def figures(way: str, half: str = "all") -> Figures:
    chosen = [pair for pair in pairs(way) if half == "all" or pair.page.is_held_out == (half == "held out")]
    meant = (WAYS | GENTLY)[way]
    others = [name for name in SIGNALS if name != meant]
    return Figures(
        len(chosen),
        mean(pair.drop(meant) > 0 for pair in chosen),
        mean(all(abs(pair.drop(name)) < abs(pair.drop(meant)) for name in others) for pair in chosen),
        {name: mean(abs(pair.drop(name)) for pair in chosen) for name in SIGNALS},
    )


@cache
def _scores(page: RealPage, way: str) -> dict[str, float]:
    html = _spoiled(page, way)
    seen = material_of(html, page.url) if html is not page.html else _material(page)
    found = assess_locally(seen, _site(seen.text, is_copied=way == "copied"), ScorePolicy())
    assert found is not None
    return found.results.scores()


def _spoiled(page: RealPage, way: str) -> str:
    ways = {
        "without styles": spoiling.without_styles,
        "repeated": spoiling.repeated,
        "unsigned": partial(spoiling.unsigned, site=page.site),
        "broken": spoiling.broken,
        "a little repeated": partial(spoiling.repeated, times=2, every=4),
        "a little unclosed": spoiling.unclosed,
    }
    return ways[way](page.html) if way in ways else page.html


def _site(text: str, *, is_copied: bool) -> SiteMaterial:
    """The same text was seen elsewhere before, but for what a copyist changes."""
    if not is_copied:
        return SiteMaterial(compared_with=COMPARED)
    alike = spoiling.likeness(text, spoiling.altered(text))
    return SiteMaterial(
        compared_with=COMPARED, lookalikes=(Lookalike("https://elsewhere.example/first", alike, is_older=True),)
    )
