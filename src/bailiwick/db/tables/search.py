"""What can be searched: the embedded index. All of it can be made again from the other tables."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Numeric, Table, Text, TextClause, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from bailiwick.db.tables.base import TIME, always, metadata

_IS_PRODUCT = text("kind = 'product'")


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
    Index("search_documents_price_idx", "price", "domain_id", "path_hash", postgresql_where=_IS_PRODUCT),
    Index(
        "search_documents_in_stock_idx", "price", "domain_id", "path_hash",
        postgresql_where=text("kind = 'product' and availability = 'in_stock'"),
    ),
    Index("search_documents_brand_idx", text("lower(brand)"), "price", postgresql_where=_IS_PRODUCT),
    Index("search_documents_category_idx", text("lower(category)"), "price", postgresql_where=_IS_PRODUCT),
    Index("search_documents_shop_idx", "domain_id", "price", postgresql_where=_IS_PRODUCT),
    _words("search_documents_terms_idx"),
    _words("search_documents_sample_64_idx", text("((path_hash # position * 7919) & 63) = 0")),
    _words("search_documents_sample_8_idx", text("((path_hash # position * 7919) & 7) = 0")),
    postgresql_with={"toast_tuple_target": 8160},
)  # fmt: skip
