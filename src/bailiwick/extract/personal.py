"""Personal data in one form: addresses, numbers, names; their keyed hashes; taking them out of items."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from pydantic import JsonValue

REMOVED = "[removed]"
_LEAST_DIGITS = 7
_MOST_TEXT = 20_000
_MOST_LEAVES = 2_000
_NUMBER = re.compile(r"^\+?[\d\s()./-]{7,30}$")
_NUMBERS = re.compile(r"(?<![\w.])(?:\+|\()?\d[\d\s()./-]{5,22}\d(?!\w)")
_PLAIN_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_WORD = re.compile(r"[^\W\d_](?:[\w'\u2019.-]*\w)?")
_MOST_NAME_WORDS = 4
_MOST_NAME_TEXT = 2_000
"""How far into a text names are guessed: each two to four words in a row may be one, and each guess is hashed."""
_MOST_TYPED, _MOST_TYPED_WORDS = 100, 6


class PersonalKind(StrEnum):
    """What reaches or names a person."""

    EMAIL = "email"
    TELEPHONE = "telephone"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Personal:
    """A value in its one form: lower case; digits with a plus; words with one space between them."""

    kind: PersonalKind
    value: str

    def digest(self, key: bytes) -> bytes:
        """What is remembered of it. Without the key nobody can even test a guess."""
        return blake2b(f"{self.kind}:{self.value}".encode("utf-8", "replace"), key=key, digest_size=16).digest()


IsForgotten = Callable[[Personal], bool]


def personal(given: str) -> Personal | None:
    """What somebody means who types an address, a number or a name; None for what can be none of these."""
    given = " ".join(given.split())
    for email, start, end in _emails(given):
        if (start, end) == (0, len(given)):
            return Personal(PersonalKind.EMAIL, email)
    if _NUMBER.match(given):
        return _number(given)
    words = _WORD.findall(given)
    is_name = 1 < len(words) <= _MOST_TYPED_WORDS and "@" not in given and len(given) <= _MOST_TYPED
    return _name(given) if is_name else None


def _emails(text: str) -> Iterator[tuple[str, int, int]]:
    """(address, start, end): as extractors find them, and those that they take for made up, such as john.doe@."""
    from bailiwick.extract.items.emails import places_of_emails  # loads all extractors

    found = list(places_of_emails(text))
    yield from found
    for match in _PLAIN_EMAIL.finditer(text[:_MOST_TEXT]):
        if not any(start < match.end() and match.start() < end for _, start, end in found):
            yield match[0].lower(), *match.span()


def _number(text: str) -> Personal | None:
    digits = re.sub(r"\D", "", text)
    if text.strip().startswith("00"):
        digits, text = digits[2:], "+"
    if len(digits.lstrip("0")) < _LEAST_DIGITS:
        return None
    return Personal(PersonalKind.TELEPHONE, f"+{digits}" if text.strip().startswith("+") else digits)


def _name(text: str) -> Personal:
    return Personal(PersonalKind.NAME, " ".join(_WORD.findall(text)).casefold())


def personal_in(data: JsonValue) -> Iterator[Personal]:
    """All that may be personal in an item: a wide guess, for comparing by hash."""
    for leaf in _leaves(data):
        yield from _in_text(leaf)


def _in_text(text: str) -> Iterator[Personal]:
    text = text[:_MOST_TEXT]
    for email, _, _ in _emails(text):
        yield Personal(PersonalKind.EMAIL, email)
    for match in _NUMBERS.finditer(text):
        if number := _number(match[0]):
            yield number
    for start, end in _names(text[:_MOST_NAME_TEXT]):
        yield _name(text[start:end])


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Places of two to four words in a row that each begin with a capital letter."""
    words = list(_WORD.finditer(text))
    for first, word in enumerate(words):
        if not word[0][0].isupper():
            continue
        last = word
        for other in words[first + 1 : first + _MOST_NAME_WORDS]:
            if text[last.end() : other.start()].strip(" .") or not (other[0][0].isupper() or len(other[0]) <= 3):
                break
            last = other
            if other[0][0].isupper():
                yield word.start(), other.end()


def without(data: JsonValue, is_forgotten: IsForgotten) -> JsonValue:
    """The same without what is forgotten: a value that is nothing else is left out, in a text it is `[removed]`."""
    if isinstance(data, dict):
        kept = {name: without(value, is_forgotten) for name, value in data.items()}
        return {name: value for name, value in kept.items() if value is not None or data[name] is None}
    if isinstance(data, list):
        return [one for value in data if (one := without(value, is_forgotten)) is not None]
    return _text_without(data, is_forgotten) if isinstance(data, str) else data


def _text_without(text: str, is_forgotten: IsForgotten) -> str | None:
    whole = personal(text)
    if whole is not None and is_forgotten(whole):
        return None
    gone: list[tuple[int, int]] = []
    for email, start, end in _emails(text):
        if is_forgotten(Personal(PersonalKind.EMAIL, email)):
            gone.append((start, end))
    for match in _NUMBERS.finditer(text[:_MOST_TEXT]):
        number = _number(match[0])
        if number is not None and is_forgotten(number):
            gone.append(match.span())
    gone += [span for span in _names(text[:_MOST_TEXT]) if is_forgotten(_name(text[slice(*span)]))]
    for start, end in sorted(gone, reverse=True):
        text = text[:start] + REMOVED + text[end:]
    return text


def _leaves(data: JsonValue) -> Iterator[str]:
    waiting, seen = [data], 0
    while waiting and seen < _MOST_LEAVES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            yield value
