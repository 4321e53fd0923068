"""Which rows of a unit survive: at most so many per cell, in at most so many cells.

    among the rows of a unit in a cell, those of the smallest priority
    among the cells of a unit, those of the smallest hash of (salt, unit, cell)

A priority is a hash of the run's secret salt, of the unit and of all that the run
makes of the row. Rows of one unit with equal priorities are alike to every sum (but for
a collision of 64 bits), so the choice does not depend on where rows stand, and a unit's
rows alone decide about that unit. That is all the proof needs; the salt makes it fair.

Units are numbers given to distinct ids, not hashes: two units never share a bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_WORD = 64
_OUT = -1
"""The cell of a row that takes no part."""


class Contest:
    """The rows of some units, ranked once, judged for any number of races."""

    def __init__(self, units: Integers, hashes: Words, priorities: Words) -> None:
        """Rank the rows.

        Args:
            units: a number for each row's unit, small and not negative.
            hashes: a salted hash of the unit of each row.
            priorities: see the module.
        """
        self._order = _ranked(units, priorities)
        self._units = units[self._order]
        self._hashes = hashes[self._order]

    def survivors(self, cells: Integers, *, rows: int, most_cells: int | None) -> Mask:
        """Return which rows survive.

        Args:
            cells: the cell of each row; negative for rows that take no part.
            rows: the most rows of a unit in a cell.
            most_cells: the most cells of a unit; None when there are no more.
        """
        keep: Mask = np.zeros(len(cells), np.bool_)
        ranked = cells[self._order]
        running = np.flatnonzero(ranked > _OUT)
        if not len(running):
            return keep
        place, start = self._grouped(running, ranked[running])
        best = _rank(start) < rows
        if most_cells is not None:
            first = np.flatnonzero(start)
            chosen = self._chosen_cells(place[first], ranked, most_cells)
            best &= np.repeat(chosen, np.diff(np.append(first, len(start))))
        keep[self._order[place[best]]] = True
        return keep

    def _grouped(self, running: Integers, cells: Integers) -> tuple[Integers, Mask]:
        """Return the running places by unit, cell and priority; where runs start."""
        units = self._units[running]
        if not cells.any():
            return running, _starts(units)
        bits = _bits(units), _bits(cells), _bits(running)
        if sum(bits) < _WORD:
            keys = (units << bits[1] | cells) << bits[2] | running
            keys.sort()
            return keys & ((1 << bits[2]) - 1), _starts(keys >> bits[2])
        order = np.lexsort((running, cells, units))
        start = _starts(units[order]) | _starts(cells[order])
        return running[order], start

    def _chosen_cells(self, first: Integers, cells: Integers, most: int) -> Mask:
        """Return which runs are of the chosen cells of their unit; one run per cell."""
        units = self._units[first]
        lots = mixed(self._hashes[first], cells[first].view(np.uint64))
        order = _ranked(units, lots)
        chosen: Mask = np.empty(len(first), np.bool_)
        chosen[order] = _rank(_starts(units[order])) < most
        return chosen


def salted(salt: bytes, purpose: str, count: int) -> list[int]:
    """Return so many 64-bit words that only the salt's owner can know."""
    stream = hashlib.shake_256(salt + purpose.encode()).digest(8 * count)
    return [int.from_bytes(stream[8 * i : 8 * i + 8], "big") for i in range(count)]


def priorities(salt: bytes, hashes: Words, columns: Sequence[NDArray[Any]]) -> Words:
    """Return the priority of every row, from its unit and all its columns."""
    state = hashes.copy()
    for word, column in zip(
        salted(salt, "priority", len(columns)), columns, strict=True
    ):
        bits = column.astype(np.int64, copy=False).view(np.uint64)
        state = mixed(state ^ np.uint64(word), bits)
    return state


def mixed(state: Words, word: Words) -> Words:
    """Return a hash of both: a bijection of either one, the other being fixed.

    The constants and shifts are those of the splitmix64 finaliser.
    """
    result: Words = word * np.uint64(0x9E3779B97F4A7C15)
    result += state
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        result ^= result >> np.uint64(shift)
        result *= np.uint64(factor)
    result ^= result >> np.uint64(31)
    return result


def _ranked(units: Integers, lots: Words) -> Integers:
    """Return the order by unit, then by lot.

    One sort of packed words does, unless two lots of a unit agree in the bits that
    fit; then both keys are compared in full.
    """
    bits = _bits(units)
    packed = units.view(np.uint64) << np.uint64(_WORD - bits)
    packed |= lots >> np.uint64(bits)
    order: Integers = np.argsort(packed)
    ranked = packed[order]
    tied = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(tied) and (lots[order[tied]] != lots[order[tied + 1]]).any():
        return np.lexsort((lots, units))
    return order


def _starts(values: Integers) -> Mask:
    start: Mask = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=start[1:])
    return start


def _rank(start: Mask) -> Integers:
    """Return how many rows of the same run come before each row."""
    index = np.arange(len(start))
    return index - np.maximum.accumulate(np.where(start, index, 0))


def _bits(values: Integers) -> int:
    """Return the bits that hold every value, at least 1."""
    return max(1, int(values.max()).bit_length()) if len(values) else 1
