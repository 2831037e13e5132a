"""The links that our own crawls collected, as a search engine: the crawl itself discovers domains.

A result's title is the text of the link, its snippet the text around it on the page where it stands. Domains that
people have decided about are no finds.
"""

import asyncio
import re
import time

from bailiwick.base.errors import BailiwickError
from bailiwick.db.engine import Database
from bailiwick.db.sql import queries
from bailiwick.model.words import words_of
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion

SQL = queries("bailiwick.backends")
_AROUND_CHARS = 160
_WORD_CHARS = 3
"""Shorter words of a query stand in too many texts to say anything."""
_MOST_WORDS = 20


class LinksEngine:
    """Asks the database; needs no account and sends nothing."""

    name = "links"
    page_size = 1_000
    most_pages = None

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        """Links whose text, address or page names a word of the query, those with most of them first."""
        started = time.monotonic()
        try:
            hits = await asyncio.to_thread(self._found, question)
        except BailiwickError as error:
            return EngineAnswer(EngineOutcome.FAILED, why=error.message)
        return EngineAnswer(
            EngineOutcome.ANSWERED,
            tuple(hits[: question.count]),
            has_more=len(hits) > question.count,
            milliseconds=round(1000 * (time.monotonic() - started)),
        )

    def _found(self, question: EngineQuestion) -> list[EngineHit]:
        words = [word for word in dict.fromkeys(words_of(question.text)) if len(word) >= _WORD_CHARS][:_MOST_WORDS]
        asked = {
            "patterns": [rf"\m{re.escape(_stem(word))}" for word in words],
            "around": _AROUND_CHARS,
            "limit": question.count + 1,
            "offset": (question.page - 1) * question.count,
        }
        with self._database.read() as conn:
            rows = conn.exec_driver_sql(SQL["found_links"], asked).all()
        return [EngineHit(f"https://{row.target}{row.path}", row.title, row.snippet) for row in rows]

    async def close(self) -> None:
        """Holds nothing open."""


def _stem(word: str) -> str:
    """So that the plural finds the singular."""
    return word[:-1] if len(word) > _WORD_CHARS and word.endswith("s") else word
