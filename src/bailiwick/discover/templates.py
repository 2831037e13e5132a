"""Queries, as people write them down: one a line, with places for values (`community grants {country} {year}`)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from bailiwick.base.errors import UsageError

MAX_QUERIES = 1_000
MAX_QUERY_CHARS = 400
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BROKEN = re.compile(r"[{}]")


def read_queries(lines: Iterable[str]) -> list[str]:
    """The queries of a file; blank lines and `#` comments are passed over."""
    return [text for line in lines if (text := line.strip()) and not text.startswith("#")]


def filled(queries: Sequence[str], values: Mapping[str, Sequence[str]]) -> list[str]:
    """Every query with every combination of values, each once, in order. UsageError for a place without a value."""
    found: dict[str, None] = {}
    for query in queries:
        for text in _combinations(query, values):
            found[_checked(text)] = None
            if len(found) > MAX_QUERIES:
                raise UsageError(
                    f"more than {MAX_QUERIES:,} queries", hint="ask for fewer values at a time, in several sessions"
                )
    return list(found)


def _combinations(query: str, values: Mapping[str, Sequence[str]]) -> Iterable[str]:
    places = list(dict.fromkeys(_PLACE.findall(query)))
    for place in places:
        if not values.get(place):
            raise UsageError(f"there is no value for {{{place}}} in {query!r}", hint=f"--set {place}=…")
    if _BROKEN.search(_PLACE.sub("", query)):
        raise UsageError(f"a brace stands alone in {query!r}", hint="a place for a value is written {name}")
    for chosen in product(*(values[place] for place in places)):
        given = dict(zip(places, chosen, strict=True))
        yield _PLACE.sub(lambda place, given=given: given[place[1]], query)  # type: ignore[misc]


def _checked(query: str) -> str:
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in query).split())
    if len(text) > MAX_QUERY_CHARS:
        raise UsageError(f"a query of {len(text):,} characters", hint=f"at most {MAX_QUERY_CHARS}")
    return text
