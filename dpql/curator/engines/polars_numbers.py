"""Cells as numbers: the nearest integer, or the nearest double, of what they hold.

A cell is the same number however it is stored. What a type cannot tell exactly, such as
the double of a long text near a tie, is settled by the text itself.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    if dtype == pl.String:
        return cell.map_batches(integers, return_dtype=pl.Int64(), is_elementwise=True)
    return cell.cast(pl.Int64, strict=False)


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


def read_numbers(frame: pl.DataFrame, wholes: Mapping[str, bool]) -> pl.DataFrame:
    """Return a frame with its texts of numbers read, as integers if they are whole."""
    columns = {}
    for column in frame.get_columns():
        columns[column.name] = column
        if column.name in wholes:
            whole = wholes[column.name]
            columns[column.name] = (
                integers(column) if whole else column.cast(pl.Float64, strict=False)
            )
    return pl.DataFrame(columns)


def integers(texts: pl.Series) -> pl.Series:
    """Return the integers nearest to texts, ties up; null where there is no number.

    The double of a text tells it, unless that is a tie, which the text may miss by
    little, or is so large that several integers have it.
    """
    name = texts.name
    texts = texts.alias("text")  # polars would take some names for patterns
    number, size = pl.col("number"), pl.col("number").abs()
    tie = (number - number.floor() == HALF) & (pl.col("length") > _SURE_DIGITS)
    doubtful = (
        pl.col("exact").is_null() & (size <= FARTHEST) & (tie | (size >= _SPARSE))
    )
    frame = pl.DataFrame(
        {
            "exact": texts.cast(pl.Int64, strict=False),
            "number": texts.cast(pl.Float64, strict=False),
            "length": texts.str.len_bytes(),
        }
    ).select(
        nearest=pl.coalesce("exact", _of_doubles(number)),
        doubtful=doubtful.fill_null(False),
    )
    places = frame["doubtful"].arg_true()
    found = [_nearest(text) for text in texts.gather(places)]
    settled = pl.Series(found, dtype=pl.Int64)
    return frame["nearest"].scatter(places, settled).alias(name)


def _nearest(text: str) -> int | None:
    """Return the integer nearest to a text, ties up; None if Python cannot read it.

    Numbers are moderate here: their doubles are.
    """
    try:
        number = Decimal(text)
        ties = ROUND_HALF_DOWN if number.is_signed() else ROUND_HALF_UP
        return int(number.to_integral_value(ties))
    except (DecimalException, ValueError, OverflowError):
        return None
