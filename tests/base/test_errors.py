"""The tree of errors is the one drawn in its docstring."""

import re

from bailiwick.base import errors
from bailiwick.base.errors import BailiwickError


def _all(kind: type[BailiwickError]) -> set[type[BailiwickError]]:
    return {kind}.union(*(_all(child) for child in kind.__subclasses__()))


def _depths(text: str) -> dict[str, int]:
    """Class name -> depth, as drawn."""
    lines = re.findall(r"^( *(?:[│ ]   )*(?:[├└]── )?)(\w+Error)\b", text, flags=re.M)
    return {name: (len(indent) - 4) // 4 for indent, name in lines}


def test_the_docstring_draws_the_tree() -> None:
    drawn = _depths(errors.__doc__ or "")
    real = {kind.__name__: len(kind.__mro__) - len(BailiwickError.__mro__) for kind in _all(BailiwickError)}
    assert drawn == real


def test_each_error_has_a_code_of_its_own() -> None:
    kinds = [k for k in _all(BailiwickError) if k.__module__ == errors.__name__]
    assert len({k.code for k in kinds}) == len(kinds)
    assert {k.exit_code for k in kinds} <= {1, 2, 5}
