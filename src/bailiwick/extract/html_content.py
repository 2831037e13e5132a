"""HTML to content: one tree, from which main text and metadata are read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from bailiwick.extract.addresses import absolute
from bailiwick.extract.clean import clean, clean_line
from bailiwick.extract.dates import moment_of
from bailiwick.extract.facts import TYPES, Facts, gather
from bailiwick.extract.hashing import Beside, content_hash
from bailiwick.extract.languages import language_of
from bailiwick.extract.limits import ContentLimits
from bailiwick.extract.linked_data import LinkedObject, article_in, names_in, objects_of, text_in, types_of
from bailiwick.extract.simhash import simhash, word_count, words_of
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread

if TYPE_CHECKING:
    from resiliparse.parse.html import DOMNode, HTMLTree

LARGE_CHARS = 300_000
"""Of a document that is longer the main text is not laid out."""
_LITTLE_CHARS = 200
_MUCH_MORE = 3
_CELL = re.compile("<t(?=[dh])")
_BOILERPLATE = ("nav", "header", "footer", "aside", "form", "dialog", "[role=navigation]", "[aria-hidden=true]")
_TITLE_CHARS, _DESCRIPTION_CHARS, _AUTHOR_CHARS = 300, 1_000, 200
_MOST_META, _META_CHARS = 40, 500
_MOST_TYPES = 30
_PUBLISHED_NAMES = (
    *("article:published_time", "datepublished", "citation_publication_date", "dcterms.created", "dc.date.issued"),
    *("parsely-pub-date", "publishdate", "pubdate", "dc.date", "date"),
)
_KEPT = frozenset({"keywords", "generator", "application-name", "robots", "news_keywords", "theme-color"})
_KEPT_FAMILIES = ("og:", "article:", "product:", "twitter:", "book:", "profile:")


def parse_html(html: str) -> "HTMLTree":
    """The tree of a document that was tamed."""
    from resiliparse.parse.html import HTMLTree

    return HTMLTree.parse(_parted(html))


def read_html(tree: "HTMLTree", url: str, limits: ContentLimits, *, is_large: bool = False) -> Content | Unread:
    """The content of a document; EMPTY if it has neither text nor title."""
    facts = gather(tree)
    text = clean(_main_text(tree, is_large=is_large), limits.max_text_chars)
    page_title = tree.title or ""
    if not text and not page_title.strip():
        return Unread(ParseOutcome.EMPTY, "there is no text in it")
    objects = objects_of(facts.linked_data)
    article = article_in(objects) or next((one for one in objects if "datePublished" in one or "headline" in one), {})
    beside = Beside(page_title, facts.meta, facts.linked_data, facts.properties, facts.images)
    return Content(
        kind=ContentKind.HTML,
        text=text,
        words=word_count(text),
        content_hash=content_hash(text, beside),
        simhash=simhash(words_of(text)),
        title=_title(page_title, facts),
        description=clean_line(facts.said("description", "og:description", "twitter:description"), _DESCRIPTION_CHARS),
        language=language_of(_said_language(tree, facts), text),
        author=_author(article, facts),
        canonical=absolute(facts.canonical, absolute(facts.base_href, url) or url),
        published_at=_published(article, facts),
        modified_at=_modified(article, facts),
        meta=_kept_meta(facts, objects),
    )


def _parted(html: str) -> str:
    """With a space before each cell of a table: the text of cells is put together without one otherwise."""
    return _CELL.sub(" <t", html)


def _main_text(tree: "HTMLTree", *, is_large: bool = False) -> str:
    """The main text or, where nearly all of the page was taken for boilerplate, all that is not plainly so.

    Of a large page without its lines: laying out 30,000 items of nested lists took 14 seconds.
    """
    from resiliparse.extract.html2text import extract_plain_text

    with _sunken_lists(tree):
        main = str(extract_plain_text(tree, main_content=True, links=False, list_bullets=False, alt_texts=False))
        if len(main) >= _LITTLE_CHARS:
            return main
        full = str(extract_plain_text(
            tree, preserve_formatting=not is_large, main_content=False, links=False, list_bullets=False,
            alt_texts=False, skip_elements=_BOILERPLATE,
        ))  # fmt: skip
    return full if len(full) > _MUCH_MORE * len(main) else main


@contextmanager
def _sunken_lists(tree: "HTMLTree") -> Iterator[None]:
    """Lists of text moved deeper for a while: resiliparse takes each `ul` within two steps of the body for a menu."""
    moved = []
    for node in _lists_near(tree):
        items, links = len(node.get_elements_by_tag_name("li")), len(node.get_elements_by_tag_name("a"))
        if 2 * links > items or node.parent is None:
            continue
        outer, inner = tree.create_element("div"), tree.create_element("div")
        node.parent.insert_before(outer, node)
        outer.append_child(inner)
        inner.append_child(node)
        moved.append((node, outer))
    try:
        yield
    finally:
        for node, outer in moved:
            outer.parent.insert_before(node, outer)
            outer.parent.remove_child(outer)


def _lists_near(tree: "HTMLTree") -> "list[DOMNode]":
    """The lists within two steps of the body, in order. A selector would be tried on every element of the page."""
    found = []
    outer = tree.body.first_element_child if tree.body is not None else None
    while outer is not None:
        found += [outer] if outer.tag == "ul" else []
        inner = outer.first_element_child
        while inner is not None:
            found += [inner] if inner.tag == "ul" else []
            inner = inner.next_element
        outer = outer.next_element
    return found


def _title(page_title: str, facts: Facts) -> str | None:
    """The page's own title; what it is shared under or its heading, where that is missing."""
    candidates = (page_title, facts.said("og:title", "twitter:title"), facts.headline)
    return next((line for text in candidates if (line := clean_line(text, _TITLE_CHARS))), None)


def _said_language(tree: "HTMLTree", facts: Facts) -> str | None:
    root = tree.document.query_selector("html") if tree.document is not None else None
    given = (root.getattr("lang") or root.getattr("xml:lang")) if root is not None else None
    return given or facts.said("content-language", "og:locale", "dc.language", "language")


def _author(article: LinkedObject, facts: Facts) -> str | None:
    names = "; ".join(list(names_in(article.get("author")))[:10])
    said = facts.said("author", "article:author", "dc.creator", "citation_author", "twitter:creator")
    if said and "://" in said:  # a profile's address is no name
        said = None
    return clean_line(names or said or facts.property("author"), _AUTHOR_CHARS)


def _published(article: LinkedObject, facts: Facts) -> datetime | None:
    candidates = [
        text_in(article.get("datePublished")),
        facts.said(*_PUBLISHED_NAMES),
        facts.property("datePublished"),
        *(moment for moment, is_publication in facts.times if is_publication),
        *(moment for moment, _ in facts.times if len(facts.times) == 1),
    ]
    return next((moment for text in candidates if (moment := moment_of(text)) is not None), None)


def _modified(article: LinkedObject, facts: Facts) -> datetime | None:
    candidates = (
        text_in(article.get("dateModified")),
        facts.said("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified"),
        facts.property("dateModified"),
    )
    return next((moment for text in candidates if (moment := moment_of(text)) is not None), None)


def _kept_meta(facts: Facts, objects: list[LinkedObject]) -> dict[str, str]:
    """OpenGraph, a few useful names, and what JSON-LD says of an article (`ld:type`, `ld:headline`, `ld:image`)."""
    kept: dict[str, str] = {}
    for name, content in facts.meta:
        if len(kept) >= _MOST_META:
            break
        if (name in _KEPT or name.startswith(_KEPT_FAMILIES)) and name not in kept:
            key, value = clean_line(name, 100), clean_line(content, _META_CHARS)
            if key and value:
                kept[key] = value
    types = {kind for one in objects for kind in types_of(one)}
    types.update(kind.rpartition("/")[2].rpartition(":")[2] for given in facts.types for kind in given.split())
    if kept.get("og:type", "").lower().rpartition(":")[2] in ("product", "product.item"):
        types.add("Product")
    if types:
        kept[TYPES] = ",".join(sorted(filter(str.isalnum, types))[:_MOST_TYPES])
    article = article_in(objects)
    if article is not None:
        kind = ",".join(sorted(types_of(article)))
        told = {
            "ld:type": kind,
            "ld:headline": text_in(article.get("headline")),
            "ld:image": text_in(article.get("image")),
        }
        kept |= {name: line for name, value in told.items() if (line := clean_line(value, _META_CHARS))}
    return kept
