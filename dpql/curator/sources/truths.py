"""Stored cells as booleans: 1 where they are true, 0 where they are false.

    a boolean   as it is
    a number    1 and 0, exactly; no other number is either
    text        true, false, t and f in any case, or a number as above

Whatever is none of these is null.
"""

from __future__ import annotations

import polars as pl

from dpql.curator.sources.numbers import exact_integers

_WORDS = {"true": 1, "t": 1, "false": 0, "f": 0}
_LONGEST = max(map(len, _WORDS))


def truths(cells: pl.Series) -> pl.Series:
    """Return the booleans of cells that are text, booleans or numbers."""
    dtype = cells.dtype
    if dtype == pl.Boolean:
        return cells.cast(pl.Int64)
    if dtype != pl.String:
        return _of_numbers(exact_integers(cells))
    # No long text is lowered or searched for a word.
    short = pl.when(pl.col("cell").str.len_bytes() <= _LONGEST).then("cell")
    words = cells.to_frame("cell").select(short.str.to_lowercase()).to_series()
    found = words.replace_strict(_WORDS, default=None, return_dtype=pl.Int64)
    rows = (found.is_null() & cells.is_not_null()).arg_true()
    if not len(rows):
        return found
    return found.scatter(rows, _of_numbers(exact_integers(cells.gather(rows))))


def _of_numbers(numbers: pl.Series) -> pl.Series:
    cell = pl.col("cell")
    known = pl.when(cell.is_in([0, 1])).then(cell)
    return numbers.to_frame("cell").select(known).to_series()
