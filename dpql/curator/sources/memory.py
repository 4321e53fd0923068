"""Tables in memory: polars, pandas, mappings of columns, and Arrow streams.

Columns are sliced without a copy, and each slice becomes canonical in a task of its
own. A stream is read batch by batch. Columns that are not declared are never looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from dpql.curator.columns import Content, canonical_columns
from dpql.curator.sources.canonical import FrameCanonicaliser, stored_type
from dpql.curator.sources.objects import stored_column
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import BATCH_ROWS, Fragment, Request
from dpql.curator.sources.stored import find_columns, whole_ids
from dpql.errors import RunFault
from dpql.model.spec import Data


def memory_fragment(frame: Any, data: Data) -> Fragment:
    """Return a table in memory.

    Raises:
        RunFault: DPQL502, it is no table; DPQL503, a column is missing or there twice.
    """
    if isinstance(frame, pl.LazyFrame):
        return _lazy(frame, data)
    if isinstance(frame, pl.DataFrame):
        # `get_columns` panics where a frame has 2**32 rows.
        return _eager(_picked(frame.columns, frame.to_series, data), data)
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        names = [_pandas_name(label) for label in frame.columns]
        return _eager(_picked(names, lambda at: frame.iloc[:, at], data), data)
    if isinstance(frame, Mapping):
        labels = list(frame)
        names = [label if isinstance(label, str) else None for label in labels]
        return _eager(_picked(names, lambda at: frame[labels[at]], data), data)
    arrow: Any = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(frame, arrow.Table | arrow.RecordBatch):
        return _eager(_picked(frame.schema.names, frame.column, data), data)
    if hasattr(frame, "__arrow_c_stream__"):
        return stream_fragment(frame, data)
    raise RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are of no kind that can be read",
        hint="hand in a path, a polars, pandas or pyarrow table, or a duckdb relation",
    )


def _picked(
    names: list[str | None] | list[str], column: Callable[[int], Any], data: Data
) -> dict[str, Any]:
    """Return the declared columns, each as it is stored or the name of its type."""
    at = find_columns(names, data)
    return {
        each.name: stored_column(column(at[each.name]), each.content)
        for each in canonical_columns(data)
    }


def _pandas_name(label: object) -> str | None:
    """Return the name of a column; a whole number counts as its digits."""
    if isinstance(label, str):
        return label
    whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return str(label) if whole else None


def _eager(columns: Mapping[str, Any], data: Data) -> Fragment:
    """Return columns of equal length; one of a wrong type has no cells."""
    held = [cells for cells in columns.values() if not isinstance(cells, str)]
    if len({len(cells) for cells in held}) > 1:
        raise RunFault.of(
            "DPQL502",
            f"the columns of the data of `{data.source}` differ in length",
            hint="give every column one cell for each row",
        )
    rows = max(map(len, held), default=0)
    # The words of a dictionary are read again for each slice.
    height = max([BATCH_ROWS, *map(_word_count, held)])
    types = {
        column.name: _type(columns[column.name], column.content)
        for column in canonical_columns(data)
    }

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)

        def frames(start: int) -> Iterator[pl.DataFrame]:
            names = canonical.names
            cells = {name: columns[name].slice(start, height) for name in names}
            yield canonical(cells, min(height, rows - start))

        return (partial(frames, start) for start in range(0, rows, height))

    return Fragment(
        types=types, tasks=tasks, row_count=lambda: rows, whole_ids=whole_ids(types)
    )


def _word_count(cells: Any) -> int:
    if isinstance(cells, pl.Series):
        dtype = cells.dtype
        return len(dtype.categories) if isinstance(dtype, pl.Enum) else 0
    chunks = cells.chunks if hasattr(cells, "chunks") else [cells]
    return max((len(getattr(chunk, "dictionary", ())) for chunk in chunks), default=0)


def _type(cells: Any, content: Content) -> Any:
    if isinstance(cells, str):
        return cells
    if isinstance(cells, pl.Series):
        return cells.dtype
    return stored_type(cells.type, content)


def _lazy(frame: pl.LazyFrame, data: Data) -> Fragment:
    """Return a query, which polars runs while its batches are made canonical."""
    schema = frame.collect_schema()
    names = list(find_columns(schema.names(), data))
    types = {name: schema[name] for name in names}

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        query = frame.select(cs.by_name(*canonical.names))
        batches = query.collect_batches(
            chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"
        )
        return (
            partial(frames, canonical, {c.name: c for c in batch}, batch.height)
            for batch in batches
        )

    def row_count() -> int:
        # polars counts to 2^32, but adds up in 64 bits.
        one = cs.by_name(names[0]).is_null().is_not_null().cast(pl.Int8).sum()
        return int(frame.select(one).collect(engine="streaming").item())

    return Fragment(
        types=types, tasks=tasks, row_count=row_count, whole_ids=whole_ids(types)
    )


def stream_fragment(stream: Any, data: Data) -> Fragment:
    """Return what has the interface of an Arrow C stream.

    Raises:
        RunFault: DPQL502, it is no table; DPQL503, a column is missing or there twice.
    """
    import pyarrow as pa

    try:
        rows = _Stream(stream)
    except pa.ArrowInvalid:
        raise RunFault.of(
            "DPQL502", f"the data of `{data.source}` are not a table"
        ) from None
    schema = rows.schema
    at = find_columns(schema.names, data)
    types = {
        column.name: stored_type(schema.field(at[column.name]).type, column.content)
        for column in canonical_columns(data)
    }

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        for part in regular_batches(rows.batches()):
            cells = {name: part.column(at[name]) for name in canonical.names}
            yield partial(frames, canonical, cells, part.num_rows)

    return Fragment(
        types=types,
        tasks=tasks,
        row_count=rows.row_count,
        whole_ids=whole_ids(types),
        keep=rows.row_count,
    )


def frames(
    canonical: FrameCanonicaliser, cells: Mapping[str, Any], rows: int
) -> Iterator[pl.DataFrame]:
    """Yield some rows in canonical form: a task of those that sources give."""
    yield canonical(cells, rows)


class _Stream:
    """Arrow record batches that come once; held if counted first, or read twice."""

    def __init__(self, stream: Any) -> None:
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_stream(stream)
        self.schema = reader.schema
        self._reader: Any = reader
        self._held: list[Any] | None = None
        self._row_count: int | None = None

    def batches(self) -> Iterator[Any]:
        if self._held is not None:
            yield from self._held
            return
        reader, self._reader = self._reader, None
        if reader is None:
            msg = "a stream can be read only once"
            raise RuntimeError(msg)
        rows = 0
        for batch in reader:
            rows += batch.num_rows
            yield batch
        self._row_count = rows

    def row_count(self) -> int:
        if self._row_count is None:
            self._held = list(self.batches())
        assert self._row_count is not None, "all batches are counted"
        return self._row_count


def regular_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tables of about `BATCH_ROWS` rows, from batches joined or sliced."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        height = max(BATCH_ROWS, *map(_word_count, batch.columns))
        for start in range(0, batch.num_rows, height):
            held.append(batch.slice(start, height))
            rows += held[-1].num_rows
            if rows >= BATCH_ROWS:
                yield pa.Table.from_batches(held)
                held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)
