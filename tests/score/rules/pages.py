"""Pages for the rules, made of a line of HTML each."""

from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from bailiwick.model.layers import Layer2Results, Proofs
from bailiwick.model.material import PageLink, PageMaterial, SiteMaterial, SitePage
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.rules import assess_rules

HOME = "https://acme.example/blog/2026/05/harvest"
FILLER = "<p>The harvest was late, and the barns stood empty until the rain had gone.</p>"


def page_of(html: str, *, url: str = HOME, language: str | None = "en", kinds: tuple[str, ...] = ()) -> PageMaterial:
    """What the extractor would make of it: links made whole, the text without menus and scripts."""
    tree = LexborHTMLParser(html)
    title = tree.css_first("title")
    links = tuple(
        PageLink(urljoin(url, node.attributes.get("href") or ""), node.text(), node.attributes.get("rel") or "")
        for node in tree.css("a[href]")
    )
    name = title.text() if title is not None else ""
    for node in tree.css("script, style, nav, footer, aside, title"):
        node.decompose()
    text = "\n".join(line.strip() for line in tree.root.text(separator="\n").splitlines()) if tree.root else ""
    return PageMaterial(url=url, html=html, text=text, title=name, language=language, links=links, item_kinds=kinds)


def site_of(*pages: tuple[str, str, str]) -> SiteMaterial:
    """(path, title, first words) of each known page."""
    known = tuple(SitePage(urljoin(HOME, path), title, text) for path, title, text in pages)
    return SiteMaterial(pages=known, is_crawled=True)


def assessed(page: PageMaterial, site: SiteMaterial | None = None, **policy: float) -> tuple[Layer2Results, Proofs]:
    return assess_rules(page, site or SiteMaterial(), ScorePolicy.model_validate(policy))


def detected(results: Layer2Results) -> set[str]:
    return {name for name, part in results.parts() if getattr(part, "detected", False)}
