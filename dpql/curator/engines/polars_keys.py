"""Private keys: how many units have each key that stands in a column, exactly.

    a unit counts once for each of its keys, for so many of them at most
    those that count are the ones of the smallest hash of salt, unit and key

So what counts of a unit follows from its own keys and the salt alone, and every key of
a unit is as likely to count as any other. Ids and keys are compared, not their hashes:
a hash only orders the keys of a unit.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import numpy as np
import polars as pl

from dpql.curator.bounding import mixed, salted
from dpql.curator.engines import KeyCounts, Tick
from dpql.curator.key_search import KeySearch
from dpql.curator.sources.canonical import decoded
from dpql.curator.sources.source import Source

_VALID = rf"^[^\p{{C}}\p{{Zl}}\p{{Zp}}]{{1,{KeySearch.LONGEST}}}$"
"""What a key may be: it is printed, and nobody has looked at it before."""

_UNIT, _KEY, _TEXT, _CODE = "unit", "key", "text", "code"


def units_by_key(
    search: KeySearch, source: Source, *, salt: bytes, tick: Tick | None
) -> KeyCounts:
    """Return every key that stands in the column, in its order, and its units."""
    with closing(_cells(search, source, tick)) as parts:
        cells = pl.concat(parts)
    keys = _keys(cells[_KEY])
    codes = cells.join(keys, on=_KEY).select(*cells.columns[:-1], _CODE)
    if search.unit is not None:
        codes = _counted(codes.unique(maintain_order=False), keys, search.most, salt)
    counts = np.bincount(codes[_CODE].to_numpy(), minlength=keys.height)
    # A key that no unit counts for is absent.
    there = np.flatnonzero(counts)
    return KeyCounts(
        keys=keys[_TEXT].gather(there).to_list(), counts=counts.take(there)
    )


def _cells(
    search: KeySearch, source: Source, tick: Tick | None
) -> Generator[pl.DataFrame]:
    """Yield the keys of some rows behind the units, if there are any."""

    def task(batch: pl.DataFrame) -> pl.DataFrame:
        if tick is not None:
            tick()
        found = [batch.get_column(search.column).alias(_KEY)]
        if search.unit is not None:
            found.insert(0, batch.get_column(search.unit).alias(_UNIT))
        return pl.DataFrame(found).drop_nulls()

    types = {_UNIT: search.unit, _KEY: search.column}
    yield pl.DataFrame(
        schema={name: source.schema[of] for name, of in types.items() if of is not None}
    )
    with closing(source.batches(search.reads, task)) as found:
        yield from found


def _keys(cells: pl.Series) -> pl.DataFrame:
    """Return the cells that are keys, each once, in the order of their texts."""
    cells = cells.unique()
    texts = cells.cast(pl.String) if cells.dtype == pl.Int64 else decoded(cells)
    found = pl.DataFrame({_KEY: cells, _TEXT: texts})
    valid = pl.col(_TEXT).str.contains(_VALID)
    return found.filter(valid).sort(_TEXT).with_row_index(_CODE)


def _counted(
    pairs: pl.DataFrame, keys: pl.DataFrame, most: int, salt: bytes
) -> pl.DataFrame:
    """Return the pairs that count: so many of each unit, by their hashes."""
    unit_seed, key_seed, word = salted(salt, "keys", 3)
    hashes = pairs[_UNIT].hash(unit_seed).to_numpy()
    words = keys[_TEXT].hash(key_seed).to_numpy() ^ np.uint64(word)
    priorities = mixed(hashes, words.take(pairs[_CODE].to_numpy()))
    drawn = pairs.with_columns(pl.Series("priority", priorities))
    rank = pl.int_range(pl.len()).over(_UNIT)
    return drawn.sort("priority", _CODE).filter(rank < most)
