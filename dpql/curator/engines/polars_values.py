"""The different values of a column in every cell, gathered batch by batch.

Where cells and values are few enough, a table has a mark for each pair; which form is
taken follows from the program alone. Others, and ids, are kept as a set of pairs, whose
duplicates are dropped whenever it has doubled. Equal ids and no others are one value:
they are compared, not their hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.program import Distinct

MOST_MARKS = 1 << 26
"""Pairs of a cell and a value that are marked in a table; each takes a byte."""

_LEAST_PAIRS = 1 << 20
"""Pairs that are kept before duplicates are looked for."""

Pairs = NDArray[np.int64] | pl.DataFrame
"""Cells and values of some rows: their places in the table of marks, or a frame."""


def is_marked(distinct: Distinct, cells: int) -> bool:
    """Tell whether the values are marked in a table."""
    return distinct.values is not None and cells * distinct.values <= MOST_MARKS


def pairs(
    distinct: Distinct, count: int, cells: NDArray[Any], values: pl.Series
) -> Pairs:
    """Return the cells and values of some rows, whose cells are all below ``count``."""
    if is_marked(distinct, count):
        assert distinct.values is not None, "it is part of the rule"
        found = cells.astype(np.int64) * distinct.values
        found += values.to_numpy().astype(np.int64)
        return found
    frame = pl.DataFrame({"cell": cells.astype(np.uint32), "value": values})
    return frame.unique(maintain_order=False)


class Values:
    """The different pairs of a cell and a value."""

    def __init__(self, distinct: Distinct, cells: int) -> None:
        self._cells = cells
        self._marks: NDArray[np.bool_] | None = None
        if is_marked(distinct, cells):
            self._marks = np.zeros((cells, distinct.values or 0), np.bool_)
        self._frames: list[pl.DataFrame] = []
        self._kept = self._waiting = 0

    def add(self, found: Pairs) -> None:
        """Take the pairs of some rows in."""
        if isinstance(found, pl.DataFrame):
            self._frames.append(found)
            self._waiting += found.height
            if self._waiting > max(self._kept, _LEAST_PAIRS):
                self._merge()
        else:
            assert self._marks is not None, "pairs are places where there is a table"
            self._marks.reshape(-1)[found] = True

    def counts(self) -> list[int]:
        """Return the number of different values in every cell."""
        if self._marks is not None:
            marked: list[int] = self._marks.sum(axis=1, dtype=np.int64).tolist()
            return marked
        if not self._frames:
            return [0] * self._cells
        self._merge()
        cells = self._frames[0]["cell"].to_numpy()
        found: list[int] = np.bincount(cells, minlength=self._cells).tolist()
        return found

    def pairs(self) -> Iterator[Pairs]:
        """Yield all different pairs, for `add` of another table of them."""
        if self._marks is not None:
            yield np.flatnonzero(self._marks)
        elif self._frames:
            self._merge()
            yield self._frames[0]

    def _merge(self) -> None:
        self._frames = [pl.concat(self._frames).unique(maintain_order=False)]
        self._kept, self._waiting = self._frames[0].height, 0
