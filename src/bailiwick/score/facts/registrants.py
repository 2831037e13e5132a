"""Whether a registrant shows who they are."""

import re
from collections.abc import Iterable

# "Private" alone does not hide anybody: companies of half the world end in "Private Limited".
_HIDDEN = re.compile(
    r"redacted|privacy|\bproxy\b|whois ?guard|withheld|withhold|not disclosed|undisclosed|non-?disclosure|not shown|"
    r"hidden|masked|masking|anonymi[sz]ed|anonymous|data protect|gdpr|identity protect|id shield|whois agent|"
    r"whois protect|protected whois|registration private|private (?:person|registra|whois)|domain protection|"
    r"not available|not applicable|data non publi|personal data|contact the registrar|\bN/A\b",
    re.IGNORECASE,
)


def is_hidden(text: str) -> bool:
    """Whether this stands where a registrant's name should be, and is none."""
    return _HIDDEN.search(text) is not None


def is_private(organisation: str | None, name: str | None) -> bool | None:
    """A registrant of whom one of the two is shown is known. None: nothing is said about them."""
    said = list(_said((organisation, name)))
    if not said:
        return None
    return all(is_hidden(text) for text in said)


def _said(texts: Iterable[str | None]) -> Iterable[str]:
    return (text for text in texts if text and any(letter.isalnum() for letter in text))
