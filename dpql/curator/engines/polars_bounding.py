"""Units with several rows: bounded and summed, a partition of the units at a time.

What the sums see of a row is packed into few words while it is read, and the words are
partitioned by a hash of the unit. So the rows are read once, whatever ceiling was
declared, and all rows of a unit meet in one partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    mixed,
    partition_by,
    salted,
)
from dpql.curator.engines.polars_expressions import Expressions, FactorSteps, Packed
from dpql.curator.engines.polars_values import Pairs, pairs
from dpql.curator.engines.row_store import (
    Column,
    RowStore,
    loaded_texts,
    stored_texts,
)
from dpql.curator.engines.steps import cells_of
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

PARTITION_ROWS = 1 << 16
"""The most rows of a partition, about: their arrays stay in the cache."""

_WORD_BITS = 62
_WORD_BYTES = 8

_TEXT_BYTES = 24
"""Bytes of an id that is a text, about."""

_INDICES = np.arange(1, BATCH_ROWS + 1, dtype=np.uint64)
_INDICES *= np.uint64(0x9E3779B97F4A7C15)
"""What rows without a unit have for its hash, by their index."""

Key = Factor | Packed
"""What a field holds: steps, or what the expressions know."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a whole number is packed: in which word, from which bit, in how many."""

    word: int
    shift: int
    bits: int

    def unpacked(self, words: Integers) -> Integers:
        """Return the numbers."""
        found: Integers = words[:, self.word] >> self.shift
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
        counted = (tally.distinct for tally in program.tallies)
        ids = (one.column for one in counted if one and one.values is None)
        self.ids = tuple(dict.fromkeys(ids))
        """The columns of ids whose values are counted: each has a word of its own."""
        self._packed = 1 + max(field.word for field in self._fields.values())

    @property
    def words(self) -> int:
        """How many words a row has."""
        return self._packed + len(self.ids)

    def packed(self, batch: pl.DataFrame, seed: int) -> list[Integers]:
        """Return the words of every row.

        Ids are not packed. Those that are no integers have their hashes as words, so
        that rows of other ids are other rows where the bound lets only some survive.
        """
        words: dict[int, Integers] = {}
        derived = self._made.derived(batch)
        for key, name in self._derived.items():
            self._pack(words, key, derived.get_column(name).to_numpy())
        for factor, steps in self._steps(derived).items():
            self._pack(words, factor, steps)
        for word, name in enumerate(self.ids, self._packed):
            ids = cells_of(batch, name)
            words[word] = _bits(ids if is_whole(ids) else ids.hash(seed))
        return [words[word] for word in range(self.words)]

    def _pack(
        self, words: dict[int, Integers], key: Key, numbers: NDArray[Any]
    ) -> None:
        field = self._fields[key]
        shifted = numbers.astype(np.int64)
        shifted <<= field.shift
        if field.word in words:
            words[field.word] |= shifted
        else:
            words[field.word] = shifted

    def field(self, key: Key) -> Field:
        """Return where the cell, the factor or the presence of a column is packed."""
        return self._fields[key]

    def ids_of(self, words: Integers, column: str) -> Integers:
        """Return the ids of a column, or their hashes."""
        return words[:, self._packed + self.ids.index(column)]


@dataclass(frozen=True, slots=True)
class _Survivors:
    """Rows of a partition: where they stand in it, their cells and their words."""

    rows: Integers
    cells: Integers
    words: Integers

    def take(self, some: Integers) -> _Survivors:
        """Return some of the rows."""
        return _Survivors(
            self.rows.take(some), self.cells.take(some), self.words.take(some, axis=0)
        )


class Partitions:
    """Rows partitioned by unit while they are read, then bounded and summed."""

    def __init__(
        self, program: Program, types: Mapping[str, pl.DataType], salt: bytes
    ) -> None:
        """Start with no rows; ``types`` are those of canonical columns."""
        assert program.unit is not None, "units are rows otherwise"
        self._program = program
        self._unit = program.unit
        self._salt = salt
        self._layout = Layout(program)
        (self._seed,) = salted(salt, "unit", 1)
        self._bits = _partition_bits(program.declared_rows)
        self._sums = CellSums()
        ids = dict.fromkeys((program.unit, *self._layout.ids))
        self._texts = [name for name in ids if types[name] != pl.Int64]
        row_bytes = _WORD_BYTES * (1 + self._layout.words)
        row_bytes += _TEXT_BYTES * len(self._texts)
        self._store = RowStore(1 << self._bits, program.declared_rows * row_bytes)

    def partition(self, batch: pl.DataFrame) -> list[Column]:
        """Return what is kept of a batch: words of every row, and ids that are texts.

        The last word is a hash of the unit, unless that is a text.
        """
        hashes = self._hashes(cells_of(batch, self._unit))
        order, ends = partition_by(hashes, self._bits)
        words = self._layout.packed(batch, self._seed)
        if self._unit not in self._texts:
            words.append(hashes.view(np.int64))
        found = [Column(np.stack(words, axis=1).take(order, axis=0), ends)]
        for name in self._texts:
            found += stored_texts(cells_of(batch, name).gather(order), ends)
        return found

    def _hashes(self, units: pl.Series) -> Words:
        """Return hashes of ids, for a null one of its index.

        Rows without a unit are so spread over all partitions. Integers that differ have
        hashes that do.
        """
        if is_whole(units):
            ids = units.fill_null(0).to_numpy().view(np.uint64)
            hashes = mixed(np.uint64(self._seed), ids)
        else:
            hashes = units.hash(self._seed).to_numpy(writable=True)
        nulls = units.is_null().to_numpy()
        np.copyto(hashes, _INDICES[: len(units)], where=nulls)
        return hashes

    def take(self, partitioned: list[Column]) -> None:
        """Keep a batch until all are read."""
        self._store.add(partitioned)

    def close(self) -> None:
        """Forget all rows."""
        self._store.close()

    def __len__(self) -> int:
        """Return how many partitions there are, neighbours joined if rows are few."""
        return 1 << min(self._bits, _partition_bits(int(self._store.rows.sum())))

    def largest_first(self) -> list[int]:
        """Return the numbers of the partitions in an order that keeps threads busy."""
        sizes = self._store.rows.reshape(len(self), -1).sum(axis=1)
        return np.argsort(-sizes).tolist()  # type: ignore[no-any-return]

    def sums(self, partition: int) -> Iterator[list[tuple[int, Found | Pairs]]]:
        """Yield sums, values or indices of surviving rows, by the tally's number."""
        joined = (1 << self._bits) // len(self)
        found = self._store.part(partition * joined, (partition + 1) * joined)
        if found is not None:
            yield list(self._sums_of(found))

    def _sums_of(
        self, columns: list[NDArray[Any]]
    ) -> Iterator[tuple[int, Found | Pairs]]:
        words, *texts = columns
        columns.clear()  # so that memory of large units can be used again
        loaded = map(loaded_texts, texts[::2], texts[1::2])
        ids = dict(zip(self._texts, loaded, strict=True))
        bounder = self._bounder(words, ids.get(self._unit))
        words = words.take(bounder.order, axis=0)
        survivors: dict[Selection, _Survivors] = {}
        for index, tally in enumerate(self._program.tallies):
            selection = tally.selection
            if selection not in survivors:
                survivors[selection] = self._survivors(bounder, selection, words)
            kept = self._present(tally, survivors[selection])
            if tally.distinct is not None:
                yield index, self._values(tally, tally.distinct, kept, ids)
            else:
                yield from ((index, x) for x in self._tally(tally, kept))

    def _bounder(self, words: Integers, units: pl.Series | None) -> Bounder:
        """Rank the rows of units, whose ids are given where hashes may collide."""
        columns = list(words.T)
        hashes = (
            columns.pop().copy().view(np.uint64)
            if units is None
            else units.hash(self._seed).to_numpy()
        )
        contents = content_hashes(self._salt, hashes, columns)
        bounder = Bounder(hashes, contents, self._salt)
        if units is None or _are_units(units, hashes, bounder.order):
            return bounder
        numbers = units.rank("dense").to_numpy().astype(np.uint64)
        return Bounder(numbers, contents, self._salt)

    def _survivors(
        self, bounder: Bounder, selection: Selection, words: Integers
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
        found = _Survivors(bounder.order, cells, words).take(np.flatnonzero(keep))
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
        self,
        tally: Tally,
        distinct: Distinct,
        kept: _Survivors,
        ids: Mapping[str, pl.Series],
    ) -> Pairs:
        if distinct.column in ids:
            values = ids[distinct.column].gather(kept.rows)
        elif distinct.values is None:
            values = pl.Series(self._layout.ids_of(kept.words, distinct.column))
        else:
            field = self._layout.field(distinct.factor or distinct)
            values = pl.Series(field.unpacked(kept.words))
        return pairs(distinct, tally.selection.cells, kept.cells, values)

    def _tally(self, tally: Tally, kept: _Survivors) -> Iterator[Found]:
        cells, words = kept.cells, kept.words
        for start in range(0, len(cells), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            some = words[part]
            if tally.ranking is not None:
                steps = self._layout.field(tally.ranking.factor).unpacked(some)
                yield indices(cells[part], steps, tally.ranking)
                continue
            terms = [self._terms(moment, some) for moment in tally.moments]
            yield self._sums(cells[part], tally.selection.cells, terms)

    def _terms(self, moment: Moment, words: Integers) -> Terms:
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


def is_whole(ids: pl.Series) -> bool:
    """Tell whether ids are integers."""
    return ids.dtype == pl.Int64


def _bits(numbers: pl.Series) -> Integers:
    found: Integers = numbers.fill_null(0).to_numpy().view(np.int64)
    return found


def _are_units(units: pl.Series, hashes: Words, order: Integers) -> bool:
    """Tell whether ids of equal hashes are equal, in an order that sorts hashes."""
    ids = units.gather(order)
    same_hash = hashes[order]
    collided = (ids[1:] != ids[:-1]).to_numpy() & (same_hash[1:] == same_hash[:-1])
    return not collided.any()
