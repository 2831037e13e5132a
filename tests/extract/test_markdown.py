"""Markdown, and the words of it."""

import logging

import pytest

from bailiwick.extract import markdown
from bailiwick.extract.extras import has_content
from bailiwick.extract.markdown import MAX_MARKDOWN_CHARS, markdown_of, text_of_markdown
from tests.extract.pages import HTML, PROSE, URL
from tests.extract.pdfs import make_pdf

PAGE = f"""<html><head><title>Halls</title></head><body><nav><a href=/>Home</a></nav><article><h1>Village halls</h1>
<p>{PROSE}</p><h2>Who may apply</h2><p>Ask <a href="/people/ada">Ada Lee</a> at the county. {PROSE}</p>
<ul><li>Charities with a hall</li><li>Parishes with a barn</li></ul>
<table><tr><th>Work</th><th>At most</th></tr><tr><td>Roof</td><td>5,000</td></tr></table>
<p>{PROSE}</p><p>{PROSE}</p></article></body></html>""".encode()


def test_markdown() -> None:
    found = markdown_of(PAGE, HTML, URL)
    assert found is not None
    assert "## Who may apply" in found
    assert "[Ada Lee](https://example.org/people/ada)" in found
    assert "- Charities with a hall" in found
    assert "| Roof | 5,000 |" in found
    assert found.count(PROSE) >= 3, "nothing is deduplicated"
    assert "Home" not in found


def test_its_words() -> None:
    text = text_of_markdown(markdown_of(PAGE, HTML, URL) or "")
    assert "Ask Ada Lee at the county." in text
    assert "\nWho may apply\n" in text
    assert "Roof" in text
    assert not any(mark in text for mark in ("#", "|", "](", "- "))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# Halls\n\n**Bold** and *fine* `code`", "Halls\n\nBold and fine code"),
        ("[a (b)](http://x.example/a_(b)) c", "a (b) c"),
        ("![a picture](http://x.example/a.png)", "a picture"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a   b\n\n1   2"),
        ("- one\n* two\n> said", "one\ntwo\nsaid"),
        ("1. first\n2. second", "1. first\n2. second"),
        ("snake_case 2*3*4 a - b", "snake_case 2*3*4 a - b"),
        ("", ""),
    ],
)
def test_text_of_markdown(source: str, text: str) -> None:
    assert text_of_markdown(source) == text


def test_no_markdown_of_what_is_no_html() -> None:
    assert markdown_of(b"", HTML, URL) is None
    assert markdown_of(b"plain words", "text/plain", URL) is None
    assert markdown_of(make_pdf(["words"]), "application/pdf", URL) is None
    assert markdown_of(b"<html></html>", HTML, URL) is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_content()
    monkeypatch.setattr(markdown, "has_content", lambda: False)
    assert markdown_of(PAGE, HTML, URL) is None


def test_bounds_and_silence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        found = markdown_of(b"<article>" + f"<p>{PROSE}</p>".encode() * 3_000, HTML, URL)
        markdown_of(b"<html><body></body>", HTML, "no url")
    assert found is not None
    assert len(found) <= MAX_MARKDOWN_CHARS
    assert caplog.records == []
