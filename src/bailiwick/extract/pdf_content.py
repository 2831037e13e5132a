"""PDF to content: the text of its pages and what its metadata say. pdfium is C: every handle is closed again."""

from typing import TYPE_CHECKING

from bailiwick.extract.clean import clean, clean_line
from bailiwick.extract.dates import pdf_moment
from bailiwick.extract.hashing import Beside, content_hash
from bailiwick.extract.languages import language_of
from bailiwick.extract.limits import ContentLimits
from bailiwick.extract.simhash import simhash, word_count, words_of
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PASSWORD, _SECURITY = 4, 5
"""pdfium's FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY: a password, a handler that it has not got."""
_TITLE_CHARS, _AUTHOR_CHARS, _META_CHARS = 300, 200, 500
_KEPT = {"Subject": "pdf:subject", "Keywords": "pdf:keywords", "Creator": "pdf:creator", "Producer": "pdf:producer"}


def read_pdf(body: bytes, limits: ContentLimits) -> Content | Unread:
    """The content of a PDF, or why there is none."""
    if len(body) > limits.max_pdf_bytes:
        return Unread(ParseOutcome.TOO_LARGE, f"a PDF of {len(body):,} bytes; the limit is {limits.max_pdf_bytes:,}")
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(body)
    except PdfiumError as error:
        if error.err_code in (_PASSWORD, _SECURITY):
            return Unread(ParseOutcome.ENCRYPTED, "the PDF wants a password")
        return Unread(ParseOutcome.BROKEN, f"no PDF that can be read: {error}"[:200])
    try:
        return _content(document, limits)
    except PdfiumError as error:
        return Unread(ParseOutcome.BROKEN, f"a damaged PDF: {error}"[:200])
    finally:
        document.close()


def _content(document: "PdfDocument", limits: ContentLimits) -> Content | Unread:
    pages = len(document)
    text = clean(_text(document, limits), limits.max_text_chars)
    if not text:
        return Unread(ParseOutcome.EMPTY, f"a PDF of {pages:,} pages without text")
    told = {name: clean_line(value, _META_CHARS) for name, value in document.get_metadata_dict().items()}
    title = clean_line(told.get("Title"), _TITLE_CHARS)
    meta = {"pdf:pages": str(pages)} | {kept: value for name, kept in _KEPT.items() if (value := told.get(name))}
    return Content(
        kind=ContentKind.PDF,
        text=text,
        words=word_count(text),
        content_hash=content_hash(text, Beside(title=title or "")),
        simhash=simhash(words_of(text)),
        title=title,
        language=language_of(None, text),
        author=clean_line(told.get("Author"), _AUTHOR_CHARS),
        published_at=pdf_moment(told.get("CreationDate")),
        modified_at=pdf_moment(told.get("ModDate")),
        meta=meta,
    )


def _text(document: "PdfDocument", limits: ContentLimits) -> str:
    """Of the first pages. A page that cannot be read is passed over, unless all are."""
    from pypdfium2 import PdfiumError

    texts: list[str] = []
    chars, damage = 0, None
    for number in range(min(len(document), limits.max_pdf_pages)):
        try:
            texts.append(_page_text(document, number))
        except PdfiumError as error:
            damage = error
            continue
        chars += len(texts[-1])
        if chars > limits.max_text_chars:
            break
    if damage is not None and not texts:
        raise damage
    return "\n\n".join(texts)


def _page_text(document: "PdfDocument", number: int) -> str:
    page = document[number]
    try:
        words = page.get_textpage()
        try:
            return str(words.get_text_range())
        finally:
            words.close()
    finally:
        page.close()
