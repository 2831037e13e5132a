"""What a finding rests on, fit to be stored: strangers' text may hold anything."""

from bailiwick.model.layers import MAX_WHY_CHARS, Proof
from bailiwick.score.rules.wording import cleaned

_URL_CHARS = 3_000


def proof_of(url: str, text: str) -> Proof:
    """An address too long to be kept is left out: half of one leads elsewhere."""
    url = cleaned(url)
    return Proof(url=url if 0 < len(url) <= _URL_CHARS else None, text=cleaned(text)[:MAX_WHY_CHARS])
