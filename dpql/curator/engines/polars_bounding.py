"""Units with several rows: bounded and summed, a partition of the units at a time.

What the sums see of a row is packed into few words while it is read, and the words are
partitioned by a hash of the unit. So the rows are read once, whatever ceiling was
declared, and all rows of a unit meet in one partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
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
from dpql.curator.engines.polars_expressions import Expressions
from dpql.curator.engines.totals import (
    BATCH_ROWS,
    EXACT_DOUBLES,
    LIMB,
    CellSums,
    Limbs,
    Terms,
)
from dpql.curator.program import Factor, Moment, Program, Selection, Tally

PARTITION_ROWS = 1 << 18
"""Rows of a partition, about, if there are as many as declared."""

_WORD_BITS = 62


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

    Fields are packed into words in the order of their size, so that few are needed.
    """

    def __init__(self, program: Program) -> None:
        self._made = Expressions(program)
        wanted = self._made.numbers(program)
        self._fields = _packed({key: bits for key, (bits, _) in wanted.items()})
        self.words = 1 + max(field.word for field in self._fields.values())
        parts: list[list[pl.Expr]] = [[] for _ in range(self.words)]
        for key, field in self._fields.items():
            number = wanted[key][1].cast(pl.Int64)
            parts[field.word].append(
                number * (1 << field.shift) if field.shift else number
            )
        self._words = [reduce(add, some) for some in parts]

    def packed(self, batch: pl.DataFrame, unit: str, seed: int) -> pl.DataFrame:
        """Return unit, hash and words of every row."""
        column = self._made.column(unit)
        words = (word.alias(f"word{n}") for n, word in enumerate(self._words))
        return self._made.select(
            batch, column.alias("unit"), column.hash(seed).alias("hash"), *words
        )

    def field(self, key: Selection | Factor | str) -> Field:
        """Return where the cell, the factor or the presence of a column is packed."""
        return self._fields[key]


class Partitions:
    """Rows partitioned by unit while they are read, then bounded and summed."""

    def __init__(self, program: Program, salt: bytes) -> None:
        self._program = program
        self._salt = salt
        self._layout = Layout(program)
        (self._seed,) = salted(salt, "unit", 1)
        size = program.declared_rows // PARTITION_ROWS
        self._bits = min(PARTITION_BITS, size.bit_length())
        self._sums = CellSums()
        self._batches: list[tuple[pl.DataFrame, list[int]]] = []

    def partition(self, batch: pl.DataFrame) -> tuple[pl.DataFrame, list[int]]:
        """Return the packed rows of a batch by partition, and where each one ends."""
        unit = self._program.unit
        assert unit is not None, "units are rows otherwise"
        packed = self._layout.packed(batch, unit, self._seed)
        order, ends = partition_by(packed["hash"].to_numpy(), self._bits)
        return packed[order], ends

    def take(self, partitioned: tuple[pl.DataFrame, list[int]]) -> None:
        """Keep a batch until all are read."""
        self._batches.append(partitioned)

    def __len__(self) -> int:
        return 1 << self._bits

    def sums(self, partition: int) -> Iterator[list[tuple[int, list[Limbs]]]]:
        """Yield sums of surviving rows, by the number of the tally."""
        rows = self._rows(partition)
        if rows is not None:
            yield list(self._sums_of(rows))

    def _sums_of(self, rows: pl.DataFrame) -> Iterator[tuple[int, list[Limbs]]]:
        words = [rows[f"word{n}"].to_numpy() for n in range(self._layout.words)]
        bounder = self._bounder(rows["unit"], rows["hash"].to_numpy(), words)
        words = [word.take(bounder.order) for word in words]
        survivors: dict[Selection, tuple[Integers, list[NDArray[Any]]]] = {}
        for index, tally in enumerate(self._program.tallies):
            selection = tally.selection
            if selection not in survivors:
                survivors[selection] = self._survivors(bounder, selection, words)
            yield from ((index, x) for x in self._tally(tally, *survivors[selection]))

    def _rows(self, partition: int) -> pl.DataFrame | None:
        parts = [
            batch[(ends[partition - 1] if partition else 0) : ends[partition]]
            for batch, ends in self._batches
        ]
        return pl.concat(parts, rechunk=True) if parts else None

    def _bounder(
        self, units: pl.Series, hashes: Words, words: Sequence[NDArray[Any]]
    ) -> Bounder:
        contents = content_hashes(self._salt, hashes, words)
        known = units.is_not_null().to_numpy()
        if units.dtype == pl.Int64:
            ids = units.fill_null(0).to_numpy()
            return Bounder(ids, hashes, contents, known, self._salt)
        ids = hashes.view(np.int64)
        bounder = Bounder(ids, hashes, contents, known, self._salt)
        if _are_units(units, hashes, bounder.order):
            return bounder
        return Bounder(_numbered(units), hashes, contents, known, self._salt)

    def _survivors(
        self, bounder: Bounder, selection: Selection, words: Sequence[NDArray[Any]]
    ) -> tuple[Integers, list[NDArray[Any]]]:
        """Return the cells of the rows that survive, and their words."""
        cells = self._layout.field(selection).unpacked(words)
        assert selection.bound is not None, "units with several rows are bounded"
        keep = bounder.survivors(
            cells,
            count=selection.cells,
            rows=selection.bound.rows,
            most_cells=selection.bound.cells,
        )
        rows = np.flatnonzero(keep)
        return cells.take(rows) - 1, [word.take(rows) for word in words]

    def _tally(
        self, tally: Tally, cells: Integers, words: Sequence[NDArray[Any]]
    ) -> Iterator[list[Limbs]]:
        if tally.present:
            flags = [self._layout.field(x).unpacked(words) for x in tally.present]
            keep = np.flatnonzero(np.logical_and.reduce(flags))
            cells, words = cells.take(keep), [word.take(keep) for word in words]
        for start in range(0, len(cells), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            some = [word[part] for word in words]
            terms = [self._terms(moment, some) for moment in tally.moments]
            yield self._sums(cells[part], tally.selection.cells, terms)

    def _terms(self, moment: Moment, words: Sequence[NDArray[Any]]) -> Terms:
        """Return what a moment sums of every row, in limbs that doubles can sum."""
        if not moment.factors:
            return []
        factors = (self._layout.field(x).unpacked(words) for x in moment.factors)
        term = reduce(np.multiply, factors)
        if moment.largest < EXACT_DOUBLES:
            return [term]
        return [term & ((1 << LIMB) - 1), term >> LIMB]


def _packed(bits: Mapping[object, int]) -> dict[object, Field]:
    """Return a field for each number of bits, in as few words as first fit finds."""
    used: list[int] = []
    fields: dict[object, Field] = {}
    for key, size in sorted(bits.items(), key=lambda item: -item[1]):
        word = next(
            (n for n, u in enumerate(used) if u + size <= _WORD_BITS), len(used)
        )
        if word == len(used):
            used.append(0)
        fields[key] = Field(word, used[word], size)
        used[word] += size
    return fields


def _are_units(units: pl.Series, hashes: Words, order: Integers) -> bool:
    """Tell whether ids of equal hashes are equal, in an order that sorts hashes."""
    ids = units.gather(order)
    same_hash = hashes[order]
    collided = (ids[1:] != ids[:-1]).to_numpy() & (same_hash[1:] == same_hash[:-1])
    return not collided.any()


def _numbered(units: pl.Series) -> Integers:
    """Return a number for each id, the same for equal ids only."""
    ids = units.to_frame("unit")
    numbers = ids.unique().with_row_index("number")
    found = ids.join(
        numbers, on="unit", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["number"].cast(pl.Int64).to_numpy()
