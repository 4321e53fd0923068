"""Private keys: how many units have each key that stands in some columns, exactly.

    a unit counts once for each of its keys, for so many of them at most
    those that count are the ones of the smallest hash of salt, unit and key

So what counts of a unit follows from its own keys and the salt alone, and every key of
a unit is as likely to count as any other.

Cells are compared by what they are, never by a hash alone: integers by themselves,
all others by the number of a row that has the same cell (`alike_cells`). Units are then
bounded partition by partition, as in `polars_bounding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
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
from dpql.curator.key_search import KeySearch
from dpql.curator.program import Program
from dpql.curator.sources.canonical import decoded
from dpql.curator.sources.prefetch import Task, prefetched
from dpql.curator.sources.source import Source

T = TypeVar("T")

_VALID = rf"^[^\p{{C}}\p{{Zl}}\p{{Zp}}]{{1,{KeySearch.LONGEST}}}$"
"""What a word may be: it is printed, and nobody has looked at it before."""

_UNITS = "units"

_WORD_BITS, _HEAD_BITS = 64, 28

_BLOCK_ROWS = 1 << 18
"""Rows that are partitioned, or counted, together, about."""


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """The keys of a search: how many units have each, and its cells by column."""

    counts: Integers = field(repr=False)
    cells: tuple[pl.Series, ...] = field(repr=False)
    reserved: str | None

    def keys(self, indices: Integers) -> list[tuple[str, ...] | None]:
        """Return some keys: a word of each column, None where one is no word."""
        columns: list[list[str | None]] = [
            _words(cells.gather(indices), self.reserved).to_list()
            for cells in self.cells
        ]
        found = [
            tuple(word for word in words if word is not None)
            for words in zip(*columns, strict=True)
        ]
        return [key if len(key) == len(columns) else None for key in found]

    def packed(self) -> Iterator[bytes]:
        """Yield the keys and their units as bytes, some at a time."""
        units = pl.Series(_UNITS, self.counts, pl.Int64)
        frame = pl.DataFrame([*_numbered(self.cells), units])
        for part in frame.iter_slices(_BLOCK_ROWS):
            content = BytesIO()
            part.write_ipc_stream(content)
            yield content.getvalue()

    @classmethod
    def joined(
        cls, packed: Iterable[bytes], search: KeySearch, salt: bytes
    ) -> FoundKeys:
        """Return the keys of parts of the rows together; no unit is in two of them."""
        frames = [pl.read_ipc_stream(BytesIO(content)) for content in packed]
        if not frames:
            none = tuple(pl.Series(dtype=pl.Int64) for _ in search.columns)
            return cls(np.empty(0, np.int64), none, search.reserved)
        frame = pl.concat(frames)
        names = frame.columns[:-1]
        frame = frame.group_by(names).agg(pl.col(_UNITS).sum())
        counts = frame.get_column(_UNITS).to_numpy()
        cells = [frame.get_column(name) for name in names]
        return cls.ordered(counts, cells, search, salt)

    @classmethod
    def ordered(
        cls, counts: Integers, cells: list[pl.Series], search: KeySearch, salt: bytes
    ) -> FoundKeys:
        """Return keys in the order of their hashes."""
        order = np.argsort(_hashes(cells, salt), kind="stable")
        return cls(
            counts=counts.take(order),
            cells=tuple(one.gather(order) for one in cells),
            reserved=search.reserved,
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
        schema = {name: source.schema[name] for name in self._columns}
        self._frames = [pl.DataFrame(schema=schema)]

    def of_batch(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the keys and units of the rows that pass and have all of them."""
        # By their names polars would take some for patterns.
        found = pl.DataFrame([batch.get_column(name) for name in self._columns])
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
        cells = pl.concat(self._frames, rechunk=True)
        self._frames.clear()
        columns = [cells.get_column(name) for name in self._search.columns]
        parts = [columns]
        if self._search.unit is not None:
            parts.append([cells.get_column(self._search.unit)])
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
        return FoundKeys.ordered(counts, _cells_of(columns, found), self._search, salt)


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
    texts = cells.cast(pl.String) if cells.dtype == pl.Int64 else decoded(cells)
    text = pl.col("text")
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
