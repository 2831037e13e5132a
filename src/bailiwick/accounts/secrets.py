"""Random words that only their holder has: the database keeps their hash."""

import secrets
from hashlib import sha256


def new_secret() -> str:
    """256 bits, as it may stand in a cookie or a link."""
    return secrets.token_urlsafe(32)


def kept(secret: str) -> bytes:
    """What the database keeps of it."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
