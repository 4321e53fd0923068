"""Stored cells as numbers: the nearest integer, ties up, or the nearest double.

A cell is the same number in whatever type it is stored. Where the double of a long text
does not tell its nearest integer, the text itself does.
"""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, DecimalException
from functools import cache
from typing import Any

import polars as pl

from dpql.curator.grid import FARTHEST, HALF

_LONG = (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128)

_SURE_DIGITS = 15
"""No two decimal texts of so many digits have the same nearest double."""

_SPARSE = 1 << 52
"""From here on every double is an integer."""


def doubles(cells: pl.Series) -> pl.Series:
    """Return the nearest doubles; null where there is no number, and for NaN."""
    dtype = cells.dtype
    if dtype.is_decimal():
        # Text is rounded once; the digits and their scale would be rounded twice.
        cells = cells.cast(pl.String)
    found = cells.cast(pl.Float64, strict=False)
    return found if dtype.is_integer() else found.fill_nan(None)


def integers(cells: pl.Series) -> pl.Series:
    """Return the nearest integers, ties up; null where there is no number.

    Those beyond `FARTHEST` are moved there.
    """
    dtype = cells.dtype
    if dtype == pl.String:
        return _from_text(cells)
    return cells.to_frame("cell").select(_nearest_integer("cell", dtype)).to_series()


@cache
def number_expression(name: str, dtype: Any, *, whole: bool) -> pl.Expr | None:
    """Return `doubles` or `integers` of a column of a frame, if it is one of numbers.

    Columns of one frame are so computed at once, which takes polars less time.
    """
    if whole:
        # Words of a dictionary are read as texts.
        plain = dtype.is_numeric() or dtype == pl.Boolean
        decimal = dtype.is_decimal() or not plain
        return None if decimal else _nearest_integer(name, dtype)
    cell = pl.col(name).cast(pl.Float64)
    if dtype.is_float():
        return cell.fill_nan(None)
    return cell if dtype.is_integer() else None


def exact_integers(cells: pl.Series) -> pl.Series:
    """Return the whole numbers that cells are exactly; null where they are none.

    Those beyond `FARTHEST` are null, too.
    """
    dtype: Any = cells.dtype
    if dtype == pl.String:
        return _exact_from_text(cells)
    cell = pl.col("cell")
    nearest = integers(cells)
    whole = cell.is_not_null()
    if dtype.is_decimal() and dtype.scale:
        digits = cell.to_physical().cast(pl.Int128)
        whole = digits % pl.lit(10**dtype.scale, pl.Int128) == 0
    elif dtype.is_float():
        whole = cell.floor() == cell
    frame = pl.DataFrame({"cell": cells, "nearest": nearest})
    return frame.select(pl.when(whole).then(_moderate("nearest"))).to_series()


def _moderate(name: str) -> pl.Expr:
    """Return integers; null from `FARTHEST` on, where they may have been moved."""
    return pl.when(pl.col(name).abs() < FARTHEST).then(pl.col(name))


def _exact_from_text(texts: pl.Series) -> pl.Series:
    """Return the whole numbers of texts; those that are not integers cost more.

    The double of a short text tells, unless it is 0; that of a long one may be whole
    where the text is not.
    """
    exact = texts.cast(pl.Int64, strict=False)
    exact = exact.to_frame("cell").select(_moderate("cell")).to_series()
    rows = (exact.is_null() & texts.is_not_null()).arg_true()
    if not len(rows):
        return exact
    others = texts.gather(rows)
    double = others.cast(pl.Float64, strict=False)
    whole = exact_integers(double)
    long = (others.str.len_bytes() > _SURE_DIGITS) & whole.is_not_null()
    doubtful = (long | (whole == 0)).arg_true()
    settled = [_whole(text) for text in others.gather(doubtful)]
    found = whole.scatter(doubtful, pl.Series(settled, dtype=pl.Int64))
    return exact.scatter(rows, found)


def _whole(text: str) -> int | None:
    """Return the integer that a text is exactly, if Python can read it.

    The number is moderate: its double is.
    """
    try:
        number = Decimal(text)
        whole = int(number) if number == number.to_integral_value() else None
    except (DecimalException, ValueError, OverflowError):
        return None
    return whole if whole is not None and abs(whole) < FARTHEST else None


@cache
def _nearest_integer(name: str, dtype: Any) -> pl.Expr:
    """Return the integers nearest to cells of a type that is no text."""
    cell = pl.col(name)
    if dtype.is_decimal():
        return _from_decimals(cell, dtype)
    if dtype.is_float():
        return _from_doubles(cell.cast(pl.Float64))
    if dtype in _LONG:
        return _clamped(cell, dtype).cast(pl.Int64)
    return cell.cast(pl.Int64, strict=False)


def _clamped(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return integers that are wide enough for `FARTHEST`, none beyond it."""
    farthest = pl.lit(FARTHEST, dtype)
    inside = cell <= farthest
    if dtype.is_signed_integer():
        inside &= cell >= -farthest
    return pl.when(inside).then(cell).otherwise(cell.sign() * farthest)


def _from_doubles(number: pl.Expr) -> pl.Expr:
    below = pl.min_horizontal(number, pl.lit(FARTHEST, pl.Float64))
    inside = pl.max_horizontal(below, pl.lit(-FARTHEST, pl.Float64))
    # A double less its floor is exact; a double plus a half need not be.
    down = inside.floor()
    nearest = down.cast(pl.Int64) + (inside - down >= HALF).cast(pl.Int64)
    return pl.when(number.is_not_nan()).then(nearest)


def _from_decimals(cell: pl.Expr, dtype: Any) -> pl.Expr:
    digits, scale = cell.to_physical().cast(pl.Int128), dtype.scale
    if scale:
        one = pl.lit(10**scale, pl.Int128)
        down = digits // one
        up = digits - down * one >= pl.lit(5 * 10 ** (scale - 1), pl.Int128)
        digits = down + up.cast(pl.Int128)
    return _clamped(digits, pl.Int128()).cast(pl.Int64)


def _from_text(texts: pl.Series) -> pl.Series:
    """Return the integers nearest to texts; those that are not integers cost more."""
    exact = texts.cast(pl.Int64, strict=False)
    rows = (exact.is_null() & texts.is_not_null()).arg_true()
    inside = pl.col("cell").clip(-FARTHEST, FARTHEST)
    found = exact.to_frame("cell").select(inside).to_series()
    return found.scatter(rows, _from_fractions(texts.gather(rows)))


def _from_fractions(texts: pl.Series) -> pl.Series:
    """Return the integers nearest to texts that are not integers of 64 bits.

    The double of a text tells, except where it is a tie, which the text may miss by
    little, or so large that it is the nearest double of several integers.
    """
    number, size = pl.col("number"), pl.col("number").abs()
    tie = (number - number.floor() == HALF) & (pl.col("length") > _SURE_DIGITS)
    doubtful = (size <= FARTHEST) & (tie | (size >= _SPARSE))
    doubles = texts.cast(pl.Float64, strict=False)
    frame = pl.DataFrame({"number": doubles, "length": texts.str.len_bytes()})
    found = frame.select(
        nearest=_from_doubles(number), doubtful=doubtful.fill_null(False)
    )
    rows = found["doubtful"].arg_true()
    settled = [_nearest(text) for text in texts.gather(rows)]
    return found["nearest"].scatter(rows, pl.Series(settled, dtype=pl.Int64))


def _nearest(text: str) -> int | None:
    """Return the integer nearest to a text, ties up; None if Python cannot read it.

    The number is moderate: its double is.
    """
    try:
        number = Decimal(text)
        ties = ROUND_HALF_DOWN if number.is_signed() else ROUND_HALF_UP
        nearest = int(number.to_integral_value(ties))
    except (DecimalException, ValueError, OverflowError):
        return None
    return max(min(nearest, FARTHEST), -FARTHEST)
