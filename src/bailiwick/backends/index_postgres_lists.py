"""Products without words, by their price. Indexes have all that is asked and counted; rows are read of hits only."""

from collections.abc import Sequence

from sqlalchemy import Connection

from bailiwick.backends.index_postgres_found import Found, columns_of, counted
from bailiwick.backends.index_postgres_words import NAME_CHARS, SQL
from bailiwick.model.search import MAX_MATCHES, OfferFilter, SearchQuery


def listed(conn: Connection, query: SearchQuery) -> Found:
    """Products by their price, at most 1,000, and whether there are more."""
    conditions, values = _conditions(query)
    statement = SQL["listed"].replace("CONDITIONS", conditions)
    pages = {"limit": MAX_MATCHES + 1, "first": query.after + 1, "last": min(query.after + query.limit, MAX_MATCHES)}
    rows = conn.exec_driver_sql(statement, {**values, **pages}).all()
    source = SQL["listed_for_counts"].replace("CONDITIONS", conditions).replace("COLUMNS", columns_of(query.facets))
    facets = counted(conn, query.facets, f"({source})", {**values, "limit": MAX_MATCHES})
    return Found([row for row in rows if row.kind is not None], rows[0].number, facets)


def _conditions(query: SearchQuery) -> tuple[str, dict[str, object]]:
    """Put in by name: each has its index, and a plan that knows only some of them would read all products."""
    offer = query.offer or OfferFilter()
    asked: list[tuple[str, object]] = [
        ("price >= {}::numeric", offer.low),
        ("price <= {}::numeric", offer.high),
        ("availability = 'in_stock'", offer.in_stock or None),
        ("is_relevant", query.only_relevant or None),
        ("at >= {}::timestamptz", query.since),
        _any_of("domain_id", "bigint", query.domain_ids),
        _any_of("currency", "text", [code.upper() for code in offer.currencies]),
        _any_of("lower(brand)", "text", [name.lower()[:NAME_CHARS] for name in offer.brands]),
        _any_of("lower(category)", "text", [name.lower()[:NAME_CHARS] for name in offer.categories]),
        _any_of("language", "text", [code.lower() for code in query.languages]),
    ]
    given = {f"c{nr}": pair for nr, pair in enumerate(asked) if pair[1] is not None}
    conditions = [condition.format(f"%({name})s") for name, (condition, _) in given.items()]
    return " and ".join(["true", *conditions]), {name: v for name, (text, v) in given.items() if "{}" in text}


def _any_of(column: str, kind: str, values: Sequence[object]) -> tuple[str, object]:
    """One value alone keeps the order of its index: nothing has to be sorted."""
    if len(values) == 1:
        return f"{column} = {{}}::{kind}", values[0]
    return f"{column} = any({{}}::{kind}[])", list(values) or None
