"""SQL whose plan matters lives in `queries.sql` files, as named blocks: `-- name: claim`."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

from sqlalchemy import Connection, text

BY_INDEX = """
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true),
           set_config('jit', 'off', true)"""


@cache
def queries(package: str) -> dict[str, LiteralString]:
    """The named blocks of a package's `queries.sql`. They are part of the program, so they count as literals."""
    source = files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)$", source, flags=re.M)[1:]
    return {name: cast("LiteralString", body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def array_of(numbers: Iterable[float | None]) -> str:
    """Numbers as PostgreSQL writes an array of them, for statements at page rate.

    Of a list psycopg makes the same text, but number by number: seven times as slow.
    """
    return f"{{{','.join(['NULL' if number is None else str(number) for number in numbers])}}}"


def in_order(conn: Connection) -> None:
    """For the rest of the transaction the first rows of an order come from its index, not from sorting all rows."""
    conn.execute(text("select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)"))


def by_index(conn: Connection) -> None:
    """For the rest of the transaction tables are read by their keys: for statements at page rate.

    A planner with old statistics would read whole tables instead; nor does it see that a key asks one partition only.
    """
    conn.execute(text(BY_INDEX))
