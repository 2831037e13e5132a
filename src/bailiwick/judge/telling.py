"""How judges put a case into words, and how little text counts."""

from collections.abc import Sequence

ENOUGH_WORDS = 8
"""A title of fewer words that does not name what is wanted may just be a name: it speaks less against a result."""
MAX_EXPLANATION_CHARS = 200
_SHOWN = 4


def shrunk(score: float, words: int) -> float:
    """A low score, drawn towards 0.5 by as much as there are too few words to go by."""
    return 0.5 - (0.5 - score) * min(1.0, words / ENOUGH_WORDS) if score < 0.5 else score


def two_decimals(score: float) -> str:
    """Cut, not rounded: what is shown as 0.60 is not below 0.6."""
    return f"{int(score * 100 + 1e-6) / 100:.2f}"


def listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def one_line(text: str, max_chars: int = MAX_EXPLANATION_CHARS) -> str:
    """Printable, on one line and bounded, whatever a judge or a stranger wrote."""
    if len(text) <= max_chars and text.isprintable():
        return text
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: max_chars * 2]).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"
