"""The six flags, over addresses, titles, headings, links and running text. What is found names its place and words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bailiwick.model.layers import FLAGS
from bailiwick.model.material import PageLink
from bailiwick.score.rules.actions import does_something
from bailiwick.score.rules.addresses import Address, address_of, same_site
from bailiwick.score.rules.phrasebook import Grade, PhraseBook
from bailiwick.score.rules.refusing import is_denied, is_meant, is_treatise, refusal_in
from bailiwick.score.rules.wording import Wording

GUEST_FLAGS = frozenset({"submit_content", "write_for_us", "guest_post_guidelines"})
INVITATIONS = frozenset({"submit_content", "write_for_us"})
"""Flags that a refusal takes back; guidelines stay what they are."""
_PAGES = frozenset({"contact_page", "pricing_page"})
_LINK_WORDS = 16
_TITLE_WORDS = 24
_NEAR_WORDS = 120
_HEAD_CHARS, _TAIL_CHARS = 120_000, 20_000
_TITLE_PARTS = re.compile(r"\s+[-\u2013\u2014/]+\s+|\s*[|\xbb\xab\xb7\u2022]\s*")


@dataclass(frozen=True, slots=True)
class Finding:
    """A flag raised: how surely, and what was seen where."""

    flag: str
    strength: int
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page as far as it is known."""

    address: Address
    title: str = ""
    headings: tuple[str, ...] = ()
    """What it calls itself: its first-level headings."""
    captions: tuple[str, ...] = ()
    """What else stands out on it: lower headings, buttons."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page says of itself, and the sentence in which it refuses what others write."""

    findings: tuple[Finding, ...]
    refusal: str | None = None
    is_for_site: bool = False
    """The refusal stands on the page that is there to invite."""


def read_page(book: PhraseBook, page: KnownPage) -> Reading:
    """What its address, titles and text show. Nothing of guest posts on a page that treats of them."""
    text = Wording.of(_ends_of(page.text))
    titles = [Wording.of(one) for one in (page.title, *page.headings) if one]
    refusal = next(filter(None, (refusal_in(book, one) for one in (text, *titles))), None)
    found = list(_of_page(book, page, titles, text))
    treats = is_treatise(book, page.address.last) or any(is_treatise(book, one.words) for one in titles)
    barred = GUEST_FLAGS if treats else INVITATIONS if refusal else frozenset[str]()
    kept = tuple(one for one in found if one.flag not in barred)
    return Reading(kept, refusal, is_for_site=bool(refusal) and not treats and len(kept) < len(found))


def read_link(book: PhraseBook, link: PageLink, page: Address) -> list[Finding]:
    """What a link of the page shows about its site. Others' pages say nothing of it, forms made elsewhere do."""
    address = address_of(link.url)
    if address is None or address.url == page.url:
        return []
    is_own = same_site(address, page)
    if not is_own and not address.is_form:
        return []
    text = Wording.of(link.text)
    by_text = _graded(book, text) if len(text.words) <= _LINK_WORDS else {}
    by_address = _of_address(book, address) if is_own else {}
    if not by_text and not by_address:
        return []
    near = (*text.words, *address.last)
    treats = is_treatise(book, text.words) or is_treatise(book, address.last)
    return [
        Finding(flag, strength, address.url, _shown_link(link, address, text))
        for flag in FLAGS
        if flag in by_text or flag in by_address
        if not (treats and flag in GUEST_FLAGS) and not book.is_spoilt(flag, near)
        if (strength := _link_strength(book, flag, (by_text.get(flag), by_address.get(flag)), address, near))
    ]


def _link_strength(
    book: PhraseBook, flag: str, grades: tuple[Grade | None, Grade | None], address: Address, near: Sequence[str]
) -> int:
    """0: it shows nothing."""
    by_text, by_address = grades
    if by_text is not None and by_text <= Grade.LABEL and not (address.is_plain or by_address):
        by_text = None
    if flag not in GUEST_FLAGS and by_text is not None and not (address.is_plain or by_address):
        by_text = None
    if flag in _PAGES and does_something(address):
        return 0
    if flag == "author_bio" and by_text != Grade.PHRASE:
        return 0
    surest = max((one for one in (by_text, by_address) if one is not None), default=None)
    if surest is None or (surest == Grade.WEAK and not book.is_borne_out(flag, near)):
        return 0
    return 1 + surest + (by_text is not None and by_address is not None)


def _of_page(book: PhraseBook, page: KnownPage, titles: list[Wording], text: Wording) -> Iterator[Finding]:
    url = page.address.url
    by_address = _of_address(book, page.address)
    near = (*(word for title in titles for word in title.words), *text.words[:_NEAR_WORDS])
    for flag, grade in by_address.items():
        if flag != "author_bio" and (
            grade > Grade.WEAK or (book.is_borne_out(flag, near) and not book.is_spoilt(flag, near))
        ):
            yield Finding(flag, 1 + grade, url, page.address.path[:200] or url[:200])
    for title in titles:
        for flag, grade in _of_title(book, page.address, title).items():
            if flag in GUEST_FLAGS or page.address.is_plain or by_address.get(flag):
                yield Finding(flag, 1 + grade, url, " ".join(title.text.split())[:200])
    for caption in page.captions:
        wording = Wording.of(caption)
        if len(wording.words) <= _LINK_WORDS and not is_treatise(book, wording.words):
            yield from _said(book, wording, url, Grade.PHRASE)
    yield from _said(book, text, url, Grade.SAID)


def _said(book: PhraseBook, wording: Wording, url: str, least: Grade) -> Iterator[Finding]:
    for match in book.within(wording.words, least=least):
        if match.flag in GUEST_FLAGS and is_meant(book, wording, match):
            yield Finding(match.flag, 2 if least == Grade.SAID else 3, url, wording.shown(match.first, match.last))


def _of_title(book: PhraseBook, address: Address, title: Wording) -> dict[str, Grade]:
    """A title's parts: `Contact | Acme` is the page Contact."""
    found: dict[str, Grade] = {}
    for part in _TITLE_PARTS.split(title.text)[:6]:
        wording = Wording.of(part)
        if len(wording.words) > _TITLE_WORDS:
            continue
        for flag, grade in _graded(book, wording).items():
            is_label = grade == Grade.LABEL and address.is_plain and not address.is_subject
            if flag != "author_bio" and (grade > Grade.LABEL or is_label) and not book.is_spoilt(flag, wording.words):
                found[flag] = max(grade, found.get(flag, Grade.WEAK))
        if _names_host(wording.words, address.host):
            found["write_for_us"] = Grade.PHRASE
    return found


def _of_address(book: PhraseBook, address: Address) -> dict[str, Grade]:
    """What the last folder is called."""
    last, is_whole = address.last, book.whole(address.last)
    wording = Wording(" ".join(last), last, _places(last))
    found = _graded(book, wording)
    if _names_host(last, address.host):
        found["write_for_us"] = Grade.PHRASE
    if found and (is_treatise(book, last) or refusal_in(book, wording)):
        found = {flag: grade for flag, grade in found.items() if flag not in GUEST_FLAGS}
    return {
        flag: grade
        for flag, grade in found.items()
        if not book.is_spoilt(flag, address.words) and _may_be_called(flag, grade, address, is_whole)
    }


def _may_be_called(flag: str, grade: Grade, address: Address, is_whole: Mapping[str, Grade]) -> bool:
    """Whether a folder's name says so there: under `tag/` or a date `pricing` is a subject, not a page."""
    if flag in GUEST_FLAGS and grade >= Grade.PHRASE:
        return True
    if address.is_subject or address.is_dated or address.is_among_articles:
        return False
    return address.is_plain or flag in is_whole


def _graded(book: PhraseBook, wording: Wording) -> dict[str, Grade]:
    """The surest grade of each flag in a short text that does not deny it."""
    found = dict(book.whole(wording.words))
    for match in book.within(wording.words):
        if not is_denied(book, wording, match.first, match.last):
            found[match.flag] = max(match.grade, found.get(match.flag, Grade.WEAK))
    return found


def _names_host(words: Sequence[str], host: str) -> bool:
    """ "Write for Egghead" at egghead.io."""
    name = "".join(letter for letter in host.rpartition(".")[0] if letter.isalnum())
    places = [at for at in range(len(words) - 2) if words[at : at + 2] == ("write", "for")]
    return any(len(word) >= 4 and word in name for at in places for word in words[at + 2 : at + 6])


def _shown_link(link: PageLink, address: Address, text: Wording) -> str:
    return " ".join(text.text.split())[:200] or address.path[:200] or link.url[:200]


def _places(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    places, start = [], 0
    for word in words:
        places.append((start, start + len(word)))
        start += len(word) + 1
    return tuple(places)


def _ends_of(text: str) -> str:
    """Its beginning and its end: what a site asks of its readers stands there."""
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
