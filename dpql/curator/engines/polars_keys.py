"""Private keys: how many units have each key that stands in some columns, exactly.

    a unit counts once for each of its keys, for so many of them at most
    those that count are the ones of the smallest hash of salt, unit and key

So what counts of a unit follows from its own keys and the salt alone, and every key of
a unit is as likely to count as any other. If the 64-bit hashes of two of its keys
collide, which of the two counts depends on where rows stand; the bound holds all the
same.

Cells are compared by what they are, never by a hash alone: integers by themselves,
all others by the number of a row that has the same cell (`alike_cells`). Units are then
bounded partition by partition, as in `polars_bounding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial, reduce
from io import BytesIO
from operator import and_
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import (
    PARTITION_BITS,
    Integers,
    Mask,
    Words,
    mixed,
    partition_by,
    ranked,
    salted,
)
from dpql.curator.engines.alike_cells import alike_rows
from dpql.curator.engines.polars_expressions import Expressions
from dpql.curator.engines.steps import cells_of
from dpql.curator.key_search import KeySearch
from dpql.curator.program import Program
from dpql.curator.sources.canonical import decoded
from dpql.curator.sources.prefetch import Task, prefetched
from dpql.curator.sources.source import Source

T = TypeVar("T")

_LONGEST_BYTES = 4 * KeySearch.LONGEST

_VALID = rf"^[^\p{{C}}\p{{Zl}}\p{{Zp}}]{{1,{KeySearch.LONGEST}}}$"
"""What a word may be: it is printed, and nobody has looked at it before."""

_UNITS = "units"

_WORD_BITS, _HEAD_BITS = 64, 28

_BLOCK_ROWS = 1 << 18
"""Rows that are partitioned, or counted, together, about."""


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """The keys of a search: how many units have each, and its words by column."""

    counts: Integers = field(repr=False)
    words: tuple[pl.Series, ...] = field(repr=False)

    def keys(self, indices: Integers) -> list[tuple[str, ...]]:
        """Return some keys: a word of each column."""
        columns = [words.gather(indices).to_list() for words in self.words]
        return list(zip(*columns, strict=True))

    def packed(self) -> Iterator[bytes]:
        """Yield the keys and their units as bytes, some at a time."""
        units = pl.Series(_UNITS, self.counts, pl.Int64)
        frame = pl.DataFrame([*_numbered(self.words), units])
        for part in frame.iter_slices(_BLOCK_ROWS):
            content = BytesIO()
            part.write_ipc_stream(content)
            yield content.getvalue()

    @classmethod
    def joined(cls, packed: Iterable[bytes], columns: int, salt: bytes) -> FoundKeys:
        """Return the keys of parts of the rows together; no unit is in two of them."""
        none = _numbered(pl.Series(dtype=pl.String) for _ in range(columns))
        frames = [pl.DataFrame([*none, pl.Series(_UNITS, dtype=pl.Int64)])]
        frames += (pl.read_ipc_stream(BytesIO(content)) for content in packed)
        frame = pl.concat(frames)
        names = frame.columns[:-1]
        frame = frame.group_by(names).agg(pl.col(_UNITS).sum())
        *words, counts = frame.get_columns()
        return cls.ordered(counts.to_numpy(), words, salt)

    @classmethod
    def ordered(
        cls, counts: Integers, words: list[pl.Series], salt: bytes
    ) -> FoundKeys:
        """Return keys in the order of their hashes."""
        order = np.argsort(_hashes(words, salt), kind="stable")
        return cls(
            counts=counts.take(order),
            words=tuple(one.gather(order) for one in words),
        )

    @classmethod
    def of_cells(
        cls, counts: Integers, cells: list[pl.Series], search: KeySearch, salt: bytes
    ) -> FoundKeys:
        """Return the keys whose cells are all words; others are never shown."""
        words = [_words(column, search.reserved) for column in cells]
        kept = reduce(and_, [column.is_not_null() for column in words])
        return cls.ordered(
            counts[kept.to_numpy()], [column.filter(kept) for column in words], salt
        )


@dataclass(frozen=True, slots=True)
class _Codes:
    """What tells cells apart, and a hash of them."""

    codes: Integers
    hashes: Words


class UnitsByKey:
    """The units and keys of a search, gathered batch by batch, and then counted."""

    def __init__(self, search: KeySearch, program: Program, source: Source) -> None:
        self._search = search
        self._made = Expressions(program)
        self._where: str | None = None
        if search.where is not None:
            self._where = self._made.derive(self._made.test(search.where), "where")
        self._columns = (*search.columns, *([search.unit] if search.unit else []))
        none = (pl.Series(dtype=source.schema[name]) for name in self._columns)
        self._frames = [pl.DataFrame(_numbered(none))]

    def of_batch(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the keys and units of the rows that pass and have all of them."""
        cells = (cells_of(batch, name) for name in self._columns)
        found = pl.DataFrame(_numbered(cells))
        if self._where is not None:
            found = found.filter(self._made.derived(batch).get_column(self._where))
        return found.drop_nulls()

    def add(self, some: pl.DataFrame) -> None:
        """Take the keys and units of a batch in."""
        self._frames.append(some)

    def counted(self, salt: bytes) -> FoundKeys:
        """Return every key that a unit counts for, and how many do.

        Keys stand in the order of their hashes, which follow from the salt.
        """
        cells = pl.concat(self._frames, rechunk=True).get_columns()
        self._frames.clear()
        width = len(self._search.columns)
        columns = cells[:width]
        parts = [some for some in (columns, cells[width:]) if some]
        tasks = (
            partial(_coded, number, some, salt) for number, some in enumerate(parts)
        )
        coded = dict(_done(tasks))
        keys = coded[0]
        if self._search.unit is None:
            found, counts = _counted([keys.codes])
        else:
            found, counts = _counted(_kept(coded[1], keys, self._search.most))
        # Codes of cells that are no integers are rows.
        return FoundKeys.of_cells(counts, _cells_of(columns, found), self._search, salt)


def _numbered(cells: Iterable[pl.Series]) -> list[pl.Series]:
    """Return columns by other names, for polars takes some names for patterns."""
    return [column.alias(f"c{index}") for index, column in enumerate(cells)]


def _coded(
    number: int, cells: list[pl.Series], salt: bytes
) -> list[tuple[int, _Codes]]:
    """Return codes and hashes of the cells of some columns, row by row."""
    hashes = _hashes(cells, salt)
    codes = _whole(cells)
    if codes is None:
        codes = alike_rows(cells, hashes)
    return [(number, _Codes(codes, hashes))]


def _whole(cells: list[pl.Series]) -> Integers | None:
    """Return the cells if they are integers of one column; None otherwise."""
    if len(cells) > 1 or cells[0].dtype != pl.Int64:
        return None
    found: Integers = cells[0].to_numpy()
    return found


def _cells_of(columns: list[pl.Series], codes: Integers) -> list[pl.Series]:
    """Return the cells that have such codes."""
    if _whole(columns) is not None:
        return [pl.Series(codes)]
    return [cells.gather(codes) for cells in columns]


def _hashes(cells: list[pl.Series], salt: bytes) -> Words:
    """Return a salted hash of the cells of each row."""
    seed, word = salted(salt, "keys", 2)
    found: Words = np.full(len(cells[0]), word, np.uint64)
    for column in cells:
        found = mixed(found, column.hash(seed).to_numpy())
    return found


def _words(cells: pl.Series, reserved: str | None) -> pl.Series:
    """Return cells as words, null where they are none."""
    if cells.dtype == pl.Int64:
        return cells.cast(pl.String)
    cell, text = pl.col("cell"), pl.col("text")
    short = pl.when(cell.bin.size() <= _LONGEST_BYTES).then(cell)
    texts = decoded(cells.to_frame("cell").select(short).to_series())
    valid = text.str.contains(_VALID) & ~text.is_in([reserved or ""])
    return texts.to_frame("text").select(pl.when(valid).then(text)).to_series()


def _counted(codes: Iterable[Integers]) -> tuple[Integers, Integers]:
    """Return the different codes, and how often each occurs."""
    none = pl.Series("code", dtype=pl.Int64)
    some = [pl.Series("code", each, pl.Int64) for each in codes]
    code = pl.concat([none, *some], rechunk=False)
    found = code.to_frame().group_by("code").len(_UNITS)
    counts = found.get_column(_UNITS).cast(pl.Int64)
    return found.get_column("code").to_numpy(), counts.to_numpy()


def _kept(units: _Codes, keys: _Codes, most: int) -> list[Integers]:
    """Return the codes of the keys that count: so many of each unit, each once."""
    rows = len(units.codes)
    bits = min(PARTITION_BITS, (rows // _BLOCK_ROWS).bit_length())
    pieces: list[list[list[NDArray[np.uint64]]]] = [[] for _ in range(1 << bits)]
    tasks = (
        partial(_split, units, keys, slice(first, first + _BLOCK_ROWS), bits)
        for first in range(0, rows, _BLOCK_ROWS)
    )
    for split in _done(tasks):
        for piece, some in zip(pieces, split, strict=True):
            piece.append(some)
    return list(_done(partial(_first, piece, most) for piece in pieces if piece))


def _split(
    units: _Codes, keys: _Codes, rows: slice, bits: int
) -> list[list[list[NDArray[np.uint64]]]]:
    """Return units, their hashes, keys and priorities of some rows, by partition."""
    hashes = units.hashes[rows]
    columns = [
        units.codes[rows].view(np.uint64),
        hashes,
        keys.codes[rows].view(np.uint64),
        mixed(hashes, keys.hashes[rows]),
    ]
    order, ends = partition_by(hashes, bits)
    columns = [column.take(order) for column in columns]
    starts = [0, *ends[:-1]]
    return [
        [
            [column[start:end] for column in columns]
            for start, end in zip(starts, ends, strict=True)
        ]
    ]


def _first(pieces: list[list[NDArray[np.uint64]]], most: int) -> list[Integers]:
    """Return the keys that count of the units of a partition."""
    units, hashes, keys, priorities = (
        np.concatenate(some) for some in zip(*pieces, strict=True)
    )
    pieces.clear()
    if not len(units):
        return []
    # The first bits of a hash are the partition's.
    heads = hashes << np.uint64(PARTITION_BITS) >> np.uint64(_WORD_BITS - _HEAD_BITS)
    order, units, priorities = ranked(heads, _HEAD_BITS, priorities, units)
    keys = keys.take(order)
    same_unit = units[1:] == units[:-1]
    same_key = keys[1:] == keys[:-1]
    if np.any(same_unit & (priorities[1:] == priorities[:-1]) & ~same_key):
        # The hashes of two keys of a unit collide: each stands alone for once.
        order = np.lexsort((keys, priorities, units))
        units, keys = units.take(order), keys.take(order)
        same_unit = units[1:] == units[:-1]
        same_key = keys[1:] == keys[:-1]
    each = _and_first(~(same_unit & same_key))
    units, keys = units[each], keys[each]
    far = min(most, len(units))
    among: Mask = np.ones(len(units), np.bool_)
    np.not_equal(units[far:], units[: len(units) - far], out=among[far:])
    return [keys[among].view(np.int64)]


def _and_first(rest: Mask) -> Mask:
    """Return a mask of one more row, which passes, and stands before the others."""
    return np.concatenate((np.ones(1, np.bool_), rest))


def _done(tasks: Iterable[Task[T]]) -> Iterator[T]:
    with closing(prefetched(tasks, pl.thread_pool_size())) as found:
        yield from found
