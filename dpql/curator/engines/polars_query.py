"""Which polars queries a plan takes: sums over the derived columns of a sheet.

Steps without groups share one query of plain sums, which also counts the bins of small
histograms, as differences of how many rows have reached each edge. Other steps are
grouped by their keys as they are: that is faster than coding every row, and keys that
are not declared are dropped from the small answer.

Queries that read a column in common share their derived columns, so the column is read
and put on its grid once. Others read the data for themselves, which is faster than
carrying all columns through one scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl
import polars.selectors as cs

from dpql.curator.cells import Grouping, groupings, keys_of, races
from dpql.curator.engines.polars_sheet import Place, Sheet
from dpql.curator.engines.polars_sums import (
    Read,
    differences,
    joined,
    moment_names,
    reaching,
    scattered,
    single,
    sums,
)
from dpql.curator.engines.polars_text import key_places

_FEW_BINS = 64
"""Up to so many bins are counted as differences of plain sums."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the answer to a query gives the moments of some steps.

    A ``keyed`` answer has a row for each cell, in any order, another has one row.
    """

    moments: Read
    keyed: bool = False

    def merged(self, answers: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return the answers to some rows and to others as that to all of them.

        It is exact: 128 bits hold the sum of far more rows than anybody has, and 64
        their number, which is all that comes without a sign.
        """
        if len(answers) == 1:
            return answers[0]
        counts = cs.unsigned_integer().cast(pl.UInt64)
        sums = (cs.signed_integer() - cs.by_name("cell", require_all=False)).cast(
            pl.Int128
        )
        rows = pl.concat(answer.with_columns(counts, sums) for answer in answers)
        return rows.group_by("cell").sum() if self.keyed else rows.sum()


@dataclass(frozen=True, slots=True)
class Query:
    """A lazy frame, and how its answer is read."""

    frame: pl.LazyFrame
    reading: Reading


@dataclass(frozen=True, slots=True)
class Family:
    """Queries over the same rows: the columns they read, and how they are made."""

    reads: frozenset[str]
    queries: Callable[[pl.LazyFrame], list[Query]]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A query to be: the columns it derives from a row, and what it does with them."""

    derived: list[pl.Expr]
    query: Callable[[pl.LazyFrame], Query]

    def reads(self) -> set[str]:
        """Return the columns of the data that are read."""
        return {name for expr in self.derived for name in expr.meta.root_names()}


def plain_queries(sheet: Sheet, *, once: bool, small: bool) -> list[Family]:
    """Return the queries over rows that need no bounding, those together that share.

    With ``once`` they share one reading of the data. All batches are known to be
    ``small``, or may have any number of rows.
    """
    flat: list[tuple[Grouping, list[int]]] = []
    drafts: list[_Draft] = []
    for grouping, indices in groupings(sheet.plan).items():
        if grouping.by or len(grouping.edges) > _FEW_BINS:
            drafts.append(_keyed(sheet, grouping, indices, small=small))
        else:
            flat.append((grouping, indices))
    if flat:
        drafts.insert(0, _flat(sheet, flat, small=small))
    return [_sharing(some) for some in ([drafts] if once else _connected(drafts))]


def bounded_queries(sheet: Sheet, part: pl.DataFrame) -> list[Query]:
    """Return the queries over a part whose surviving rows are marked."""
    return [
        _raced(sheet, part.lazy(), race.grouping, indices, (place, f"keep{number}"))
        for number, (place, (race, indices)) in enumerate(
            zip(sheet.places, races(sheet.plan).items(), strict=True)
        )
    ]


def _connected(drafts: Sequence[_Draft]) -> list[list[_Draft]]:
    """Return the drafts in groups, such that no two groups read a column in common."""
    groups: list[tuple[set[str], list[_Draft]]] = []
    for draft in drafts:
        reads, members = draft.reads(), [draft]
        others = [group for group in groups if not group[0] & reads]
        for group in groups:
            if group[0] & reads:
                reads = reads | group[0]
                members = group[1] + members
        groups = [*others, (reads, members)]
    return [members for _, members in groups]


def _sharing(drafts: Sequence[_Draft]) -> Family:
    derived = {
        expr.meta.output_name(): expr for draft in drafts for expr in draft.derived
    }

    def queries(frame: pl.LazyFrame) -> list[Query]:
        base = frame.select(derived.values()) if derived else frame
        return [draft.query(base) for draft in drafts]

    return Family(frozenset().union(*(draft.reads() for draft in drafts)), queries)


def _flat(
    sheet: Sheet, parts: Sequence[tuple[Grouping, list[int]]], *, small: bool
) -> _Draft:
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
                totals |= reaching(index, reached, mask, small=small)
                reads.append(differences(index, len(reached)))
            else:
                totals |= sums(step, grids, mask, small=small)
                reads.append(single({index: moment_names(step, grids, mask)}))
    return _Draft(
        sheet.exprs(used),
        lambda base: Query(base.select(_aliased(totals)), Reading(joined(reads))),
    )


def _keyed(
    sheet: Sheet, grouping: Grouping, indices: Sequence[int], *, small: bool
) -> _Draft:
    axes = [f"key:{name}" for name in grouping.by]
    axes += [f"bin:{indices[0]}"] if grouping.edges else []
    some = pl.col(axes[0])
    used: list[str] = []
    totals: dict[str, pl.Expr] = {}
    names: dict[int, dict[str, str]] = {}
    for index in indices:
        step = sheet.plan.steps[index]
        mask, grids = sheet.mask(step), sheet.grids(step)
        used += grids + mask
        totals |= sums(step, grids, mask, small=small, some=some)
        names[index] = moment_names(step, grids, mask)
    keys = {f"key:{name}": sheet.cells.key(name) for name in grouping.by}
    words = [name for name in grouping.by if not sheet.cells.is_coded(name)]
    codes = [
        pl.col(f"place of key:{name}" if name in words else f"key:{name}").cast(
            pl.Int64
        )
        for name in grouping.by
    ]
    tables = {
        f"key:{name}": key_places(
            f"key:{name}",
            f"place of key:{name}",
            keys_of(sheet.data, name),
            raw=sheet.cells.is_raw(name),
        )
        for name in words
    }
    if grouping.edges:
        keys[axes[-1]] = sheet.bin(grouping)
        codes.append(pl.col(axes[-1]).cast(pl.Int64))
    cell = sheet.combined(grouping, codes).alias("cell")

    def query(base: pl.LazyFrame) -> Query:
        answer = base.group_by(list(keys)).agg(_aliased(totals))
        for name, places in tables.items():
            answer = answer.join(places, on=name)
        answer = answer.select(cell, pl.col(list(totals))).drop_nulls("cell")
        count = grouping.count(sheet.data)
        return Query(answer, Reading(scattered(names, count), keyed=True))

    return _Draft([*_aliased(keys), *sheet.exprs(used)], query)


def _raced(
    sheet: Sheet,
    frame: pl.LazyFrame,
    grouping: Grouping,
    indices: Sequence[int],
    placed: tuple[Place, str],
) -> Query:
    """Return the sums over the rows that survived a race."""
    place, keep = placed[0], pl.col(placed[1])
    totals: dict[str, pl.Expr] = {}
    names: dict[int, dict[str, str]] = {}
    wide: dict[str, pl.Expr] = {}
    for index in indices:
        step = sheet.plan.steps[index]
        mask, grids = sheet.present(step), sheet.grids(step)
        wide |= {name: pl.col(name).cast(pl.Int64) for name in grids}
        # Whether there are few rows of a part is nobody's business.
        totals |= sums(step, grids, mask, small=False, some=pl.col(place.name))
        names[index] = moment_names(step, grids, mask)
    frame = frame.filter(keep).with_columns(_aliased(wide))
    if not grouping.by and not grouping.edges:
        return Query(frame.select(_aliased(totals)), Reading(single(names)))
    answer = frame.group_by(cell=pl.col(place.name) & place.mask).agg(_aliased(totals))
    cell = pl.col("cell") // (1 << place.shift) - 1
    answer = answer.with_columns(cell.alias("cell"))
    count = grouping.count(sheet.data)
    return Query(answer, Reading(scattered(names, count), keyed=True))


def _aliased(exprs: dict[str, pl.Expr]) -> list[pl.Expr]:
    return [expr.alias(name) for name, expr in exprs.items()]
