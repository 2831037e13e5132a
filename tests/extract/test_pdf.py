"""PDFs: their text and metadata, and every way in which there is none."""

from datetime import UTC, datetime

import pytest

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread
from tests.extract.pages import URL, content, read
from tests.extract.pdfs import make_pdf

PDF = "application/pdf"
WORDS = "The fund helps village halls\nthat need a new roof and new heating\nor a ramp for wheelchairs this year."


def outcome(body: bytes, limits: ContentLimits | None = None) -> ParseOutcome:
    found = read_content(body, PDF, URL, limits or ContentLimits())
    return found.outcome if isinstance(found, Unread) else ParseOutcome.PARSED


@pytest.mark.parametrize("content_type", [PDF, "text/html", "", "application/octet-stream"])
def test_text_and_metadata(content_type: str) -> None:
    info = "/Title (Village halls) /Author (Ada Lee) /Subject (Money) /CreationDate (D:20260301100000+01'00')"
    found = content(make_pdf([WORDS, "Second page"], info), content_type)
    assert found.kind is ContentKind.PDF
    assert found.text == f"{WORDS}\n\nSecond page"
    assert (found.title, found.author, found.language) == ("Village halls", "Ada Lee", "en")
    assert found.published_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert found.meta == {"pdf:pages": "2", "pdf:subject": "Money"}


def test_a_password() -> None:
    assert outcome(make_pdf([WORDS], password="secret")) is ParseOutcome.ENCRYPTED
    # With an empty one everybody may read it.
    assert content(make_pdf([WORDS], password="")).text == WORDS


def test_no_text() -> None:
    assert outcome(make_pdf([""])) is ParseOutcome.EMPTY


def test_limits() -> None:
    pdf = make_pdf([f"Page number {n} of this" for n in range(20)])
    assert outcome(pdf, ContentLimits(max_pdf_bytes=1_000)) is ParseOutcome.TOO_LARGE
    found = read_content(pdf, PDF, URL, ContentLimits(max_pdf_pages=3))
    assert isinstance(found, Content)
    assert "number 2" in found.text
    assert "number 3" not in found.text
    assert found.meta["pdf:pages"] == "20"


def test_the_hash_of_a_pdf_is_that_of_its_words() -> None:
    one, other = make_pdf([WORDS], "/CreationDate (D:2026)"), make_pdf([WORDS], "/CreationDate (D:2025)")
    assert content(one).content_hash == content(other).content_hash
    assert content(make_pdf([WORDS.replace("roof", "door")])).content_hash != content(one).content_hash


def test_damaged_ones_have_an_outcome_each() -> None:
    pdf = make_pdf([WORDS] * 3, "/Title (Halls)")
    assert outcome(b"%PDF-1.7\n" + b"garbage" * 100) is ParseOutcome.BROKEN
    assert outcome(b"%PDF-") is ParseOutcome.BROKEN
    for end in range(5, len(pdf), 37):
        assert isinstance(read(pdf[:end], PDF), Content | Unread)
    for at in range(10, len(pdf), 23):
        assert isinstance(read(pdf[:at] + b"\xff\x00<<" + pdf[at + 4 :], PDF), Content | Unread)
    for loop in (pdf.replace(b"/Kids [5 0 R", b"/Kids [2 0 R"), pdf.replace(b"/Parent 2 0 R", b"/Parent 5 0 R")):
        assert isinstance(read(loop, PDF), Content | Unread)
