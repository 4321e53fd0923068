"""Columns of keys that a search has shown: the number of a row's key among them."""

from __future__ import annotations

from functools import reduce
from operator import and_

import numpy as np
import polars as pl

from dpql.curator.columns import code_bits
from dpql.curator.engines.steps import cells_of
from dpql.curator.key_search import FoundColumn
from dpql.curator.program import Program
from dpql.curator.sources.key_codes import KeyCodes
from dpql.curator.sources.source import Source

_TYPES = {8: pl.UInt8(), 16: pl.UInt16(), 32: pl.UInt32()}


class FoundColumns:
    """Adds the columns of found keys of a program to its batches; threads share it."""

    def __init__(self, program: Program, source: Source) -> None:
        self._lookups = [_Lookup(found, source) for found in program.found]

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the batch with the columns of found keys behind its own."""
        if not self._lookups:
            return batch
        return batch.with_columns(one.codes(batch) for one in self._lookups)


class _Lookup:
    """Finds the number of a key: a word, then its first two words, and so on."""

    def __init__(self, found: FoundColumn, source: Source) -> None:
        self._found = found
        self._type = _TYPES[code_bits(max(1, found.size))]
        self._columns: list[KeyCodes] = []
        self._pairs: list[tuple[int, KeyCodes]] = []
        known = np.zeros(len(found.keys), np.int64)
        words_by_column = zip(*found.keys, strict=True)
        for column, words in zip(found.columns, words_by_column, strict=False):
            each = list(dict.fromkeys(words))
            numbers = {word: number for number, word in enumerate(each)}
            codes = np.array([numbers[word] for word in words], np.int64)
            self._columns.append(KeyCodes(_stored(each, source.schema[column])))
            if len(self._columns) > 1:
                pairs = known * len(each) + codes
                last = len(self._columns) == len(found.columns)
                different = pairs if last else np.unique(pairs)
                self._pairs.append((len(each), KeyCodes(pl.Series(different))))
                codes = np.searchsorted(different, pairs) if not last else codes
            known = codes

    def codes(self, batch: pl.DataFrame) -> pl.Series:
        """Return the number of each row's key; null where it has none."""
        cells = [cells_of(batch, name) for name in self._found.columns]
        codes = self._known(cells, batch.height).cast(self._type)
        if self._found.others:
            there = reduce(and_, [cell.is_not_null() for cell in cells])
            frame = pl.DataFrame([codes, there.alias("there")])
            last = pl.lit(len(self._found.keys), self._type)
            other = pl.when("there").then(last)
            codes = frame.select(pl.coalesce("code", other)).to_series()
        return codes.alias(self._found.name)

    def _known(self, cells: list[pl.Series], rows: int) -> pl.Series:
        if not self._columns:
            return pl.Series("code", [None], pl.UInt32).new_from_index(0, rows)
        pairs = zip(self._columns, cells, strict=True)
        first, *rest = [column.of_cells(some) for column, some in pairs]
        for codes, (size, known) in zip(rest, self._pairs, strict=True):
            first = known.of_cells(first.cast(pl.Int64) * size + codes.cast(pl.Int64))
        return first.alias("code")


def _stored(words: list[str], dtype: pl.DataType) -> pl.Series:
    """Return words as the cells of a canonical column of ids are."""
    # Keys were found in this column, so those of integers are integers.
    return pl.Series(words, dtype=pl.String).cast(dtype)
