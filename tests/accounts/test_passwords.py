"""Passwords: argon2id, bounds, and the same work whether there is one to compare with or not."""

from collections.abc import Iterator

import pytest

from bailiwick.accounts import passwords
from bailiwick.accounts.passwords import LONGEST, hash_password, is_password
from bailiwick.base.errors import UsageError
from tests.web.tools import cheap_passwords


@pytest.fixture
def _cheap() -> Iterator[None]:
    with cheap_passwords():
        yield


def test_a_password_is_kept_by_argon2id_with_a_salt_and_at_a_price() -> None:
    one, two = hash_password("correct horse"), hash_password("correct horse")
    assert one != two
    assert one.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert is_password("correct horse", one)
    assert not is_password("correct horsf", one)


@pytest.mark.usefixtures("_cheap")
@pytest.mark.parametrize("text", ["", "short", "123456789", "aaaaaaaaaaaa", "abababababab", "x" * (LONGEST + 1)])
def test_what_is_too_short_too_long_or_too_simple_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        hash_password(text)


@pytest.mark.usefixtures("_cheap")
@pytest.mark.parametrize(
    "text", ["ten chars!", "пароль пароль", "🐎🔋📎 horses", "nul\x00inside it", "\ud800 surrogate", "abcde" * 40]
)
def test_any_characters_make_a_password(text: str) -> None:
    kept = hash_password(text)
    assert is_password(text, kept)
    assert not is_password(text + "x", kept)
    assert not is_password(text[:-1], kept)


@pytest.mark.usefixtures("_cheap")
def test_where_there_is_no_password_the_same_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    hasher = passwords._hasher()
    monkeypatch.setattr(type(hasher), "verify", lambda _, kept, given: checked.append(kept) or True)
    assert not is_password("anything at all", None)
    assert is_password("anything at all", "$kept")
    assert checked == [passwords._nobodys(), "$kept"]


@pytest.mark.usefixtures("_cheap")
@pytest.mark.parametrize("kept", ["", "nonsense", "$argon2id$v=19$m=8,t=1,p=1$", "plain text"])
def test_what_is_kept_wrongly_opens_to_nobody(kept: str) -> None:
    assert not is_password("plain text", kept)
    assert not is_password("nobody's password", None)
