"""Names and texts that are safe inside queries, and columns of several types as one.

Files of a table may store one column in several types. A cell means the same in each:
where one type cannot hold them all the column becomes text, from which the number of a
cell, or its word, is read back exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

_INSIDE_INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


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
