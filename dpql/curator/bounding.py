"""Which rows of a unit survive: at most so many per cell, in at most so many cells.

    among the rows of a unit in a cell, those of the smallest priority
    among the cells of a unit, those that hold its rows of the smallest priority
    among what is left of a unit, if there is a total, rows of the smallest hash of that

A priority is a hash of the run's secret salt, of the unit, of all that the sums see of
the row, its cells included, and of the number of the row among the equal rows of the
unit. So every row has a priority of its own, and the choice is fair among rows. Equal
rows may be numbered in any order, since no sum can tell them apart: the choice does not
depend on where rows stand, and a unit's rows alone decide about that unit.

Rows count as equal if their ids are and the 64-bit hashes of their contents are. If two
hashes collide, which of the two rows has which number depends on where they stand; the
bounds hold all the same.

Sorting packed words is much faster than sorting indices by words, so a word holds some
bits of the unit, some of the priority, and the index; where those bits tie, units and
priorities are compared in full. What stands for a unit here tells units apart exactly:
a one-to-one hash of whole ids, or one of texts that were compared.
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

PARTITION_BITS = 8
"""Units are split into two to the power of so many partitions, at most."""

_WORD = 64
_UNIT_BITS = 28
_TIES = 12
"""Two to the power of this many pairs of rows may tie, about; else rows sort twice."""


def partition_by(hashes: Words, bits: int) -> tuple[Integers, list[int]]:
    """Return the indices of the rows by partition, and where each partition ends.

    There are ``2**bits`` partitions. All rows of a unit have one hash, so they are in
    one partition.
    """
    codes = (hashes >> np.uint64(_WORD - PARTITION_BITS)).astype(np.uint8)
    codes >>= np.uint8(PARTITION_BITS - bits)
    order = np.argsort(codes, kind="stable")
    return order, np.cumsum(np.bincount(codes, minlength=1 << bits)).tolist()


class Bounder:
    """The rows of some whole units, ranked once, for any number of bounds.

    Attributes:
        order: the indices of the rows by unit, then by priority.
    """

    def __init__(self, units: Words, contents: Words, salt: bytes) -> None:
        """Rank the rows.

        Args:
            units: the unit of each row; equal exactly when the units are. Should be
                salted hashes, which are fast to sort.
            contents: a salted hash of the unit and of all that the sums see of the row.
            salt: the secret of the run.
        """
        # Sorted by content first, so that equal rows stand together and are numbered.
        heads = units << np.uint64(PARTITION_BITS) >> np.uint64(_WORD - _UNIT_BITS)
        alike, units, contents = ranked(heads, _UNIT_BITS, contents, units)
        del heads
        start = _differ(units, 1)
        self._firsts = np.flatnonzero(start)
        self._units: Integers = np.cumsum(start, dtype=np.int64)
        self._units -= 1
        priorities = row_priorities(salt, start, contents)
        numbers = self._units.view(np.uint64)
        bits = len(numbers).bit_length()
        order, _, self._priorities = ranked(numbers, bits, priorities)
        self.order = alike.take(order)
        self._salt = salt

    def survivors(
        self,
        cells: NDArray[Any],
        *,
        count: int,
        rows: int,
        most_cells: int,
        total: int | None = None,
    ) -> Mask:
        """Return which rows survive, in the order of the bounder.

        Args:
            cells: the cell of each row in that order, counted from 1; 0 for rows that
                take no part.
            count: how many cells there are.
            rows: the most rows of a unit in a cell.
            most_cells: the most cells of a unit.
            total: the most rows of a unit, whatever its cells; None for no such bound.
        """
        if count == 1:
            kept = self._first_rows(cells != 0, rows)
        else:
            kept = self._first_rows_of_cells(cells, count, rows, most_cells)
        if total is None:
            return kept
        tickets = total_tickets(self._salt, self._priorities)
        return self._fewest_tickets(kept, tickets, total)

    def _first_rows(self, candidates: Mask, most: int) -> Mask:
        """Return which rows are the first candidates of their units, so many."""
        ranks = np.cumsum(candidates)
        last: Integers = ranks.take(self._firsts) - candidates.take(self._firsts)
        last += min(most, len(candidates))
        found: Mask = candidates & (ranks <= last.take(self._units))
        return found

    def _first_rows_of_cells(
        self, cells: NDArray[Any], count: int, rows: int, most_cells: int
    ) -> Mask:
        """Return which rows are the first of the first cells of their unit.

        Rows are sorted by unit and cell, keeping their order. The first row of a unit
        in a cell stands for the cell; where it ranks among the others of the unit, so
        does the cell.
        """
        order, pairs = _sorted_pairs(self._units, cells, count)
        start = _differ(pairs, 1)
        firsts = np.flatnonzero(start)
        heads = order.take(firsts)
        leading: Mask = np.zeros(len(cells), np.bool_)
        leading[heads] = True
        chosen = self._first_rows(leading, most_cells).take(heads)
        early = np.repeat(chosen, np.diff(firsts, append=len(start)))
        early &= _differ(pairs, rows)
        keep: Mask = np.zeros(len(cells), np.bool_)
        keep[order] = early
        return keep

    def _fewest_tickets(self, kept: Mask, tickets: Words, most: int) -> Mask:
        """Return which of the kept rows have the smallest tickets of their unit."""
        rows = np.flatnonzero(kept)
        units = self._units.take(rows)
        rows = rows.take(np.lexsort((tickets.take(rows), units)))
        found: Mask = np.zeros(len(kept), np.bool_)
        found[rows[_numbers(_differ(units, 1)) < most]] = True
        return found


def total_tickets(salt: bytes, priorities: Words) -> Words:
    """Return the tickets of a unit's survivors: other hashes than their priorities.

    Survivors of large cells have smaller priorities than others, since more rows
    competed for their cell; by their priorities small cells would lose.
    """
    (word,) = salted(salt, "total", 1)
    return mixed(np.uint64(word), priorities)


def salted(salt: bytes, purpose: str, count: int) -> list[int]:
    """Return so many 64-bit words that only the salt's owner can know."""
    stream = hashlib.shake_256(salt + purpose.encode()).digest(8 * count)
    return [int.from_bytes(stream[8 * i : 8 * i + 8], "big") for i in range(count)]


def content_hashes(
    salt: bytes, hashes: Words, columns: Sequence[NDArray[Any]]
) -> Words:
    """Return a hash of every row, from its unit and its columns."""
    found = hashes
    for word, column in zip(
        salted(salt, "content", len(columns)), columns, strict=True
    ):
        bits = column.astype(np.int64).view(np.uint64)
        bits ^= np.uint64(word)
        found = mixed(found, bits)
    return found


def row_priorities(salt: bytes, start: Mask, contents: Words) -> Words:
    """Return the priority of every row: equal rows of a unit have different ones.

    Rows are sorted by unit and content; ``start`` says where a unit starts.
    """
    (word,) = salted(salt, "occurrence", 1)
    numbers = occurrences(start, contents).view(np.uint64)
    numbers ^= np.uint64(word)
    return mixed(contents, numbers)


def occurrences(start: Mask, contents: Words) -> Integers:
    """Number the rows of equal unit and content hash: 0, 1, 2 and so on, in any order.

    Rows are sorted by both. Numbering takes as long whether rows are equal or not.
    """
    return _numbers(start | _differ(contents, 1))


def mixed(states: Words | np.uint64, words: Words) -> Words:
    """Return a hash of words and states: a bijection of either, the other being fixed.

    The constants and shifts are those of the splitmix64 finaliser.
    """
    result: Words = words * np.uint64(0x9E3779B97F4A7C15)
    result += states
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        result ^= result >> np.uint64(shift)
        result *= np.uint64(factor)
    result ^= result >> np.uint64(31)
    return result


def ranked(
    heads: Words, head_bits: int, keys: Words, units: Words | None = None
) -> tuple[Integers, Words, Words]:
    """Return the indices of the rows unit by unit, by key within a unit.

    A word holds a head, some bits of the key and the index. Where so few bits are left
    that rows of a large unit would tie, rows are sorted by key first, then by head.
    Rows alike in both stay in their own order.

    Args:
        heads: some bits of the unit of each row.
        head_bits: how many.
        keys: what rows of a unit are ranked by.
        units: the units, where heads may be the same though units are not.

    Returns:
        The indices, and in their order the units and the keys.
    """
    index_bits = len(keys).bit_length()
    low = np.uint64(index_bits)
    key_bits = _WORD - head_bits - index_bits
    if key_bits + _TIES >= 2 * index_bits:
        packed = keys >> np.uint64(_WORD - key_bits)
        packed |= heads << np.uint64(key_bits)
        packed <<= low
        order = _sorted_indices(packed, index_bits)
        packed >>= low
        heads = packed >> np.uint64(key_bits)
        keys = keys.take(order)
        tied = _equal(packed)
    else:
        by_key = _sorted_indices(keys >> low << low, index_bits)
        packed = heads.take(by_key) << low
        order = by_key.take(_sorted_indices(packed, index_bits))
        heads = packed >> low
        keys = keys.take(order)
        tied = _equal(keys >> low) & _equal(heads)
    units = heads if units is None else units.take(order)
    wrong = _undecided(heads, tied, units, keys)
    if len(wrong):
        right = wrong.take(np.lexsort((keys[wrong], units[wrong], heads[wrong])))
        order[wrong], keys[wrong] = order[right], keys[right]
        units[wrong] = units[right]
    return order, units, keys


def _sorted_indices(packed: Words, index_bits: int) -> Integers:
    """Sort the words and indices in their last bits, in place; return the indices."""
    packed |= np.arange(len(packed), dtype=np.uint64)
    packed.sort()
    return (packed & np.uint64((1 << index_bits) - 1)).view(np.int64)


def _undecided(heads: Words, tied: Mask, units: Words, keys: Words) -> Integers:
    """Return the rows of which packed bits do not say the order.

    Either several units share a head, or rows of one head share the bits of their keys
    that were sorted, but not all. ``tied`` says which rows share them with the next.
    """
    joined = np.flatnonzero(_equal(heads) & ~_equal(units))
    ties = np.flatnonzero(tied)
    unlike = ties[keys.take(ties) != keys.take(ties + 1)]
    if not len(joined) + len(unlike):
        return joined
    return np.flatnonzero(_in_runs(_equal(heads), joined) | _in_runs(tied, unlike))


def _in_runs(alike: Mask, some: Integers) -> Mask:
    """Return the rows of the runs that some are in; alike rows are in one run."""
    runs = np.cumsum(np.append(False, ~alike))
    found: Mask = np.zeros(len(runs), np.bool_)
    found[runs.take(some)] = True
    return found.take(runs)


def _numbers(start: Mask) -> Integers:
    """Number the rows of every run from 0; ``start`` says where runs start."""
    firsts = np.flatnonzero(start)
    found = np.arange(len(start))
    found -= np.repeat(firsts, np.diff(firsts, append=len(start)))
    return found


def _sorted_pairs(
    units: Integers, cells: NDArray[Any], count: int
) -> tuple[Integers, Words]:
    """Return the rows in a cell by unit and cell, and a word for each such pair."""
    index_bits = len(units).bit_length()
    cell_bits = count.bit_length()
    pairs: Words = units.view(np.uint64) << np.uint64(cell_bits)
    pairs |= cells.astype(np.uint64)
    candidates = cells != 0
    if 2 * index_bits + cell_bits > _WORD:
        order = np.flatnonzero(candidates)
        order = order[np.argsort(pairs[order], kind="stable")]
        return order, pairs[order]
    pairs <<= np.uint64(index_bits)
    pairs |= np.arange(len(units), dtype=np.uint64)
    if not candidates.all():
        pairs = pairs[candidates]
    pairs.sort()
    order = (pairs & np.uint64((1 << index_bits) - 1)).view(np.int64)
    pairs >>= np.uint64(index_bits)
    return order, pairs


def _equal(values: NDArray[Any]) -> Mask:
    """Return whether each value, after the first one, is that before."""
    found: Mask = values[1:] == values[:-1]
    return found


def _differ(values: NDArray[Any], distance: int) -> Mask:
    """Return whether each value differs from that so many before; the first ones do."""
    found: Mask = np.ones(len(values), np.bool_)
    far = min(distance, len(values))
    np.not_equal(values[far:], values[: len(values) - far], out=found[far:])
    return found
