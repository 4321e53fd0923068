"""Names and texts that are safe inside queries, and columns of several types as one.

Files of a table may store one column in several types. A cell means the same in each:
where one type cannot hold them all the column becomes text, from which the number of a
cell, or its word, is read back exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from dpql.curator.engines.polars_columns import Kind

_INSIDE_INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)

_CHECKED = 1 << 12
"""Cells that are read together, and one by one if one of them is broken."""


def inner(name: str) -> str:
    """Return the name of a declared column inside queries.

    polars takes ``*`` and ``^...$`` for patterns. Such names get a mark, and so do
    those that begin with the mark, so that no two become one.
    """
    return f"={name}" if name == "*" or name.startswith(("^", "=")) else name


def float_words(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return floats as text, whole ones as integers, NaN as null.

    Others have the shortest text that is nearest to them, so no two have the same.
    """
    whole = cell.cast(pl.Int128, strict=False)
    text = pl.when(whole.cast(dtype) == cell).then(whole.cast(pl.String))
    return text.otherwise(cell.fill_nan(None).cast(pl.String))


def decimal_words(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return decimals as text without needless zeros, whatever their scale is."""
    text = cell.cast(pl.String)
    return (
        text.str.strip_chars_end("0").str.strip_chars_end(".") if dtype.scale else text
    )


def id_bytes(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return ids as bytes: those of a text, or the digits of a number."""
    if dtype == pl.Binary:
        return cell
    if dtype.is_float():
        cell = float_words(cell, dtype)
    elif dtype.is_decimal():
        cell = decimal_words(cell, dtype)
    return cell.cast(pl.String).cast(pl.Binary)


def unquoted(cell: pl.Expr) -> pl.Expr:
    """Return text less one pair of quotes around it, if there is one."""
    text = cell.str
    paired = text.starts_with('"') & text.ends_with('"') & (text.len_bytes() > 1)
    inside = text.strip_prefix('"').str.strip_suffix('"')
    return pl.when(paired).then(inside).otherwise(cell)


def key_words(places: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """Return places among declared keys as the keys themselves."""
    return places.replace_strict(
        range(len(keys)), keys, default=None, return_dtype=pl.String
    )


def encoded(text: str) -> bytes:
    """Return the bytes of a text; a lone surrogate has bytes of its own."""
    return text.encode("utf-8", "surrogatepass")


def spelt(keys: Iterable[str]) -> list[bytes]:
    """Return the bytes of keys; even of those that are no text."""
    return [encoded(key) for key in keys]


def key_places(
    name: str, place: str, keys: Sequence[str], *, raw: bool
) -> pl.LazyFrame:
    """Return declared keys, as bytes if ``raw``, with their places among them."""
    cells = spelt(keys) if raw else keys
    types = {name: pl.Binary if raw else pl.String, place: pl.Int64}
    return pl.DataFrame({name: cells, place: range(len(keys))}, schema=types).lazy()


def bytes_words(cell: pl.Expr) -> pl.Expr:
    """Return bytes as text; what is no UTF-8 is no word."""
    return cell.map_batches(words, return_dtype=pl.String(), is_elementwise=True)


def words(cells: pl.Series) -> pl.Series:
    """Return bytes as text, and null where they are no UTF-8.

    One broken cell costs the time of its neighbours, not that of the whole column.
    """
    try:
        return cells.cast(pl.String)
    except pl.exceptions.PolarsError:
        if len(cells) > _CHECKED:
            parts = cells.len() // _CHECKED + 1
            return pl.concat(
                words(cells.slice(part * _CHECKED, _CHECKED)) for part in range(parts)
            )
    return pl.Series(cells.name, [word(cell) for cell in cells], dtype=pl.String)


def word(cell: bytes | None) -> str | None:
    """Return bytes as text; None where they are no UTF-8."""
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def common_type(types: Sequence[Any], kind: Kind) -> Any:
    """Return a type that holds the cells of all these types as they are."""
    first = types[0]
    alike = all(dtype == first for dtype in types)
    if kind is Kind.ID:
        if alike and first.is_integer():
            return first
        inside = all(dtype in _INSIDE_INT64 for dtype in types)
        return pl.Int64() if inside else pl.Binary()
    if alike:
        return first
    if all(dtype in _INSIDE_INT64 for dtype in types):
        return pl.Int64()
    if kind is Kind.NUMBER and all(dtype.is_float() for dtype in types):
        return pl.Float64()
    return pl.String()


def as_type(cell: pl.Expr, dtype: Any, target: Any, kind: Kind) -> pl.Expr:
    """Return the cell in the common type of its column."""
    if dtype == target:
        return cell
    if target == pl.Binary:
        return id_bytes(cell, dtype)
    if target != pl.String:
        return cell.cast(target)
    if dtype.is_float():
        if kind is Kind.NUMBER:
            return float_words(cell.cast(pl.Float64), pl.Float64)
        return float_words(cell, dtype)
    if kind is Kind.NUMBER and dtype == pl.Boolean:
        cell = cell.cast(pl.Int8)
    return cell.cast(pl.String, strict=False)
