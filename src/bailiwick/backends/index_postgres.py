"""The SearchIndex that needs no other server: PostgreSQL's full text search in the database itself.

One dictionary (`search.language`) serves every document and every question. A dictionary for each document's own
language would lose words: a question has no language, and `Förderung` stemmed as English is no German stem.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import floor, log10
from typing import TypeAlias

from sqlalchemy import Connection, Row

from bailiwick.db.engine import Database
from bailiwick.db.sql import queries
from bailiwick.model.items import ItemKind
from bailiwick.model.search import (
    MAX_MATCHES,
    Facet,
    Hit,
    Offer,
    OfferFilter,
    PageKey,
    Part,
    SearchAnswer,
    SearchDocument,
    SearchQuery,
    Term,
    TermKind,
    parse_terms,
    storable,
)
from bailiwick.ports import SearchIndex

SQL = queries("bailiwick.backends")
Match: TypeAlias = "Row[tuple[object, ...]]"
"""The key of a document and its rank; or all that is shown of it."""
_START, _STOP = "\ue000", "\ue001"
"""Of Unicode's private use: taken out of every text first."""
_HEADLINE = f'StartSel={_START}, StopSel={_STOP}, MaxFragments=2, MaxWords=20, MinWords=8, FragmentDelimiter=" … "'
_SNIPPET_CHARS = 20_000
_TITLE_BYTES, _DESCRIPTION_BYTES, _TEXT_BYTES = 2_000, 20_000, 250_000
"""A tsvector holds 1 MB; compounds and addresses are kept whole and in parts."""
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
_FIRST_YEAR = 1990
_STEPS, _LOWEST, _HIGHEST = 5, -20, 75
"""Words for prices: five to a power of ten, from 0.0001 to a thousand million million."""
_TOP = 20
_FILTER_CHARS = 450
"""A word of an index has 2 KB at most."""
_SQL_OF = {
    TermKind.WORD: "plainto_tsquery(%(config)s::regconfig, %({0})s)",
    TermKind.PHRASE: "phraseto_tsquery(%(config)s::regconfig, %({0})s)",
    # Both: `running*` means words from the stem of running, `the*` those that begin with a word too common to keep.
    TermKind.PREFIX: "(select case when a::text = b::text then a else a || b end "
    "from (select to_tsquery(%(config)s::regconfig, %({0})s) as a, to_tsquery('simple', %({0})s) as b) as pair)",
}


class PostgresSearchIndex(SearchIndex):
    """Documents as rows of `search_documents`. Texts of pages stay in their snapshots."""

    def __init__(self, database: Database, *, language: str = "english") -> None:
        self._database, self._config = database, language

    @property
    def name(self) -> str:
        return f"postgres.{self._config}"

    def replace(self, conn: Connection, pages: Sequence[PageKey], documents: Sequence[SearchDocument]) -> None:
        """From now on these documents are all there is of these pages. Twice is the same as once."""
        conn.exec_driver_sql(SQL["drop_pages"], _keys(sorted(set(pages))))
        if documents:
            conn.exec_driver_sql(SQL["write"], {"config": self._config, **_columns(documents)})

    def drop_between(self, conn: Connection, after: PageKey, upto: PageKey, kept: Sequence[PageKey]) -> int:
        """Forget pages behind `after`, up to and with `upto`, but not those kept; how many documents that were."""
        span = {
            "after_domain": after.domain_id, "after_path": after.path_hash,
            "upto_domain": upto.domain_id, "upto_path": upto.path_hash,
        }  # fmt: skip
        return conn.exec_driver_sql(SQL["drop_between"], {**span, **_keys(kept)}).rowcount

    def search(self, query: SearchQuery) -> SearchAnswer:
        """The best matches. Any text is a question: none is an error. At most 1,000 matches are ranked."""
        with self._database.read() as conn:
            words, excluded = self._understood(conn, query.text)
            if not words and (query.offer is None or excluded):
                return SearchAnswer(has_words=False)
            if words:
                places, is_capped = _places(conn, words, _conditions(excluded, query), query)
                shown = _ranked(conn, words, places, query)
            else:
                places, is_capped = _listed(conn, query)
                shown = _placed(conn, places[query.after : query.after + query.limit])
            hits = self._hits(conn, words, shown)
            facets = _counted(conn, query.facets, places)
        return SearchAnswer(hits, MAX_MATCHES if is_capped else len(places), is_capped, facets)

    def close(self) -> None:
        """Nothing is held open: the database is the App's."""

    def _understood(self, conn: Connection, text: str) -> tuple[str, str]:
        """What to look for and what not, as PostgreSQL writes questions; empty if only common words are left.

        Besides, the rest of the transaction is answered by indexes.
        """
        terms = parse_terms(text)
        values = {"config": self._config}
        groups = [" || ".join(_asked(term, values) for term in group) for group in terms.groups]
        wanted = " && ".join(f"({group})" for group in groups) or "''::tsquery"
        unwanted = " || ".join(_asked(term, values) for term in terms.excluded) or "''::tsquery"
        row = conn.exec_driver_sql(
            f"{SQL['by_index']}, ({wanted})::text as wanted, ({unwanted})::text as unwanted", values
        ).one()
        return str(row.wanted), str(row.unwanted)

    def _hits(self, conn: Connection, words: str, shown: Sequence[Match]) -> tuple[Hit, ...]:
        if not shown:
            return ()
        asked = {
            "config": self._config,
            "words": words,
            "chars": _SNIPPET_CHARS,
            "marks": _START + _STOP,
            "options": _HEADLINE,
            "domain_ids": [m.domain_id for m in shown],
            "path_hashes": [m.path_hash for m in shown],
            "kinds": [m.kind for m in shown],
            "positions": [m.position for m in shown],
        }
        ranks = [float(m.rank) for m in shown]
        return tuple(_hit(row, ranks[row.nr - 1]) for row in conn.exec_driver_sql(SQL["hits"], asked))


def _places(conn: Connection, words: str, conditions: str, asked: SearchQuery) -> tuple[list[str], bool]:
    """Where the matches lie, at most 1,000, and whether there are more; then words in titles come first.

    PostgreSQL makes a bitmap of all matches before it looks at the first: for a word that is everywhere that is a
    million. So a sample is asked first, and where it says that there are very many, a larger one may be enough.
    """

    offer = asked.offer or OfferFilter()
    fixed = {"since": asked.since, "low": offer.low, "high": offer.high}

    def ask(query: str, limit: int = MAX_MATCHES + 1, *, one_in: int = 1) -> list[str]:
        statement = SQL["matches"].replace("SAMPLE", sampled(one_in))
        return _read_places(conn.exec_driver_sql(statement, {"limit": limit, "query": query, **fixed}).scalar_one())

    def ask_enough(query: str, *, enough: int, limit: int) -> list[str]:
        found: list[str] = []
        for one_in in _SAMPLES:
            if len(found) < enough:
                found = ask(query, limit, one_in=one_in)
        return found

    question, titles = f"({words}){conditions}", _in_titles(words)
    are_many, sample = False, list[str]()
    for one_in, many in _MANY:
        sample = ask(question, many, one_in=one_in)
        are_many = len(sample) == many
        if are_many or len(sample) < _FEW:
            break
    if not are_many and len(every := ask(question)) <= MAX_MATCHES:
        return every, False
    # Words of a title are words of the page; only a row of them has to be asked for again.
    titled = f"{titles} & {question}" if "<" in words else f"{titles}{conditions}"
    if not are_many:
        return list(dict.fromkeys([*ask(titled), *every]))[:MAX_MATCHES], True
    found = ask_enough(titled, enough=_MANY_TITLES, limit=_MOST_TITLES)
    if len(sample) >= _ENOUGH:
        return list(dict.fromkeys([*found, *sample])), True
    return found + ask_enough(f"{question} & !{titles}", enough=_ENOUGH, limit=MAX_MATCHES - len(found)), True


def sampled(one_in: int) -> str:
    """The condition of the index of this sample, as that has it."""
    return f"((path_hash # position * 7919) & {one_in - 1}) = 0" if one_in > 1 else "true"


def _read_places(written: str) -> list[str]:
    """Places as PostgreSQL writes an array of them, and back."""
    return written[2:-2].split('","') if len(written) > len("{}") else []


def _written_places(places: Sequence[str]) -> str:
    return '{"' + '","'.join(places) + '"}' if places else "{}"


def _ranked(conn: Connection, words: str, places: Sequence[str], query: SearchQuery) -> Sequence[Match]:
    asked = {"words": words, "places": _written_places(places), "after": query.after, "limit": query.limit}
    return conn.exec_driver_sql(SQL["ranked"], asked).all() if places else []


def _placed(conn: Connection, places: Sequence[str]) -> Sequence[Match]:
    return conn.exec_driver_sql(SQL["placed"], {"places": _written_places(places)}).all() if places else []


def _listed(conn: Connection, query: SearchQuery) -> tuple[list[str], bool]:
    """Where products lie by their price, at most 1,000, and whether there are more."""
    offer = query.offer or OfferFilter()
    given: dict[str, tuple[str, object]] = {
        "domain_id = any(%(domains)s::bigint[])": ("domains", list(query.domain_ids)),
        "price >= %(low)s::numeric": ("low", offer.low),
        "price <= %(high)s::numeric": ("high", offer.high),
        "availability = 'in_stock'": ("in_stock", offer.in_stock),
        "currency = any(%(currencies)s::text[])": ("currencies", [code.upper() for code in offer.currencies]),
        "lower(brand) = any(%(brands)s::text[])": ("brands", [name.lower() for name in offer.brands]),
        "lower(category) = any(%(categories)s::text[])": ("categories", [name.lower() for name in offer.categories]),
        "language = any(%(languages)s::text[])": ("languages", [code.lower() for code in query.languages]),
        "is_relevant": ("relevant", query.only_relevant),
        "at >= %(since)s::timestamptz": ("since", query.since),
    }
    asked = {condition: pair for condition, pair in given.items() if pair[1] or isinstance(pair[1], Decimal)}
    values = {name: value for name, value in asked.values() if f"%({name})s" in "".join(asked)}
    statement = SQL["listed"].replace("CONDITIONS", " and ".join(["true", *asked]))
    found = _read_places(conn.exec_driver_sql(statement, {**values, "limit": MAX_MATCHES + 1}).scalar_one())
    return found[:MAX_MATCHES], len(found) > MAX_MATCHES


def _conditions(excluded: str, query: SearchQuery) -> str:
    """What else is asked besides words."""
    parts = [f"!({excluded})"] if excluded else []
    parts += [_any_of(letter, values) for letter, values in _filters(query) if values]
    return "".join(f" & {part}" for part in parts)


def _filters(query: SearchQuery) -> "list[tuple[str, Sequence[object]]]":
    return [
        ("d", query.domain_ids),
        ("k", query.kinds if query.offer is None else ()),
        ("l", [language.lower() for language in query.languages]),
        ("r", [""] if query.only_relevant else []),
        ("", _days(query.since) if query.since else []),
        *_offer_filters(query.offer),
    ]


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
        ("b", [name.lower()[:100] for name in offer.brands]),
        ("c", [name.lower()[:100] for name in offer.categories]),
    ]
    return found if any(values for _, values in found) else [("k", [ItemKind.PRODUCT.value])]


def _price_steps(offer: OfferFilter) -> list[int]:
    first = floor(_STEPS * log10(offer.low)) - 1 if offer.low else _LOWEST
    last = floor(_STEPS * log10(offer.high)) + 1 if offer.high else _HIGHEST
    return list(range(max(first, _LOWEST), min(last, _HIGHEST) + 1))


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


def _asked(term: Term, values: dict[str, str]) -> str:
    name = f"t{len(values)}"
    values[name] = f"{_quoted(term.text)}:*" if term.kind is TermKind.PREFIX else term.text
    return _SQL_OF[term.kind].format(name)


_WORD_OR_ROW = re.compile(r"'((?:[^']|'')*)'|<(?:-|\d+)>")


def _in_titles(words: str) -> str:
    """The same question about words of titles. They have no places: a row of words asks for each."""
    changed = _WORD_OR_ROW.sub(lambda found: "&" if found[1] is None else f"'\x02{found[1]}'", words)
    return f"({changed})"


def _counted(
    conn: Connection, facets: Sequence[Facet], places: Sequence[str]
) -> dict[Facet, tuple[tuple[str, int], ...]]:
    if not facets:
        return {}
    asked = {"places": _written_places(places), "facets": [facet.value for facet in facets], "top": _TOP}
    rows = conn.exec_driver_sql(SQL["counted"], asked).all()
    return {
        facet: tuple((row.value, row.number) for row in rows if row.facet == facet and row.value is not None)
        for facet in facets
    }


def _hit(row: Match, rank: float) -> Hit:
    return Hit(
        page=PageKey(row.domain_id, row.path_hash),
        kind=row.kind,
        position=row.position,
        rank=rank,
        url=f"{row.origin.rstrip('/')}{row.path}",
        domain=row.domain,
        title=row.title,
        snippet=_parts(row.snippet),
        language=row.language,
        is_relevant=row.is_relevant,
        at=row.at,
        offer=Offer(row.price, row.currency, row.availability, row.brand, row.category)
        if row.kind == ItemKind.PRODUCT
        else None,
    )


def _parts(headline: str) -> tuple[Part, ...]:
    """Every second piece is a match."""
    pieces = re.split(f"[{_START}{_STOP}]", re.sub(r"\s+", " ", headline).strip())
    return tuple(Part(piece, is_match=nr % 2 == 1) for nr, piece in enumerate(pieces) if piece)


def _keys(pages: Sequence[PageKey]) -> dict[str, list[int]]:
    return {"domain_ids": [page.domain_id for page in pages], "path_hashes": [page.path_hash for page in pages]}


def _columns(documents: Sequence[SearchDocument]) -> dict[str, list[object]]:
    offers = [document.offer or Offer() for document in documents]
    return {
        "domain_ids": [d.page.domain_id for d in documents],
        "path_hashes": [d.page.path_hash for d in documents],
        "kinds": [d.kind for d in documents],
        "positions": [d.position for d in documents],
        "snapshot_ids": [d.snapshot_id for d in documents],
        "titles": [_cut(d.title, _TITLE_BYTES) for d in documents],
        "descriptions": [_cut(d.description, _DESCRIPTION_BYTES) for d in documents],
        "texts": [_cut(d.text, _TEXT_BYTES) for d in documents],
        "languages": [d.language.lower() if d.language else None for d in documents],
        "relevants": [d.is_relevant for d in documents],
        "times": [d.at for d in documents],
        "prices": [offer.price for offer in offers],
        "currencies": [offer.currency for offer in offers],
        "availabilities": [offer.availability for offer in offers],
        "brands": [offer.brand for offer in offers],
        "categories": [offer.category for offer in offers],
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) * 4 <= most else text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
