"""Private keys: how many units have each key that stands in some columns, exactly.

    a unit counts once for each of its keys, for so many of them at most
    those that count are the ones of the smallest hash of salt, unit and key

So what counts of a unit follows from its own keys and the salt alone, and every key of
a unit is as likely to count as any other. Ids and words are compared, not their hashes:
a hash only orders the keys of a unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import Integers, Words, mixed, ranked, salted
from dpql.curator.engines.polars_expressions import Expressions
from dpql.curator.key_search import KeySearch
from dpql.curator.program import Program
from dpql.curator.sources.canonical import decoded
from dpql.curator.sources.source import Source

_VALID = rf"^[^\p{{C}}\p{{Zl}}\p{{Zp}}]{{1,{KeySearch.LONGEST}}}$"
"""What a word may be: it is printed, and nobody has looked at it before."""

_CELL, _TEXT, _CODE = "cell", "text", "code"

_CODE_BITS = 32
_UNIT_SHIFT = np.uint64(28)
"""How far the number of a unit is shifted to stand where `ranked` looks for a hash."""


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """The keys of a search and their units: codes of words by column, and the words."""

    counts: Integers = field(repr=False)
    codes: tuple[NDArray[np.uint32], ...] = field(repr=False)
    words: tuple[pl.Series, ...] = field(repr=False)

    def keys(self, indices: Integers) -> list[tuple[str, ...]]:
        """Return the keys of some indices, in their order: a word of each column."""
        columns = [
            words.gather(codes.take(indices)).to_list()
            for words, codes in zip(self.words, self.codes, strict=True)
        ]
        return list(zip(*columns, strict=True))


class UnitsByKey:
    """The units and words of a search, gathered batch by batch, and then counted."""

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
        """Return the words and units of the rows that pass and have all of them."""
        # By their names polars would take some for patterns.
        found = pl.DataFrame([batch.get_column(name) for name in self._columns])
        if self._where is not None:
            found = found.filter(self._made.derived(batch).get_column(self._where))
        return found.drop_nulls()

    def add(self, some: pl.DataFrame) -> None:
        """Take the words and units of a batch in."""
        self._frames.append(some)

    def counted(self, salt: bytes) -> FoundKeys:
        """Return every key that a unit counts for, in order, and its units."""
        cells = pl.concat(self._frames, rechunk=True)
        self._frames.clear()
        words, codes = [], []
        for name in self._search.columns:
            known = _words(cells.get_column(name), self._search.reserved)
            words.append(known.get_column(_TEXT))
            codes.append(_coded(cells.get_column(name), known))
        kept = np.logical_and.reduce([one.is_not_null().to_numpy() for one in codes])
        rows = np.flatnonzero(kept)
        keys, columns = _keys([one.gather(rows).to_numpy() for one in codes])
        if self._search.unit is not None:
            units = cells.get_column(self._search.unit).gather(rows)
            hashes = [_hashes(one, salt) for one in words]
            keys = _kept(
                units, keys, _key_hashes(hashes, columns), self._search.most, salt
            )
        counts = np.bincount(keys, minlength=len(columns[0]))
        # A key that no unit counts for is absent.
        there = np.flatnonzero(counts)
        return FoundKeys(
            counts=counts.take(there),
            codes=tuple(column.take(there) for column in columns),
            words=tuple(words),
        )


def _words(cells: pl.Series, reserved: str | None) -> pl.DataFrame:
    """Return the cells that are words, each once, and codes in the order of texts."""
    cells = cells.unique()
    texts = cells.cast(pl.String) if cells.dtype == pl.Int64 else decoded(cells)
    found = pl.DataFrame({_CELL: cells, _TEXT: texts})
    valid = pl.col(_TEXT).str.contains(_VALID)
    if reserved is not None:
        valid &= pl.col(_TEXT) != reserved
    return found.filter(valid).sort(_TEXT).with_row_index(_CODE)


def _coded(cells: pl.Series, known: pl.DataFrame) -> pl.Series:
    """Return the codes of some cells, in their order; null where they are unknown."""
    frame = pl.DataFrame({_CELL: cells})
    coded = frame.join(known, on=_CELL, how="left", maintain_order="left")
    return coded.get_column(_CODE)


def _keys(
    codes: list[NDArray[np.uint32]],
) -> tuple[Integers, tuple[NDArray[np.uint32], ...]]:
    """Return the number of each row's key, and the codes of each key, in order."""
    if len(codes) == 1:
        (only,) = codes
        last = int(only.max()) + 1 if len(only) else 0
        return only.astype(np.int64), (np.arange(last, dtype=np.uint32),)
    frame = pl.DataFrame({f"c{n}": column for n, column in enumerate(codes)})
    known = frame.unique().sort(frame.columns).with_row_index(_CODE)
    coded = frame.join(known, on=frame.columns, how="left", maintain_order="left")
    numbers = coded.get_column(_CODE).to_numpy().astype(np.int64)
    return numbers, tuple(known.get_column(x).to_numpy() for x in frame.columns)


def _key_hashes(words: list[Words], columns: tuple[NDArray[np.uint32], ...]) -> Words:
    """Return a salted hash of every key, from those of its words."""
    found = words[0].take(columns[0])
    for hashes, codes in zip(words[1:], columns[1:], strict=True):
        found = mixed(found, hashes.take(codes))
    return found


def _hashes(cells: pl.Series, salt: bytes) -> Words:
    """Return a salted hash of every text."""
    seed, word = salted(salt, "keys", 2)
    found: Words = cells.hash(seed).to_numpy() ^ np.uint64(word)
    return found


def _kept(
    units: pl.Series, keys: Integers, key_hashes: Words, most: int, salt: bytes
) -> Integers:
    """Return the keys that count: so many of each unit at most, each once."""
    (seed,) = salted(salt, "units of keys", 1)
    known = pl.DataFrame({_CELL: units.unique()}).with_row_index(_CODE)
    codes = _coded(units, known).to_numpy().astype(np.int64)
    pairs = codes << _CODE_BITS | keys
    pairs.sort()
    new = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    pairs = pairs[new]
    codes, keys = pairs >> _CODE_BITS, pairs & ((1 << _CODE_BITS) - 1)
    unit_hashes = known.get_column(_CELL).hash(seed).to_numpy()
    priorities = mixed(unit_hashes.take(codes), key_hashes.take(keys))
    order, codes, _ = ranked(codes, codes.view(np.uint64) << _UNIT_SHIFT, priorities)
    first = np.ones(len(codes), np.bool_)
    far = min(most, len(codes))
    np.not_equal(codes[far:], codes[: len(codes) - far], out=first[far:])
    kept: Integers = keys.take(order[first])
    return kept
