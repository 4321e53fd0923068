"""Arrow streams as columns: only what is declared, judged by its type.

polars believes that Arrow text is UTF-8 and crashes where it is not, so text comes in
as bytes and is decoded here; what is no UTF-8 becomes U+FFFD. Columns that are not
declared are never looked at, for polars cannot hold every type that Arrow has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import polars as pl

from dpql.curator.engines.polars_columns import is_number, places
from dpql.errors import RunFault
from dpql.model.spec import Data

Found = dict[str, pl.Series | str]
"""For each declared column its cells, or the name of a type that cannot hold them."""

_BYTES = {
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
}


def stream_columns(frame: Any, data: Data) -> Found:
    """Return the declared columns of an object with the Arrow C stream interface.

    Raises:
        RunFault: DPQL502, it is no table; DPQL503, a column is missing.
    """
    arrow = import_module("pyarrow")
    try:
        stream = arrow.RecordBatchReader.from_stream(_narrowed(frame, data))
    except arrow.ArrowInvalid:
        raise RunFault.of(
            "DPQL502", f"the data of `{data.source}` are no table"
        ) from None
    found = places(stream.schema.names, data)
    chunks: dict[str, list[Any]] = {name: [] for name in found}
    for batch in stream:
        for name, place in found.items():
            chunks[name].append(batch.column(place))
    return {
        column.name: array(
            arrow.chunked_array(
                chunks[column.name], stream.schema.field(found[column.name]).type
            ),
            number=is_number(column),
        )
        for column in data.columns
    }


def is_array(thing: object) -> bool:
    """Tell whether the thing is an array of pyarrow."""
    arrow: Any = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(thing, arrow.Array | arrow.ChunkedArray)


def array(chunks: Any, *, number: bool) -> pl.Series | str:
    """Return an array of pyarrow as a column, or the name of its type.

    Which of them depends on the type alone.
    """
    kind = chunks.type
    types = import_module("pyarrow").types
    if not hasattr(chunks, "chunks"):
        chunks = _chunked([chunks], kind)
    if not types.is_dictionary(kind):
        return _flat(chunks, kind, number=number)
    values = _flat(_chunked([], kind.value_type), kind.value_type, number=number)
    if isinstance(values, str):
        return values
    parts = [values]
    for chunk in chunks.chunks:
        held = _chunked([chunk.dictionary], kind.value_type)
        known = _flat(held, kind.value_type, number=number)
        assert isinstance(known, pl.Series), "the type was judged before"
        parts.append(known.gather(pl.Series(chunk.indices)))
    return pl.concat(parts)


def _flat(chunks: Any, kind: Any, *, number: bool) -> pl.Series | str:
    arrow = import_module("pyarrow")
    types = arrow.types
    name = str(kind)
    if name in _BYTES:
        raw = getattr(arrow, _BYTES[name])()
        views = [chunk.view(raw) for chunk in chunks.chunks]
        return _decoded(pl.Series(_chunked(views, raw)))
    if types.is_decimal(kind):
        if not number:
            return name
        held = 0 <= kind.scale <= kind.precision and not types.is_decimal256(kind)
        return pl.Series(chunks if held else chunks.cast(arrow.string()))
    ours = types.is_integer, types.is_floating, types.is_boolean, types.is_null
    return pl.Series(chunks) if any(test(kind) for test in ours) else name


def _chunked(parts: Sequence[Any], kind: Any) -> Any:
    return import_module("pyarrow").chunked_array(parts, kind)


def _decoded(raw: pl.Series) -> pl.Series:
    """Return bytes as text; what is no UTF-8 becomes U+FFFD."""
    try:
        return raw.cast(pl.String)
    except pl.exceptions.ComputeError:
        texts = [None if c is None else c.decode("utf-8", "replace") for c in raw]
        return pl.Series(texts, dtype=pl.String)


def _narrowed(frame: Any, data: Data) -> Any:
    """Return a relation of duckdb with the declared columns; no other is computed."""
    if not type(frame).__module__.startswith(("duckdb", "_duckdb")):
        return frame
    names = [frame.columns[place] for place in places(frame.columns, data).values()]
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return frame.project(", ".join(quoted))
