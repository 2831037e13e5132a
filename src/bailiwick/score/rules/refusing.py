"""Sentences in which a phrase does not mean what it says: refusals, quotations, other people, and treatises on it."""

from collections.abc import Sequence

from bailiwick.score.rules.phrasebook import Match, PhraseBook
from bailiwick.score.rules.wording import Wording

_BEFORE_WORDS = 6
_AFTER_WORDS = 4
_QUOTES = "\"'\u2018\u201a\u201c\u201e\u00ab\u2039\u300c"
_PAUSES = ",:\u2013\u2014"


def is_meant(book: PhraseBook, wording: Wording, match: Match) -> bool:
    """Whether a phrase in running text says it of this site, to the reader, and does not deny it."""
    start, end = wording.sentence(match.first, match.last)
    return not (
        _is_quoted(wording, match.first, match.last)
        or _is_of_others(book, wording, match.first)
        or is_denied(book, wording, match.first, match.last)
        or book.is_spoilt(match.flag, wording.words, start, end)
    )


def is_denied(book: PhraseBook, wording: Wording, first: int, last: int) -> bool:
    """Whether the sentence around these words says no."""
    start, end = wording.sentence(first, last)
    return (
        _is_denied_before(book, wording, start, first)
        or _is_denied_after(book, wording, last, end)
        or _is_answered_no(book, wording, end)
    )


def refusal_in(book: PhraseBook, wording: Wording) -> str | None:
    """The first sentence that says, without a condition, that what others write is not taken."""
    for first, last in book.refusals["subjects"].find(wording.words):
        if not _is_narrowed(book, wording, last) and is_denied(book, wording, first, last):
            return wording.shown(first, last)
    return None


def is_treatise(book: PhraseBook, words: Sequence[str]) -> bool:
    """Whether a title is that of an article about writing for others, or of a list of sites that take it."""
    about = book.about
    invites = about["invites"].is_in(words)
    subjects = about["subjects"].is_in(words)
    if about["lists"].is_in(words):
        return invites or subjects
    return subjects and not invites and about["words"].is_in(words)


def _is_denied_before(book: PhraseBook, wording: Wording, start: int, first: int) -> bool:
    """ "If you do not have a blog, write for us" denies nothing: a pause keeps the two apart."""
    if first > 0 and _has(_PAUSES, wording.text, wording.spans[first - 1][1], wording.spans[first][0]):
        return False
    start = max(start, first - _BEFORE_WORDS)
    refusals = book.refusals
    return refusals["before"].is_in(wording.words, start, first) and not refusals["despite"].is_in(
        wording.words, start, first
    )


def _is_denied_after(book: PhraseBook, wording: Wording, last: int, end: int) -> bool:
    for position in range(last, min(end, last + _AFTER_WORDS)):
        if _begins(book, "limits", wording, position):
            return False
        if _begins(book, "after", wording, position):
            return True
    return False


def _is_answered_no(book: PhraseBook, wording: Wording, end: int) -> bool:
    """ "Do you take guest posts? No." """
    if not 0 < end < len(wording.words):
        return False
    gap = wording.text[wording.spans[end - 1][1] : wording.spans[end][0]]
    return "?" in gap and _begins(book, "answers", wording, end)


def _is_narrowed(book: PhraseBook, wording: Wording, last: int) -> bool:
    """ "No guest posts that were published before" takes others."""
    if last >= len(wording.words) or wording.breaks_before(last):
        return False
    return _begins(book, "limits", wording, last) and not _begins(book, "whole", wording, last + 1)


def _begins(book: PhraseBook, name: str, wording: Wording, position: int) -> bool:
    found = next(book.refusals[name].find(wording.words, position, min(len(wording.words), position + 4)), None)
    return found is not None and found[0] == position


def _is_quoted(wording: Wording, first: int, last: int) -> bool:
    """As search words are: in quotation marks, or with a plus sign beside them."""
    start, end = wording.spans[first][0], wording.spans[last - 1][1]
    before, after = wording.text[max(0, start - 1) : start], wording.text[end : end + 3].strip()
    return (before != "" and before in _QUOTES) or after.startswith("+") or wording.text[:start].rstrip().endswith("+")


def _is_of_others(book: PhraseBook, wording: Wording, first: int) -> bool:
    return (
        first > 0
        and not wording.breaks_before(first)
        and book.refusals["bystanders"].is_in(wording.words, first - 1, first)
    )


def _has(signs: str, text: str, start: int, end: int) -> bool:
    return any(sign in signs for sign in text[start:end])
