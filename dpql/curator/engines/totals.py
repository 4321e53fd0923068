"""Exact totals per cell, whatever the number of rows.

A batch has at most 2**18 rows. A sum of a batch is made of limbs of 31 bits where its
terms are large, so each limb of a term is below 2**31 and the sum of a batch's limbs is
below 2**49. Doubles hold such integers exactly, which lets numpy count by cell without
a hash table. Totals are kept in limbs, too, and become integers of Python at the end.
Which sums are split follows from the program alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

BATCH_ROWS = 1 << 18
"""The most rows that are summed at once."""

LIMB = 31
"""Bits of a limb."""

EXACT_DOUBLES = (1 << 53) // BATCH_ROWS
"""Terms below this are summed by cell without limbs: doubles hold their sums."""

EXACT_INTEGERS = (1 << 63) // BATCH_ROWS
"""Terms below this are summed over all cells without limbs."""

_MASK = (1 << LIMB) - 1


def limbs(terms: Integers, largest: int) -> list[Integers]:
    """Return terms up to the largest in limbs that doubles can sum, lowest first."""
    if largest < EXACT_DOUBLES:
        return [terms]
    return [terms & _MASK, terms >> LIMB]


class CellSums(threading.local):
    """Sums per cell, made in buffers that every thread has for itself.

    Memory fresh from the system costs several times the counting, and numpy would take
    it for numbers of other types and for those that belong to polars.
    """

    def __init__(self) -> None:
        self._cells: Integers = np.empty(BATCH_ROWS, np.int64)
        self._terms: NDArray[np.float64] = np.empty(BATCH_ROWS, np.float64)

    def counts(self, cells: NDArray[Any], count: int) -> Integers:
        """Return how many rows are in each cell; those in cell ``count`` are none."""
        held = _copied(cells, self._cells)
        return np.bincount(held, minlength=count + 1)[:count]

    def sums(
        self, cells: NDArray[Any], count: int, terms: Iterable[NDArray[Any]]
    ) -> list[Integers]:
        """Return sums of terms per cell; rows in cell ``count`` are left out."""
        held = _copied(cells, self._cells)
        return [
            np.bincount(held, _copied(one, self._terms), count + 1)[:count].astype(
                np.int64
            )
            for one in terms
        ]


def _copied(numbers: NDArray[Any], buffer: NDArray[Any]) -> NDArray[Any]:
    held = buffer[: len(numbers)]
    np.copyto(held, numbers, casting="unsafe")
    return held


class Total:
    """The sum of a moment in every cell, added up batch by batch."""

    __slots__ = ("_limbs",)

    def __init__(self, cells: int) -> None:
        # Each batch adds less than 2**32 to a limb, so none overflows.
        self._limbs: list[Integers] = [np.zeros(cells, np.int64) for _ in range(3)]

    def add(self, sums: Sequence[Integers]) -> None:
        """Add the limbs of the sums of a batch."""
        for index, limb in enumerate(sums):
            self._limbs[index] += limb & _MASK
            self._limbs[index + 1] += limb >> LIMB

    def integers(self) -> list[int]:
        """Return the totals."""
        low, *others = (limb.tolist() for limb in self._limbs)
        found: list[int] = low
        for index, limb in enumerate(others, 1):
            shift = index * LIMB
            found = [a + (b << shift) for a, b in zip(found, limb, strict=True)]
        return found
