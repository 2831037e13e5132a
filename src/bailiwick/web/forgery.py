"""The hidden word in every form: only our pages know it, so no other site can send a form in a member's name."""

import base64
import binascii
import secrets
from hashlib import blake2b
from hmac import compare_digest

_BYTES = 32


def masked(secret: str) -> str:
    """The word for one page. It looks another way each time, so that its compressed size tells nothing."""
    mask = secrets.token_bytes(_BYTES)
    return base64.urlsafe_b64encode(mask + _xor(mask, _word(secret))).decode()


def matches(secret: str, given: str) -> bool:
    """Whether a form's word is of this secret."""
    try:
        raw = base64.urlsafe_b64decode(given.encode("ascii"))
    except (binascii.Error, ValueError):
        return False
    return len(raw) == 2 * _BYTES and compare_digest(_xor(raw[:_BYTES], raw[_BYTES:]), _word(secret))


def _word(secret: str) -> bytes:
    return blake2b(secret.encode(), digest_size=_BYTES, person=b"bailiwick-form").digest()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
