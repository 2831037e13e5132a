"""Soft 404s: short pages whose title, heading or first sentence says that what was asked for is not there."""

from bailiwick.crawl.lookalikes.page import Page, is_told_of_others
from bailiwick.crawl.lookalikes.sight import Sight
from bailiwick.crawl.lookalikes.words import Lists, Wording

_LISTS = Lists("shared_words.txt", "not_found_words.txt")
_SAID_OF_IT = ("gone", "asked", "page", "thing", "this", "bare", "hint", "filler", "no_results")
_AROUND_IT = ("gone", "asked", "page", "bare", "hint", "no_results", "way_out")
_MOST_PROSE = 700
_MOST_OTHER_PROSE = 250
_MOST_SENTENCE_WORDS = 32
_FIRST_SENTENCES = 4
_HARDLY_ANY = 30
_SOME = 150


def is_not_found(title: str, sight: Sight) -> bool:
    page = Page.of(title, sight, _LISTS)
    if sight.prose > _MOST_PROSE or page.explains or page.is_article or sight.rows > 2:
        return False
    first = page.sentences[:_FIRST_SENTENCES]
    if any(sentence.has("unwritten") for sentence in (*first, *page.headings)):
        return True
    if page.prose_beside(*_AROUND_IT) > _MOST_OTHER_PROSE:
        return False
    return _says_so(page, first) or _found_nothing(page, first)


def states(wording: Wording) -> bool:
    """As a whole, this heading says that something is not there."""
    if not wording.has("gone", "bare") or wording.has("explains") or is_told_of_others(wording):
        return False
    others = wording.words_beside(*_SAID_OF_IT)
    return wording.has("page", "thing", "bare", "asked") and others <= (
        2 if wording.is_dense else wording.has("asked", "this")
    )


may_be_in = _LISTS.quick_look("gone", "bare", "hint", "no_results")
"""Whether it is worth asking what a plain text says."""


def _says_so(page: Page, first: tuple[Wording, ...]) -> bool:
    prose = page.sight.prose
    # Where there are no headings, a short line is one.
    headings = page.headings[:3] or tuple(line for line in first[:2] if len(line.words) < 8)
    in_title, in_heading = any(map(states, page.title)), any(map(states, headings))
    is_hinted = any(map(_hints, (*page.title, *headings)))
    is_told = any(map(_tells, first))
    if page.sight.prices and not is_told:
        return False
    # A film may be called so: unless the heading speaks to the reader, what else there is must go with it.
    is_addressed = any(states(heading) and heading.has("asked", "this") for heading in headings)
    is_doubled = in_title and any((states(part) and part.has("page", "asked")) or _hints(part) for part in headings)
    is_alone = page.prose_beside(*_AROUND_IT) <= (_SOME if is_addressed or is_doubled else _HARDLY_ANY)
    if in_heading:
        return (
            is_told
            or any(map(_mentions, first))
            or (is_alone and (in_title or is_hinted or is_addressed or prose < 150))
        )
    if in_title:
        return is_told or (is_alone and prose < (200 if is_hinted else 100) and not page.has_topic)
    if not is_told:
        return not page.headings and prose < 100 and any(map(_mentions, first[:1]))
    # Only words that speak of what was asked for may do without any other evidence.
    is_asked = any(_tells(sentence) and sentence.has("asked") for sentence in first[:2])
    if is_hinted or (is_asked and any(part.has("notice") for part in (*page.title, *headings))):
        return prose < 450
    return not page.has_topic and not page.sight.prices and prose < (350 if is_asked else 0 if page.headings else 200)


def _hints(wording: Wording) -> bool:
    """`404`, `Oops!`, `Error`: over anything."""
    return wording.has("hint") and wording.words_beside("hint", "filler", "page") == 0


def _tells(wording: Wording) -> bool:
    """This sentence tells the reader that what was asked for is not there."""
    if len(wording.words) > _MOST_SENTENCE_WORDS or not wording.has("gone") or is_told_of_others(wording):
        return False
    return wording.has("asked") or (wording.has("this") and wording.has("page", "thing")) or states(wording)


def _mentions(wording: Wording) -> bool:
    """`The video was removed`: enough below a heading that says so, or where there is nothing else."""
    return wording.has("gone") and wording.has("page", "thing") and not is_told_of_others(wording)


def _found_nothing(page: Page, first: tuple[Wording, ...]) -> bool:
    """A search that found nothing: an answer to a question nobody else will ask."""
    is_search = any(
        (part.has("search") and part.words_beside("search", "filler") == 0) or part.starts_with("no_results")
        for part in (*page.title, *page.headings)
    )
    has_none = any(part.has("no_results") and not is_told_of_others(part) for part in (*first, *page.headings[:2]))
    return is_search and has_none and not page.sight.prices
