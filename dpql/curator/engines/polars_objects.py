"""Python objects and numpy arrays as columns, by one rule for every cell.

    a number   an int, float, Decimal or bool; text counts as the number it spells
    a word     text; an int, float or bool counts as its text

Anything else is missing: None, NaN, lists, bytes, dates, and whatever class a library
made up. The rule looks at the type of a cell and calls none of its methods, so no
object can fail here; and it looks at no other cell, so none changes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.engines.polars_text import float_words

_LONGEST = 4096
"""Bits of an integer; Python refuses to spell out much longer ones."""

Rules = Mapping[type, Callable[[Any], str | float | None]]


def objects(cells: Iterable[object], *, number: bool) -> pl.Series:
    """Return the cells as a column of text."""
    rules = _NUMBER if number else _WORD

    def value(cell: object) -> str | float | None:
        rule = rules.get(type(cell))
        if rule is None:
            cell = _plain(cell)
            rule = rules.get(type(cell), _missing)
        return rule(cell)

    values = [value(cell) for cell in cells]
    columns = {
        "text": [one if type(one) is str else None for one in values],
        "float": [one if type(one) is float else None for one in values],
    }
    frame = pl.DataFrame(columns, schema={"text": pl.String, "float": pl.Float64})
    floats = float_words(pl.col("float"), pl.Float64)
    return frame.select(pl.coalesce("text", floats)).to_series()


def array(values: NDArray[Any], *, number: bool) -> pl.Series | None:
    """Return a numpy array as a column; None if its type or shape is none of ours."""
    kind = values.dtype.kind
    if values.ndim != 1 or kind not in "iufbOU":
        return None
    if kind in "OU":
        cells = values.tolist()
        if isinstance(values, np.ma.MaskedArray):
            masked = np.ma.getmaskarray(values).tolist()
            cells = [None if m else c for m, c in zip(masked, cells, strict=True)]
        return objects(cells, number=number)
    with np.errstate(all="ignore"):
        plain = np.ascontiguousarray(np.ma.getdata(values), _native(values.dtype))
    column = pl.Series(plain)
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ascontiguousarray(np.ma.getmaskarray(values))
        return without(column, missing)
    return column


def without(column: pl.Series, missing: NDArray[np.bool_]) -> pl.Series:
    """Return the column with nulls where cells are missing."""
    frame = pl.DataFrame({"cell": column, "missing": missing})
    return frame.select(pl.when(~pl.col("missing")).then("cell")).to_series()


def _native(dtype: np.dtype[Any]) -> Any:
    """Return a type of the same numbers that polars knows."""
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.float32 if dtype.itemsize == 2 else np.float64  # noqa: PLR2004  bytes
    return dtype.newbyteorder("=")


def _plain(cell: Any) -> object:
    """Return a cell of a subclass, or of numpy, as the plain object it stands for."""
    kind = type(cell)
    for known, plainly in _PLAINLY.items():
        if issubclass(kind, known):
            return plainly(cell)
    if issubclass(kind, np.generic) and np.dtype(kind).kind in "iufb":
        return np.generic.item(cell)
    return None


def _missing(_: object) -> None:
    return None


def _text(cell: str) -> str:
    """Return text that UTF-8 can spell; a lone surrogate becomes U+FFFD."""
    if cell.isascii():
        return cell
    return cell.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _digits(cell: int) -> str | None:
    return repr(cell) if cell.bit_length() <= _LONGEST else None


def _bounded(cell: int) -> str:
    """Return the digits, or an infinity for what lies beyond all bounds."""
    return _digits(cell) or ("inf" if cell > 0 else "-inf")


def _same(cell: float) -> float:
    return cell


_PLAINLY: Mapping[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__pos__,
    float: float.__pos__,
    Decimal: lambda cell: Decimal(Decimal.__str__(cell)),
}
_NUMBER: Rules = {
    str: _text,
    int: _bounded,
    float: _same,
    bool: lambda cell: "1" if cell else "0",
    Decimal: str,
}
_WORD: Rules = {
    str: _text,
    int: _digits,
    float: _same,
    bool: lambda cell: "true" if cell else "false",
}
