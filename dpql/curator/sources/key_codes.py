"""The code of a cell among known keys: found by its hash, confirmed by itself.

Tables of hashes are made once of the keys, so a batch costs what its own cells cost,
however many keys there are. Every cell takes the same steps, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Codes = NDArray[np.uint32]

_WORD_BITS = 64
_SPARSE_BITS = 2
"""A table has two to the power of this as many slots as keys, at least."""

_OTHER_BITS = 5
"""So many bits farther each table takes its bits of a hash."""

_MOST_BITS = 16
"""Few keys have one table, of at most two to the power of this many slots."""

_SEEDS = 16
"""Seeds that are tried to have one table."""

_NULL = pl.Series("null", [None], dtype=pl.UInt32)


@lru_cache(maxsize=32)
def key_codes(keys: tuple[str, ...]) -> KeyCodes:
    """Return how texts are found among such keys; files of a folder share it."""
    return KeyCodes(pl.Series(keys, dtype=pl.String).cast(pl.Binary))


class KeyCodes:
    """Looks texts, given as bytes, or integers up among keys; threads may share it."""

    def __init__(self, keys: pl.Series) -> None:
        """Take different keys, one at least."""
        self._keys = keys
        self._seed, self._hashes, bits = _one_table(self._keys) or _some(self._keys)
        self._tables = list(_tables(self._hashes, bits))

    def of_cells(self, cells: pl.Series) -> pl.Series:
        """Return the code of each cell, of the type of the keys; null if it is none."""
        hashes = _hashed(cells, self._seed)
        codes = self._tables[0].find(hashes)
        for table in self._tables[1:]:
            others = self._hashes.take(codes) != hashes
            np.copyto(codes, table.find(hashes), where=others)
        found = pl.Series("code", codes)
        same = self._keys.gather(found) == cells
        return found.zip_with(same, _NULL)


class _Table:
    """Codes by some bits of their hash; one of those that share these bits."""

    def __init__(self, bits: int, skipped: int, codes: Codes, hashes: Words) -> None:
        self._skipped = np.uint64(skipped)
        self._shift = np.uint64(_WORD_BITS - bits)
        self._codes: Codes = np.zeros(1 << bits, np.uint32)
        self._codes[self._indices(hashes)] = codes

    def find(self, hashes: Words) -> Codes:
        """Return the code where each hash would be."""
        found: Codes = self._codes.take(self._indices(hashes))
        return found

    def _indices(self, hashes: Words) -> NDArray[np.int64]:
        shifted = hashes << self._skipped if self._skipped else hashes
        return (shifted >> self._shift).view(np.int64)


def _tables(hashes: Words, bits: int) -> Iterator[_Table]:
    """Yield tables that hold all codes together, by other bits of the hashes each."""
    codes = np.arange(len(hashes), dtype=np.uint32)
    skipped = 0
    while len(codes):
        table = _Table(bits, skipped, codes, hashes[codes])
        yield table
        codes = codes[table.find(hashes[codes]) != codes]
        skipped = (skipped + _OTHER_BITS) % (_WORD_BITS - bits)
        bits = _sparse_bits(len(codes))


def _sparse_bits(keys: int) -> int:
    return keys.bit_length() + _SPARSE_BITS


def _one_table(keys: pl.Series) -> tuple[int, Words, int] | None:
    """Return a seed, its hashes, and by how many of their bits no two keys meet."""
    fewest = _sparse_bits(len(keys))
    if fewest >= _MOST_BITS - _SPARSE_BITS:
        return None
    hashes = [_hashed(keys, seed) for seed in range(_SEEDS)]
    for bits in range(fewest, _MOST_BITS + 1):
        for seed, some in enumerate(hashes):
            if _differ(some >> np.uint64(_WORD_BITS - bits)):
                return seed, some, bits
    return None


def _some(keys: pl.Series) -> tuple[int, Words, int]:
    """Return a seed under which no two keys have one hash, the hashes, and bits."""
    seed = 0
    while True:
        hashes = _hashed(keys, seed)
        if _differ(hashes):
            return seed, hashes, _sparse_bits(len(keys))
        seed += 1


def _differ(words: Words) -> bool:
    return bool(np.diff(np.sort(words)).all())


def _hashed(cells: pl.Series, seed: int) -> Words:
    return cells.to_frame("cell").hash_rows(seed).to_numpy()
