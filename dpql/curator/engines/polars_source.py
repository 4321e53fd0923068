"""Whatever holds rows becomes a lazy polars frame, judged by its schema alone.

Objects of Python, pandas and Arrow are converted column by column, declared ones only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from dpql.curator.engines.files import COLUMNAR, File, files_of
from dpql.curator.engines.places import unreadable
from dpql.curator.engines.polars_arrow import (
    Found,
    array,
    is_array,
    stream_columns,
)
from dpql.curator.engines.polars_columnar import column_pieces
from dpql.curator.engines.polars_columns import Kind, kind_of, places
from dpql.curator.engines.polars_files import scanned
from dpql.curator.engines.polars_native import UnknownToPolars, native_pieces
from dpql.curator.engines.polars_objects import array as numpy_array
from dpql.curator.engines.polars_objects import objects
from dpql.curator.engines.polars_pandas import (
    is_column,
    is_table,
    pandas_column,
    pandas_columns,
)
from dpql.curator.engines.polars_pieces import Piece, Source, joined, sliced
from dpql.curator.engines.polars_text import inner
from dpql.errors import RunFault
from dpql.model.spec import Data


def open_frame(frame: object, data: Data) -> Source:
    """Return the rows as a source; refuse what cannot hold the declared columns.

    Raises:
        RunFault: DPQL501 no such file, DPQL502 no kind of data that is known, DPQL503
            a column is missing, DPQL504 a column is of an impossible type.
    """
    if isinstance(frame, str | Path):
        return _filed(str(frame), data)
    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        costly = isinstance(frame, pl.LazyFrame)
        return joined([_polars(frame, data)], data, costly=costly)
    return joined([_memory(_columns(frame, data), data)], data)


def _filed(place: str, data: Data) -> Source:
    format_, files = files_of(place, data)
    if format_ in COLUMNAR:
        return _columnar(format_, files, data)
    return joined(scanned(format_, files, data), data, costly=True)


def _columnar(format_: str, files: Sequence[File], data: Data) -> Source:
    """Return files as Arrow reads them; as polars does where Arrow has no such type."""
    pieces, strange = column_pieces(format_, files, data)
    try:
        pieces += native_pieces(format_, strange, data)
    except UnknownToPolars:
        raise unreadable(data) from None
    return joined(pieces, data)


def _polars(frame: pl.LazyFrame | pl.DataFrame, data: Data) -> Piece:
    schema = frame.collect_schema()
    names = list(places(schema.names(), data))
    return Piece(
        frame=frame if isinstance(frame, pl.LazyFrame) else None,
        portions=sliced(frame) if isinstance(frame, pl.DataFrame) else None,
        columns={name: cs.by_name(name) for name in names},
        types={name: schema[name] for name in names},
    )


def _memory(found: Found, data: Data) -> Piece:
    """Return columns in memory as a piece; one of a wrong type has no cells."""
    held = {name: one for name, one in found.items() if isinstance(one, pl.Series)}
    if len({len(one) for one in held.values()}) > 1:
        raise RunFault.of(
            "DPQL502",
            f"the columns of the data of `{data.source}` differ in length",
            hint="give every column one cell for each row",
        )
    frame = pl.DataFrame({inner(name): one for name, one in held.items()})
    types = {n: one if isinstance(one, str) else one.dtype for n, one in found.items()}
    raw = {
        column.name
        for column in data.columns
        if kind_of(column) is Kind.CATEGORY and types[column.name] == pl.Binary
    }
    return Piece(
        portions=sliced(frame),
        columns={name: pl.col(inner(name)) for name in held},
        types=types | dict.fromkeys(raw, pl.String()),
        raw=frozenset(raw),
    )


def _columns(frame: Any, data: Data) -> Found:
    if is_table(frame):
        return pandas_columns(frame, data)
    if isinstance(frame, Mapping):
        labels = list(frame)
        found = places([x if isinstance(x, str) else None for x in labels], data)
        return {
            column.name: _cells(frame[labels[found[column.name]]], kind_of(column))
            for column in data.columns
        }
    if hasattr(frame, "__arrow_c_stream__"):
        return stream_columns(frame, data)
    raise RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are of no kind that can be read",
        hint="hand in a path, a polars, pandas or pyarrow table, or a duckdb relation",
    )


def _cells(cells: Any, kind: Kind) -> pl.Series | str:
    """Return one column of a mapping, or the name of its type."""
    if isinstance(cells, pl.Series):
        foreign = kind is Kind.CATEGORY and cells.dtype == pl.Binary
        return "binary" if foreign else cells
    if is_column(cells):
        return pandas_column(cells, kind)
    if is_array(cells):
        return array(cells, kind)
    if isinstance(cells, np.ndarray):
        found = numpy_array(cells, kind)
        return str(cells.dtype) if found is None else found
    raw = str | bytes | bytearray | memoryview
    if isinstance(cells, Sequence) and not isinstance(cells, raw):
        return objects(cells, kind)
    return type(cells).__name__
