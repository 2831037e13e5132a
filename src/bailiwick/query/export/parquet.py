"""Parquet, by `pyarrow`. Its directory stands at the end of the file, so a part cannot be one: parts are Arrow streams,
one after another, and become row groups when the export is complete.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bailiwick.base.errors import UsageError
from bailiwick.query.export.formats import as_json_text
from bailiwick.query.export.kinds import Column, Type
from bailiwick.query.export.rows import Rows

_GROUP_ROWS, _GROUP_BYTES = 20_000, 32_000_000


def _arrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow", hint="pip install 'bailiwick[parquet]'") from error
    return pa


@dataclass
class Parquet:
    """Typed columns: times in microseconds UTC, JSON as text."""

    columns: Sequence[Column]
    finish: Callable[[Path, Path], None] | None = field(init=False)

    def __post_init__(self) -> None:
        pa = _arrow()
        types = {
            Type.TEXT: pa.string(),
            Type.INTEGER: pa.int64(),
            Type.NUMBER: pa.float64(),
            Type.BOOLEAN: pa.bool_(),
            Type.TIME: pa.timestamp("us", tz="UTC"),
            Type.JSON: pa.string(),
        }
        self._schema = pa.schema([pa.field(column.name, types[column.type]) for column in self.columns])
        self.finish = self._to_row_groups

    def header(self) -> bytes:
        return b""

    def encode(self, rows: Rows) -> bytes:
        pa = _arrow()
        arrays = [
            pa.array([_value(row[nr], column.type) for row in rows], type=self._schema.field(nr).type)
            for nr, column in enumerate(self.columns)
        ]
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(sink, self._schema, options=options) as stream:
            stream.write_batch(pa.record_batch(arrays, schema=self._schema))
        return sink.getvalue()

    def _to_row_groups(self, part: Path, out: Path) -> None:
        pa = _arrow()
        with pa.parquet.ParquetWriter(out, self._schema, compression="zstd") as writer, part.open("rb") as file:
            for group in self._groups(file):
                writer.write_table(group, row_group_size=len(group))
        pa.default_memory_pool().release_unused()

    def _groups(self, file: Any) -> "Iterator[Any]":
        pa = _arrow()
        end = file.seek(0, io.SEEK_END)
        file.seek(0)
        gathered: list[Any] = []
        while file.tell() < end:
            gathered += pa.ipc.open_stream(file)
            if sum(map(len, gathered)) >= _GROUP_ROWS or sum(batch.nbytes for batch in gathered) >= _GROUP_BYTES:
                yield pa.Table.from_batches(gathered, schema=self._schema)
                gathered = []
        if gathered:
            yield pa.Table.from_batches(gathered, schema=self._schema)


def _value(value: object, type_: Type) -> object:
    if type_ is Type.JSON and value is not None:
        return as_json_text(value)
    # Lone surrogates cannot come from the database; anything else fits as it is.
    return value
