"""What a child answers arrives as it was said."""

import pytest

from bailiwick.extract.page import Extracted
from bailiwick.extract.wire import LENGTH, pack_answer, pack_note, unpack_answer
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Relevance, RelevanceSource, Unread
from bailiwick.model.items import ItemKind, ParserOutcome, ParserTry

JUDGED = Relevance(0.25, is_relevant=False, reason='names "no" keyword', source=RelevanceSource.KEYWORDS)


def arrived(packed: bytes) -> object:
    (length,) = LENGTH.unpack_from(packed)
    assert length == len(packed) - LENGTH.size
    return unpack_answer(packed[LENGTH.size :])


@pytest.mark.parametrize("text", ["", "plain", '"quoted"\n\\', "Förderung 漢字 \U0001f600", "half a character: \ud800"])
def test_a_text_arrives_letter_by_letter(text: str) -> None:
    content = Content(ContentKind.HTML, text, 3, b"\x00" * 16, -7, title="A title", meta={"og:type": "article"})
    for relevance in (None, JUDGED):
        found = Extracted(content, relevance, markdown=text)
        assert arrived(pack_answer(found)) == found


def test_what_is_no_page_arrives_too() -> None:
    unread = Unread(ParseOutcome.EMPTY, "there is no text in it")
    assert arrived(pack_answer(unread)) == unread
    note = ParserTry("shop", 2, ItemKind.PRODUCT, ParserOutcome.DIED, None)
    assert arrived(pack_note(note)) == note
