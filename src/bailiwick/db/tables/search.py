"""What can be searched: the embedded index. All of it can be made again from the other tables."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from bailiwick.db.tables.base import TIME, always, metadata

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
    Index("search_documents_terms_idx", "terms", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
    postgresql_with={"toast_tuple_target": 8160},
)
