"""Whatever comes: a recorded outcome each, in time, and nothing that cannot be stored."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bailiwick.extract.content import read_content
from bailiwick.extract.items.article import article_of
from bailiwick.extract.markdown import markdown_of
from bailiwick.extract.taming import tamed
from bailiwick.model.content import ParseOutcome, Unread
from tests.extract.pages import HTML, LIMITS, PROSE, URL
from tests.extract.pdfs import make_pdf
from tests.extract.test_content import assert_clean
from tests.extract.trial import tried
from tests.suites import SUITES, json_lines, suite_path

PAGE_SECONDS = 30.0
"""What a page may take in the parse stage; a machine busy with other tests is slow."""
HARD: dict[str, tuple[bytes, str]] = {
    "deep divs": (b"<title>Deep</title>" + b"<div>" * 100_000 + b"some text", "parsed"),
    "deep divs, closed": (b"<div>" * 100_000 + b"some text" + b"</div>" * 100_000, "parsed"),
    "deep spans": (b"<span>" * 200_000 + b"some text", "parsed"),
    "deep lists": (b"<ul><li>some text" * 30_000, "parsed"),
    "deep tables": (b"<table><tr><td>some text" * 20_000, "parsed"),
    "deep foreign elements": (b"some text" + b"<svg><math>" * 50_000, "parsed"),
    "formatting that is never closed": (b"<a><b><i><u><p>some text" * 2_000, "parsed"),
    "very many paragraphs": (b"<p>some text here</p>" * 200_000, "parsed"),
    "very many marked blocks": (b"<div class='nav comments foo'>some text <a href=/x>l</a></div>" * 50_000, "parsed"),
    "very many images": (b"some text" + b"<img src=/x>" * 100_000, "parsed"),
    "very many metas": (b"some text" + b"<meta name=og:a content=b>" * 60_000, "parsed"),
    "very many times": (b"some text" + b"<time datetime=2026-01-01 itemprop=price>" * 50_000, "parsed"),
    "very many attributes": (b"<p " + b" ".join(b"a%d=1" % n for n in range(10_000)) + b">some text", "parsed"),
    "a megabyte in each attribute": (
        b'<html lang="%b"><meta name="description" content="%b"><link rel=canonical href="/%b"><p class="%b">some text'
        % ((b"a " * 500_000,) * 4),
        "parsed",
    ),
    "a megabyte of title": (b"<title>" + b"some text " * 100_000, "parsed"),
    "one line of 10 MB": (b"some text " * 1_000_000, "parsed"),
    "nothing but <": (b"<" * 2_000_000, "parsed"),
    "unclosed tags": (b"some text" + b"<div class=" * 200_000, "parsed"),
    "an endless comment": (b"some text<!--" + b"-" * 2_000_000, "parsed"),
    "an endless script": (b"some text<script>" + b"<div>" * 400_000, "parsed"),
    "entities": (b"some text" + b"&amp;&#0;&#xD800;&#x110000;&nosuch;" * 50_000, "parsed"),
    "deep JSON-LD": (b"<p>some text<script type=application/ld+json>" + b'{"a":[' * 100_000 + b"</script>", "parsed"),
    "rather deep JSON-LD": (
        b'<p>some text<script type=application/ld+json>{"@graph":' + b"[" * 400 + b"]" * 400 + b"}</script>", "parsed"
    ),
    "large JSON-LD": (
        b"some text<script type=application/ld+json>[" + b'{"@type":"Article"},' * 100_000 + b"{}]</script>", "parsed"
    ),
    "a number without end": (b"some text<script type=application/ld+json>" + b"9" * 100_000 + b"</script>", "parsed"),
    "digits and dots": (b"<p>" + b"1.1,1:" * 100_000, "parsed"),
    "lines that look like noise": (b"updated 12 1:1 generated in 3 4 5 views left ago<br>" * 10_000, "parsed"),
    "zeros": (bytes(1_000_000), "broken"),
    "binary data": (bytes(range(256)) * 4_000, "broken"),
    "empty": (b"", "empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_hard_documents_in_time(name: str) -> None:
    body, outcome = HARD[name]
    found = tried(body, HTML, limit_seconds=2 * PAGE_SECONDS)
    assert found.outcome == outcome
    assert found.seconds < PAGE_SECONDS
    assert found.markdown_seconds < PAGE_SECONDS
    if outcome == "parsed" and name not in ("nothing but <", "digits and dots", "a megabyte of title"):
        assert "some text" in found.text or "generated" in found.text


def test_a_deep_document_keeps_its_metadata() -> None:
    assert tried(*(HARD["deep divs"][0], HTML), limit_seconds=PAGE_SECONDS).title == "Deep"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (make_pdf([PROSE], password="x"), ParseOutcome.ENCRYPTED),
        (make_pdf([PROSE] * 50)[:3_000], None),
        (b"%PDF-1.7" + bytes(100_000), ParseOutcome.BROKEN),
        (make_pdf([PROSE]).replace(b"/Count 1", b"/Count 2000000000"), None),
        (make_pdf([PROSE]).replace(b"[5 0 R]", b"[" + b"5 0 R " * 20_000 + b"]"), None),
    ],
    ids=["encrypted", "truncated", "zeros", "a false count", "one page very often"],
)
def test_hard_pdfs_in_time(body: bytes, outcome: ParseOutcome | None) -> None:
    found = tried(body, "application/pdf", limit_seconds=PAGE_SECONDS)
    assert found.outcome == outcome or (outcome is None and found.outcome in ("parsed", "broken", "empty"))


def test_ordinary_documents_are_not_tamed() -> None:
    html = f"<main><p>{PROSE}</p></main>" * 3_000
    assert tamed(html, max_chars=10**7, max_tags=60_000, max_depth=200) == html
    assert tamed(html, max_chars=1_000, max_tags=60_000, max_depth=200) == html[:1_000]
    assert tamed(html, max_chars=10**7, max_tags=5_999, max_depth=200).count("<") == 5_999


def test_what_is_too_deep_is_laid_flat() -> None:
    html = "<div>" * 10_000 + "text" + "</div>" * 10_000
    flat = tamed(html, max_chars=10**7, max_tags=60_000, max_depth=100)
    assert (flat.count("<div>"), flat.count("</div>")) == (100, 100)
    assert "text" in flat


@pytest.mark.parametrize(
    ("html", "is_flattened"),
    [
        ("<DIV>" * 100 + "text", False),
        ("<DIV>" * 101 + "text", True),
        ("</div>" * 50 + "<div>" * 100 + "text", False),
        ("</div>" * 50 + "<div>" * 101 + "text", True),  # what was never opened cannot be closed
        ("<div><p><td><img>" * 100 + "text", False),
        ("<ul><li>" * 20 + "text" + "</ul>" * 20, False),
        ("<ul><li>" * 21 + "text" + "</ul>" * 21, True),
        ("<ul><div>" * 20 + "text", False),
    ],
)
def test_how_deep_is_too_deep(html: str, *, is_flattened: bool) -> None:
    calm = "<b>bold</b>" * 3_000
    found = tamed(calm + html, max_chars=10**7, max_tags=60_000, max_depth=100)
    assert (found != calm + html) is is_flattened


def assert_fine(body: bytes, content_type: str, url: str = URL) -> str:
    """Read, checked, and the same once more. Returns the outcome."""
    found = read_content(body, content_type, url, LIMITS)
    assert read_content(body, content_type, url, LIMITS) == found
    if isinstance(found, Unread):
        assert found.why
        found.why.encode()
        return found.outcome
    assert_clean(found)
    item = article_of(found, None, url)
    assert item is None or len(item.content_hash) == 16
    return "parsed"


@given(body=st.binary(max_size=2_000), content_type=st.text(max_size=60), url=st.text(max_size=40))
@example(b"<html><link rel=canonical href=/c>text", "text/html", "")
@example(b"%PDF-1.4", "", "")
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read(body: bytes, content_type: str, url: str) -> None:
    assert_fine(body, content_type, url)


SCRAPS = [
    *(b"'", b'"', b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"<?xml ", b"\x00", b"\xff", b"&#0;", b"&#xD800;"),
    *(b"some text here ", b"\xef\xbb\xbf", b"<meta charset=utf-16>", b"<title>", b"<h1>", b"<p>", b"<ul><li>", b"<td>"),
    *(b"<base href=//[>", b"<link rel=canonical href=", b"<meta property=og:type content=article>", b"<img src="),
    *(b"<time datetime=2026-01-01>", b"<p itemprop=price content=", b"<script type=application/ld+json>", b"</script>"),
    *(b'{"@type":"Article","author":', b'[{"name":"\\ud800"}]', b"}", b"null", b"5 minutes ago\n", b"at 12:03:44 "),
    *(b"<svg>", b"<template>", b"<table>", b"<plaintext>", b"<select>", b"<frameset>", b"<html lang=", b"updated "),
]  # fmt: skip


@given(st.lists(st.sampled_from(SCRAPS), max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_soup_is_read(scraps: list[bytes]) -> None:
    assert_fine(b"".join(scraps), HTML)


@given(st.lists(st.sampled_from(SCRAPS), max_size=40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_soup_has_markdown_or_none(scraps: list[bytes]) -> None:
    found = markdown_of(b"".join([b"<article>", *scraps]), HTML, URL)
    assert found is None or found.encode()


@pytest.mark.parametrize("charset", ["utf-16", "utf-8", "shift_jis", "nonsense", "utf-7", "x-user-defined", "big5", ""])
def test_wrong_charsets(charset: str) -> None:
    for encoding in ("utf-8", "windows-1252", "utf-16-le", "koi8-r"):
        body = f"<title>Hütte Привет</title><p>{PROSE} Äh".encode(encoding, "replace")
        assert assert_fine(body, f"text/html; charset={charset}") in ("parsed", "broken", "empty")


if suite_path("hostile"):

    def test_the_malformed_documents_of_the_web_platform_are_read() -> None:
        seen: Counter[str] = Counter()
        for file in sorted((SUITES / "hostile" / "html5_tree").glob("*.dat")):
            seen["files"] += 1
            for case in file.read_bytes().split(b"#data\n")[1:]:
                document = case.partition(b"\n#errors")[0]
                seen[assert_fine(document, "text/html")] += 1
                markdown_of(document, "text/html", URL)
        assert seen["files"] == 36
        assert set(seen) <= {"files", "parsed", "empty", "broken"}
        assert seen["parsed"] > 300

    def test_naughty_strings_are_harmless_in_every_field() -> None:
        applied = 0
        outcomes: Counter[str] = Counter()
        for case in json_lines(SUITES / "hostile" / "naughty_strings.jsonl"):
            applied += 1
            text = case["s"]
            raw = text.encode("utf-8", "surrogatepass")
            assert_fine(raw, text, text)
            html = (
                b'<html lang="%b"><title>%b</title><meta name="description" content="%b">'
                b'<meta name=author content="%b">'
                b'<meta property="og:title" content="%b"><meta property="article:published_time" content="%b">'
                b'<link rel=canonical href="%b"><base href="%b"><script type=application/ld+json>{"@type": "Article", '
                b'"headline": "%b", "datePublished": "%b", "author": "%b", "image": "%b"}</script>'
                b'<time datetime="%b">%b</time><img src="%b"><p itemprop="%b" content="%b">%b</p><p>some text</p>'
            ) % ((raw,) * 18)
            outcomes[assert_fine(html, HTML, text)] += 1
            markdown_of(html, HTML, text)
        assert applied == 257
        assert outcomes["parsed"] >= 254, "a few consist of control characters"
