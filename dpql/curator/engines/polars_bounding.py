"""Units with several rows: bounded and summed, a partition of the units at a time.

What the sums see of a row is packed into few words while it is read, and the words are
partitioned by a hash of the unit. So the rows are read once, whatever ceiling was
declared, and all rows of a unit meet in one partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import (
    PARTITION_BITS,
    Bounder,
    Integers,
    Words,
    content_hashes,
    partition_by,
    salted,
)
from dpql.curator.engines.polars_expressions import Expressions, FactorSteps, Packed
from dpql.curator.engines.polars_values import Pairs, pairs
from dpql.curator.engines.row_store import Rows, RowStore, are_whole
from dpql.curator.engines.totals import (
    BATCH_ROWS,
    EXACT_DOUBLES,
    CellSums,
    Found,
    Terms,
    indices,
    product,
)
from dpql.curator.factors import Factor
from dpql.curator.program import Distinct, Moment, Program, Selection, Tally

PARTITION_ROWS = 1 << 17
"""The most rows of a partition, about: their arrays stay in the cache."""

_WORD_BITS = 62

_INDICES = np.arange(1, BATCH_ROWS + 1, dtype=np.uint64)
_INDICES *= np.uint64(0x9E3779B97F4A7C15)
_INDICES = _INDICES.view(np.int64)
"""What rows without a unit have for an id or its hash, by their index."""

Key = Factor | Packed
"""What a field holds: steps, or what the expressions know."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a whole number is packed: in which word, from which bit, in how many."""

    word: int
    shift: int
    bits: int

    def unpacked(self, words: Sequence[NDArray[Any]]) -> Integers:
        """Return the numbers."""
        found: Integers = words[self.word] >> self.shift
        found &= (1 << self.bits) - 1
        return found


class Layout:
    """The fields of a row: cells of selections from 1, factors, and what is present.

    A row without a unit belongs to nobody, so it is in no cell and takes no part.
    Fields are packed into words in the order of their size, so that few are needed.
    """

    def __init__(self, program: Program) -> None:
        assert program.unit is not None, "units are rows otherwise"
        made = Expressions(program)
        self._made = made
        has_unit = made.column(program.unit).is_not_null()
        self._steps = FactorSteps(program.factors, made)
        bits: dict[Key, int] = {
            factor: factor.quantiser.steps.bit_length() for factor in program.factors
        }
        self._derived: dict[Key, str] = {}
        for key, size in (x for tally in program.tallies for x in _sizes(tally)):
            if key not in bits:
                bits[key] = size
                self._derived[key] = made.whole(key, has_unit)
        self._fields = _packed(bits)
        self._packed = 1 + max(field.word for field in self._fields.values())
        counted = (tally.distinct for tally in program.tallies)
        ids = (one.column for one in counted if one and one.values is None)
        self.ids = tuple(dict.fromkeys(ids))
        """The columns of ids whose values are counted."""

    @property
    def words(self) -> int:
        """How many words a row has."""
        return self._packed + len(self.ids)

    def packed(self, batch: pl.DataFrame, seed: int) -> list[Integers]:
        """Return the words of every row.

        Ids are not packed. Their hashes are words, so that rows of other ids are other
        rows where the bound lets only some survive.
        """
        words = [np.zeros(batch.height, np.int64) for _ in range(self._packed)]
        derived = self._made.derived(batch)
        for key, name in self._derived.items():
            self._pack(words, key, derived.get_column(name).to_numpy())
        for factor, steps in self._steps(derived).items():
            self._pack(words, factor, steps)
        hashes = (batch.get_column(name).hash(seed) for name in self.ids)
        return words + [one.to_numpy().view(np.int64) for one in hashes]

    def _pack(
        self,
        words: Sequence[Integers],
        key: Key,
        numbers: NDArray[Any],
    ) -> None:
        field = self._fields[key]
        shifted = numbers.astype(np.int64)
        shifted <<= field.shift
        words[field.word] |= shifted

    def field(self, key: Key) -> Field:
        """Return where the cell, the factor or the presence of a column is packed."""
        return self._fields[key]


@dataclass(frozen=True, slots=True)
class _Survivors:
    """Rows of a partition: where they stand in it, their cells and their words."""

    rows: Integers
    cells: Integers
    words: list[NDArray[Any]]

    def take(self, some: Integers) -> _Survivors:
        """Return some of the rows."""
        return _Survivors(
            self.rows.take(some),
            self.cells.take(some),
            [word.take(some) for word in self.words],
        )


class Partitions:
    """Rows partitioned by unit while they are read, then bounded and summed."""

    def __init__(self, program: Program, salt: bytes) -> None:
        self._program = program
        self._salt = salt
        self._layout = Layout(program)
        (self._seed,) = salted(salt, "unit", 1)
        self._bits = _partition_bits(program.declared_rows)
        self._sums = CellSums()
        self._store = RowStore(1 << self._bits)

    def partition(self, batch: pl.DataFrame) -> tuple[Rows, list[int]]:
        """Return the packed rows of a batch by partition, and where each one ends."""
        assert self._program.unit is not None, "units are rows otherwise"
        units, hashes = self._units(batch.get_column(self._program.unit))
        order, ends = partition_by(hashes, self._bits)
        words = self._layout.packed(batch, self._seed)
        ids = [batch.get_column(name) for name in self._layout.ids]
        return Rows(units, hashes, words, ids).take(order), ends

    def _units(self, units: pl.Series) -> tuple[pl.Series, Words]:
        """Return ids and their hashes; for a null those of its index.

        Rows without a unit are so spread over all partitions.
        """
        nulls, others = units.is_null().to_numpy(), _INDICES[: len(units)]
        if are_whole(units):
            ids = units.fill_null(0).to_numpy()
            units = pl.Series(np.where(nulls, others, ids))
        hashes: Words = units.hash(self._seed).to_numpy()
        return units, np.where(nulls, others.view(np.uint64), hashes)

    def take(self, partitioned: tuple[Rows, list[int]]) -> None:
        """Keep a batch until all are read."""
        self._store.add(*partitioned)

    def close(self) -> None:
        """Forget all rows."""
        self._store.close()

    def __len__(self) -> int:
        """Return how many partitions there are, neighbours joined if rows are few."""
        return 1 << min(self._bits, _partition_bits(self._store.row_count))

    def sums(self, partition: int) -> Iterator[list[tuple[int, Found | Pairs]]]:
        """Yield sums, values or indices of surviving rows, by the tally's number."""
        rows = self._rows(partition)
        if rows is not None:
            yield list(self._sums_of(rows))

    def _sums_of(self, rows: Rows) -> Iterator[tuple[int, Found | Pairs]]:
        bounder = self._bounder(rows)
        words = [word.take(bounder.order) for word in rows.words]
        survivors: dict[Selection, _Survivors] = {}
        for index, tally in enumerate(self._program.tallies):
            selection = tally.selection
            if selection not in survivors:
                survivors[selection] = self._survivors(bounder, selection, words)
            kept = self._present(tally, survivors[selection])
            if tally.distinct is not None:
                yield index, self._values(tally, tally.distinct, kept, rows)
            else:
                yield from ((index, x) for x in self._tally(tally, kept))

    def _rows(self, partition: int) -> Rows | None:
        joined = (1 << self._bits) // len(self)
        return self._store.rows(partition * joined, (partition + 1) * joined)

    def _bounder(self, rows: Rows) -> Bounder:
        units, hashes = rows.units, rows.hashes
        contents = content_hashes(self._salt, hashes, rows.words)
        if are_whole(units):
            return Bounder(units.to_numpy(), hashes, contents, self._salt)
        bounder = Bounder(hashes.view(np.int64), hashes, contents, self._salt)
        if _are_units(units, hashes, bounder.order):
            return bounder
        return Bounder(_numbered(units), hashes, contents, self._salt)

    def _survivors(
        self, bounder: Bounder, selection: Selection, words: Sequence[NDArray[Any]]
    ) -> _Survivors:
        """Return the rows that survive."""
        cells = self._layout.field(selection).unpacked(words)
        assert selection.bound is not None, "units with several rows are bounded"
        keep = bounder.survivors(
            cells,
            count=selection.cells,
            rows=selection.bound.rows,
            most_cells=selection.bound.cells,
            total=selection.bound.total,
        )
        found = _Survivors(bounder.order, cells, list(words)).take(np.flatnonzero(keep))
        found.cells[:] -= 1
        return found

    def _present(self, tally: Tally, rows: _Survivors) -> _Survivors:
        """Return the rows that have a value in the columns where a tally needs one."""
        keys: list[Key] = [*tally.present]
        keys += [] if tally.counted is None else [tally.counted]
        if not keys:
            return rows
        flags = [self._layout.field(key).unpacked(rows.words) for key in keys]
        return rows.take(np.flatnonzero(np.logical_and.reduce(flags)))

    def _values(
        self, tally: Tally, distinct: Distinct, kept: _Survivors, rows: Rows
    ) -> Pairs:
        if distinct.values is None:
            ids = rows.ids[self._layout.ids.index(distinct.column)]
            values = ids.gather(kept.rows)
        else:
            field = self._layout.field(distinct.factor or distinct)
            values = pl.Series(field.unpacked(kept.words))
        return pairs(distinct, tally.selection.cells, kept.cells, values)

    def _tally(self, tally: Tally, kept: _Survivors) -> Iterator[Found]:
        cells, words = kept.cells, kept.words
        for start in range(0, len(cells), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            some = [word[part] for word in words]
            if tally.ranking is not None:
                steps = self._layout.field(tally.ranking.factor).unpacked(some)
                yield indices(cells[part], steps, tally.ranking)
                continue
            terms = [self._terms(moment, some) for moment in tally.moments]
            yield self._sums(cells[part], tally.selection.cells, terms)

    def _terms(self, moment: Moment, words: Sequence[NDArray[Any]]) -> Terms:
        """Return what a moment sums of every row."""
        factors = [self._layout.field(x).unpacked(words) for x in moment.factors]
        return product(factors, moment.largest, EXACT_DOUBLES)


def _sizes(tally: Tally) -> Iterator[tuple[Packed, int]]:
    """Yield what is packed of a row for a tally, but for factors, and its bits."""
    yield tally.selection, tally.selection.cells.bit_length()
    yield from ((name, 1) for name in tally.present)
    yield from ((flag, 1) for flag in tally.flags)
    if tally.counted is not None:
        yield tally.counted, 1
    distinct = tally.distinct
    if distinct and distinct.values and distinct.factor is None:
        yield distinct, distinct.values.bit_length()


def _packed(
    bits: Mapping[Key, int],
) -> dict[Key, Field]:
    """Return a field for each number of bits, in as few words as first fit finds."""
    used: list[int] = []
    fields: dict[Key, Field] = {}
    for key, size in sorted(bits.items(), key=lambda item: -item[1]):
        word = next(
            (n for n, u in enumerate(used) if u + size <= _WORD_BITS), len(used)
        )
        if word == len(used):
            used.append(0)
        fields[key] = Field(word, used[word], size)
        used[word] += size
    return fields


def _partition_bits(rows: int) -> int:
    return min(PARTITION_BITS, (rows // PARTITION_ROWS).bit_length())


def _are_units(units: pl.Series, hashes: Words, order: Integers) -> bool:
    """Tell whether ids of equal hashes are equal, in an order that sorts hashes."""
    ids = units.gather(order)
    same_hash = hashes[order]
    # Rows without an id take no part, so what they are joined with does not matter.
    unlike = (ids[1:] != ids[:-1]).fill_null(False).to_numpy()
    collided = unlike & (same_hash[1:] == same_hash[:-1])
    return not collided.any()


def _numbered(units: pl.Series) -> Integers:
    """Return a number for each id, the same for equal ids only."""
    ids = units.to_frame("unit")
    numbers = ids.unique().with_row_index("number")
    found = ids.join(
        numbers, on="unit", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["number"].cast(pl.Int64).to_numpy()
