"""The polars engine: derived columns by polars, sums per cell by numpy, all exact.

Batches of canonical columns are read and aggregated by threads, several at a time; the
caller adds up what they give. Where units have several rows, batches are partitioned by
a hash of the unit first, and `polars_bounding` bounds and sums each partition.
"""

from __future__ import annotations

import threading
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import ExitStack, closing, contextmanager
from functools import partial, reduce
from itertools import chain
from operator import and_
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.engines import Searched, Sums, Tick
from dpql.curator.engines.aggregate import Aggregate
from dpql.curator.engines.derived_columns import DerivedColumns
from dpql.curator.engines.found_columns import FoundColumns
from dpql.curator.engines.memory import keep_memory
from dpql.curator.engines.polars_bounding import Partitions
from dpql.curator.engines.polars_expressions import Expressions, FactorSteps
from dpql.curator.engines.polars_keys import FoundKeys, UnitsByKey
from dpql.curator.engines.polars_values import Pairs, pairs
from dpql.curator.engines.totals import (
    BATCH_ROWS,
    EXACT_DOUBLES,
    EXACT_INTEGERS,
    CellSums,
    Found,
    Integers,
    Limbs,
    Terms,
    indices,
    product,
    sums_of_rows,
)
from dpql.curator.factors import Factor, Flag
from dpql.curator.program import Program, Ranking, Tally
from dpql.curator.sources import open_source
from dpql.curator.sources.prefetch import prefetched
from dpql.curator.sources.source import Source

__all__ = ["key_counts", "open_source", "sums"]

T = TypeVar("T")

Steps = Mapping[Factor | Flag, NDArray[Any]]

_RowSums = Callable[[pl.DataFrame, Steps, int], Found | Pairs]

_lock = threading.Lock()
_running: list[None] = []
_restored = ExitStack()


def sums(program: Program, source: Source, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments or counts of every tally, exactly, for every cell."""
    keep_memory()
    rows = source.row_count() if program.counts_rows else None
    with _quiet():
        return aggregated(program, source, salt, tick).sums(rows)


def key_counts(
    program: Program, source: Source, *, salt: bytes, tick: Tick | None
) -> Searched:
    """Return every key of every search of the program, and the units that have it."""
    keep_memory()
    # What is grouped by the keys is summed when they are known.
    source.keep()
    rows = source.row_count() if program.counts_rows else None
    return Searched(rows=rows, counts=tuple(found_keys(program, source, salt, tick)))


def found_keys(
    program: Program, source: Source, salt: bytes, tick: Tick | None
) -> list[FoundKeys]:
    """Return the keys of every search, and the units that have them."""
    with _quiet():
        searches = [UnitsByKey(one, program, source) for one in program.searches]

        def task(batch: pl.DataFrame) -> list[pl.DataFrame]:
            return [one.of_batch(batch) for one in searches]

        with closing(_read(program, source, task, tick)) as batches:
            for found in batches:
                for search, some in zip(searches, found, strict=True):
                    search.add(some)
        return [search.counted(salt) for search in searches]


def aggregated(
    program: Program, source: Source, salt: bytes, tick: Tick | None
) -> Aggregate:
    """Return what all rows of a source add up to."""
    total = Aggregate(program)
    with _quiet(), closing(_found(program, source, salt, tick)) as found:
        for index, some in chain.from_iterable(found):
            total.add(index, some)
    return total


def _found(
    program: Program, source: Source, salt: bytes, tick: Tick | None
) -> Generator[Iterable[tuple[int, Found | Pairs]]]:
    """Yield sums of some rows by the number of their tally, until all are summed."""
    if program.unit is None:
        with closing(_read(program, source, RowSums(program), tick)) as batches:
            for batch in batches:
                yield enumerate(batch)
        return
    with closing(Partitions(program, source.schema, salt)) as partitions:
        with closing(_read(program, source, partitions.partition, tick)) as batches_:
            for one in batches_:
                partitions.take(one)
        tasks = (partial(partitions.sums, x) for x in partitions.largest_first())
        with closing(prefetched(tasks, pl.thread_pool_size())) as found:
            yield from found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep polars from printing; the last of several runs restores its settings.

    They are those of the process, so runs of several threads share them.
    """
    with _lock:
        if not _running:
            _restored.enter_context(pl.Config(verbose=False))
        _running.append(None)
    try:
        yield
    finally:
        with _lock:
            _running.pop()
            if not _running:
                _restored.close()


def _read(
    program: Program,
    source: Source,
    task: Callable[[pl.DataFrame], T],
    tick: Tick | None,
) -> Generator[T]:
    """Yield what the task makes of each batch, in the thread that read it."""
    names = [column.name for column in program.columns]
    with_derived = DerivedColumns(program)
    with_found = FoundColumns(program, source)

    def ticking(batch: pl.DataFrame) -> T:
        if tick is not None:
            tick()
        assert batch.height <= BATCH_ROWS, "sources keep batches small"
        return task(with_found(with_derived(batch)))

    with closing(source.batches(names, ticking)) as found:
        yield from found


class RowSums:
    """The sums of a batch of rows, each a unit of its own."""

    def __init__(self, program: Program) -> None:
        self._made = Expressions(program)
        self._sums = CellSums()
        self._steps = FactorSteps(program.factors, self._made)
        self._flags = {
            flag: self._made.flag(flag)
            for tally in program.tallies
            for flag in tally.flags
        }
        self._tallies = [self._compiled(tally) for tally in program.tallies]

    def __call__(self, batch: pl.DataFrame) -> list[Found | Pairs]:
        """Return the sums of every moment of every tally, or what it counts."""
        derived = self._made.derived(batch)
        made: dict[Factor | Flag, NDArray[Any]] = dict(self._steps(derived).items())
        for flag, name in self._flags.items():
            made[flag] = derived.get_column(name).to_numpy()
        return [tally(derived, made, batch.height) for tally in self._tallies]

    def _compiled(self, tally: Tally) -> _RowSums:
        selection = tally.selection
        masks = self._made.mask(tally)
        rows = selection.where, tally.present, tally.counted
        cell = mask = None
        if selection.axes or (masks and tally.ranking is not None):
            cells = self._made.cell(selection, masks)
            cell = self._made.derive(cells, selection.axes, *rows)
        elif masks:
            mask = self._made.derive(reduce(and_, masks), *rows)
        if tally.ranking is not None:
            return partial(_by_rank, tally.ranking, cell)
        if tally.distinct is not None:
            held = self._made.column(tally.distinct.column)
            value = self._made.derive(held, tally.distinct.column)
            return partial(_values, tally, (cell, mask, value))
        if cell is not None:
            return partial(_by_cell, self._sums, tally, cell)
        return partial(_in_one_cell, tally, mask)


def _terms(tally: Tally, made: Steps, exact: int) -> Iterator[Terms]:
    for moment in tally.moments:
        factors = [made[factor] for factor in moment.factors]
        yield product(factors, moment.largest, exact)


def _by_cell(
    sums: CellSums, tally: Tally, cell: str, derived: pl.DataFrame, made: Steps, _: int
) -> list[Limbs]:
    cells = derived.get_column(cell).to_numpy()
    return sums(cells, tally.selection.cells, _terms(tally, made, EXACT_DOUBLES))


def _values(
    tally: Tally,
    names: tuple[str | None, str | None, str],
    derived: pl.DataFrame,
    made: Steps,
    rows: int,
) -> Pairs:
    """Return the cells and values of the rows that have both."""
    distinct, (cell, mask, value) = tally.distinct, names
    assert distinct is not None, "other tallies are summed"
    count = tally.selection.cells
    if cell is not None:
        cells = derived.get_column(cell).to_numpy()
        kept = np.flatnonzero(cells < count)
    else:
        cells = np.zeros(rows, np.uint8)
        kept = np.arange(rows)
        if mask is not None:
            kept = np.flatnonzero(derived.get_column(mask).to_numpy())
    values = derived.get_column(value)
    if distinct.factor is not None:
        values = pl.Series(made[distinct.factor])
    return pairs(distinct, count, cells.take(kept), values.gather(kept))


def _by_rank(
    ranking: Ranking, cell: str | None, derived: pl.DataFrame, made: Steps, _: int
) -> Integers:
    cells = None if cell is None else derived.get_column(cell).to_numpy()
    return indices(cells, made[ranking.factor], ranking)


def _in_one_cell(
    tally: Tally, mask: str | None, derived: pl.DataFrame, made: Steps, rows: int
) -> list[Limbs]:
    kept = None
    if mask is not None:
        flags = derived.get_column(mask)
        rows, kept = int(flags.sum()), flags.to_numpy()
    terms = _terms(tally, made, EXACT_INTEGERS)
    return [sums_of_rows(some, kept) or [np.array([rows])] for some in terms]
