"""Cells as numbers: the nearest integer, or the nearest double, of what they hold.

A cell is the same number however it is stored. What a type cannot tell exactly, such as
the double of a long text near a tie, is settled by the text itself.
"""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, DecimalException
from typing import Any

import polars as pl

from dpql.curator.grid import FARTHEST, HALF

_WIDE = (pl.UInt64, pl.Int128, pl.UInt128)
_SURE_DIGITS = 15
"""A text that is no longer is the only one of its length that is nearest a double."""

_SPARSE = 1 << 52
"""From here on no double lies between two integers."""


def nearest_double(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return the nearest double of a cell; null where there is no number."""
    if dtype.is_decimal():
        # The digits are rounded once; the number and its scale would be rounded twice.
        cell = cell.cast(pl.String)
    return cell.cast(pl.Float64, strict=False)


def nearest_integer(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return the nearest 64-bit integer of a cell, ties up; null where there is none.

    What lies beyond the farthest integer may become that one.
    """
    if dtype.is_decimal():
        return _of_decimals(cell, dtype.scale)
    if dtype.is_float():
        return _of_doubles(cell.cast(pl.Float64))
    if dtype in _WIDE:
        cell = cell.clip(-FARTHEST if dtype == pl.Int128 else 0, FARTHEST)
    exact = cell.cast(pl.Int64, strict=False)
    return exact if dtype != pl.String else _of_texts(cell, exact)


def _of_doubles(number: pl.Expr) -> pl.Expr:
    below = pl.min_horizontal(number, pl.lit(FARTHEST, pl.Float64))
    inside = pl.max_horizontal(below, pl.lit(-FARTHEST, pl.Float64))
    # A double less its floor is exact; a double plus a half need not be.
    down = inside.floor()
    nearest = down.cast(pl.Int64) + (inside - down >= HALF).cast(pl.Int64)
    return pl.when(number.is_not_nan()).then(nearest)


def _of_decimals(cell: pl.Expr, scale: int) -> pl.Expr:
    digits = cell.to_physical().cast(pl.Int128)
    if not scale:
        return digits.clip(-FARTHEST, FARTHEST).cast(pl.Int64)
    one = pl.lit(10**scale, pl.Int128)
    down = digits // one
    up = digits - down * one >= pl.lit(5 * 10 ** (scale - 1), pl.Int128)
    nearest = down + up.cast(pl.Int128)
    return nearest.clip(-FARTHEST, FARTHEST).cast(pl.Int64)


def _of_texts(text: pl.Expr, exact: pl.Expr) -> pl.Expr:
    """Return the nearest integer of a text that may be none.

    Its double tells it, unless that is a tie, which the text may miss by little, or is
    so large that several integers have it.
    """
    number = text.cast(pl.Float64, strict=False)
    size = number.abs()
    tie = (number - number.floor() == HALF) & (text.str.len_bytes() > _SURE_DIGITS)
    doubtful = exact.is_null() & (size <= FARTHEST) & (tie | (size >= _SPARSE))
    settled = (
        pl.when(doubtful)
        .then(text)
        .map_batches(_settled, return_dtype=pl.Int64(), is_elementwise=True)
    )
    return pl.coalesce(exact, settled, _of_doubles(number))


def _settled(texts: pl.Series) -> pl.Series:
    """Return the integers nearest to texts, of which few are not null."""
    if texts.null_count() == len(texts):
        return pl.repeat(None, len(texts), dtype=pl.Int64, eager=True)
    found = [None if text is None else _nearest(text) for text in texts]
    return pl.Series(found, dtype=pl.Int64)


def _nearest(text: str) -> int | None:
    """Return the integer nearest to a text, ties up; None if Python cannot read it."""
    try:
        number = Decimal(text)
        ties = ROUND_HALF_DOWN if number.is_signed() else ROUND_HALF_UP
        return int(number.to_integral_value(ties))
    except (DecimalException, ValueError, OverflowError):
        return None
