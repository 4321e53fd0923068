"""Exact totals per cell, whatever the number of rows.

A batch has at most 2**18 rows. A sum of a batch is made of limbs of 31 bits where its
terms are large, so each limb of a term is below 2**31 and the sum of a batch's limbs is
below 2**49. Doubles hold such integers exactly, which lets numpy count by cell without
a hash table. Totals are kept in limbs, too, and become integers of Python at the end.
Which sums are split follows from the program alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpql.curator.program import Ranking

Integers = NDArray[np.int64]

Limbs = list[Integers]
"""The sum of a moment in every cell, in limbs, the lowest first."""

Found = list[Limbs] | Integers
"""The sums of a batch by moment, or the index at which each of its rows is counted."""

Terms = Sequence[NDArray[Any]]
"""What a moment sums of every row, in limbs; no limbs where rows are counted."""

BATCH_ROWS = 1 << 18
"""The most rows that are summed at once."""

LIMB = 31
"""Bits of a limb."""

EXACT_DOUBLES = (1 << 53) // BATCH_ROWS
"""Terms below this are summed by cell without limbs: doubles hold their sums."""

EXACT_INTEGERS = (1 << 63) // BATCH_ROWS
"""Terms below this are summed over all cells without limbs."""

SUMMED_ROWS = (1 << 53) // EXACT_INTEGERS
"""Doubles hold the sum of so many terms that have no limbs."""

_WHOLE_DOUBLES = 1 << 53
_MASK = (1 << LIMB) - 1


def product(factors: Sequence[NDArray[Any]], largest: int, exact: int) -> Terms:
    """Return a product of factors, which are integers or doubles.

    If the largest product is ``exact`` or more, it is split into limbs. There are none
    of a product of no factors.
    """
    if not factors:
        return []
    if largest >= _WHOLE_DOUBLES:
        first, *others = factors
        whole = first.astype(np.int64, copy=False)
        factors = [whole] + [
            whole if x is first else x.astype(np.int64, copy=False) for x in others
        ]
    term = reduce(np.multiply, factors)
    if largest < exact:
        return [term]
    if term.dtype == np.int64:
        low = term & _MASK
        # The product is ours; a factor alone is not.
        return [low, np.right_shift(term, LIMB, out=term if len(factors) > 1 else None)]
    high = np.floor(term / (1 << LIMB))
    return [term - high * (1 << LIMB), high]


def sums_of_rows(terms: Terms, mask: NDArray[np.bool_] | None) -> Limbs:
    """Return the sums of terms where the mask is true, or of all.

    A mask is multiplied, not indexed by, so each row costs the same.
    """
    kept = terms if mask is None else [term * mask for term in terms]
    return [np.array([_sum(term)]) for term in kept]


def _sum(term: NDArray[Any]) -> int:
    """Return the sum of a batch of integers or whole doubles."""
    if term.dtype != np.int64:
        starts = np.arange(0, len(term), SUMMED_ROWS)
        term = np.add.reduceat(term, starts).astype(np.int64)
    return int(term.sum())


class CellSums(threading.local):
    """Sums per cell, made in buffers that every thread has for itself.

    Memory fresh from the system costs several times the counting, and numpy would take
    it for numbers of other types and for those that belong to polars.
    """

    def __init__(self) -> None:
        self._cells: Integers = np.empty(BATCH_ROWS, np.int64)
        self._terms: NDArray[np.float64] = np.empty(BATCH_ROWS, np.float64)

    def __call__(
        self, cells: NDArray[Any], count: int, moments: Iterable[Terms]
    ) -> list[Limbs]:
        """Return the sums of moments per cell; rows in cell ``count`` are left out.

        A moment without terms counts the rows.
        """
        held = _copied(cells, self._cells)
        return [
            [self._sum(held, count, one) for one in terms]
            or [np.bincount(held, minlength=count + 1)[:count]]
            for terms in moments
        ]

    def _sum(self, cells: Integers, count: int, terms: NDArray[Any]) -> Integers:
        held = _copied(terms, self._terms)
        return np.bincount(cells, held, count + 1)[:count].astype(np.int64)


def _copied(numbers: NDArray[Any], buffer: NDArray[Any]) -> NDArray[Any]:
    held = buffer[: len(numbers)]
    np.copyto(held, numbers, casting="unsafe")
    return held


class Totals:
    """The sums of moments in every cell, added up batch by batch."""

    def __init__(self, shapes: Iterable[tuple[int, int]]) -> None:
        """Start at 0; each tally has a shape: how many moments, how many cells."""
        # Each batch adds less than 2**32 to a limb, so none overflows.
        self._limbs = [
            [[np.zeros(cells, np.int64) for _ in range(3)] for _ in range(moments)]
            for moments, cells in shapes
        ]

    def add(self, found: Iterable[tuple[int, list[Limbs]]]) -> None:
        """Add sums of a batch to the tallies that are numbered."""
        for tally, moments in found:
            for total, sums in zip(self._limbs[tally], moments, strict=True):
                for index, limb in enumerate(sums):
                    total[index] += limb & _MASK
                    total[index + 1] += limb >> LIMB

    def limbs(self) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Yield the totals of every moment by limb and cell: tally, moment, array."""
        for tally, moments in enumerate(self._limbs):
            for moment, total in enumerate(moments):
                yield tally, moment, np.vstack(total)

    def add_limbs(
        self, tally: int, moment: int, cells: Integers, limbs: Sequence[Integers]
    ) -> None:
        """Add the totals of some cells, each of which is there once."""
        total = self._limbs[tally][moment]
        for index, limb in enumerate(limbs):
            total[index][cells] += limb

    def integers(self) -> list[list[list[int]]]:
        """Return the totals by tally, moment and cell."""
        return [[_integers(total) for total in tally] for tally in self._limbs]


class Counts:
    """Rows by cell and candidate, counted in one array whatever the batches are.

    Rows in no cell are counted as well, behind those of the last one.
    """

    def __init__(self, cells: int, candidates: int) -> None:
        """Start at 0."""
        self._shape = cells, candidates
        self._counts: Integers = np.zeros((cells + 1) * candidates, np.int64)

    def add(self, indices: Integers) -> None:
        """Count a row at each index: cell * candidates + candidate."""
        np.add.at(self._counts, indices, 1)

    def add_counts(self, indices: Integers, counts: Integers) -> None:
        """Count so many rows at each index, which is there once."""
        self._counts[indices] += counts

    def array(self) -> Integers:
        """Return the counts by cell and candidate."""
        cells, candidates = self._shape
        return self._counts[: cells * candidates].reshape(self._shape)


def indices(
    cells: NDArray[Any] | None, steps: NDArray[Any], ranking: Ranking
) -> Integers:
    """Return where each row is counted: cell * candidates + candidate.

    Without cells all rows are in the first.
    """
    found = steps.astype(np.int64)
    if ranking.stride > 1:
        found *= 2
        found += ranking.stride
        found //= 2 * ranking.stride
    if cells is not None:
        found += np.multiply(cells, ranking.candidates, dtype=np.int64)
    return found


def _integers(total: Limbs) -> list[int]:
    low, *others = (limb.tolist() for limb in total)
    found: list[int] = low
    for index, limb in enumerate(others, 1):
        shift = index * LIMB
        found = [a + (b << shift) for a, b in zip(found, limb, strict=True)]
    return found
