"""Thin content and broken links."""

import re
from collections.abc import Sequence

from bailiwick.model.layers import BrokenLinks, Proof, ThinContent
from bailiwick.model.material import LinkCheck
from bailiwick.score.rules.proving import proof_of
from bailiwick.score.rules.wording import cleaned

_SHOWN_LINKS = 5
# Scripts that put no spaces between words, and how many of their characters say what an English word does.
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_SOUTH_EAST = re.compile(r"[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3]")
_CHARS_A_WORD = {"chinese": 1.6, "japanese": 2.2, "south_east": 5.0}
_WORD = re.compile(r"[^\W_]+(?:['\u2019.,-][^\W_]+)*")


def count_words(text: str) -> int:
    """Words; of Chinese, Japanese, Thai, Lao, Burmese and Khmer as many as an English text that says as much has."""
    spaced, kana = _KANA.subn(" ", text)
    spaced, han = _HAN.subn(" ", spaced)
    spaced, others = _SOUTH_EAST.subn(" ", spaced)
    counted = sum(1 for _ in _WORD.finditer(spaced))
    # A Chinese text has hardly any kana, a Japanese one as many of them as of the others.
    a_word = _CHARS_A_WORD["japanese" if kana * 10 > han else "chinese"]
    return counted + round((kana + han) / a_word + others / _CHARS_A_WORD["south_east"])


def assess_length(text: str, url: str, threshold: int) -> tuple[ThinContent, Proof]:
    words = count_words(text)
    proof = proof_of(url, f"{words} words of main text, {threshold} are enough")
    return ThinContent(checked=True, detected=words < threshold, word_count=words, threshold=threshold), proof


def assess_links(checks: Sequence[LinkCheck], threshold: int) -> tuple[BrokenLinks, tuple[Proof, ...]] | None:
    """None where no link could be told to be broken or not."""
    told = {check.url: check for check in checks if check.is_broken is not None}
    if not told:
        return None
    broken = [check for check in told.values() if check.is_broken]
    why = "it leads nowhere"
    proofs = tuple(proof_of(check.url, cleaned(check.why).strip() or why) for check in broken[:_SHOWN_LINKS])
    return BrokenLinks(checked=True, detected=len(broken) >= threshold, count=len(broken)), proofs
