"""Which pages are articles, and what is known of them."""

import pytest

from bailiwick.extract.items.article import article_of
from bailiwick.extract.markdown import markdown_of
from bailiwick.model.items import Item, ItemKind
from tests.extract.pages import HTML, PROSE, URL, content
from tests.extract.pdfs import make_pdf

LONG = "".join(f"<p>{PROSE} {year} was a good year.</p>" for year in (2023, 2024, 2025))
DATED = "<meta property=article:published_time content=2026-03-01T10:00:00Z>"
NEWS = (
    '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "A roof", '
    '"datePublished": "2026-03-01", "dateModified": "2026-03-02", "author": [{"@type": "Person", "name": "Ada Lee"}], '
    '"image": [{"@type": "ImageObject", "url": "/roof.jpg"}]}</script>'
)


def article(head: str = "", body: str = LONG) -> Item | None:
    html = f"<html lang=en><head><title>A roof | The Paper</title>{head}</head><body><article>{body}</article></body>"
    return article_of(content(html), markdown_of(html.encode(), HTML, URL), URL)


def test_an_article_says_what_it_is() -> None:
    item = article(NEWS + "<meta name=description content='About roofs'><link rel=canonical href=/roof>")
    assert item is not None
    assert (item.kind, item.extractor, item.version, item.position) == (ItemKind.ARTICLE, "article", 1, 0)
    body = item.data.pop("articleBody")
    assert isinstance(body, str)
    assert body.startswith("The fund helps")
    assert item.data == {
        "url": URL,
        "headline": "A roof",
        "datePublished": "2026-03-01T00:00:00Z",
        "dateModified": "2026-03-02T00:00:00Z",
        "authors": [{"name": "Ada Lee"}],
        "inLanguage": "en",
        "description": "About roofs",
        "canonicalUrl": "https://example.org/roof",
        "mainImage": {"url": "https://example.org/roof.jpg"},
    }


@pytest.mark.parametrize(
    ("head", "confidence"),
    [
        (NEWS, 0.95),
        (NEWS.replace('"NewsArticle"', '["https://schema.org/BlogPosting"]'), 0.95),
        (f"<meta property=og:type content=article>{DATED}", 0.8),
        ("<meta property=og:type content=article>", 0.6),
        (DATED, 0.6),
        ("<meta name=author content='Ada Lee'>", 0.6),
        ("", None),
        ("<meta property=og:type content=website>", None),
        (NEWS.replace("NewsArticle", "Product").replace("datePublished", "x").replace("author", "y"), None),
    ],
)
def test_confidence(head: str, confidence: float | None) -> None:
    item = article(head)
    assert (item.confidence if item else None) == confidence


def test_what_is_none() -> None:
    assert article(NEWS, "<p>Only a teaser.</p>") is None
    links = "".join(f"<li>Hall {n} in the valley of the river</li>" for n in range(100))
    assert article(DATED, f"<ul>{links}</ul>") is None
    assert article_of(content(make_pdf(["\n".join(["words and words"] * 40)])), None, URL) is None


def test_without_markdown_the_text_is_the_body() -> None:
    html = f"<title>A roof</title>{NEWS}<article>{LONG}</article>"
    item = article_of(content(html), None, URL)
    assert item is not None
    assert str(item.data["articleBody"]).startswith("The fund helps")
