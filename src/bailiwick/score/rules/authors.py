"""Whether a page tells who wrote it: structured data with more than a name, a byline, a box about the author."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pydantic import JsonValue

from bailiwick.model.material import PageMaterial
from bailiwick.score.rules.addresses import Address, address_of, same_site, some_links
from bailiwick.score.rules.flags import Finding
from bailiwick.score.rules.markup_values import AuthorMark, Mark, Markup
from bailiwick.score.rules.phrasebook import Grade, PhraseBook
from bailiwick.score.rules.wording import Wording, cleaned, words_in

_Object: TypeAlias = Mapping[str, JsonValue]
_FLAG = "author_bio"
_MOST_VALUES = 3_000
_MOST_AUTHOR_LINKS = 3
"""More are a list of writers, or of books: none of them wrote this page."""
_END_CHARS, _END_LINES, _LINE_CHARS = 20_000, 400, 400
_BIO_WORDS, _BYLINE_WORDS = 5, 12
_MORE_THAN_A_NAME = ("description", "jobTitle", "sameAs", "url", "image", "affiliation", "worksFor", "knowsAbout")
_NO_PERSONS = frozenset({"Organization", "NewsMediaOrganization", "Corporation", "WebSite", "Brand"})
_WRITTEN = ("Article", "BlogPosting", "Posting", "Report", "WebPage", "HowTo", "Recipe", "CreativeWork", "FAQPage")


def authors_of(book: PhraseBook, page: PageMaterial, markup: Markup) -> list[Finding]:
    """What tells of the author, surest first. On a page that sells something the author is that of a book."""
    found = list(_in_linked_data(book, page.url, markup.linked_data))
    if any(kind.lower() == "product" for kind in page.item_kinds):
        return found
    for mark in markup.author_marks:
        strength = _strength(book, mark)
        if strength:
            found.append(Finding(_FLAG, strength, page.url, cleaned(mark.text)[:200]))
    found.extend(_in_text(book, page))
    found.extend(_in_links(book, page))
    return sorted(found, key=lambda one: -one.strength)


def _strength(book: PhraseBook, mark: AuthorMark) -> int:
    """0: it tells of nobody."""
    wording = Wording.of(mark.text)
    if mark.mark == Mark.CAPTION:
        return 3 if _is_about_author(book, wording) else 0
    if mark.mark == Mark.BOX:
        return 4 if len(wording.words) >= _BIO_WORDS else 0
    if mark.mark == Mark.PROPERTY:
        return 4 if _names_somebody(book, wording) else 0
    if mark.mark == Mark.RELATION:
        return 3 if _names_somebody(book, wording) else 0
    return 2 if _names_somebody(book, wording, fewest=2) else 0


def _is_about_author(book: PhraseBook, wording: Wording) -> bool:
    """A caption that begins so, or that is nothing else."""
    if book.whole(wording.words).get(_FLAG, Grade.WEAK) >= Grade.PHRASE:
        return True
    return (
        any(match.flag == _FLAG and match.first == 0 for match in book.within(wording.words))
        and len(wording.words) <= 8
    )


def _in_text(book: PhraseBook, page: PageMaterial) -> Iterator[Finding]:
    """A line "About the author: …", which needs no markup of its own. It stands at an article's end."""
    for line in page.text[-_END_CHARS:].split("\n")[-_END_LINES:]:
        head, colon, rest = line[:_LINE_CHARS].partition(":")
        if colon and rest.strip() and _is_about_author(book, Wording.of(head)):
            yield Finding(_FLAG, 3, page.url, cleaned(line).strip()[:200])
            return


def _names_somebody(book: PhraseBook, wording: Wording, *, fewest: int = 1) -> bool:
    """A short line that, without its "by", has a name: words with capitals, and no "admin" or "staff"."""
    if not 0 < len(wording.words) <= _BYLINE_WORDS:
        return False
    start = next((last for first, last in book.bylines.find(wording.words) if first == 0), 0)
    if not book.nobody.isdisjoint(wording.words[start : start + 3]):
        return False
    names = [wording.text[first:last] for first, last in wording.spans[start : start + 5]]
    return sum(_is_capitalised(name) for name in names) >= fewest


def _is_capitalised(word: str) -> bool:
    """Of a script without capitals every word passes."""
    return word[0].isupper() or (word[0].isalpha() and word[0].lower() == word[0].upper())


def _in_links(book: PhraseBook, page: PageMaterial) -> Iterator[Finding]:
    """Links with rel=author, and the one or two pages of writers that an article links to."""
    own = address_of(page.url)
    pages: dict[str, Finding] = {}
    for link in some_links(page.links) if own is not None else ():
        address = address_of(link.url)
        if address is None or own is None or not same_site(address, own):
            continue
        is_related = "author" in link.rel.lower().split()
        if (is_related or is_author_page(book, address)) and _names_somebody(book, Wording.of(link.text)):
            text = cleaned(link.text)[:200]
            pages.setdefault(address.url, Finding(_FLAG, 3 if is_related else 2, address.url, text))
    if len(pages) <= _MOST_AUTHOR_LINKS:
        yield from pages.values()


def is_author_page(book: PhraseBook, address: Address) -> bool:
    """`/author/jane-doe`, also with a language before it."""
    folders = address.folders
    return 2 <= len(folders) <= 4 and "".join(folders[-2]) in book.author_folders


def _in_linked_data(book: PhraseBook, url: str, sources: Sequence[str]) -> Iterator[Finding]:
    objects = [one for source in sources for one in _objects(source)]
    by_id = {name: one for one in objects if isinstance(name := one.get("@id"), str) and len(one) > 1}
    for one in objects:
        if not any(kind.endswith(_WRITTEN) for kind in _types(one)):
            continue
        for author in _listed(one.get("author"))[:20]:
            if isinstance(author, dict) and (shown := _told(book, author, by_id)):
                yield Finding(_FLAG, 4, url, shown)


def _told(book: PhraseBook, author: _Object, by_id: Mapping[str, _Object]) -> str | None:
    """The author's name and what else is said, if anything is."""
    name_of = author.get("@id")
    author = {**(by_id.get(name_of, {}) if isinstance(name_of, str) else {}), **author}
    name = author.get("name")
    more = [key for key in _MORE_THAN_A_NAME if author.get(key)]
    if not isinstance(name, str) or not more or _NO_PERSONS & set(_types(author)):
        return None
    if not name.strip() or not book.nobody.isdisjoint(words_in(name[:200])[:3]):
        return None
    said = author.get("description") or author.get("jobTitle")
    return cleaned(f"author: {name}, {said if isinstance(said, str) else ', '.join(more)}")[:200]


def _objects(source: str) -> Iterator[_Object]:
    """All objects of a script, however deep, without recursion: pages nest on purpose."""
    try:
        waiting: list[JsonValue] = [json.loads(source, strict=False)]
    except (ValueError, RecursionError):
        return
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(inner for inner in value.values() if isinstance(inner, dict | list))
        elif isinstance(value, list):
            waiting.extend(inner for inner in value[:_MOST_VALUES] if isinstance(inner, dict | list))


def _types(value: _Object) -> list[str]:
    names = _listed(value.get("@type"))
    return [name.rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str)]


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]
