"""Arrow streams as columns: only what is declared, judged by its type.

polars believes that Arrow text is UTF-8 and crashes where it is not, so text of keys
and ids becomes bytes, and text of numbers is checked, a few cells at a time. Columns
that are not declared are never looked at, for polars cannot hold every type that Arrow
has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import polars as pl

from dpql.curator.engines.polars_columns import Kind, kind_of, places
from dpql.curator.engines.polars_text import encoded, spelt, words
from dpql.errors import RunFault
from dpql.model.spec import Data

Found = dict[str, pl.Series | str]
"""For each declared column its cells, or the name of a type that cannot hold them."""

_BYTES = {
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
}
"""Type of text -> that of the same bytes."""

_TYPES = {8: pl.UInt8(), 16: pl.UInt16(), 32: pl.UInt32()}
"""Bits -> type of places."""


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
            kind_of(column),
        )
        for column in data.columns
    }


def is_array(thing: object) -> bool:
    """Tell whether the thing is an array of pyarrow."""
    arrow: Any = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(thing, arrow.Array | arrow.ChunkedArray)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type holds text, as it is or as words of a dictionary."""
    listed = import_module("pyarrow").types.is_dictionary(kind)
    return str(kind.value_type if listed else kind) in _BYTES


def array(chunks: Any, kind: Kind) -> pl.Series | str:
    """Return an array of pyarrow as a column, or the name of its type.

    Which of them depends on the type alone. Texts of keys and ids are given as bytes.
    """
    type_ = chunks.type
    types = import_module("pyarrow").types
    if not hasattr(chunks, "chunks"):
        chunks = _chunked([chunks], type_)
    if not types.is_dictionary(type_):
        return _flat(chunks, type_, kind)
    values = _flat(_chunked([], type_.value_type), type_.value_type, kind)
    if isinstance(values, str):
        return values
    parts = [values]
    for chunk in chunks.chunks:
        held = _chunked([chunk.dictionary], type_.value_type)
        known = _flat(held, type_.value_type, kind)
        assert isinstance(known, pl.Series), "the type was judged before"
        parts.append(known.gather(pl.Series(chunk.indices)))
    return pl.concat(parts)


def raw_texts(texts: Any) -> pl.Series:
    """Return the texts of an array as their bytes."""
    if import_module("pyarrow").types.is_dictionary(texts.type):
        return pl.Series(_raw(texts.dictionary)).gather(pl.Series(texts.indices))
    return pl.Series(_raw(texts))


class Keys:
    """The declared keys of a category, and how texts become places among them."""

    def __init__(self, keys: Sequence[str]) -> None:
        arrow = import_module("pyarrow")
        words = _bytes(spelt(keys))
        self._known = {
            kind: words.cast(kind) for kind in (arrow.binary(), arrow.large_binary())
        }
        self._places = {encoded(key): place for place, key in enumerate(keys)}
        self.type = next(t for bits, t in _TYPES.items() if len(keys) <= 1 << bits)

    def places(self, texts: Any) -> pl.Series:
        """Return the place of each text of an array; null where it is no key."""
        if import_module("pyarrow").types.is_dictionary(texts.type):
            return self._found(texts.dictionary).gather(pl.Series(texts.indices))
        return self._found(texts)

    def place(self, text: bytes | None) -> int | None:
        """Return the place of one text."""
        return None if text is None else self._places.get(text)

    def _found(self, texts: Any) -> pl.Series:
        arrow = import_module("pyarrow")
        raw = _raw(texts)
        if str(texts.type) == "string_view":
            raw = raw.cast(arrow.large_binary())
        found = import_module("pyarrow.compute").index_in(
            raw, value_set=self._known[raw.type]
        )
        return pl.Series(found).cast(self.type)


def _flat(chunks: Any, type_: Any, kind: Kind) -> pl.Series | str:
    arrow = import_module("pyarrow")
    types = arrow.types
    name = str(type_)
    if name in _BYTES:
        raw = pl.concat(
            [
                pl.Series([], dtype=pl.Binary),
                *(pl.Series(_raw(c)) for c in chunks.chunks),
            ]
        )
        return words(raw) if kind is Kind.NUMBER else raw
    if kind is Kind.ID and _is_binary(types, type_):
        for chunk in chunks.chunks:
            chunk.validate(full=True)
        return pl.Series(chunks.cast(arrow.large_binary()))
    if types.is_decimal(type_):
        if kind is Kind.CATEGORY:
            return name
        held = 0 <= type_.scale <= type_.precision and not types.is_decimal256(type_)
        if kind is Kind.ID and not held:
            return name
        return pl.Series(chunks if held else chunks.cast(arrow.string()))
    ours = types.is_integer, types.is_floating, types.is_boolean, types.is_null
    return pl.Series(chunks) if any(test(type_) for test in ours) else name


def _is_binary(types: Any, type_: Any) -> bool:
    tests = types.is_binary, types.is_large_binary, types.is_fixed_size_binary
    return str(type_) == "binary_view" or any(test(type_) for test in tests)


def _chunked(parts: Sequence[Any], kind: Any) -> Any:
    return import_module("pyarrow").chunked_array(parts, kind)


def _bytes(cells: Iterable[bytes | None]) -> Any:
    """Return an array of Arrow, by way of polars: Arrow itself would import pandas."""
    return pl.Series(list(cells), dtype=pl.Binary).to_arrow()


def _raw(texts: Any) -> Any:
    """Return texts as bytes, none of which lie beyond the end of their buffers."""
    raw = texts.view(getattr(import_module("pyarrow"), _BYTES[str(texts.type)])())
    raw.validate(full=True)
    return raw


def _narrowed(frame: Any, data: Data) -> Any:
    """Return a relation of duckdb with the declared columns; no other is computed."""
    if not type(frame).__module__.startswith(("duckdb", "_duckdb")):
        return frame
    names = [frame.columns[place] for place in places(frame.columns, data).values()]
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return frame.project(", ".join(quoted))
