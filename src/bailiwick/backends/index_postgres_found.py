"""What a question found in PostgreSQL's index: which to show, how many there are, and their counts by facet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlalchemy import Connection, Row

from bailiwick.backends.index_postgres_words import SQL
from bailiwick.model.search import Facet

Match: TypeAlias = "Row[tuple[object, ...]]"
"""The key of a document and its rank; or all that is shown of it."""
Counts: TypeAlias = dict[Facet, tuple[tuple[str, int], ...]]
_TOP = 20
_COLUMN = {Facet.DOMAIN: "domain_id::text"}


@dataclass(frozen=True, slots=True)
class Found:
    """Documents to show, in their order; how many match in all, those beyond 1,000 not counted."""

    shown: Sequence[Match] = ()
    total: int = 0
    facets: Counts = field(default_factory=dict)


def counted(conn: Connection, facets: Sequence[Facet], source: str, values: Mapping[str, object]) -> Counts:
    """Of each facet the values that come most often, among the documents that the source selects."""
    if not facets:
        return {}
    pairs = ", ".join(f"('{facet.value}', d.{_COLUMN.get(facet, facet.value)})" for facet in facets)
    statement = SQL["counted"].replace("SOURCE", source).replace("FACETS", pairs)
    rows = conn.exec_driver_sql(statement, {**values, "top": _TOP}).all()
    return {
        facet: tuple((row.value, row.number) for row in rows if row.facet == facet and row.value is not None)
        for facet in facets
    }


def columns_of(facets: Sequence[Facet]) -> str:
    """What is read of a document to count it."""
    return ", ".join(_COLUMN.get(facet, facet.value).partition("::")[0] for facet in facets) or "domain_id"
