"""A page and its site in, its features out: the markup is walked once, the text read once."""

from dataclasses import replace
from datetime import date
from itertools import pairwise

from bailiwick.model.material import Lookalike, PageMaterial, SiteMaterial
from bailiwick.score.sophistication import places
from bailiwick.score.sophistication.balance import Balance, balance_of
from bailiwick.score.sophistication.features import METADATA, Design, Features, Presentation, Standing, Wording
from bailiwick.score.sophistication.markup import Markup, read_markup
from bailiwick.score.sophistication.prose import Prose, prose_of
from bailiwick.score.sophistication.structured import Structured, structured_of

MOST_HTML_CHARS = 5_000_000
_MOST_CITED = 50


def measure(page: PageMaterial, site: SiteMaterial) -> Features:
    """The features of a page. The same page gives the same, whatever the day."""
    own_site = places.site_of(page.url)
    html = page.html[:MOST_HTML_CHARS]
    prose = prose_of(page.text)
    wording = _wording(prose, site, own_site)
    markup = _markup(html, own_site) if html.strip() else _linked(page)
    data = structured_of(markup.scripts, markup.types)
    standing = _standing(markup, data, prose, page.published)
    if not html.strip():
        return Features(Design(), wording, standing, _text_alone(prose, page))
    balance = balance_of(html, is_cut=page.is_truncated or len(page.html) > MOST_HTML_CHARS)
    return Features(_design(markup), wording, standing, _presentation(markup, data, prose, balance, page.modified))


def _markup(html: str, own_site: str) -> Markup:
    from selectolax.lexbor import LexborHTMLParser

    return read_markup(LexborHTMLParser(html), own_site)


def _linked(page: PageMaterial) -> Markup:
    """Of a page that is no HTML (a PDF), its links are all the markup there is."""
    return Markup(links=[(link.url, link.text) for link in page.links])


def _design(markup: Markup) -> Design:
    count, levels = markup.count, markup.levels
    return Design(
        elements=markup.elements,
        stylesheets=count["stylesheets"],
        css_chars=count["style chars"],
        style_attributes=count["style attributes"],
        has_typeface=count["typefaces"] > 0,
        is_for_small_screens="viewport" in markup.said,
        has_media_rules=count["media rules"] > 0,
        landmarks=len(markup.landmarks),
        headings=len(levels),
        first_headings=levels.count(1),
        heading_skips=sum(after > before + 1 for before, after in pairwise(levels)),
        images=count["images"],
        described_images=count["described images"],
        sized_images=count["sized images"],
        fitting_images=count["fitting images"] + count["picture"],
        icons=count["icons"],
        menu_links=count["menu links"],
        outdated=count["outdated"] + count["tables in tables"],
    )


def _wording(prose: Prose, site: SiteMaterial, own_site: str) -> Wording:
    elsewhere = _elsewhere(site, own_site)
    older = [one for one in elsewhere if one.is_older]
    return Wording(
        words=prose.words,
        repeated_share=prose.repeated_share,
        variety=prose.variety,
        top_word=prose.top_word,
        top_word_share=prose.top_word_share,
        quotations=prose.quotations,
        fillers=prose.fillers,
        compared_with=site.compared_with,
        older_copies=len(older),
        older_likeness=max((_bounded(one) for one in older), default=0.0),
        younger_copies=len(elsewhere) - len(older),
    )


def older_elsewhere(page: PageMaterial, site: SiteMaterial) -> list[Lookalike]:
    """What the page may be a copy of. Its own site may show a text twice."""
    return [one for one in _elsewhere(site, places.site_of(page.url)) if one.is_older]


def _elsewhere(site: SiteMaterial, own_site: str) -> list[Lookalike]:
    return [one for one in site.lookalikes if places.site_of(one.url) != own_site]


def _bounded(copy: Lookalike) -> float:
    return min(1.0, max(0.0, copy.likeness))


def _standing(markup: Markup, data: Structured, prose: Prose, published: date | None) -> Standing:
    seen = _leading(markup)
    is_mail, is_phone = (any(href.startswith(scheme) for href, _ in markup.links) for scheme in ("mailto:", "tel:"))
    cited = tuple(sorted(markup.cited))[:_MOST_CITED]
    ways = (is_mail, is_phone, places.CONTACT in seen, markup.count["address"] > 0 or data.has_contact)
    return Standing(
        author=data.author or markup.author,
        has_profile=data.has_profile or markup.count["profiles"] > 0,
        contacts=sum(ways),
        contact_link=seen.get(places.CONTACT, ""),
        is_about_told=places.ABOUT in seen,
        is_law_told=places.LAW in seen,
        is_organisation_named=data.has_organisation,
        cited=cited,
        scholarly=sum(map(places.is_scholarly, cited)),
        references=prose.references + markup.count["cite"],
        is_dated=published is not None or data.is_dated or "published" in markup.said or markup.count["times"] > 0,
        credentials=prose.credentials + data.has_credentials,
    )


def _leading(markup: Markup) -> dict[frozenset[str], str]:
    """A link of each kind of place. From the end: most pages have them at their foot."""
    seen: dict[frozenset[str], str] = {}
    for href, text in reversed(markup.links):
        if (kind := places.kind_of(href, text)) is not None:
            seen.setdefault(kind, href)
        if len(seen) == places.KINDS:
            break
    return seen


def _presentation(
    markup: Markup, data: Structured, prose: Prose, balance: Balance, modified: date | None
) -> Presentation:
    count, lacking = markup.count, tuple(name for name in METADATA if name not in markup.said)
    return replace(
        _manners(prose),
        has_html=True,
        metadata=len(METADATA) - len(lacking),
        lacking=lacking,
        tags=balance.tags,
        tag_faults=balance.faults,
        links=count["links"],
        empty_links=count["empty links"],
        images=count["images"],
        missing_images=count["missing images"],
        structured=data.things,
        bad_structured=data.bad,
        is_kept_up=modified is not None or data.is_kept_up or "modified" in markup.said,
    )


def _text_alone(prose: Prose, page: PageMaterial) -> Presentation:
    return replace(_manners(prose), is_kept_up=page.modified is not None)


def _manners(prose: Prose) -> Presentation:
    """What the text alone shows."""
    return Presentation(
        words=prose.words,
        sentence_words=prose.sentence_words,
        capital_share=prose.capital_share,
        exclamations=prose.exclamations,
        emoji=prose.emoji,
        oddities=prose.oddities,
        placeholders=prose.placeholders,
        garbled=prose.garbled,
        sample=prose.sample,
    )
