"""The language of a page: what it says, else what its text looks like."""

import re

_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_,;\s]|$)")
_NONE = frozenset({"und", "mul", "zxx", "mis", "xx"})
_SAMPLE_CHARS = 2_000
_LEAST_CHARS = 60
"""Of fewer characters the detection guesses."""


def language_of(said: str | None, text: str) -> str | None:
    """The primary subtag in lower case: `de` for `de-AT`."""
    found = _TAG.match(said or "")
    if found is not None and (tag := found[1].lower()) not in _NONE:
        return tag
    if len(text) < _LEAST_CHARS:
        return None
    from resiliparse.parse.lang import detect_fast

    detected, _ = detect_fast(text[:_SAMPLE_CHARS])
    return None if detected == "unknown" else str(detected)
