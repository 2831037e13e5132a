"""How a question becomes words of PostgreSQL's index: each part of it one condition, filters among them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import floor

from sqlalchemy import Connection

from bailiwick.db.sql import queries
from bailiwick.model.items import ItemKind
from bailiwick.model.search import OfferFilter, SearchQuery, Term, TermKind, parse_terms, storable

SQL = queries("bailiwick.backends")
NAME_CHARS = 100
"""So much of a brand or a category is looked for, and kept: indexes have a limit."""
_FIRST_YEAR = 1990
_STEPS, _LOWEST, _HIGHEST = 5, -20, 75
"""Words for prices: five to a power of ten, from 0.0001 to a thousand million million."""
_NEAR = 1e-6
"""A price that may be of this step or the next, as logarithms are rounded: both are asked for."""
_FILTER_CHARS = 450
"""A word of an index has 2 KB at most."""
_SQL_OF = {
    TermKind.WORD: "plainto_tsquery(%(config)s::regconfig, %({0})s)",
    TermKind.PHRASE: "phraseto_tsquery(%(config)s::regconfig, %({0})s)",
    # Both: `running*` means words from the stem of running, `the*` those that begin with a word too common to keep.
    TermKind.PREFIX: "(select case when a::text = b::text then a else a || b end "
    "from (select to_tsquery(%(config)s::regconfig, %({0})s) as a, to_tsquery('simple', %({0})s) as b) as pair)",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as PostgreSQL writes questions."""

    words: str
    """All that is looked for, for ranks and snippets; empty if only common words are left."""
    groups: tuple[str, ...]
    """The same in parts, each of which has to match. PostgreSQL goes through the lists of several conditions in one
    step, and through those of a single one word by word."""
    excluded: str
    filters: tuple[str, ...]

    def all(self) -> tuple[str, ...]:
        """The conditions that a match fulfils."""
        return (*self.groups, *self._others())

    def in_titles(self) -> tuple[str, ...]:
        """Of matches with the words in their title. Those are words of the page; only a row is asked for again."""
        rows = (group for group in self.groups if "<" in group)
        return (*(_in_titles(group) for group in self.groups), *rows, *self._others())

    def not_in_titles(self) -> tuple[str, ...]:
        return (*self.all(), f"!{_in_titles(self.words)}")

    def is_by_pairs(self) -> bool:
        return any(pairs_of(group) for group in self.groups)

    def _others(self) -> tuple[str, ...]:
        return (f"!({self.excluded})", *self.filters) if self.excluded else self.filters


def understood(conn: Connection, config: str, query: SearchQuery) -> Question:
    """What to look for and what not. Besides, the rest of the transaction is answered by indexes."""
    terms = parse_terms(query.text)
    values = {"config": config}
    groups = [" || ".join(_asked(term, values) for term in group) for group in terms.groups]
    wanted = " && ".join(f"({group})" for group in groups) or "''::tsquery"
    unwanted = " || ".join(_asked(term, values) for term in terms.excluded) or "''::tsquery"
    parts = ", ".join(f"({group})::text" for group in groups)
    asked = f"({wanted})::text as wanted, ({unwanted})::text as unwanted, array[{parts}]::text[] as parts"
    row = conn.exec_driver_sql(f"{SQL['by_index']}, {asked}", values).one()
    return Question(row.wanted, tuple(part for part in row.parts if part), row.unwanted, _filters(query))


def _asked(term: Term, values: dict[str, str]) -> str:
    name = f"t{len(values)}"
    values[name] = f"{_quoted(term.text)}:*" if term.kind is TermKind.PREFIX else term.text
    return _SQL_OF[term.kind].format(name)


def _filters(query: SearchQuery) -> tuple[str, ...]:
    """What else is asked besides words, as words."""
    asked: list[tuple[str, Sequence[object]]] = [
        ("d", query.domain_ids),
        ("k", query.kinds if query.offer is None else ()),
        ("l", [language.lower() for language in query.languages]),
        ("r", [""] if query.only_relevant else []),
        ("", _days(query.since) if query.since else []),
        *_offer_filters(query.offer),
    ]
    return tuple(_any_of(letter, values) for letter, values in asked if values)


def _offer_filters(offer: OfferFilter | None) -> "list[tuple[str, Sequence[object]]]":
    """Prices are words by their size, five to a power of ten; which of them fit exactly is looked at in the rows.

    Only products have such words. What nearly every product has (its kind, being in stock) is not asked for besides:
    the longer a list of rows, the longer it takes to go through.
    """
    if offer is None:
        return []
    has_price = bool(offer.low) or offer.high is not None
    found: list[tuple[str, Sequence[object]]] = [
        ("q" if offer.in_stock else "p", _price_steps(offer) if has_price else []),
        ("a", [""] if offer.in_stock and not has_price else []),
        ("u", [code.upper() for code in offer.currencies]),
        ("b", [name.lower()[:NAME_CHARS] for name in offer.brands]),
        ("c", [name.lower()[:NAME_CHARS] for name in offer.categories]),
    ]
    return found if any(values for _, values in found) else [("k", [ItemKind.PRODUCT.value])]


def _price_steps(offer: OfferFilter) -> list[int]:
    first = _step(offer.low, -_NEAR) if offer.low else _LOWEST
    last = _step(offer.high, _NEAR) if offer.high else _LOWEST if offer.high is not None else _HIGHEST
    return list(range(first, max(first, last) + 1))


def _step(price: Decimal, around: float) -> int:
    """As documents are written: what is less than the lowest has the lowest, what is more than the highest that."""
    return min(max(floor(_STEPS * float(price.log10()) + around), _LOWEST), _HIGHEST)


def _days(since: datetime) -> list[str]:
    """The rest of that month by days, of that year by months, then whole years: nothing older is even looked at."""
    if since.year < _FIRST_YEAR:
        return []
    since, now = since.astimezone(UTC), datetime.now(UTC)
    days = [f"t{since.year}{since.month:02}{day:02}" for day in range(since.day, 32)]
    months = [f"m{since.year}{month:02}" for month in range(since.month + 1, 13)]
    return days + months + [f"y{year:04}" for year in range(since.year + 1, max(now.year, since.year) + 2)]


def _any_of(letter: str, values: Sequence[object]) -> str:
    return "(" + " | ".join(_quoted(f"\x01{letter}{value}") for value in values) + ")"


def _quoted(word: str) -> str:
    doubled = storable(word[:_FILTER_CHARS]).replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


_WORD = r"'((?:[^'\\]|''|\\\\)*)'"
_ROW_OF_WORDS = re.compile(rf"{_WORD}(?: <(?:-|\d+)> {_WORD})+")
_PAIR = re.compile(rf"{_WORD}(?= <-> {_WORD})")


def pairs_of(part: str) -> list[tuple[str, str]]:
    """The words that stand side by side in a condition which is a row of words and nothing else."""
    return [(_unquoted(found[1]), _unquoted(found[2])) for found in _PAIR.finditer(part)] if _is_row(part) else []


def words_of(row: str) -> list[str]:
    """Each word of a row as a question of its own."""
    return [found[0] for found in re.finditer(_WORD, row)]


def _is_row(part: str) -> bool:
    return _ROW_OF_WORDS.fullmatch(part) is not None


def _unquoted(word: str) -> str:
    return word.replace("''", "'").replace("\\\\", "\\")


_WORD_OR_ROW = re.compile(r"'((?:[^']|'')*)'|<(?:-|\d+)>")


def _in_titles(words: str) -> str:
    """The same question about words of titles. They have no places: a row of words asks for each."""
    changed = _WORD_OR_ROW.sub(lambda found: "&" if found[1] is None else f"'\x02{found[1]}'", words)
    return f"({changed})"
