"""Passwords: how they are kept (argon2id) and what they have to be. The library is loaded on use."""

from functools import cache
from typing import TYPE_CHECKING

from bailiwick.base.errors import UsageError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 10, 200


def hash_password(password: str) -> str:
    """As it is kept. UsageError if it is too short, too long or too simple."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(f"a password has {SHORTEST} to {LONGEST} characters", hint="a few words in a row are good")
    if len(set(password)) < 5:
        raise UsageError("this password repeats a few characters", hint="a few words in a row are good")
    return _hasher().hash(_bytes(password))


def is_password(password: str, kept: str | None) -> bool:
    """Whether it is the one. It takes its time whoever asks, also where there is none to compare with."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(kept or _nobodys(), _bytes(password[:LONGEST]))
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None and len(password) <= LONGEST


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobodys() -> str:
    return _hasher().hash(b"nobody's password")
