"""Whatever holds rows becomes a lazy polars frame, judged by its schema alone.

Text files are read wholly as text. A csv record is a line: no quote character exists,
so no record can swallow another; quotes around a cell are stripped later. Short lines
end in nulls, long ones lose their excess, bytes that are no UTF-8 become U+FFFD.
Objects of Python, pandas and Arrow are converted column by column, declared ones only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs

from dpql.curator.engines.places import Place, find, unreadable
from dpql.curator.engines.polars_again import reread
from dpql.curator.engines.polars_arrow import (
    Found,
    array,
    is_array,
    stream_columns,
)
from dpql.curator.engines.polars_columns import check, is_number, places
from dpql.curator.engines.polars_files import (
    SEPARATORS,
    Piece,
    UnknownToPolars,
    files_of,
    is_url,
    scanned,
)
from dpql.curator.engines.polars_objects import array as numpy_array
from dpql.curator.engines.polars_objects import objects
from dpql.curator.engines.polars_pandas import (
    is_column,
    is_table,
    pandas_column,
    pandas_columns,
)
from dpql.curator.engines.polars_text import as_type, common_type, inner
from dpql.curator.engines.urls import fetched, is_web
from dpql.errors import RunFault
from dpql.model.spec import Data

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows not yet read: a lazy frame of the declared columns and their types.

    ``costly`` says that a second scan would parse the text a second time.
    """

    frame: pl.LazyFrame = field(repr=False)
    types: Mapping[str, Any]
    text: bool = False
    costly: bool = False
    again: Callable[[], Source] | None = field(default=None, repr=False)

    def attempt(self, task: Callable[[Source], T]) -> T:
        """Return what the task makes of the rows.

        Where polars fails on them, they are read a second time by Arrow.
        """
        if self.again is not None:
            try:
                return task(self)
            except (Exception, pl.exceptions.PanicException):  # noqa: BLE001, S110  whatever it is
                pass
        return task(self if self.again is None else self.again())


def open_frame(frame: object, data: Data) -> Source:
    """Return the rows as a source; refuse what cannot hold the declared columns.

    Raises:
        RunFault: DPQL501 no such file, DPQL502 no kind of data that is known, DPQL503
            a column is missing, DPQL504 a column is of an impossible type.
    """
    if isinstance(frame, str | Path):
        return _filed(find(str(frame), data), data)
    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        costly = isinstance(frame, pl.LazyFrame)
        return _source([_polars(frame.lazy(), data)], data, costly=costly)
    return _source([_memory(_columns(frame, data), data)], data)


def _filed(place: Place, data: Data) -> Source:
    files = files_of(place, data)
    text = place.format in SEPARATORS
    columnar = place.format in ("parquet", "ipc")
    # What only polars can fetch is read once; a file of the web is fetched whole.
    cloud = bool(place.url) and not is_web(place.url)
    twice = columnar and not cloud

    def second() -> Source:
        whole = [
            replace(file, content=fetched(place.url, data))
            if is_url(file.content)
            else file
            for file in files
        ]
        return _source(reread(place.format, whole, data), data, costly=True)

    try:
        pieces = scanned(place.format, files, data)
    except UnknownToPolars:
        if twice:
            return second()
        raise unreadable(data) from None
    source = _source(pieces, data, text=text, costly=not columnar)
    return replace(source, again=second) if twice else source


def _source(
    pieces: Sequence[Piece], data: Data, *, text: bool = False, costly: bool = False
) -> Source:
    """Return the pieces as one frame, each column in a type that holds it in all."""
    names = [column.name for column in data.columns]
    types = {name: [piece.types[name] for piece in pieces] for name in names}
    check(types, data)
    number = {column.name: is_number(column) for column in data.columns}
    common = {
        name: common_type(found, number=number[name]) for name, found in types.items()
    }
    frames = [
        piece.frame.select(
            as_type(
                piece.columns[name],
                piece.types[name],
                common[name],
                number=number[name],
            ).alias(inner(name))
            for name in names
        )
        for piece in pieces
    ]
    return Source(
        frame=frames[0] if len(frames) == 1 else pl.concat(frames),
        types=common,
        text=text,
        costly=costly,
    )


def _polars(frame: pl.LazyFrame, data: Data) -> Piece:
    schema = frame.collect_schema()
    names = list(places(schema.names(), data))
    return Piece(
        frame=frame,
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
    return Piece(
        frame=frame.lazy(),
        columns={name: pl.col(inner(name)) for name in held},
        types={
            name: one if isinstance(one, str) else one.dtype
            for name, one in found.items()
        },
    )


def _columns(frame: Any, data: Data) -> Found:
    if is_table(frame):
        return pandas_columns(frame, data)
    if isinstance(frame, Mapping):
        labels = list(frame)
        found = places([x if isinstance(x, str) else None for x in labels], data)
        return {
            column.name: _cells(
                frame[labels[found[column.name]]], number=is_number(column)
            )
            for column in data.columns
        }
    if hasattr(frame, "__arrow_c_stream__"):
        return stream_columns(frame, data)
    raise RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are of no kind that can be read",
        hint="hand in a path, a polars, pandas or pyarrow table, or a duckdb relation",
    )


def _cells(cells: Any, *, number: bool) -> pl.Series | str:
    """Return one column of a mapping, or the name of its type."""
    if isinstance(cells, pl.Series):
        return cells
    if is_column(cells):
        return pandas_column(cells, number=number)
    if is_array(cells):
        return array(cells, number=number)
    if isinstance(cells, np.ndarray):
        found = numpy_array(cells, number=number)
        return str(cells.dtype) if found is None else found
    raw = str | bytes | bytearray | memoryview
    if isinstance(cells, Sequence) and not isinstance(cells, raw):
        return objects(cells, number=number)
    return type(cells).__name__
