"""The polars engine: every step of a plan in one call of the streaming engine.

Steps that share their cells share a query; all queries are collected together. Each
reads only the columns it needs. A sum is made in 64 bits where no number of rows that
polars can hold overflows it, else in 128 bits, so it is exact whatever the data are.

Where units have several rows, the units are split into parts by a salted hash, each
part is read, bounded and added up by itself, and memory holds one part at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import Contest, Stretch, priorities, salted, stretches
from dpql.curator.cells import races
from dpql.curator.engines import Sums, Tick
from dpql.curator.engines.polars_query import Query, bounded_queries, plain_queries
from dpql.curator.engines.polars_sheet import Sheet
from dpql.curator.engines.polars_source import Source, open_frame
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

__all__ = ["add_up", "open_frame"]

PART_ROWS = 1 << 24
"""Rows of a part of the units, about, if there are as many as declared."""

_NARROW = (
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
)
_APART = pl.QueryOptFlags(comm_subplan_elim=False)
_SHARED = pl.QueryOptFlags()

Moments = dict[str, list[int]]


def add_up(plan: Plan, opened: Source, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments of every step, exactly, for every declared cell."""
    with pl.Config(verbose=False):
        rows = _rows(plan, opened)
        sheet = Sheet(plan, opened)
        frame = opened.frame if tick is None else _ticking(opened.frame, tick)
        if plan.spec.privacy.unit is None:
            totals = _totals(sheet, plain_queries(sheet, frame), shared=opened.costly)
        else:
            totals = _empty(plan)
            for part in _parts(sheet, frame, salt):
                _accumulate(
                    totals, _totals(sheet, bounded_queries(sheet, part), shared=False)
                )
    return Sums(rows=rows, moments=tuple(totals))


def _rows(plan: Plan, opened: Source) -> int | None:
    """Count the rows only where their number is public."""
    if plan.spec.privacy.neighbours is not Neighbours.REPLACE_ONE:
        return None
    counted = opened.frame.select(pl.len()).collect(engine="streaming")
    return int(counted.item())


def _totals(sheet: Sheet, queries: Sequence[Query], *, shared: bool) -> list[Moments]:
    frames = pl.collect_all(
        [query.frame for query in queries],
        engine="streaming",
        optimizations=_SHARED if shared else _APART,
    )
    totals = _empty(sheet.plan)
    for query, frame in zip(queries, frames, strict=True):
        for index, moments in query.moments(frame).items():
            totals[index] = moments
    return totals


def _parts(sheet: Sheet, frame: pl.LazyFrame, salt: bytes) -> Iterator[pl.DataFrame]:
    """Yield the rows of a part of the units, with what survives of them marked."""
    count = max(1, -(-sheet.plan.spec.data.rows.count // PART_ROWS))
    (seed,) = salted(salt, "unit", 1)
    for index in range(count):
        part = sheet.part(frame, seed, index, count)
        yield _judged(part.collect(engine="streaming"), sheet, salt)


def _judged(part: pl.DataFrame, sheet: Sheet, salt: bytes) -> pl.DataFrame:
    """Return the part with a column for each race that says which rows survive."""
    hashes = part["hash"].to_numpy()
    seen = sheet.seen(part.columns)
    columns = [part[name].to_numpy() for name in seen]
    ids, known = _numbered(part["unit"]), part["unit"].is_not_null().to_numpy()
    words = sorted({place.word for place in sheet.places})
    cells = [part[f"cells{word}"].to_numpy() for word in words]
    keep = [np.zeros(len(part), np.int64) for _ in words]

    def judge(stretch: Stretch) -> None:
        contest = Contest(stretch)
        for word in words:
            ranked = cells[word][contest.order]
            keep[word][contest.order] = _flags(contest, ranked, sheet, word)

    # Stretches have no row in common, so threads cannot meet.
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        lots = priorities(salt, hashes, columns)
        for _ in threads.map(judge, stretches(ids, hashes, lots, known)):
            pass
    marks = [pl.Series(f"keep{word}", keep[word]) for word in words]
    return part.drop("unit", "hash").with_columns(marks)


def _flags(
    contest: Contest, cells: NDArray[np.int64], sheet: Sheet, word: int
) -> NDArray[np.int64]:
    """Return a bit for each race of a word that says whether the row survives it."""
    flags = np.zeros(len(cells), np.int64)
    for place, race in zip(sheet.places, races(sheet.plan), strict=True):
        if place.word == word:
            single = race.grouping.count(sheet.plan.spec.data) == 1
            kept = contest.survivors(
                (cells >> place.shift & ((1 << place.bits) - 1)) - 1,
                rows=race.bound.rows,
                most_cells=None if single else race.bound.cells,
            )
            flags |= kept.astype(np.int64) << place.bit
    return flags


def _numbered(units: pl.Series) -> NDArray[np.int64]:
    """Return a number for each id, the same for equal ids only.

    Hashes would not do: they might join two units. A missing id may share the number
    of another; it takes no part.
    """
    if units.dtype in _NARROW:
        wrapped = units.cast(pl.Int64, wrap_numerical=True)
        return wrapped.fill_null(0).to_numpy()
    ids = units.to_frame("unit")
    numbers = ids.unique().with_row_index("number")
    found = ids.join(
        numbers, on="unit", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["number"].cast(pl.Int64).to_numpy()


def _ticking(frame: pl.LazyFrame, tick: Tick) -> pl.LazyFrame:
    def through(batch: pl.DataFrame) -> pl.DataFrame:
        tick()
        return batch

    return frame.map_batches(through, streamable=True)


def _empty(plan: Plan) -> list[Moments]:
    return [
        {moment.name: [0] * step.cells for moment in step.moments}
        for step in plan.steps
    ]


def _accumulate(totals: list[Moments], more: list[Moments]) -> None:
    for total, extra in zip(totals, more, strict=True):
        for name, numbers in extra.items():
            old = total[name]
            total[name] = [a + b for a, b in zip(old, numbers, strict=True)]
