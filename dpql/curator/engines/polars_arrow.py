"""Arrow streams as columns: only what is declared, judged by its type.

polars believes that Arrow text is UTF-8 and crashes where it is not, so text is checked
here, a few cells at a time; what is no UTF-8 becomes U+FFFD. Columns that are not
declared are never looked at, for polars cannot hold every type that Arrow has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import polars as pl

from dpql.curator.engines.polars_columns import is_number, places
from dpql.curator.engines.polars_text import spelt
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

_CHECKED = 1 << 12
"""Cells that are checked together, and read one by one if one of them is broken."""


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


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type holds text, as it is or as words of a dictionary."""
    listed = import_module("pyarrow").types.is_dictionary(kind)
    return str(kind.value_type if listed else kind) in _BYTES


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
        self._places = {key: place for place, key in enumerate(keys)}
        self.type = next(t for bits, t in _TYPES.items() if len(keys) <= 1 << bits)

    def places(self, texts: Any) -> pl.Series:
        """Return the place of each text of an array; null where it is no key."""
        if import_module("pyarrow").types.is_dictionary(texts.type):
            return self._found(texts.dictionary).gather(pl.Series(texts.indices))
        return self._found(texts)

    def place(self, text: str | None) -> int | None:
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


def _flat(chunks: Any, kind: Any, *, number: bool) -> pl.Series | str:
    arrow = import_module("pyarrow")
    types = arrow.types
    name = str(kind)
    if name in _BYTES:
        texts = [part for chunk in chunks.chunks for part in _checked(chunk)]
        return pl.concat([pl.Series(part) for part in (_chunked([], kind), *texts)])
    if types.is_decimal(kind):
        if not number:
            return name
        held = 0 <= kind.scale <= kind.precision and not types.is_decimal256(kind)
        return pl.Series(chunks if held else chunks.cast(arrow.string()))
    ours = types.is_integer, types.is_floating, types.is_boolean, types.is_null
    return pl.Series(chunks) if any(test(kind) for test in ours) else name


def _chunked(parts: Sequence[Any], kind: Any) -> Any:
    return import_module("pyarrow").chunked_array(parts, kind)


def _checked(chunk: Any) -> list[Any]:
    """Return text without what is no UTF-8, in parts, for U+FFFD may make it longer.

    One broken cell costs the time of its neighbours, not that of the whole column.
    """
    arrow = import_module("pyarrow")
    raw = _raw(chunk)
    parts = []
    broken = False
    for start in range(0, len(raw), _CHECKED):
        part = raw.slice(start, _CHECKED)
        try:
            parts.append(part.cast(chunk.type))
        except arrow.ArrowInvalid:
            broken = True
            cells = _bytes(_mended(cell) for cell in part.to_pylist())
            parts.append(cells.cast(arrow.large_binary()).view("large_string"))
    return parts if broken else [chunk]


def _bytes(cells: Iterable[bytes | None]) -> Any:
    """Return an array of Arrow, by way of polars: Arrow itself would import pandas."""
    return pl.Series(list(cells), dtype=pl.Binary).to_arrow()


def _mended(cell: bytes | None) -> bytes | None:
    return None if cell is None else cell.decode("utf-8", "replace").encode()


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
