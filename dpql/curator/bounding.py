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
bits of a hash of the unit, some of the priority, and the index; where those bits tie,
ids and priorities are compared in full. Units are told apart by their ids, never by a
hash alone.
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

PARTITION_BITS = 8
"""Units are split into two to the power of so many partitions, at most."""

_WORD = 64
_UNIT_BITS = 28
_LEAST_PRIORITY_BITS = 16
"""Bits of a priority that a word must hold; with fewer, rows are sorted twice."""

_BLOCK_ROWS = 1 << 16
"""Rows that are bounded together, about, so that arrays stay in the cache."""


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

    def __init__(
        self, ids: Integers, hashes: Words, contents: Words, salt: bytes
    ) -> None:
        """Rank the rows.

        Args:
            ids: the unit of each row; equal exactly when the units are.
            hashes: a salted hash of the unit.
            contents: a salted hash of the unit and of all that the sums see of the row.
            salt: the secret of the run.
        """
        # Sorted by content first, so that equal rows stand together and are numbered.
        alike, ids, contents = ranked(ids, hashes, contents)
        start = _differ(ids, 1)
        units: Integers = np.cumsum(start, dtype=np.int64)
        units -= 1
        numbers = units.view(np.uint64) << np.uint64(
            _WORD - PARTITION_BITS - _UNIT_BITS
        )
        found = ranked(units, numbers, row_priorities(salt, ids, contents))
        order, units, self._priorities = found
        self.order = alike.take(order)
        self._salt = salt
        self._blocks = list(_blocks(start, units))

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
        keep: Mask = np.empty(len(cells), np.bool_)
        for block in self._blocks:
            part = cells[block.rows]
            kept = (
                block.first_rows(part != 0, rows)
                if count == 1
                else block.first_rows_of_cells(part, count, rows, most_cells)
            )
            if total is not None:
                tickets = total_tickets(self._salt, self._priorities[block.rows])
                kept = block.fewest_tickets(kept, tickets, total)
            keep[block.rows] = kept
        return keep


@dataclass(frozen=True, slots=True)
class _Block:
    """Some whole units in the order of a bounder.

    ``units`` numbers the unit of each row, ``firsts`` are the first rows of each.
    """

    rows: slice
    units: Integers
    firsts: Integers

    def first_rows(self, candidates: Mask, most: int) -> Mask:
        """Return which rows are the first candidates of their units, so many."""
        ranks = np.cumsum(candidates)
        last: Integers = ranks.take(self.firsts) - candidates.take(self.firsts)
        last += min(most, len(candidates))
        found: Mask = candidates & (ranks <= last.take(self.units))
        return found

    def first_rows_of_cells(
        self, cells: NDArray[Any], count: int, rows: int, most_cells: int
    ) -> Mask:
        """Return which rows are the first of the first cells of their unit.

        Rows are sorted by unit and cell, keeping their order. The first row of a unit
        in a cell stands for the cell; where it ranks among the others of the unit, so
        does the cell.
        """
        order, pairs = _sorted_pairs(self.units, cells, count)
        start = _differ(pairs, 1)
        heads = order.take(np.flatnonzero(start))
        leading: Mask = np.zeros(len(cells), np.bool_)
        leading[heads] = True
        chosen = self.first_rows(leading, most_cells).take(heads)
        early = chosen.take(np.cumsum(start) - 1)
        early &= _differ(pairs, rows)
        keep: Mask = np.zeros(len(cells), np.bool_)
        keep[order] = early
        return keep

    def fewest_tickets(self, kept: Mask, tickets: Words, most: int) -> Mask:
        """Return which of the kept rows have the smallest tickets of their unit."""
        rows = np.flatnonzero(kept)
        order = np.lexsort((tickets.take(rows), self.units.take(rows)))
        rows = rows.take(order)
        ranks = np.arange(len(rows))
        start = _differ(self.units.take(rows), 1)
        ranks -= np.maximum.accumulate(np.where(start, ranks, 0))
        found: Mask = np.zeros(len(kept), np.bool_)
        found[rows[ranks < most]] = True
        return found


def total_tickets(salt: bytes, priorities: Words) -> Words:
    """Return the tickets of a unit's survivors: other hashes than their priorities.

    Survivors of large cells have smaller priorities than others, since more rows
    competed for their cell; by their priorities small cells would lose.
    """
    (word,) = salted(salt, "total", 1)
    return mixed(np.full_like(priorities, word), priorities)


def salted(salt: bytes, purpose: str, count: int) -> list[int]:
    """Return so many 64-bit words that only the salt's owner can know."""
    stream = hashlib.shake_256(salt + purpose.encode()).digest(8 * count)
    return [int.from_bytes(stream[8 * i : 8 * i + 8], "big") for i in range(count)]


def content_hashes(
    salt: bytes, hashes: Words, columns: Sequence[NDArray[Any]]
) -> Words:
    """Return a hash of every row, from its unit and its columns."""
    words = salted(salt, "content", len(columns))
    found: Words = np.empty(len(hashes), np.uint64)
    for first in range(0, len(hashes), _BLOCK_ROWS):
        part = slice(first, first + _BLOCK_ROWS)
        state = hashes[part]
        for word, column in zip(words, columns, strict=True):
            bits = column[part].astype(np.int64).view(np.uint64)
            bits ^= np.uint64(word)
            state = mixed(state, bits)
        found[part] = state
    return found


def row_priorities(salt: bytes, ids: Integers, contents: Words) -> Words:
    """Return the priority of every row: equal rows of a unit have different ones."""
    (word,) = salted(salt, "occurrence", 1)
    numbers = occurrences(ids, contents).view(np.uint64)
    numbers ^= np.uint64(word)
    return mixed(contents, numbers)


def occurrences(ids: Integers, contents: Words) -> Integers:
    """Number the rows of equal id and content hash: 0, 1, 2 and so on, in any order.

    Rows are sorted by both. Numbering takes as long whether rows are equal or not.
    """
    start = _differ(ids, 1)
    start |= _differ(contents, 1)
    numbers = np.arange(len(ids))
    numbers -= np.maximum.accumulate(np.where(start, numbers, 0))
    return numbers


def mixed(states: Words, words: Words) -> Words:
    """Return a hash of both: a bijection of either one, the other being fixed.

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
    ids: Integers, hashes: Words, priorities: Words
) -> tuple[Integers, Integers, Words]:
    """Return the indices of the rows unit by unit, by priority within a unit.

    Rows alike in both stay in their own order. Ids and priorities in that order are
    returned with it.
    """
    index_bits = len(ids).bit_length()
    priority_bits = _WORD - _UNIT_BITS - index_bits
    # The bits of the hash below those of the partition, which are alike in it.
    packed = hashes << np.uint64(PARTITION_BITS) >> np.uint64(_WORD - _UNIT_BITS)
    packed <<= np.uint64(_WORD - _UNIT_BITS)
    if priority_bits < _LEAST_PRIORITY_BITS:
        return _ranked_twice(ids, packed, priorities)
    packed |= priorities >> np.uint64(_WORD - priority_bits) << np.uint64(index_bits)
    order = _sorted_indices(packed, index_bits)
    packed >>= np.uint64(index_bits)
    units = packed >> np.uint64(priority_bits)
    return _settled(order, units, packed, ids.take(order), priorities.take(order))


def _ranked_twice(
    ids: Integers, heads: Words, priorities: Words
) -> tuple[Integers, Integers, Words]:
    """Return the same for many rows: sorted by priority first, then by unit."""
    index_bits = len(ids).bit_length()
    low = np.uint64(index_bits)
    by_priority = _sorted_indices(priorities >> low << low, index_bits)
    packed = heads.take(by_priority) >> low << low
    order = by_priority.take(_sorted_indices(packed, index_bits))
    units = packed >> low
    sorted_priorities = priorities.take(order)
    # Two rows of a unit tie where their priorities do but for their last bits.
    tied = sorted_priorities >> low
    return _settled(order, units, tied, ids.take(order), sorted_priorities)


def _sorted_indices(packed: Words, index_bits: int) -> Integers:
    """Sort the words and indices in their last bits; return the indices."""
    packed |= np.arange(len(packed), dtype=np.uint64)
    packed.sort()
    return (packed & np.uint64((1 << index_bits) - 1)).view(np.int64)


def _settled(
    order: Integers, units: Words, packed: Words, ids: Integers, priorities: Words
) -> tuple[Integers, Integers, Words]:
    """Sort the runs of one packed hash whose order is not that of the keys, in place.

    Ids and priorities are in the order that is given, and in that which is returned.
    """
    for first, last in list(_undecided(units, packed, ids, priorities)):
        run = slice(first, last)
        by_key = np.lexsort((priorities[run], ids[run]))
        for column in (order, ids, priorities):
            column[run] = column[run][by_key]
    return order, ids, priorities


def _undecided(
    units: Words, packed: Words, ids: Integers, priorities: Words
) -> Iterator[tuple[int, int]]:
    """Yield the runs of one packed hash whose order is not that of the keys.

    Either several units share the packed bits of their hash, or rows of different
    priorities share the packed bits of those.
    """
    joined = _equal(units) & ~_equal(ids)
    tied = np.flatnonzero(_equal(packed))
    unlike = priorities[tied] != priorities[tied + 1]
    yield from _runs(units, np.concatenate((units[:-1][joined], units[tied[unlike]])))


def _runs(values: NDArray[Any], some: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield where the runs of some of the sorted values start and end."""
    wanted = _distinct(some)
    firsts = np.searchsorted(values, wanted, side="left")
    lasts = np.searchsorted(values, wanted, side="right")
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def _blocks(start: Mask, units: Integers) -> Iterator[_Block]:
    firsts = np.flatnonzero(start)
    cuts = np.searchsorted(firsts, np.arange(0, len(units), _BLOCK_ROWS))
    ends = np.append(firsts, len(units))[np.append(cuts, len(firsts))]
    for first, last in pairwise(_distinct(ends).tolist()):
        part = start[first:last]
        yield _Block(
            slice(first, last), units[first:last] - units[first], np.flatnonzero(part)
        )


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different values in their order.

    `numpy.unique` does the same, and imports what takes longer than small runs.
    """
    values = np.sort(values)
    found: NDArray[Any] = values[_differ(values, 1)]
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
