"""What a path says about itself. Pure; only folders are remembered, because the links of a site share them."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bailiwick.crawl.traps.dates import Span, span_of
from bailiwick.crawl.traps.memory import Kind, key_of
from bailiwick.crawl.traps.tokens import LOOKS_AT_LEAST, Token, token_of

_NO_DIGITS = str.maketrans("", "", "0123456789")
_SHORT = 150
_YEAR = re.compile(r"[12][0-9]{3}")
_DATE_BEGINS = re.compile(r"[12][0-9]{3}(?:[-_.w]?[0-9]|$)")


@dataclass(frozen=True, slots=True)
class Folder:
    """A path up to its last slash."""

    key: int
    """The same for folders that differ in numbers only."""
    pattern: str
    names: tuple[str, ...]
    is_doubled: bool
    """It has a name twice."""
    is_odd: bool
    """May hold a date or a token."""


def folder_of(directory: str) -> Folder:
    return _short_folder(directory) if len(directory) <= _SHORT else _folder(directory)


@lru_cache(maxsize=10_000)
def _short_folder(directory: str) -> Folder:
    """Shared by all domains: 10 MB at the most, and a link of an ordinary site costs one look here."""
    return _folder(directory)


def _folder(directory: str) -> Folder:
    pattern = directory.translate(_NO_DIGITS)
    names = tuple(name for name in directory.split("/") if name)
    is_odd = "(" in directory or any(is_odd_name(name) for name in names)
    return Folder(key_of(Kind.FOLDER, pattern), pattern, names, most_of(names) > 1, is_odd)


def is_odd_name(name: str) -> bool:
    """Whether a name may hold a date or a token, and is worth a closer look."""
    return _DATE_BEGINS.search(name) is not None or (len(name) >= LOOKS_AT_LEAST and _is_dense(name)) or ";" in name


def _is_dense(name: str) -> bool:
    """Without the hyphens of a title. (UUIDs have some.)"""
    return name.partition(".")[0].isalnum() or len(name) == 36


def most_of(names: tuple[str, ...]) -> int:
    """How often the most frequent of them comes. Numbers do not count: /11/11/11 is a date."""
    if len(set(names)) == len(names):
        return 1
    return max(Counter(name for name in names if not name.isdigit()).values(), default=1)


class Shape(NamedTuple):  # one for each link that is looked at: a frozen dataclass takes four times as long to make
    """A path, taken apart. All but `token` is without the token."""

    path: str
    head: str
    """Up to the query."""
    query: str
    folder: Folder
    token: Token | None = None
    span: Span | None = None


def shape_of(path: str) -> Shape:
    head, _, query = path.partition("?")
    cut = head.rfind("/") + 1
    folder = folder_of(head[:cut])
    if query or folder.is_odd or is_odd_name(head[cut:]):
        return odd_shape_of(path, head, query)
    return Shape(path, head, query, folder)


def odd_shape_of(path: str, head: str, query: str) -> Shape:
    """Of one that may hold a date or a token."""
    token = token_of(head, query)
    if token is not None:
        path = token.rest
        head, _, query = path.partition("?")
    span = span_of(head, query) if _YEAR.search(path) else None
    return Shape(path, head, query, folder_of(head[: head.rfind("/") + 1]), token, span)
