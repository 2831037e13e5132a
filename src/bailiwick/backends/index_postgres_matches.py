"""Documents by their words: where matches lie, how they rank. Beyond some thousand matches samples stand for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from bailiwick.backends.index_postgres_found import Found, Match, counted
from bailiwick.backends.index_postgres_words import SQL, Question, pairs_of, words_of
from bailiwick.model.search import MAX_MATCHES, OfferFilter, SearchQuery

_SAMPLES = (64, 8, 1)
"""One in so many documents."""
_MANY = ((64, 48), (8, 200))
"""Samples and matches in them that tell of more than a thousand: of so many there would be 16, give or take four, and
125, give or take eleven. Whoever has fewer than those 16 in the first sample is not asked for in the second."""
_FEW = 16
_ENOUGH = 150
"""So many of a sample stand for all that have the words only in their text."""
_MANY_TITLES, _MOST_TITLES = 200, 400
"""Beyond a thousand matches a sample that has so many with the words in their title is enough; more are not read."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where matches lie. Those of `first` come before those of `rest`, which are looked for when they are needed."""

    first: list[str]
    is_capped: bool
    rest: Callable[[], list[str]] = field(default=list)


class _Asking:
    """One question with its filters, asked of all documents or of a sample of them."""

    def __init__(self, conn: Connection, query: SearchQuery) -> None:
        offer = query.offer or OfferFilter()
        self._conn, self._fixed = conn, {"since": query.since, "low": offer.low, "high": offer.high}

    def ask(self, parts: Sequence[str], limit: int = MAX_MATCHES + 1, *, one_in: int = 1) -> list[str]:
        words, values = conditions(parts)
        statement = SQL["matches"].replace("SAMPLE", sampled(one_in)).replace("WORDS", words)
        return _read(self._conn.exec_driver_sql(statement, {"limit": limit, **values, **self._fixed}).scalar_one())

    def ask_enough(self, parts: Sequence[str], *, enough: int, limit: int) -> list[str]:
        """Of the smallest sample that has enough of them."""
        found: list[str] = []
        for one_in in _SAMPLES:
            if len(found) < enough:
                found = self.ask(parts, limit, one_in=one_in)
        return found

    def sample(self, parts: Sequence[str]) -> tuple[list[str], bool]:
        """Some of the matches, and whether there are so many that some have to do."""
        found: list[str] = []
        for one_in, many in _MANY:
            found = self.ask(parts, many, one_in=one_in)
            if len(found) == many or len(found) < _FEW:
                return found, len(found) == many
        return found, False


def worded(conn: Connection, question: Question, query: SearchQuery) -> Found:
    """The best of the matches, at most 1,000, and whether there are more; then words in titles come first."""
    if question.is_by_pairs():
        conn.exec_driver_sql(SQL["for_these_words"])
    places = _places(_Asking(conn, query), question)
    first, last = places.first, query.after + query.limit
    rest = places.rest() if query.facets or last > len(first) else []
    shown = _ranked(conn, question.words, first, (query.after, query.limit))
    if last > len(first):
        more = (max(0, query.after - len(first)), last - max(query.after, len(first)))
        shown = [*shown, *_ranked(conn, question.words, rest, more)]
    total = MAX_MATCHES + 1 if places.is_capped else len(first)
    return Found(shown, total, counted(conn, query.facets, SQL["placed"], {"places": _written([*first, *rest])}))


def _places(asking: _Asking, question: Question) -> _Places:
    """PostgreSQL makes a bitmap of all matches before it looks at the first: for a word that is everywhere that is a
    million. So a sample is asked first, and where it says that there are very many, a larger one may be enough.
    """
    # Rows of words have an index that leaves few to look at: no sample is needed.
    sample, are_many = ([], False) if question.is_by_pairs() else asking.sample(question.all())
    if not are_many:
        every = asking.ask(question.all())
        if len(every) <= MAX_MATCHES:
            return _Places(every, is_capped=False)
        titled = asking.ask(question.in_titles())
        return _Places(list(dict.fromkeys([*titled, *every]))[:MAX_MATCHES], is_capped=True)
    titled = asking.ask_enough(question.in_titles(), enough=_MANY_TITLES, limit=_MOST_TITLES)

    def others() -> list[str]:
        if len(sample) >= _ENOUGH:
            return list(dict.fromkeys([*titled, *sample]))[len(titled) :]
        return asking.ask_enough(question.not_in_titles(), enough=_ENOUGH, limit=MAX_MATCHES - len(titled))

    return _Places(titled, is_capped=True, rest=others)


def sampled(one_in: int) -> str:
    """The condition of the index of this sample, as that has it."""
    return f"((path_hash # position * 7919) & {one_in - 1}) = 0" if one_in > 1 else "true"


def conditions(parts: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Each part is a condition of its own. Of a row of words first each word and each pair is asked for, by indexes;
    whether they stand in a row is looked at in those documents that have them all (`is true` keeps it from the index).
    """
    found: list[str] = []
    values: dict[str, object] = {}

    def put(value: object) -> str:
        name = f"q{len(values)}"
        values[name] = value
        return f"%({name})s"

    for part in parts:
        pairs = pairs_of(part)
        found += [f"terms @@ {put(word)}::tsquery" for word in (words_of(part) if pairs else [part])]
        if pairs:
            asked = ", ".join(f"bailiwick_word_pair({put(one)}, {put(two)})" for one, two in pairs)
            found.append(f"bailiwick_word_pairs(terms) @> array[{asked}]")
            found.append(f"(terms @@ {put(part)}::tsquery) is true")
    return " and ".join(found), values


def _ranked(conn: Connection, words: str, places: Sequence[str], page: tuple[int, int]) -> Sequence[Match]:
    after, limit = page
    if after >= len(places) or limit <= 0:
        return []
    asked = {"words": words, "places": _written(places), "after": after, "limit": limit}
    return conn.exec_driver_sql(SQL["ranked"], asked).all()


def _read(written: str) -> list[str]:
    """Places as PostgreSQL writes an array of them, and back."""
    return written[2:-2].split('","') if len(written) > len("{}") else []


def _written(places: Sequence[str]) -> str:
    return '{"' + '","'.join(places) + '"}' if places else "{}"
