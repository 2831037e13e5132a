"""The SearchIndex that needs no other server: PostgreSQL's full text search in the database itself.

One dictionary (`search.language`) serves every document and every question. A dictionary for each document's own
language would lose words: a question has no language, and `Förderung` stemmed as English is no German stem.
"""

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from bailiwick.backends.index_postgres_found import Match
from bailiwick.backends.index_postgres_lists import listed
from bailiwick.backends.index_postgres_matches import worded
from bailiwick.backends.index_postgres_words import NAME_CHARS, SQL, understood
from bailiwick.db.engine import Database
from bailiwick.model.items import ItemKind
from bailiwick.model.search import MAX_MATCHES, Hit, Offer, PageKey, Part, SearchAnswer, SearchDocument, SearchQuery
from bailiwick.ports import SearchIndex

_START, _STOP = "\ue000", "\ue001"
"""Of Unicode's private use: taken out of every text first."""
_HEADLINE = f'StartSel={_START}, StopSel={_STOP}, MaxFragments=2, MaxWords=20, MinWords=8, FragmentDelimiter=" … "'
_SNIPPET_CHARS, _BEGINNING_CHARS = 20_000, 1_000
"""In so much of a text words are looked for; so much is enough for its first words."""
_TITLE_BYTES, _DESCRIPTION_BYTES, _TEXT_BYTES = 2_000, 20_000, 250_000
"""A tsvector holds 1 MB; compounds and addresses are kept whole and in parts."""
_CURRENCY_CHARS = 16


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
            question = understood(conn, self._config, query)
            if not question.words and (query.offer is None or question.excluded):
                return SearchAnswer(has_words=False)
            found = worded(conn, question, query) if question.words else listed(conn, query)
            hits = self._hits(conn, question.words, found.shown)
        return SearchAnswer(hits, min(found.total, MAX_MATCHES), found.total > MAX_MATCHES, found.facets)

    def close(self) -> None:
        """Nothing is held open: the database is the App's."""

    def _hits(self, conn: Connection, words: str, shown: Sequence[Match]) -> tuple[Hit, ...]:
        if not shown:
            return ()
        asked = {
            "config": self._config,
            "words": words,
            "chars": _SNIPPET_CHARS if words else _BEGINNING_CHARS,
            "marks": _START + _STOP,
            "options": _HEADLINE,
            "domain_ids": [m.domain_id for m in shown],
            "path_hashes": [m.path_hash for m in shown],
            "kinds": [m.kind for m in shown],
            "positions": [m.position for m in shown],
        }
        ranks = [float(m.rank) for m in shown]
        return tuple(_hit(row, ranks[row.nr - 1]) for row in conn.exec_driver_sql(SQL["hits"], asked))


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
        "currencies": [_short(offer.currency, _CURRENCY_CHARS) for offer in offers],
        "availabilities": [offer.availability for offer in offers],
        "brands": [_short(offer.brand, NAME_CHARS) for offer in offers],
        "categories": [_short(offer.category, NAME_CHARS) for offer in offers],
    }


def _short(text: str | None, chars: int) -> str | None:
    return text[:chars] if text else text


def _cut(text: str, most: int) -> str:
    return text if len(text) * 4 <= most else text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
