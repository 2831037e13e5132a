"""Content of HTML, text and what lies about its type."""

from datetime import UTC, datetime

import pytest

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread
from tests.extract.pages import HTML, LIMITS, PROSE, URL, content, read


def page(head: str = "", body: str = f"<main><p>{PROSE}</p></main>", html: str = "<html>") -> Content:
    return content(f"<!doctype html>{html}<head>{head}</head><body>{body}</body></html>")


def test_the_main_text_is_without_menus_and_footers() -> None:
    found = page(
        body=f"<nav><ul><li><a href=/>Home</a></ul></nav><main><h1>Halls</h1><p>{PROSE}</p><ul><li>New roofs</li>"
        "<li>New floors</li></ul><table><tr><td>Least</td><td>500</td></tr></table></main><footer>Imprint</footer>"
    )
    assert found.kind is ContentKind.HTML
    assert found.text.startswith(f"Halls\n\n{PROSE}")
    assert "New roofs" in found.text
    assert "Least 500" in found.text
    assert "Home" not in found.text
    assert "Imprint" not in found.text
    assert found.words == len(found.text.split())


def test_a_page_that_is_taken_for_boilerplate_has_its_text() -> None:
    items = "".join(f"<li><a href=/{n}>Hall number {n} in the valley</a></li>" for n in range(30))
    found = page(body=f"<ul>{items}</ul><footer>Imprint</footer>")
    assert "Hall number 29" in found.text
    assert "Imprint" not in found.text


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title> Halls \n and  barns </title><meta property=og:title content=Other>", "Halls and barns"),
        ("<title> </title><meta property=og:title content='Shared &amp; kept'>", "Shared & kept"),
        ("", "Heading"),
        (f"<title>{'x' * 1_000}</title>", "x" * 300),
    ],
)
def test_title(head: str, title: str) -> None:
    assert page(head, f"<h1>Heading</h1><p>{PROSE}</p>").title == title


@pytest.mark.parametrize(
    ("html", "head", "language"),
    [
        ("<html lang=de-AT>", "", "de"),
        ("<html lang=EN>", "", "en"),
        ("<html xml:lang=fr>", "", "fr"),
        ("<html>", "<meta http-equiv=content-language content='pt-BR'>", "pt"),
        ("<html>", "<meta property=og:locale content=es_ES>", "es"),
        ("<html lang=x>", "", "en"),
        ("<html lang=und>", "", "en"),
        ("<html>", "", "en"),
    ],
)
def test_language(html: str, head: str, language: str) -> None:
    assert page(head, html=html).language == language


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href=/c>", "https://example.org/c"),
        ("<link rel='nofollow CANONICAL' href=//other.example/c>", "https://other.example/c"),
        ("<base href=https://b.example/d/><link rel=canonical href=c>", "https://b.example/d/c"),
        ("<link rel=canonical href='javascript:alert(1)'>", None),
        ("<link rel=canonical href='http://['>", None),
        ("<link rel=canonical>", None),
        (f"<link rel=canonical href=/{'x' * 10_000}>", None),
        ("", None),
    ],
)
def test_canonical(head: str, canonical: str | None) -> None:
    assert page(head).canonical == canonical


def linked(data: str) -> str:
    return f'<script type="application/ld+json">{data}</script>'


@pytest.mark.parametrize(
    ("head", "published"),
    [
        (linked('{"@type": "Article", "datePublished": "2026-03-01T10:00Z"}'), datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (linked('{"@graph": [{"@type": "WebPage", "datePublished": "2026-03-01"}]}'), datetime(2026, 3, 1, tzinfo=UTC)),
        ("<meta property=article:published_time content=2026-03-01T10:00:00Z>", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("<meta name=date content='March 1, 2026'>", datetime(2026, 3, 1, tzinfo=UTC)),
        ("<meta property=article:published_time content=0001-01-01T00:00:00Z>", None),
        ("<meta property=article:published_time content=2999-01-01>", None),
        ("<meta property=article:published_time content=yesterday>", None),
        (linked("{broken"), None),
        ("", None),
    ],
)  # fmt: skip
def test_published(head: str, published: datetime | None) -> None:
    assert page(head).published_at == published


def test_published_by_a_time_element() -> None:
    once = "<time datetime=2026-03-01>1 March</time>"
    assert page(body=f"{once}<p>{PROSE}</p>").published_at == datetime(2026, 3, 1, tzinfo=UTC)
    other = "<time datetime=2025-01-01>old</time>"
    assert page(body=f"{other}{once}<p>{PROSE}</p>").published_at is None
    marked = once.replace("<time", "<time class=entry-date")
    assert page(body=f"{other}{marked}<p>{PROSE}</p>").published_at == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("head", "author"),
    [
        (linked('{"@type": "Article", "author": [{"name": "Ada Lee"}, {"name": "Bo"}]}'), "Ada Lee; Bo"),
        (linked('{"@type": "Article", "author": "Ada Lee"}'), "Ada Lee"),
        ("<meta name=author content='Ada  Lee'>", "Ada Lee"),
        ("<meta property=article:author content=https://social.example/ada>", None),
    ],
)
def test_author(head: str, author: str | None) -> None:
    assert page(head).author == author


def test_meta_is_kept_within_bounds() -> None:
    many = "".join(f"<meta property=og:x{n} content={'v' * 2_000}>" for n in range(500))
    found = page(f"<meta property=og:type content=website><meta name=viewport content=x>{many}")
    assert found.meta["og:type"] == "website"
    assert "viewport" not in found.meta
    assert len(found.meta) <= 50
    assert max(map(len, found.meta.values())) <= 500


def test_text_is_clean() -> None:
    found = page("<title>a\x07b</title>", f"<p>{PROSE} one\x00two&#x85;three&#xD800;four\x1bfive</p>")
    assert found.title == "ab"
    assert_clean(found)


def assert_clean(found: Content) -> None:
    """Storable by any database, and nothing that moves a terminal's cursor."""
    texts = [found.text, found.title, found.description, found.author, found.canonical, found.language]
    texts += [*found.meta, *found.meta.values()]
    for text in texts:
        if text is not None:
            text.encode()
            assert not any((ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160 for char in text), text[:80]
    assert len(found.content_hash) == 16
    assert -(2**63) <= found.simhash < 2**63
    assert len(found.text) <= LIMITS.max_text_chars


def test_plain_text() -> None:
    found = content(f"Village halls\r\n\r\n\r\n\r\n{PROSE}\x00".encode(), "text/plain")
    assert (found.kind, found.title, found.language) == (ContentKind.TEXT, "Village halls", "en")
    assert found.text == f"Village halls\n\n{PROSE}"


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (f"<!DOCTYPE html><p>{PROSE}".encode(), "text/plain", ContentKind.HTML),
        (f"<html><p>{PROSE}".encode(), "", ContentKind.HTML),
        (f"<div><p>{PROSE}".encode(), "application/octet-stream", ContentKind.HTML),
        (f"<html><p>{PROSE}".encode(), "application/pdf", ContentKind.HTML),
        (f'<?xml version="1.0"?><html><p>{PROSE}'.encode(), "application/xml", ContentKind.HTML),
        (f"<p>{PROSE}".encode(), "application/xhtml+xml", ContentKind.HTML),
        (f"<p>{PROSE}".encode("utf-16"), "text/html", ContentKind.HTML),
        (f"<p>{PROSE}".encode("utf-16-le"), "text/html; charset=utf-16le", ContentKind.HTML),
        (PROSE.encode(), "", ContentKind.TEXT),
        (PROSE.encode(), "text/markdown", ContentKind.TEXT),
        (b"", "text/html", ParseOutcome.EMPTY),
        (b" \n", "text/plain", ParseOutcome.EMPTY),
        (b"<html><script>app()</script>", "text/html", ParseOutcome.EMPTY),
        (b"<rss><channel/></rss>", "text/xml", ParseOutcome.UNSUPPORTED),
        (b"{}", "application/json", ParseOutcome.UNSUPPORTED),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "text/html", ParseOutcome.UNSUPPORTED),
        (b"PK\x03\x04" + bytes(100), "application/pdf", ParseOutcome.UNSUPPORTED),
        (bytes(range(256)) * 40, "text/html", ParseOutcome.BROKEN),
        (bytes(1_000), "text/plain", ParseOutcome.BROKEN),
        (b"no pdf at all", "application/pdf", ParseOutcome.BROKEN),
    ],
)  # fmt: skip
def test_types_and_lies(body: bytes, content_type: str, kind: ContentKind | ParseOutcome) -> None:
    found = read(body, content_type)
    assert (found.outcome if isinstance(found, Unread) else found.kind) == kind


def test_limits_on_text() -> None:
    small = ContentLimits(max_text_chars=1_000, max_html_chars=20_000)
    found = read_content(f"<p>{PROSE * 10}".encode(), HTML, URL, small)
    assert isinstance(found, Content)
    assert len(found.text) <= 1_000


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "iso-8859-15"])
def test_the_charset_is_no_part_of_the_content(charset: str) -> None:
    html = f"<p>Die Hütte für alle: {PROSE}"
    assert content(html.encode(charset), f"text/html; charset={charset}") == content(html)
