"""What can be searched: the embedded index. All of it can be made again from the other tables."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Numeric, Table, Text, TextClause, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from bailiwick.db.tables.base import TIME, always, metadata

_COUNTED = ["availability", "currency", "brand", "category"]


def _products(name: str, *columns: "str | TextClause", only: str = "") -> Index:
    """Products by their price, with all that is counted of them."""
    return Index(
        f"search_documents_{name}_idx", *columns, postgresql_include=_COUNTED,
        postgresql_where=text(f"kind = 'product'{only}"),
    )  # fmt: skip


def _words(name: str, only: TextClause | None = None) -> Index:
    return Index(name, "terms", postgresql_using="gin", postgresql_with={"fastupdate": "off"}, postgresql_where=only)


search_documents = Table(
    "search_documents",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("path_hash", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    always("snapshot_id", BigInteger),
    always("title", Text),
    Column("body", Text),
    Column("language", Text),
    always("is_relevant", Boolean),
    Column("at", TIME, nullable=False),
    Column("terms", TSVECTOR, nullable=False),
    Column("price", Numeric),
    Column("currency", Text),
    Column("availability", Text),
    Column("brand", Text),
    Column("category", Text),
    _products("price", "price", "domain_id", "path_hash", "position"),
    _products("in_stock", "price", "domain_id", "path_hash", "position", only=" and availability = 'in_stock'"),
    _products("brand", text("lower(brand)"), "price", "domain_id", "path_hash", "position"),
    _products("category", text("lower(category)"), "price", "domain_id", "path_hash", "position"),
    _products("shop", "domain_id", "price", "path_hash", "position"),
    Index(
        "search_documents_pairs_idx", text("bailiwick_word_pairs(terms)"), postgresql_using="gin",
        postgresql_with={"fastupdate": "on", "gin_pending_list_limit": "2048"},
    ),
    _words("search_documents_terms_idx"),
    _words("search_documents_sample_64_idx", text("((path_hash # position * 7919) & 63) = 0")),
    _words("search_documents_sample_8_idx", text("((path_hash # position * 7919) & 7) = 0")),
    postgresql_with={"toast_tuple_target": 8160},
)  # fmt: skip
