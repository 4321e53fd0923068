"""Which rows of a unit survive: at most so many per cell, in at most so many cells.

    among the rows of a unit in a cell, those of the smallest priority
    among the cells of a unit, those of the smallest lot

A priority is a hash of the run's secret salt, of the unit and of all that the sums see
of the row; a lot is a hash of the unit and the cell. Rows of one unit with equal
priorities are alike to every sum (but for a collision of 64 bits), so the choice does
not depend on where rows stand, and a unit's rows alone decide about that unit. That is
all the proof needs; the salt makes the choice fair.

Sorting packed words is much faster than sorting places by words, so a word holds the
group, as many bits of the lot as fit, and the place; where those bits tie, the lots are
compared in full. Units are told apart by their ids, never by a hash alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_WORD = 64
_LEAST = 8
"""Bits of a lot that a packed word must hold; with fewer, both keys are sorted."""

_STRETCH = 1 << 17
"""Rows of units judged together, about, for the same reason as below."""

_BLOCK = 1 << 15
"""Rows hashed at a time, so that the intermediate arrays stay in the cache."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some whole units: the places of their rows, and where a unit starts.

    ``hashes`` and ``priorities`` are those of all rows, by place.
    """

    places: Integers
    start: Mask
    hashes: Words
    priorities: Words


def stretches(
    ids: Integers, hashes: Words, priorities: Words, known: Mask
) -> Iterator[Stretch]:
    """Yield stretches of units, which together are all rows of a known unit.

    Args:
        ids: the unit of each row; equal exactly when the units are, among known ones.
        hashes: a salted hash of the unit.
        priorities: see the module.
        known: whether the row has a unit at all. One without belongs to nobody, and
            must not stand between the rows of somebody.
    """
    place = ordered(np.zeros(len(ids), np.uint64), hashes, ids)
    place = place[known[place]]
    start = _starts(ids[place])
    firsts = np.flatnonzero(start)
    cuts = np.searchsorted(firsts, np.arange(0, len(place), _STRETCH))
    ends = np.append(firsts, len(place))[np.append(cuts, len(firsts))]
    for first, last in pairwise(np.unique(ends).tolist()):
        rows = slice(first, last)
        yield Stretch(place[rows], start[rows], hashes, priorities)


class Contest:
    """The rows of some units, ranked once, judged for any number of races.

    Attributes:
        order: the places of the rows by unit, then by priority.
    """

    def __init__(self, stretch: Stretch) -> None:
        places = stretch.places
        self._units: Words = np.cumsum(stretch.start, dtype=np.uint64)
        lots = stretch.priorities[places]
        self.order = places[ordered(self._units, lots, lots)]
        # All bits of the hash: how many of them a sort compared depends on all rows.
        self._hashes = stretch.hashes[self.order]

    def survivors(
        self, cells: NDArray[Any], *, rows: int, most_cells: int | None
    ) -> Mask:
        """Return which rows survive, in the order of the contest.

        Args:
            cells: the cell of each row in that order; negative for rows that take no
                part.
            rows: the most rows of a unit in a cell.
            most_cells: the most cells of a unit; None when there is only one cell.
        """
        running = np.flatnonzero(cells >= 0)
        units = self._units[running]
        best: Mask = np.ones(len(running), np.bool_)
        if most_cells is None:
            best[rows:] = ~_same(units, rows)
        else:
            chosen = cells[running].astype(np.uint64)
            lots = mixed(self._hashes[running], chosen)
            inner = ordered(units, lots, lots)
            running = running[inner]
            start = _starts(units) | _starts(chosen[inner])
            runs = np.cumsum(start)
            best[rows:] = ~_same(runs, rows)
            first = units[start]
            near: Mask = np.ones(len(first), np.bool_)
            near[most_cells:] = ~_same(first, most_cells)
            best &= near[runs - 1]
        keep: Mask = np.zeros(len(cells), np.bool_)
        keep[running[best]] = True
        return keep


def salted(salt: bytes, purpose: str, count: int) -> list[int]:
    """Return so many 64-bit words that only the salt's owner can know."""
    stream = hashlib.shake_256(salt + purpose.encode()).digest(8 * count)
    return [int.from_bytes(stream[8 * i : 8 * i + 8], "big") for i in range(count)]


def priorities(salt: bytes, hashes: Words, columns: Sequence[NDArray[Any]]) -> Words:
    """Return the priority of every row, from its unit and its columns."""
    words = salted(salt, "priority", len(columns))
    found: Words = np.empty(len(hashes), np.uint64)
    for first in range(0, len(hashes), _BLOCK):
        part = slice(first, first + _BLOCK)
        state = hashes[part]
        for word, column in zip(words, columns, strict=True):
            bits = column[part].astype(np.int64).view(np.uint64)
            bits ^= np.uint64(word)
            state = _mixed(state, bits)
        found[part] = state
    return found


def mixed(states: Words, words: Words) -> Words:
    """Return a hash of both: a bijection of either one, the other being fixed.

    The constants and shifts are those of the splitmix64 finaliser.
    """
    found: Words = np.empty(len(states), np.uint64)
    for first in range(0, len(states), _BLOCK):
        part = slice(first, first + _BLOCK)
        found[part] = _mixed(states[part], words[part])
    return found


def ordered(groups: Words, lots: Words, exact: NDArray[Any]) -> Integers:
    """Return the places by group, then by lot.

    Only so many bits of the lots are compared as fit. Rows that agree in them are
    sorted by ``exact``, and in their own order where that is equal too.
    """
    if not len(groups):
        return np.empty(0, np.int64)
    group_bits = max(1, int(groups.max()).bit_length())
    place_bits = len(groups).bit_length()
    if group_bits + place_bits + _LEAST > _WORD:
        return np.lexsort((exact, lots, groups))
    low = (1 << place_bits) - 1
    packed = lots >> np.uint64(group_bits)
    packed &= np.uint64((1 << _WORD) - 1 - low)
    packed |= groups << np.uint64(_WORD - group_bits)
    packed |= np.arange(len(groups), dtype=np.uint64)
    packed.sort()
    places = (packed & np.uint64(low)).view(np.int64)
    packed >>= np.uint64(place_bits)
    for first, last in _undecided(packed, exact[places]):
        run = places[first:last]
        places[first:last] = run[np.argsort(exact[run], kind="stable")]
    return places


def _undecided(packed: Words, exact: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of equal words that are not alike."""
    differing = np.flatnonzero(_same(packed, 1) & ~_same(exact, 1))
    runs = packed[differing]
    runs = runs[_starts(runs)]
    firsts = np.searchsorted(packed, runs, side="left")
    lasts = np.searchsorted(packed, runs, side="right")
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def _mixed(state: Words, word: Words) -> Words:
    result: Words = word * np.uint64(0x9E3779B97F4A7C15)
    result += state
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        result ^= result >> np.uint64(shift)
        result *= np.uint64(factor)
    result ^= result >> np.uint64(31)
    return result


def _same(values: NDArray[Any], distance: int) -> Mask:
    """Return whether each value, after the first ones, is that so many before."""
    found: Mask = values[distance:] == values[:-distance]
    return found


def _starts(values: NDArray[Any]) -> Mask:
    """Return where a value differs from the one before; the first one does."""
    start: Mask = np.ones(len(values), np.bool_)
    start[1:] = ~_same(values, 1)
    return start
