"""Columns of keys that a search has shown: the number of a row's key among them."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from dpql.curator.columns import code_bits
from dpql.curator.key_search import FoundColumn
from dpql.curator.program import Program
from dpql.curator.sources.source import Source

_CODE = "code"
_TYPES = {8: pl.UInt8(), 16: pl.UInt16(), 32: pl.UInt32()}


class FoundColumns:
    """Adds the columns of found keys of a program to its batches; threads share it."""

    def __init__(self, program: Program, source: Source) -> None:
        self._lookups = [_Lookup.of(found, source) for found in program.found]

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the batch with the columns of found keys behind its own."""
        if not self._lookups:
            return batch
        return batch.with_columns(one.codes(batch) for one in self._lookups)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """The cells of every key, and its number."""

    found: FoundColumn
    known: pl.DataFrame = field(repr=False)

    @classmethod
    def of(cls, found: FoundColumn, source: Source) -> _Lookup:
        """Return the lookup for the cells as they are stored."""
        names = _cells(found)
        words = zip(*found.keys, strict=True) if found.keys else ([] for _ in names)
        cells = [
            _stored(name, list(some), source.schema[column])
            for name, column, some in zip(names, found.columns, words, strict=True)
        ]
        dtype = _TYPES[code_bits(max(1, found.size))]
        codes = pl.Series(_CODE, range(len(found.keys)), dtype)
        return cls(found, pl.DataFrame([*cells, codes]))

    def codes(self, batch: pl.DataFrame) -> pl.Series:
        """Return the number of each row's key; null where it has none."""
        names = _cells(self.found)
        pairs = zip(names, self.found.columns, strict=True)
        cells = pl.DataFrame([batch.get_column(of).alias(to) for to, of in pairs])
        coded = cells.join(self.known, on=names, how="left", maintain_order="left")
        codes = coded.get_column(_CODE)
        if self.found.others:
            last = pl.lit(len(self.found.keys), codes.dtype)
            there = pl.all_horizontal(pl.col(name).is_not_null() for name in names)
            made = pl.coalesce(_CODE, pl.when(there).then(last))
            codes = coded.select(made.alias(_CODE)).get_column(_CODE)
        return codes.alias(self.found.name)


def _cells(found: FoundColumn) -> list[str]:
    return [f"cell{index}" for index in range(len(found.columns))]


def _stored(name: str, words: list[str], dtype: pl.DataType) -> pl.Series:
    """Return words as the cells of a canonical column of ids are."""
    texts = pl.Series(name, words, pl.String)
    # Keys were found in this column, so those of integers are integers.
    return texts.cast(dtype)
