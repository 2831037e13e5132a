"""Addresses that do something when they are asked for, or that belong to one visitor (`actions.toml`)."""

from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote_plus

from bailiwick.score.rules.addresses import Address
from bailiwick.score.rules.shipped import shipped_lists
from bailiwick.score.rules.wording import Finder, words_in

_SHORT_FOLDER = 3
_TOKEN_CHARS = 24


@dataclass(frozen=True, slots=True)
class _Actions:
    words: Finder
    joined: frozenset[str]
    parameters: frozenset[str]


@cache
def _actions() -> _Actions:
    given = shipped_lists("actions.toml")
    joined = frozenset("".join(words_in(phrase)) for phrase in given["words"])
    return _Actions(Finder(given["words"]), joined, frozenset(given["parameters"]))


def does_something(address: Address) -> bool:
    """By a folder's name, a parameter, a name and password, or a session in the path."""
    if "@" in address.url.split("/", 3)[2] or ";" in address.path:
        return True
    actions = _actions()
    return any(_is_action(actions, folder) for folder in address.folders) or any(
        _is_order(actions, part) for part in address.query.split("&")
    )


def _is_action(actions: _Actions, folder: tuple[str, ...]) -> bool:
    """`/user/logout`, `/delete-account`; not `/how-to-delete-old-files`."""
    return "".join(folder) in actions.joined or (len(folder) <= _SHORT_FOLDER and actions.words.is_in(folder))


def _is_order(actions: _Actions, part: str) -> bool:
    name, _, value = unquote_plus(part).partition("=")
    if (
        name.lower() in actions.parameters
        or _is_action(actions, words_in(name))
        or _is_action(actions, words_in(value))
    ):
        return True
    return len(value) >= _TOKEN_CHARS and value.isalnum() and not value.isalpha()
