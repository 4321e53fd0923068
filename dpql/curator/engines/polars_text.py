"""Names and texts that are safe inside queries, and columns of several types as one.

Files of a table may store one column in several types. A cell means the same in each:
where one type cannot hold them all the column becomes text, from which the number of a
cell, or its word, is read back exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

_INSIDE_INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)

_CHECKED = 1 << 12
"""Cells that are read together, and one by one if one of them is broken."""


def inner(name: str) -> str:
    """Return the name of a declared column inside queries.

    polars takes ``*`` and ``^...$`` for patterns. Such names get a mark, and so do
    those that begin with the mark, so that no two become one.
    """
    return f"={name}" if name == "*" or name.startswith(("^", "=")) else name


def named(name: str) -> pl.Expr:
    """Return the column of exactly this name, under its name inside queries."""
    safe = inner(name)
    return pl.col(name) if safe == name else cs.by_name(name).alias(safe)


def float_words(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return floats as text, whole ones as integers, NaN as null."""
    whole = cell.cast(pl.Int64, strict=False)
    text = pl.when(whole.cast(dtype) == cell).then(whole.cast(pl.String))
    return text.otherwise(cell.fill_nan(None).cast(pl.String))


def key_words(places: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """Return places among declared keys as the keys themselves."""
    return places.replace_strict(
        range(len(keys)), keys, default=None, return_dtype=pl.String
    )


def spelt(keys: Iterable[str]) -> list[bytes]:
    """Return the bytes of keys; even of those that are no text."""
    return [key.encode("utf-8", "surrogatepass") for key in keys]


def key_places(
    name: str, place: str, keys: Sequence[str], *, raw: bool
) -> pl.LazyFrame:
    """Return declared keys, as bytes if ``raw``, with their places among them."""
    cells = spelt(keys) if raw else keys
    types = {name: pl.Binary if raw else pl.String, place: pl.Int64}
    return pl.DataFrame({name: cells, place: range(len(keys))}, schema=types).lazy()


def mended(cells: pl.Series) -> pl.Series:
    """Return bytes as text; what is no UTF-8 becomes U+FFFD."""
    return _read(cells, lambda cell: cell.decode("utf-8", "replace"))


def bytes_words(cell: pl.Expr) -> pl.Expr:
    """Return bytes as text; what is no UTF-8 is no word."""
    return cell.map_batches(
        lambda cells: _read(cells, lambda _: None),
        return_dtype=pl.String(),
        is_elementwise=True,
    )


def _read(cells: pl.Series, otherwise: Callable[[bytes], str | None]) -> pl.Series:
    """Return bytes as text, a few cells at a time where some of them are none.

    One broken cell costs the time of its neighbours, not that of the whole column.
    """
    try:
        return cells.cast(pl.String)
    except pl.exceptions.PolarsError:
        if len(cells) > _CHECKED:
            parts = cells.len() // _CHECKED + 1
            return pl.concat(
                _read(cells.slice(part * _CHECKED, _CHECKED), otherwise)
                for part in range(parts)
            )
    return pl.Series(
        cells.name, [_word(cell, otherwise) for cell in cells], dtype=pl.String
    )


def _word(cell: bytes | None, otherwise: Callable[[bytes], str | None]) -> str | None:
    if cell is None:
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return otherwise(cell)


def common_type(types: Sequence[Any], *, number: bool) -> Any:
    """Return a type that holds the cells of all these types as they are."""
    first = types[0]
    if all(dtype == first for dtype in types):
        return first
    if all(dtype in _INSIDE_INT64 for dtype in types):
        return pl.Int64()
    if number and all(dtype.is_float() for dtype in types):
        return pl.Float64()
    return pl.String()


def as_type(cell: pl.Expr, dtype: Any, target: Any, *, number: bool) -> pl.Expr:
    """Return the cell in the common type of its column."""
    if dtype == target:
        return cell
    if target != pl.String:
        return cell.cast(target)
    if number and (dtype.is_float() or dtype.is_decimal()):
        return float_words(cell.cast(pl.Float64, strict=False), pl.Float64)
    if dtype.is_float():
        return float_words(cell, dtype)
    if number and dtype == pl.Boolean:
        cell = cell.cast(pl.Int8)
    return cell.cast(pl.String, strict=False)
