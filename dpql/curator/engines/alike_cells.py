"""Which cells are alike: a row for each, the same one for all that are, exactly.

    table[bits of the hash] = row        the last row of a slot stays
    row of a cell = table[bits of its hash], if the cell there is the same

Rows whose slot another cell took are looked up again by other bits of their hash. After
a few rounds hardly any are left, unless somebody made texts whose hashes collide: what
is left then is joined. Hashes find cells, and cells are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

_WORD_BITS = 64
_ROUNDS = 6
_BLOCK_ROWS = 1 << 18
_NARROW, _NARROW_BITS = np.uint32, 32
"""The numbers of most rows."""


def alike_rows(cells: list[pl.Series], hashes: Words) -> Integers:
    """Return for each row the number of one whose cells are the same.

    ``cells`` are columns without nulls; rows are alike if all their cells are.
    """
    count = len(hashes)
    found: Integers = np.empty(count, np.int64)
    rows = np.arange(count)
    words = hashes
    for turn in range(_ROUNDS):
        if not len(rows):
            return found
        bits = min(_WORD_BITS - 1, len(rows).bit_length())
        slots = (words >> np.uint64(_WORD_BITS - bits)).view(np.int64)
        table: NDArray[Any] = np.empty(
            1 << bits, _NARROW if count >> _NARROW_BITS == 0 else np.int64
        )
        table[slots] = rows
        first = table.take(slots)
        alike = _alike(cells, hashes, rows, first, all_rows=turn == 0)
        found[rows[alike]] = first[alike]
        rows = rows[~alike]
        words = words[~alike] * np.uint64(0x9E3779B97F4A7C15)
    _join(cells, rows, found)
    return found


def _alike(
    cells: list[pl.Series],
    hashes: Words,
    rows: Integers,
    others: NDArray[Any],
    *,
    all_rows: bool,
) -> Mask:
    """Return which rows have the cells of another one each."""
    same: Mask = np.empty(len(rows), np.bool_)
    for start in range(0, len(rows), _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        mine, other = rows[part], others[part]
        found = hashes.take(mine) == hashes.take(other)
        for column in cells:
            own = column.slice(start, len(mine)) if all_rows else column.gather(mine)
            found &= (own == column.gather(other)).to_numpy()
        same[part] = found
    return same


def _join(cells: list[pl.Series], rows: Integers, found: Integers) -> None:
    """Find the same of a few rows without hashes of our own."""
    names = [f"c{index}" for index in range(len(cells))]
    frame = pl.DataFrame(
        [
            column.gather(rows).alias(name)
            for name, column in zip(names, cells, strict=True)
        ]
    ).with_columns(pl.Series("row", rows))
    first = pl.col("row").min().over(names)
    found[rows] = frame.select(first).to_series().to_numpy()
