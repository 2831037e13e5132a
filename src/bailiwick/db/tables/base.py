"""What the tables share: one metadata, the database's clock, its transaction numbers."""

from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, Identity, MetaData, text
from sqlalchemy.types import TypeEngine, UserDefinedType

metadata = MetaData()

NOW = text("bailiwick_now()")
TIME = DateTime(timezone=True)


class TransactionId(UserDefinedType[int]):
    """PostgreSQL's 64-bit transaction number, `xid8`."""

    cache_ok = True

    def get_col_spec(self, **_options: object) -> str:
        return "xid8"


def identity() -> Column[int]:
    """The primary key of rows that are numbered as they come."""
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


def moment(name: str) -> Column[object]:
    """A time that is always there, by default now."""
    return Column(name, TIME, nullable=False, server_default=NOW)


def always(name: str, kind: type[TypeEngine[Any]], default: str | None = None) -> Column[object]:
    """A value that is always there."""
    return Column(name, kind, nullable=False, server_default=None if default is None else text(default))
