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
from dpql.curator.engines.polars_arrow import array, arrow_library
from dpql.curator.engines.polars_columns import is_number, places
from dpql.curator.engines.polars_files import Content, File, Piece, literal
from dpql.model.spec import Data

_BATCH_ROWS = 1 << 17


def reread(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows of the files, each file a piece.

    Raises:
        RunFault: DPQL502, there is no pyarrow, or a file is not what its name says;
            DPQL503, a column is missing.
    """
    arrow = arrow_library()
    if arrow is None:
        raise unreadable(data)
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

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        wanted = list(known) if columns is None else columns
        left = row_limit
        for batch in _opened(format_, file.content).batches(wanted):
            kept = batch if left is None else batch.slice(0, left)
            if left is not None:
                left -= kept.num_rows
            frame = _frame(kept, wanted, empty, numbers)
            yield frame if predicate is None else frame.filter(predicate)

    return Piece(
        frame=register_io_source(batches, schema=known, is_pure=True),
        columns={name: cs.by_name(name) for name in known}
        | {name: literal(value) for name, value in file.values.items()},
        types=types | dict.fromkeys(file.values, pl.String()),
    )


def _frame(
    batch: Any,
    wanted: Sequence[str],
    kinds: Mapping[str, Any],
    numbers: Mapping[str, bool],
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: _column(
                [batch.column(batch.schema.get_field_index(name))],
                kinds[name],
                numbers[name],
            )
            for name in wanted
        }
    )


def _column(parts: Sequence[Any], kind: Any, number: bool) -> pl.Series | str:  # noqa: FBT001  as declared
    chunks = import_module("pyarrow").chunked_array(parts, kind)
    return array(chunks, number=number)


class _Parquet:
    """A parquet file, by row groups."""

    def __init__(self, content: Content) -> None:
        source = _source(content)
        self._file = import_module("pyarrow.parquet").ParquetFile(source)
        self.schema_arrow = self._file.schema_arrow

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        return self._file.iter_batches(_BATCH_ROWS, columns=list(names))  # type: ignore[no-any-return]


class _Ipc:
    """An Arrow file, by the batches it was written in."""

    def __init__(self, content: Content) -> None:
        self._file = import_module("pyarrow.ipc").open_file(_source(content))
        self.schema_arrow = self._file.schema

    def batches(self, _: Sequence[str]) -> Iterator[Any]:
        for place in range(self._file.num_record_batches):
            yield self._file.get_batch(place)


def _opened(format_: str, content: Content) -> _Parquet | _Ipc:
    return _Parquet(content) if format_ == "parquet" else _Ipc(content)


def _source(content: Content) -> Any:
    arrow = import_module("pyarrow")
    if isinstance(content, bytes):
        return arrow.BufferReader(content)
    return arrow.memory_map(content)
