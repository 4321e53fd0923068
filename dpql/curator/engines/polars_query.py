"""Which polars queries a plan takes, and how their answers are read.

A `Sheet` names every column that is derived from a row (steps of a grid, masks, cells)
once; queries are sums over these names. An answer becomes, for each step, one list of
integers per moment, in the order of the plan's cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from dpql.curator.cells import (
    Grouping,
    dropping,
    groupings,
    keeps_all,
    keys_of,
    number_column,
    races,
)
from dpql.curator.engines.polars_cells import Cells
from dpql.curator.engines.polars_source import Source
from dpql.curator.engines.polars_sums import (
    Answer,
    Read,
    alias,
    differences,
    joined,
    places_of,
    reaching,
    sums,
)
from dpql.curator.grid import cuts, ruler_of
from dpql.model.plan import Plan, Step
from dpql.model.spec import Condition, DropNulls

_WORD_BITS = 62
_FEW_BINS = 64
"""Up to so many bins are counted as differences of flat sums, without groups."""


@dataclass(frozen=True, slots=True)
class Query:
    """A lazy frame, and how its answer gives the moments of some steps."""

    frame: pl.LazyFrame
    moments: Read


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cell of a race is packed: a word, a shift, so many bits; its flag."""

    word: int
    shift: int
    bits: int
    bit: int


class Sheet:
    """The derived columns of a plan, each under one name."""

    def __init__(self, plan: Plan, source: Source) -> None:
        self.plan = plan
        self._data = plan.spec.data
        self._cells = Cells(self._data, source.types, quoted=source.text)
        self._names: dict[object, str] = {}
        self._columns: dict[str, pl.Expr] = {}
        self.places = _places([race.grouping.count(self._data) for race in races(plan)])

    def plain(self, frame: pl.LazyFrame) -> list[Query]:
        """Return the queries over rows that need no bounding."""
        flat: list[tuple[Grouping, list[int]]] = []
        queries: list[Query] = []
        for grouping, indices in groupings(self.plan).items():
            if grouping.by or len(grouping.edges) > _FEW_BINS:
                queries.append(self._keyed(frame, grouping, indices))
            else:
                flat.append((grouping, indices))
        return [self._flat(frame, flat), *queries] if flat else queries

    def part(
        self, frame: pl.LazyFrame, seed: int, index: int, count: int
    ) -> pl.LazyFrame:
        """Return the derived columns of the units whose hash is ``index``."""
        name = self.plan.spec.privacy.unit
        assert name is not None, "units are rows otherwise"
        unit = self._cells.unit(name)
        lots = unit.hash(seed)
        if count > 1:
            frame = frame.filter(lots % count == index)
        used: list[str] = []
        for step in self.plan.steps:
            used += self._grids(step) + self._present(step)
        named = unit.is_not_null()
        return frame.select(
            unit.alias("unit"),
            lots.alias("hash"),
            *self._exprs(used),
            *self._packed(named),
        )

    def coded(self, part: pl.DataFrame) -> list[Query]:
        """Return the queries over a part whose survivors are marked."""
        queries = []
        for number, (race, indices) in enumerate(races(self.plan).items()):
            place = self.places[number]
            keep = (pl.col(f"keep{place.word}") & (1 << place.bit)) != 0
            steps = [self.plan.steps[index] for index in indices]
            fills = keeps_all(steps[0])
            frame = part.lazy() if fills else part.lazy().filter(keep)
            totals: dict[str, pl.Expr] = {}
            for index, step in zip(indices, steps, strict=True):
                mask = [pl.col(name) for name in self._present(step)]
                grids = [pl.col(name) for name in self._grids(step)]
                if fills:
                    grids = self._refilled(step, grids, keep)
                totals |= sums(index, step, grids, mask)
            exprs = [expr.alias(name) for name, expr in totals.items()]
            if race.grouping.by or race.grouping.edges:
                cell = pl.col(f"cells{place.word}") // (1 << place.shift)
                cell = cell % (1 << place.bits) - 1
                frame = frame.group_by(cell.alias("cell")).agg(exprs)
                read = self._scattered(race.grouping, indices, "cell")
            else:
                frame, read = frame.select(exprs), self._single(indices)
            queries.append(Query(frame, read))
        return queries

    def _flat(
        self, frame: pl.LazyFrame, parts: Sequence[tuple[Grouping, list[int]]]
    ) -> Query:
        """Return one query of plain sums for all steps without keys."""
        used: list[str] = []
        totals: dict[str, pl.Expr] = {}
        reads: list[Read] = []
        for grouping, indices in parts:
            for index in indices:
                step = self.plan.steps[index]
                mask = self._mask(step)
                grids = self._grids(step)
                used += grids + mask
                masks = [pl.col(name) for name in mask]
                if grouping.edges:
                    names, reached = self._reached(grouping)
                    used += names
                    totals |= reaching(index, reached, masks)
                    reads.append(differences(index, len(reached)))
                else:
                    columns = [pl.col(name) for name in grids]
                    totals |= sums(index, step, columns, masks)
                    reads.append(self._single([index]))
        exprs = [expr.alias(name) for name, expr in totals.items()]
        wanted = self._exprs(used)
        base = frame.select(wanted) if wanted else frame
        return Query(base.select(exprs), joined(reads))

    def _keyed(
        self, frame: pl.LazyFrame, grouping: Grouping, indices: list[int]
    ) -> Query:
        """Return a query grouped by the keys as they are; codes come afterwards.

        Grouping by the text itself is faster than coding every row; undeclared keys
        are dropped from the small answer.
        """
        used: list[str] = []
        totals: dict[str, pl.Expr] = {}
        for index in indices:
            step = self.plan.steps[index]
            mask, grids = self._mask(step), self._grids(step)
            used += grids + mask
            columns = [pl.col(name) for name in grids]
            totals |= sums(index, step, columns, [pl.col(name) for name in mask])
        keys = [self._cells.words(name).alias(f"key:{name}") for name in grouping.by]
        if grouping.edges:
            keys.append(self._bin(grouping).alias("bin"))
        names = [f"key:{name}" for name in grouping.by]
        names += ["bin"] if grouping.edges else []
        codes = [
            places_of(pl.col(f"key:{name}"), keys_of(self._data, name))
            for name in grouping.by
        ]
        codes += [pl.col("bin").cast(pl.Int64)] if grouping.edges else []
        answer = (
            frame.select(*keys, *self._exprs(used))
            .group_by(names)
            .agg(expr.alias(name) for name, expr in totals.items())
            .select(self._combined(grouping, codes).alias("cell"), pl.col(list(totals)))
            .drop_nulls("cell")
        )
        return Query(answer, self._scattered(grouping, indices, "cell"))

    def _packed(self, named: pl.Expr) -> list[pl.Expr]:
        """Return words that hold the cells of all races, each plus 1."""
        words: dict[int, pl.Expr] = {}
        for place, race in zip(self.places, races(self.plan), strict=True):
            code = self._code(race.grouping, race.where, named) + 1
            part = code * (1 << place.shift)
            word = words.get(place.word)
            words[place.word] = part if word is None else word + part
        return [word.alias(f"cells{number}") for number, word in words.items()]

    def _code(
        self, grouping: Grouping, where: Condition | None, named: pl.Expr
    ) -> pl.Expr:
        """Return the number of the row's cell; -1 where it takes no part.

        A row without a unit takes no part: nobody's bound could hold it.
        """
        codes = [
            self._cells.words(name)
            .cast(pl.Enum(list(keys_of(self._data, name))), strict=False)
            .to_physical()
            .cast(pl.Int64)
            for name in grouping.by
        ]
        if grouping.edges:
            codes.append(self._bin(grouping))
        inside = named if where is None else named & self._cells.holds(where)
        code = self._combined(grouping, codes).cast(pl.Int64)
        return pl.when(inside).then(code).fill_null(-1)

    def _combined(self, grouping: Grouping, codes: Sequence[pl.Expr]) -> pl.Expr:
        strides = grouping.strides(self._data)
        scaled = [code * stride for code, stride in zip(codes, strides, strict=True)]
        return sum(scaled[1:], scaled[0]) if scaled else pl.lit(0, pl.Int64)

    def _bin(self, grouping: Grouping) -> pl.Expr:
        assert grouping.binned is not None, "edges are those of a column"
        column = number_column(self._data, grouping.binned)
        drop = isinstance(column.nulls, DropNulls)
        return self._cells.bin(column.name, cuts(column, grouping.edges), drop=drop)

    def _reached(self, grouping: Grouping) -> tuple[list[str], list[pl.Expr]]:
        """Return names to derive, and for each cut whether the row has reached it."""
        assert grouping.binned is not None, "edges are those of a column"
        column = number_column(self._data, grouping.binned)
        places = cuts(column, grouping.edges)
        cell, _ = self._cells.reached(column.name, places)
        name = self._named(("clamped", column.name, places.ruler), cell)
        flags = [*(pl.col(name) >= s for s in places.starts), pl.col(name) > places.end]
        if isinstance(column.nulls, DropNulls):
            present = self._named_present(column.name)
            return [name, present], [flag & pl.col(present) for flag in flags]
        return [name], flags

    def _grids(self, step: Step) -> list[str]:
        """Return the names of the steps of a step's columns."""
        names = []
        for grid in step.grids:
            ruler = ruler_of(number_column(self._data, grid.column), grid)
            expr = self._cells.steps(grid.column, ruler)
            names.append(self._named(("clamped", grid.column, ruler), expr))
        return names

    def _refilled(
        self, step: Step, grids: Sequence[pl.Expr], keep: pl.Expr
    ) -> list[pl.Expr]:
        """Return the columns with rows beyond the bound at the public fill."""
        fills = [
            ruler_of(number_column(self._data, grid.column), grid).fill or 0
            for grid in step.grids
        ]
        return [
            pl.when(keep).then(grid).otherwise(fill)
            for grid, fill in zip(grids, fills, strict=True)
        ]

    def _present(self, step: Step) -> list[str]:
        """Return the masks of the columns whose nulls leave rows out."""
        return [self._named_present(name) for name in dropping(step, self._data)]

    def _mask(self, step: Step) -> list[str]:
        where = step.where
        if where is None:
            return self._present(step)
        name = self._named(("where", where), self._cells.holds(where))
        return [name, *self._present(step)]

    def _named_present(self, column: str) -> str:
        return self._named(("present", column), self._cells.present(column))

    def _named(self, key: object, expr: pl.Expr) -> str:
        name = self._names.setdefault(key, f"c{len(self._names)}")
        self._columns.setdefault(name, expr)
        return name

    def _exprs(self, names: Iterable[str]) -> list[pl.Expr]:
        return [self._columns[name].alias(name) for name in dict.fromkeys(names)]

    def _single(self, indices: Sequence[int]) -> Read:
        """Return how one row of sums is read."""
        steps = {index: self.plan.steps[index] for index in indices}
        return lambda answer: {
            index: {
                moment.name: [int(answer.item(0, alias(index, moment)))]
                for moment in step.moments
            }
            for index, step in steps.items()
        }

    def _scattered(self, grouping: Grouping, indices: Sequence[int], cell: str) -> Read:
        """Return how a row of sums per cell is read; cells without rows are 0."""
        count = grouping.count(self._data)
        steps = {index: self.plan.steps[index] for index in indices}

        def read(answer: pl.DataFrame) -> Answer:
            cells = answer[cell].to_list()
            found: Answer = {}
            for index, step in steps.items():
                found[index] = {}
                for moment in step.moments:
                    numbers = [0] * count
                    column = answer[alias(index, moment)].to_list()
                    for place, number in zip(cells, column, strict=True):
                        numbers[place] = number
                    found[index][moment.name] = numbers
            return found

        return read


def _places(counts: Sequence[int]) -> tuple[Place, ...]:
    """Return a place for the cells of each race, as few words as it takes.

    Reading a row's cells from memory costs more than taking them apart.
    """
    places: list[Place] = []
    word = shift = bit = 0
    for count in counts:
        bits = count.bit_length()
        if shift + bits > _WORD_BITS:
            word, shift, bit = word + 1, 0, 0
        places.append(Place(word, shift, bits, bit))
        shift, bit = shift + bits, bit + 1
    return tuple(places)
