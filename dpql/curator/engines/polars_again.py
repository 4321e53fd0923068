"""Files of columns read by Arrow, where polars gives up.

polars refuses a whole file for one text that is no UTF-8, and for a column of a type it
does not know, declared or not. Arrow reads such files, a batch at a time, more slowly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import polars as pl
import polars.selectors as cs
from polars.io.plugins import register_io_source

from dpql.curator.engines.places import unreadable
from dpql.curator.engines.polars_arrow import array
from dpql.curator.engines.polars_columns import is_number, places
from dpql.curator.engines.polars_files import (
    Content,
    File,
    Piece,
    literals,
    with_values,
)
from dpql.model.spec import Data

_BATCH_ROWS = 1 << 17
_ROWS = "rows of the file"


def reread(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows of the files, each file a piece.

    Raises:
        RunFault: DPQL502, a file is not what its name says; DPQL503, a column is
            missing.
    """
    arrow = import_module("pyarrow")
    pieces = []
    for file in files:
        try:
            schema = _opened(format_, file.content).schema_arrow
        except (arrow.ArrowException, OSError):
            raise unreadable(data) from None
        pieces.append(_piece(format_, file, schema, data))
    return pieces


def _piece(format_: str, file: File, schema: Any, data: Data) -> Piece:
    names = [None if name in file.values else name for name in schema.names]
    found = places([*names, *file.values], data)
    own = {name: place for name, place in found.items() if place < len(names)}
    numbers = {column.name: is_number(column) for column in data.columns}
    empty = {name: schema.field(place).type for name, place in own.items()}
    cells = {name: _column([], empty[name], numbers[name]) for name in own}
    types = {name: c if isinstance(c, str) else c.dtype for name, c in cells.items()}
    known = {name: t for name, t in types.items() if not isinstance(t, str)}
    # Where folders name all columns, rows still count: by a column of nothing.
    scheme = known or {_ROWS: pl.Null()}

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        wanted = list(scheme) if columns is None else columns
        left = row_limit
        stored = [name for name in wanted if name in known]
        for batch in _opened(format_, file.content).batches(stored):
            kept = batch if left is None else batch.slice(0, left)
            if left is not None:
                left -= kept.num_rows
            frame = _frame(kept, wanted, numbers)
            yield frame if predicate is None else frame.filter(predicate)

    scan = register_io_source(batches, schema=scheme, is_pure=True)
    frame, columns = with_values(scan, known, literals(file))
    return Piece(
        frame=frame,
        columns=columns | {name: cs.by_name(name) for name in known},
        types=types | dict.fromkeys(file.values, pl.String()),
    )


def _frame(
    batch: Any, wanted: Sequence[str], numbers: Mapping[str, bool]
) -> pl.DataFrame:
    columns: dict[str, Any] = {}
    for name in wanted:
        if name == _ROWS and name not in numbers:
            columns[name] = pl.Series([None] * batch.num_rows, dtype=pl.Null)
            continue
        cells = batch.column(batch.schema.get_field_index(name))
        columns[name] = _column([cells], cells.type, numbers[name])
    return pl.DataFrame(columns)


def _column(parts: Sequence[Any], kind: Any, number: bool) -> pl.Series | str:  # noqa: FBT001  as declared
    chunks = import_module("pyarrow").chunked_array(parts, kind)
    return array(chunks, number=number)


class _Parquet:
    """A parquet file, by row groups."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.schema_arrow = self._file([]).schema_arrow

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the rows; words of a dictionary are validated unless asked for so."""
        listed = import_module("pyarrow").types.is_dictionary
        words = [n for n in names if listed(self.schema_arrow.field(n).type)]
        rows: Iterator[Any] = self._file(words).iter_batches(
            _BATCH_ROWS, columns=list(names)
        )
        return rows

    def _file(self, words: Sequence[str]) -> Any:
        parquet = import_module("pyarrow.parquet")
        return parquet.ParquetFile(_source(self._content), read_dictionary=words)


class _Ipc:
    """An Arrow file, by the batches it was written in."""

    def __init__(self, content: Content) -> None:
        self._file = import_module("pyarrow.ipc").open_file(_source(content))
        self.schema_arrow = self._file.schema

    def batches(self, _: Sequence[str]) -> Iterator[Any]:
        """Yield the rows."""
        for place in range(self._file.num_record_batches):
            yield self._file.get_batch(place)


def _opened(format_: str, content: Content) -> _Parquet | _Ipc:
    return _Parquet(content) if format_ == "parquet" else _Ipc(content)


def _source(content: Content) -> Any:
    arrow = import_module("pyarrow")
    if isinstance(content, bytes):
        return arrow.BufferReader(content)
    return arrow.memory_map(content)
