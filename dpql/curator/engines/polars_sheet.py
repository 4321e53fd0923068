"""The columns that a plan derives from a row, each under one name.

Steps of a grid, masks, bins and cells are named once and computed once per query. Where
units have several rows, columns are as narrow as their numbers allow and the cells of
all races are packed into few words: moving a row about costs more than taking it apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from dpql.curator.cells import Grouping, dropping, number_column, races
from dpql.curator.engines.polars_cells import Cells
from dpql.curator.engines.polars_pieces import Source
from dpql.curator.grid import cuts, ruler_of
from dpql.model.plan import Plan, Step
from dpql.model.spec import Condition, DropNulls

_WORD_BITS = 62
_HALF_BITS = 31
_TYPES = {8: pl.UInt8, 16: pl.UInt16, 32: pl.UInt32, 63: pl.Int64}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cell of a race is packed, plus 1: a word, a shift, so many bits."""

    word: int
    shift: int
    bits: int

    @property
    def name(self) -> str:
        """The column of the word."""
        return f"cells{self.word}"

    @property
    def mask(self) -> int:
        """The bits of the cell within the word."""
        return ((1 << self.bits) - 1) << self.shift


class Sheet:
    """The derived columns of a plan."""

    def __init__(self, plan: Plan, source: Source) -> None:
        self.plan = plan
        self.data = plan.spec.data
        self.cells = Cells(self.data, source)
        self.places = _places([race.grouping.count(self.data) for race in races(plan)])
        self._names: dict[object, str] = {}
        self._columns: dict[str, pl.Expr] = {}

    def grids(self, step: Step) -> list[str]:
        """Return the names of the summed columns of a step, in steps of their grids."""
        names = []
        for grid in step.grids:
            ruler = ruler_of(number_column(self.data, grid.column), grid)
            expr = self.cells.steps(grid.column, ruler)
            names.append(self._named(("clamped", grid.column, ruler), expr))
        return names

    def present(self, step: Step) -> list[str]:
        """Return the masks of the columns whose nulls leave rows out."""
        return [self._present(name) for name in dropping(step, self.data)]

    def mask(self, step: Step) -> list[str]:
        """Return the masks that a row must pass to count for the step."""
        where = step.where
        if where is None:
            return self.present(step)
        name = self._named(("where", where), self.cells.holds(where))
        return [name, *self.present(step)]

    def bin(self, grouping: Grouping) -> pl.Expr:
        """Return the bin of the row, null where it is in none."""
        assert grouping.binned is not None, "edges are those of a column"
        column = number_column(self.data, grouping.binned)
        drop = isinstance(column.nulls, DropNulls)
        return self.cells.bin(column.name, cuts(column, grouping.edges), drop=drop)

    def reached(self, grouping: Grouping) -> tuple[list[str], list[pl.Expr]]:
        """Return names to derive, and for each cut whether the row has reached it."""
        assert grouping.binned is not None, "edges are those of a column"
        column = number_column(self.data, grouping.binned)
        places = cuts(column, grouping.edges)
        cell, _ = self.cells.reached(column.name, places)
        name = self._named(("clamped", column.name, places.ruler), cell)
        flags = [*(pl.col(name) >= s for s in places.starts), pl.col(name) > places.end]
        if isinstance(column.nulls, DropNulls):
            present = self._present(column.name)
            return [name, present], [flag & pl.col(present) for flag in flags]
        return [name], flags

    def exprs(self, names: Iterable[str]) -> list[pl.Expr]:
        """Return how the named columns are derived, each once."""
        return [self._columns[name].alias(name) for name in dict.fromkeys(names)]

    def combined(self, grouping: Grouping, codes: Sequence[pl.Expr]) -> pl.Expr:
        """Return the number of a cell from its places along the axes."""
        strides = grouping.strides(self.data)
        scaled = [code * stride for code, stride in zip(codes, strides, strict=True)]
        return sum(scaled[1:], scaled[0]) if scaled else pl.lit(0, pl.Int64)

    def part(
        self, frame: pl.LazyFrame, seed: int, index: int, count: int
    ) -> pl.LazyFrame:
        """Return the derived columns of the units whose hash is ``index``."""
        unit = self._unit()
        lots = unit.hash(seed)
        if count > 1:
            frame = frame.filter(lots % count == index)
        return frame.select(
            unit.alias("unit"), lots.alias("hash"), *self._narrow(), *self._packed()
        )

    def part_reads(self) -> set[str]:
        """Return the columns of the data that a part reads."""
        derived = [self._unit(), *self._narrow(), *self._packed()]
        return {name for expr in derived for name in expr.meta.root_names()}

    def _unit(self) -> pl.Expr:
        name = self.plan.spec.privacy.unit
        assert name is not None, "units are rows otherwise"
        return self.cells.unit(name)

    def _narrow(self) -> list[pl.Expr]:
        """Return the summed columns in the narrowest types, and their masks."""
        types: dict[str, Any] = {}
        for step in self.plan.steps:
            for name, grid in zip(self.grids(step), step.grids, strict=True):
                bits = grid.steps.bit_length()
                types[name] = next(t for most, t in _TYPES.items() if bits <= most)
            types |= dict.fromkeys(self.present(step), pl.Boolean)
        return [
            self._columns[name].cast(dtype, wrap_numerical=True).alias(name)
            for name, dtype in types.items()
        ]

    def _packed(self) -> list[pl.Expr]:
        """Return words that hold the cells of all races, each plus 1."""
        used = {place.word: place.shift + place.bits for place in self.places}
        words: dict[str, pl.Expr] = {}
        for place, race in zip(self.places, races(self.plan), strict=True):
            dtype = pl.Int32 if used[place.word] <= _HALF_BITS else pl.Int64
            part = self._code(race.grouping, race.where, dtype) * (1 << place.shift)
            word = words.get(place.name)
            words[place.name] = part if word is None else word + part
        return [word.alias(name) for name, word in words.items()]

    def _code(self, grouping: Grouping, where: Condition | None, dtype: Any) -> pl.Expr:
        """Return the number of the row's cell plus 1; 0 where it takes no part."""
        codes = [self.cells.place(name).cast(dtype) for name in grouping.by]
        if grouping.edges:
            codes.append(self.bin(grouping).cast(dtype))
        cell = self.combined(grouping, codes).cast(dtype) + 1
        if where is None:
            return cell.fill_null(0)
        return pl.when(self.cells.holds(where)).then(cell).otherwise(0).fill_null(0)

    def _present(self, column: str) -> str:
        return self._named(("present", column), self.cells.present(column))

    def _named(self, key: object, expr: pl.Expr) -> str:
        name = self._names.setdefault(key, f"c{len(self._names)}")
        self._columns.setdefault(name, expr)
        return name


def _places(counts: Sequence[int]) -> tuple[Place, ...]:
    """Return a place for the cells of each race, in as few words as it takes."""
    places: list[Place] = []
    word = shift = 0
    for count in counts:
        bits = count.bit_length()
        if shift + bits > _WORD_BITS:
            word, shift = word + 1, 0
        places.append(Place(word, shift, bits))
        shift += bits
    return tuple(places)
