"""What the tables share: one metadata, the database's clock, its transaction numbers."""

from sqlalchemy import Column, DateTime, MetaData, text
from sqlalchemy.types import UserDefinedType

metadata = MetaData()

NOW = text("bailiwick_now()")


class TransactionId(UserDefinedType[int]):
    """PostgreSQL's 64-bit transaction number, `xid8`."""

    cache_ok = True

    def get_col_spec(self, **_options: object) -> str:
        return "xid8"


def moment(name: str) -> Column[object]:
    """A time that is always there, by default now."""
    return Column(name, DateTime(timezone=True), nullable=False, server_default=NOW)
