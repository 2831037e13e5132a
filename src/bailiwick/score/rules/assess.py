"""All of layer 2 for one page: flags and checks, the proof of each, and why what could not be checked was not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bailiwick.model.layers import (
    FLAGS,
    MAX_WHY_CHARS,
    BrokenLinks,
    ContentQuality,
    Flag,
    GuestPostFlags,
    Layer2Results,
    Proof,
    Proofs,
    ThinContent,
)
from bailiwick.model.material import PageMaterial, SiteMaterial, SitePage
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.rules.addresses import Address, address_of, some_links
from bailiwick.score.rules.ads import assess_ads
from bailiwick.score.rules.authors import authors_of, is_author_page
from bailiwick.score.rules.content import assess_length, assess_links
from bailiwick.score.rules.flags import INVITATIONS, Finding, KnownPage, Reading, read_link, read_page
from bailiwick.score.rules.markup import read_markup
from bailiwick.score.rules.markup_values import Markup
from bailiwick.score.rules.phrasebook import PhraseBook, codes_for, phrase_book
from bailiwick.score.rules.proving import proof_of
from bailiwick.score.rules.wording import cleaned, words_in

_MOST_PROOFS = 3
_MOST_PAGES, _MOST_TEXTS = 2_000, 200
_PAGE_CHARS = 3_000
_BIO_WORDS = 20


def assess_rules(
    page: PageMaterial, site: SiteMaterial, policy: ScorePolicy, languages: Sequence[str] = ()
) -> tuple[Layer2Results, Proofs]:
    """What rules find on the page and its site, and what each finding rests on. The same in, the same out.

    A flag that was not found counts as checked only where it could have been found.
    """
    markup = read_markup(page.html) if page.html.strip() else Markup()
    book = phrase_book(codes_for(languages, page.language))
    report = _Report()
    flags = _flags(page, site, markup, book, report)
    quality = ContentQuality(
        thin_content=_thin(page, policy, report),
        excessive_ads=_ads(page, markup, policy, report),
        broken_links=_broken(site, policy, report),
    )
    return Layer2Results(guest_post_red_flags=flags, content_quality=quality, unchecked=report.unchecked), report.proofs


@dataclass(slots=True)
class _Report:
    """What goes beside the results: why something was not checked, and what a finding rests on."""

    unchecked: dict[str, str] = field(default_factory=dict)
    proofs: dict[str, tuple[Proof, ...]] = field(default_factory=dict)


def _flags(page: PageMaterial, site: SiteMaterial, markup: Markup, book: PhraseBook, report: _Report) -> GuestPostFlags:
    found, refusals = _found(page, site, markup, book)
    flags: dict[str, Flag] = {}
    for name in FLAGS:
        findings = [one for one in found if one.flag == name]
        why = None if findings else _why_unchecked(name, page, site, markup)
        flags[name] = Flag(checked=why is None, detected=bool(findings))
        if why is not None:
            report.unchecked[name] = why
        elif shown := _proofs(findings) or (refusals if name in INVITATIONS else ()):
            report.proofs[name] = shown
    return GuestPostFlags(**flags)


def _found(
    page: PageMaterial, site: SiteMaterial, markup: Markup, book: PhraseBook
) -> tuple[list[Finding], tuple[Proof, ...]]:
    """Every finding, the surest first, and the sentences in which the site refuses what others write."""
    own = address_of(page.url)
    readings = {one.address.url: read_page(book, one) for one in _known_pages(page, site, markup, own)}
    found = authors_of(book, page, markup)
    for reading in readings.values():
        found += reading.findings
    found += _author_pages(book, site)
    if own is not None:
        found += (one for link in dict.fromkeys(some_links(page.links)) for one in read_link(book, link, own))
    refusals = tuple(proof_of(url, f"refused: {one.refusal}") for url, one in readings.items() if one.refusal)
    standing = [one for one in found if not _is_taken_back(one, readings)]
    return sorted(standing, key=lambda one: -one.strength), refusals[:_MOST_PROOFS]


def _known_pages(page: PageMaterial, site: SiteMaterial, markup: Markup, own: Address | None) -> list[KnownPage]:
    known = [] if own is None else [KnownPage(own, page.title[:500], markup.headings, markup.captions, page.text)]
    for number, other in enumerate(_nearest(site.pages)):
        address = address_of(other.url)
        if address is not None and (own is None or address.url != own.url):
            text = other.text[:_PAGE_CHARS] if number < _MOST_TEXTS else ""
            known.append(KnownPage(address, other.title[:500], text=text))
    return known


def _nearest(pages: Sequence[SitePage]) -> list[SitePage]:
    """Those with the shortest addresses: a site's own pages, before thousands of articles."""
    return sorted(pages, key=lambda one: len(one.url))[:_MOST_PAGES]


def _author_pages(book: PhraseBook, site: SiteMaterial) -> list[Finding]:
    """Pages of the site that are about a writer, in more than a few words."""
    found = []
    for other in _nearest(site.pages):
        address = address_of(other.url)
        if address is not None and is_author_page(book, address) and len(words_in(other.text[:1_000])) >= _BIO_WORDS:
            found.append(Finding("author_bio", 2, address.url, cleaned(other.title or other.text)[:200]))
    return found


def _is_taken_back(finding: Finding, readings: Mapping[str, Reading]) -> bool:
    """An invitation by a link to a page that refuses, or on a site whose page for it does."""
    if finding.flag not in INVITATIONS:
        return False
    reading = readings.get(finding.url)
    return (reading is not None and reading.refusal is not None) or any(one.is_for_site for one in readings.values())


def _why_unchecked(name: str, page: PageMaterial, site: SiteMaterial, markup: Markup) -> str | None:
    """None where the flag would have been found."""
    was_read = bool(page.html.strip()) and (markup.has_text or bool(page.text.strip()))
    if name == "author_bio":
        return None if was_read else _why("the page has no HTML that tells who wrote it", site)
    if site.pages or (was_read and page.links):
        return None
    seen = "the page has no links" if was_read else "the page has no HTML to read"
    return _why(f"{seen}, and no other page of the site is known", site)


def _why(reason: str, site: SiteMaterial) -> str:
    if not site.unreached:
        return reason
    return cleaned(f"{reason}; asked for, but not reached: {'; '.join(site.unreached[:5])}")[:MAX_WHY_CHARS]


def _proofs(findings: Sequence[Finding]) -> tuple[Proof, ...]:
    distinct = dict.fromkeys((one.url, one.text) for one in findings)
    return tuple(proof_of(url, text) for url, text in list(distinct)[:_MOST_PROOFS])


def _thin(page: PageMaterial, policy: ScorePolicy, report: _Report) -> ThinContent:
    thin, proof = assess_length(page.text, page.url, policy.thin_words)
    if not page.html.strip() and not page.text.strip():
        report.unchecked["thin_content"] = "there is nothing of the page to read"
        return ThinContent()
    if page.is_truncated and thin.detected:
        report.unchecked["thin_content"] = "the page was cut off, and what was read is too short to tell"
        return ThinContent()
    report.proofs["thin_content"] = (proof,)
    return thin


def _ads(page: PageMaterial, markup: Markup, policy: ScorePolicy, report: _Report) -> Flag:
    if not markup.elements:
        report.unchecked["excessive_ads"] = "the page has no HTML elements to look at"
        return Flag()
    flag, proof = assess_ads(markup, page.url, share=policy.ads_share)
    report.proofs["excessive_ads"] = (proof,)
    return flag


def _broken(site: SiteMaterial, policy: ScorePolicy, report: _Report) -> BrokenLinks:
    assessed = assess_links(site.link_checks, policy.broken_links)
    if assessed is None:
        tried = "of no link that was tried it could be told" if site.link_checks else "no link of the page was checked"
        report.unchecked["broken_links"] = tried
        return BrokenLinks()
    broken, shown = assessed
    if shown:
        report.proofs["broken_links"] = shown
    return broken
