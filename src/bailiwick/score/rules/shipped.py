"""The lists that the rules go by, out of the package's files."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pydantic import TypeAdapter

_LISTS = TypeAdapter(dict[str, tuple[str, ...]])


def shipped_text(*parts: str) -> str:
    return files("bailiwick.score.rules").joinpath(*parts).read_text(encoding="utf-8")


@cache
def shipped_lists(name: str) -> Mapping[str, tuple[str, ...]]:
    """The lists of one file, by their names."""
    return MappingProxyType(_LISTS.validate_python(tomllib.loads(shipped_text(name))))


@cache
def shipped_set(name: str, key: str) -> frozenset[str]:
    return frozenset(shipped_lists(name)[key])
