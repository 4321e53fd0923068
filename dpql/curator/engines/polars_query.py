"""Which polars queries a plan takes: sums over the derived columns of a sheet.

Steps without groups share one query of plain sums, which also counts the bins of small
histograms, as differences of how many rows have reached each edge. Other steps are
grouped by their keys as they are: that is faster than coding every row, and keys that
are not declared are dropped from the small answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dpql.curator.cells import Grouping, groupings, keeps_all, keys_of, races
from dpql.curator.engines.polars_sheet import Place, Sheet
from dpql.curator.engines.polars_sums import (
    Read,
    differences,
    joined,
    moment_names,
    places_of,
    reaching,
    scattered,
    single,
    sums,
)

_FEW_BINS = 64
"""Up to so many bins are counted as differences of plain sums."""


@dataclass(frozen=True, slots=True)
class Query:
    """A lazy frame, and how its answer gives the moments of some steps."""

    frame: pl.LazyFrame
    moments: Read


def plain_queries(sheet: Sheet, frame: pl.LazyFrame) -> list[Query]:
    """Return the queries over rows that need no bounding."""
    flat: list[tuple[Grouping, list[int]]] = []
    queries: list[Query] = []
    for grouping, indices in groupings(sheet.plan).items():
        if grouping.by or len(grouping.edges) > _FEW_BINS:
            queries.append(_keyed(sheet, frame, grouping, indices))
        else:
            flat.append((grouping, indices))
    return [_flat(sheet, frame, flat), *queries] if flat else queries


def bounded_queries(sheet: Sheet, part: pl.DataFrame) -> list[Query]:
    """Return the queries over a part whose surviving rows are marked."""
    return [
        _raced(sheet, part.lazy(), race.grouping, indices, place)
        for place, (race, indices) in zip(
            sheet.places, races(sheet.plan).items(), strict=True
        )
    ]


def _flat(
    sheet: Sheet, frame: pl.LazyFrame, parts: Sequence[tuple[Grouping, list[int]]]
) -> Query:
    used: list[str] = []
    totals: dict[str, pl.Expr] = {}
    reads: list[Read] = []
    for grouping, indices in parts:
        for index in indices:
            step = sheet.plan.steps[index]
            mask, grids = sheet.mask(step), sheet.grids(step)
            used += grids + mask
            if grouping.edges:
                names, reached = sheet.reached(grouping)
                used += names
                totals |= reaching(index, reached, mask)
                reads.append(differences(index, len(reached)))
            else:
                totals |= sums(step, grids, mask)
                reads.append(single({index: moment_names(step, grids, mask)}))
    wanted = sheet.exprs(used)
    base = frame.select(wanted) if wanted else frame
    return Query(base.select(_aliased(totals)), joined(reads))


def _keyed(
    sheet: Sheet, frame: pl.LazyFrame, grouping: Grouping, indices: Sequence[int]
) -> Query:
    used: list[str] = []
    totals: dict[str, pl.Expr] = {}
    names: dict[int, dict[str, str]] = {}
    for index in indices:
        step = sheet.plan.steps[index]
        mask, grids = sheet.mask(step), sheet.grids(step)
        used += grids + mask
        totals |= sums(step, grids, mask)
        names[index] = moment_names(step, grids, mask)
    keys = {f"key:{name}": sheet.cells.words(name) for name in grouping.by}
    codes = [
        places_of(pl.col(f"key:{name}"), keys_of(sheet.data, name))
        for name in grouping.by
    ]
    if grouping.edges:
        keys["bin"] = sheet.bin(grouping)
        codes.append(pl.col("bin").cast(pl.Int64))
    answer = (
        frame.select(*_aliased(keys), *sheet.exprs(used))
        .group_by(list(keys))
        .agg(_aliased(totals))
        .select(sheet.combined(grouping, codes).alias("cell"), pl.col(list(totals)))
        .drop_nulls("cell")
    )
    return Query(answer, scattered(names, grouping.count(sheet.data)))


def _raced(
    sheet: Sheet,
    frame: pl.LazyFrame,
    grouping: Grouping,
    indices: Sequence[int],
    place: Place,
) -> Query:
    """Return the sums over the rows that survived a race.

    Where the number of rows is public, the others stay with their values at the fill.
    """
    keep = (pl.col(f"keep{place.word}") & (1 << place.bit)) != 0
    totals: dict[str, pl.Expr] = {}
    names: dict[int, dict[str, str]] = {}
    filled: dict[str, pl.Expr] = {}
    for index in indices:
        step = sheet.plan.steps[index]
        mask, grids = sheet.present(step), sheet.grids(step)
        if keeps_all(step):
            for name, fill in zip(grids, sheet.fills(step), strict=True):
                filled[name] = pl.when(keep).then(pl.col(name)).otherwise(fill)
        totals |= sums(step, grids, mask)
        names[index] = moment_names(step, grids, mask)
    frame = frame.with_columns(_aliased(filled)) if filled else frame.filter(keep)
    if not grouping.by and not grouping.edges:
        return Query(frame.select(_aliased(totals)), single(names))
    cell = pl.col(f"cells{place.word}") // (1 << place.shift) % (1 << place.bits) - 1
    frame = frame.group_by(cell.alias("cell")).agg(_aliased(totals))
    return Query(frame, scattered(names, grouping.count(sheet.data)))


def _aliased(exprs: dict[str, pl.Expr]) -> list[pl.Expr]:
    return [expr.alias(name) for name, expr in exprs.items()]
