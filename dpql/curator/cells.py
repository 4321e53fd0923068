"""Into which cell of a step a row falls, stated without any engine."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Bound, Plan, Step
from dpql.model.spec import (
    CategoryColumn,
    Condition,
    Data,
    DropNulls,
    NumberColumn,
    StatisticKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The cells of a step: the product of keys of ``by``, then the bins of a column.

    A row with a key that is not declared, or outside all bins, is in no cell. Cells
    are numbered in the order of the plan, the last axis fastest.
    """

    by: tuple[str, ...]
    binned: str | None
    edges: tuple[Fraction, ...]

    def sizes(self, data: Data) -> tuple[int, ...]:
        """Return how many keys or bins each axis has."""
        keys = tuple(len(keys_of(data, name)) for name in self.by)
        return (*keys, len(self.edges) - 1) if self.edges else keys

    def strides(self, data: Data) -> tuple[int, ...]:
        """Return by how much the number of a cell grows along each axis."""
        strides: list[int] = []
        stride = 1
        for size in reversed(self.sizes(data)):
            strides.insert(0, stride)
            stride *= size
        return tuple(strides)

    def count(self, data: Data) -> int:
        """Return the number of cells."""
        count = 1
        for size in self.sizes(data):
            count *= size
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Rows of a unit that compete for the places its bound leaves.

    The filter comes first: only rows that pass it and fall into a cell take part. The
    cells a column leaves out as nulls come later, so steps can share a race.
    """

    where: Condition | None
    grouping: Grouping
    bound: Bound


def grouping_of(step: Step) -> Grouping:
    """Return the cells of a step."""
    if step.statistic is not StatisticKind.HISTOGRAM:
        return Grouping(by=step.by, binned=None, edges=())
    if step.edges:
        return Grouping(by=step.by, binned=step.columns[0], edges=step.edges)
    return Grouping(by=step.by + step.columns, binned=None, edges=())


def race_of(step: Step) -> Race | None:
    """Return the race that bounds the units of a step, if units have several rows."""
    if step.bound is None:
        return None
    return Race(where=step.where, grouping=grouping_of(step), bound=step.bound)


def races(plan: Plan) -> dict[Race, list[int]]:
    """Return the steps of the plan by the race they share, in a fixed order."""
    found: dict[Race, list[int]] = {}
    for index, step in enumerate(plan.steps):
        race = race_of(step)
        if race is not None:
            found.setdefault(race, []).append(index)
    return found


def groupings(plan: Plan) -> dict[Grouping, list[int]]:
    """Return the steps of the plan by the cells they share."""
    found: dict[Grouping, list[int]] = {}
    for index, step in enumerate(plan.steps):
        found.setdefault(grouping_of(step), []).append(index)
    return found


def dropping(step: Step, data: Data) -> tuple[str, ...]:
    """Return the summed columns whose nulls leave a row out of the step."""
    columns = [data.column(grid.column) for grid in step.grids]
    return tuple(
        column.name
        for column in columns
        if isinstance(column, NumberColumn) and isinstance(column.nulls, DropNulls)
    )


def keys_of(data: Data, name: str) -> tuple[str, ...]:
    """Return the declared keys of a category."""
    column = data.column(name)
    assert isinstance(column, CategoryColumn), "the planner lets no other group"
    return column.keys


def number_column(data: Data, name: str) -> NumberColumn:
    """Return a column of numbers."""
    column = data.column(name)
    assert isinstance(column, NumberColumn), "the planner sums no other"
    return column
