"""What an engine must compute, decided once: a plan without its noise.

A `Program` names canonical columns, tests of a row, the cells that rows fall into, the
bound on what a unit contributes, and the whole numbers to be summed. It depends on the
plan alone and mentions no engine; engines compile it and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

from dpql.curator.columns import CanonicalColumn, canonical_columns
from dpql.curator.conditions import Known, Test, columns_of, shortened
from dpql.curator.derived import (
    Derivation,
    Derived,
    column_bins,
    column_grid,
    drops_nulls,
    fill_of,
)
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import Bins
from dpql.curator.key_search import FoundColumn, KeySearch
from dpql.model.columns import OTHERS
from dpql.model.plan import Bound, Chosen, Plan, Step
from dpql.model.spec import (
    CategoryColumn,
    Data,
    IdColumn,
    Neighbours,
    PrivateColumn,
)

DISTINCT = "d"
"""The moment that is no sum: the number of different values."""
_TERM_BITS = 63
"""A term of a sum fits into a signed word."""


@dataclass(frozen=True, slots=True)
class KeyAxis:
    """A row's position along the axis is the code of a column, or its truth.

    A null is in no cell, unless there is a fill for it.
    """

    column: str
    size: int
    fill: int | None = None
    found: bool = False
    """Whether there are as many keys as a search shows: a program says no number."""

    def __str__(self) -> str:
        if self.found:
            return f"{self.column} (as many keys as are shown)"
        fill = "" if self.fill is None else f", null as key {self.fill}"
        return f"{self.column} ({self.size} keys{fill})"


@dataclass(frozen=True, slots=True)
class BinAxis:
    """A row's position is the bin of a number; outside all bins it is in no cell.

    So is a null, unless the bins have a fill for it.
    """

    column: str
    bins: Bins
    drops_nulls: bool

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.bins.starts)

    def __str__(self) -> str:
        ends = [self.bins.number(one) for one in (*self.bins.starts, self.bins.end)]
        return f"{self.column} ({self.size} bins: {shortened(ends)})"


Axis = KeyAxis | BinAxis


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows that pass a test and fall into a cell, a bounded number of each unit.

    Cells are the product of the axes, numbered in the order of the plan, the last axis
    fastest. The test and the cells come before the bound: only rows that pass both
    compete for what it leaves of a unit. Statistics with equal selections share one.
    """

    where: Test | None
    axes: tuple[Axis, ...]
    bound: Bound | None
    cells: int = field(init=False, compare=False)
    """How many cells there are."""
    strides: tuple[int, ...] = field(init=False, compare=False)
    """By how much the number of a cell grows along each axis."""

    def __post_init__(self) -> None:
        sizes = [axis.size for axis in self.axes]
        strides = tuple(_product(sizes[axis:]) for axis in range(1, len(sizes) + 1))
        object.__setattr__(self, "cells", _product(sizes))
        object.__setattr__(self, "strides", strides)

    def lines(self) -> Iterator[str]:
        """Yield what passes, falls into cells and is kept.

        Where keys are found there is no number of cells to be told.
        """
        found = any(isinstance(axis, KeyAxis) and axis.found for axis in self.axes)
        if self.where is not None:
            yield f"where   {self.where}"
        if self.axes:
            axes = " x ".join(map(str, self.axes))
            yield f"cells   {axes}" if found else f"cells   {self.cells} = {axes}"
        if self.bound is not None:
            rows, most = _counted(self.bound.rows, "row"), self.bound.cells
            cells = _counted(most if found else min(most, self.cells), "cell")
            total = self.bound.total
            in_all = "" if total is None else f", at most {total} in all"
            yield f"keeps   at most {rows} of a unit in each of at most {cells}{in_all}"


@dataclass(frozen=True, slots=True)
class Moment:
    """A sum over the rows of a cell: of the product of factors, or of 1."""

    name: str
    factors: tuple[Factor | Flag, ...]
    largest: int = field(init=False, compare=False)
    """The largest term."""

    def __post_init__(self) -> None:
        largest = _product(one.steps for one in self.factors)
        assert largest < 1 << _TERM_BITS, "the planner makes no finer grids"
        object.__setattr__(self, "largest", largest)

    def __str__(self) -> str:
        return " * ".join(factor.name for factor in self.factors) or "rows"


@dataclass(frozen=True, slots=True)
class Distinct:
    """The different values of a column: steps of numbers, codes of keys, or ids.

    ``values`` is how many there may be; None for ids, of which anything may come.
    """

    column: str
    factor: Factor | None
    values: int | None

    def __str__(self) -> str:
        return f"different values of {self.factor or self.column}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows of a cell are counted by the candidate that their number is nearest to.

        candidate = floor((2 u + stride) / (2 stride)),   u the factor's whole number

    It splits no cell: the bound has acted before.
    """

    factor: Factor
    stride: int
    candidates: int = field(init=False, compare=False)
    """How many candidates there are."""

    def __post_init__(self) -> None:
        last = (2 * self.factor.quantiser.steps + self.stride) // (2 * self.stride)
        object.__setattr__(self, "candidates", last + 1)

    def __str__(self) -> str:
        every = f", every {self.stride} steps" if self.stride > 1 else ""
        return (
            f"rows at each of {self.candidates} values of {self.factor.column}{every}"
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of one statistic, for every cell; of a quantile, the counts instead.

    A tally with ``distinct`` has no moments: it counts different values instead.

    Rows without a number in a column of ``present`` are left out of them, after the
    bound has acted; so are rows that do not pass ``counted``. ``total`` adds all up.
    """

    statistic: str
    selection: Selection
    present: tuple[str, ...]
    moments: tuple[Moment, ...]
    distinct: Distinct | None = None
    ranking: Ranking | None = None
    counted: Test | None = None
    total: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is computed for every cell."""
        if self.distinct is not None:
            return (DISTINCT,)
        return tuple(moment.name for moment in self.moments)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All that becomes whole numbers: to be multiplied, told apart or ranked."""
        found = [
            factor
            for moment in self.moments
            for factor in moment.factors
            if isinstance(factor, Factor)
        ]
        if self.distinct is not None and self.distinct.factor is not None:
            found.append(self.distinct.factor)
        if self.ranking is not None:
            found.append(self.ranking.factor)
        return tuple(dict.fromkeys(found))

    @property
    def flags(self) -> tuple[Flag, ...]:
        """All tests that become whole numbers."""
        found = (x for moment in self.moments for x in moment.factors)
        return tuple(dict.fromkeys(x for x in found if isinstance(x, Flag)))

    def __str__(self) -> str:
        return "\n".join([self.statistic, *(f"  {x}" for x in self._lines())])

    def _lines(self) -> Iterator[str]:
        yield from self.selection.lines()
        if self.present:
            yield f"drops   rows in which {' or '.join(self.present)} is null"
        if self.counted is not None:
            yield f"keeps   rows in which {self.counted}"
        distinguished = self.distinct and self.distinct.factor
        for factor in (x for x in self.factors if x != distinguished):
            yield f"steps   {factor}"
        if self.distinct is not None:
            yield f"counts  {self.distinct}"
        elif self.ranking is not None:
            yield f"counts  {self.ranking}"
        else:
            yield f"sums    {', '.join(map(str, self.moments))}"
        if self.total is not None:
            yield f"adds    all cells, for {self.total}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All sums of a release.

    ``columns`` are those that are read, ``derived`` those that are computed of them,
    in order; ``data`` declares both. ``found`` are columns of keys that were found, and
    ``searches`` what finds some: such a program sums nothing. ``unit`` is the column of
    ids where units may have several rows. ``counts_rows`` says that the number of rows
    is public and must be counted; ``declared_rows`` is that number, or a ceiling.
    """

    columns: tuple[CanonicalColumn, ...]
    derived: tuple[Derived, ...] = ()
    data: Data = field(repr=False)
    unit: str | None
    declared_rows: int
    counts_rows: bool
    tallies: tuple[Tally, ...]
    found: tuple[FoundColumn, ...] = ()
    searches: tuple[KeySearch, ...] = ()

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All numbers that are multiplied in any moment, told apart or ranked."""
        return tuple(dict.fromkeys(x for tally in self.tallies for x in tally.factors))

    def __str__(self) -> str:
        many = "exactly" if self.counts_rows else "at most"
        head = [
            f"rows    {many} {self.declared_rows}, as declared",
            f"unit    {self.unit or 'row'}",
            *(f"reads   {column}" for column in self.columns),
            *(f"makes   {column}" for column in self.derived),
            *(f"makes   {column}" for column in self.found),
        ]
        parts = ["\n".join(head), *map(str, self.searches), *map(str, self.tallies)]
        return "\n\n".join(parts) + "\n"


def program_text(plan: Plan) -> str:
    """Return what an engine computes for a plan; where keys are found, in two parts."""
    searches, sums = compile_searches(plan), compile_program(plan)
    if searches is None:
        return str(sums)
    return f"first\n\n{searches}\nthen, with the keys that are shown\n\n{sums}"


Keys = Mapping[str, Sequence[tuple[str, ...]]]
"""The keys that were shown, by the statistic that found them."""


def compile_searches(plan: Plan) -> Program | None:
    """Return what an engine must count to find keys; None where all are declared."""
    derivation = Derivation(plan.spec.data)
    searches = tuple(
        KeySearch(
            statistic=step.name,
            columns=step.by,
            where=None if step.where is None else derivation.test(step.where),
            # No key may be called as the cell of everything else is.
            reserved=OTHERS if any(map(plan.spec.data.has_others, step.by)) else None,
            unit=plan.spec.privacy.unit,
            most=1 if step.bound is None else step.bound.cells,
        )
        for step in plan.steps
        if step.search is not None
    )
    if not searches:
        return None
    used = {name for search in searches for name in search.columns}
    for search in searches:
        used.update(() if search.where is None else columns_of(search.where))
    return _program(plan, derivation, used, searches=searches)


def summed_steps(plan: Plan, keys: Keys | None = None) -> list[Step]:
    """Return the steps that a program sums, in the order of its tallies."""
    return [
        step
        for step in plan.steps
        if step.total_of is None
        and step.search is None
        and (step.found_by is None or keys is None or _size(plan, step, keys))
    ]


def _size(plan: Plan, step: Step, keys: Keys) -> int:
    column = _found(plan, step, keys)
    return 0 if column is None else column.size


def compile_program(plan: Plan, keys: Keys | None = None) -> Program:
    """Return what an engine must compute for the plan, but for its searches.

    ``keys`` are those that these have shown; without them nobody knows any. Steps by
    keys of which none was shown have no cells, and are left out.
    """
    derivation = Derivation(plan.spec.data)
    summed = summed_steps(plan, keys)
    found = {step.name: _found(plan, step, keys or {}) for step in summed}
    tallies = tuple(
        _tally(step, plan.spec.data, derivation, found[step.name]) for step in summed
    )
    columns = tuple(dict.fromkeys(x for x in found.values() if x is not None))
    used = {name for tally in tallies for name in _reads(tally)}
    used.difference_update(one.name for one in columns)
    used.update(name for one in columns for name in one.columns)
    return _program(plan, derivation, used, tallies=tallies, found=columns)


def _program(
    plan: Plan,
    derivation: Derivation,
    used: set[str],
    *,
    tallies: tuple[Tally, ...] = (),
    found: tuple[FoundColumn, ...] = (),
    searches: tuple[KeySearch, ...] = (),
) -> Program:
    if plan.spec.privacy.unit is not None:
        used.add(plan.spec.privacy.unit)
    derived, used = derivation.needed(used)
    columns = canonical_columns(plan.spec.data)
    return Program(
        # A count of all rows reads no column; some column must bring the rows.
        columns=tuple(x for x in columns if x.name in used) or columns[:1],
        derived=derived,
        data=plan.spec.data,
        unit=plan.spec.privacy.unit,
        declared_rows=plan.spec.data.rows.count,
        counts_rows=plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE,
        tallies=tallies,
        found=found,
        searches=searches,
    )


def _found(plan: Plan, step: Step, keys: Keys) -> FoundColumn | None:
    """Return the column of found keys by which a step is grouped, if there is one."""
    if step.found_by is None:
        return None
    columns = plan.step(step.found_by).by
    others = any(plan.spec.data.has_others(name) for name in columns)
    return FoundColumn(
        columns=columns,
        keys=tuple(keys.get(step.found_by, ())),
        others=others,
        statistic=step.found_by,
    )


def _tally(
    step: Step, data: Data, derivation: Derivation, found: FoundColumn | None
) -> Tally:
    factors = [
        Factor(grid.column, column_grid(data, grid.column, grid.steps))
        for grid in step.grids
    ]
    distinct = _distinct(step, factors, data)
    drops = () if distinct is None or distinct.factor else (distinct.column,)
    flag, counted = _asked(step, derivation)
    return Tally(
        statistic=step.name,
        selection=Selection(
            where=None if step.where is None else derivation.test(step.where),
            axes=tuple(_axes(step, data, found)),
            bound=step.bound,
        ),
        present=tuple(
            dict.fromkeys(
                grid.column for grid in step.grids if drops_nulls(data, grid.column)
            )
        )
        + drops,
        moments=tuple(
            Moment(moment.name, _factors(moment.name, flag or factors))
            for moment in step.moments
            if moment.name != DISTINCT
        ),
        distinct=distinct,
        ranking=(
            Ranking(factors[0], step.readout.stride)
            if isinstance(step.readout, Chosen)
            else None
        ),
        counted=counted,
        total=step.total,
    )


def _asked(step: Step, derivation: Derivation) -> tuple[list[Flag], Test | None]:
    """Return what is 1 where the condition is true, and which rows are counted.

    None is left out, and none counted, where the number of rows is public.
    """
    if step.condition is None:
        return [], None
    asked = derivation.test(step.condition)
    return [Flag(asked)], Known(asked) if step.joint else None


def _distinct(step: Step, factors: list[Factor], data: Data) -> Distinct | None:
    """Return what is counted by its different values, if anything is."""
    if all(moment.name != DISTINCT for moment in step.moments):
        return None
    if factors:
        return Distinct(factors[0].column, factors[0], factors[0].quantiser.steps + 1)
    name = step.columns[0]
    if isinstance(data.column(name), IdColumn | PrivateColumn):
        return Distinct(name, None, None)
    return Distinct(name, None, len(data.category(name).keys))


def _factors(name: str, factors: Sequence[Factor | Flag]) -> tuple[Factor | Flag, ...]:
    """Return what a moment multiplies: "n" nothing, "uv" both grids, and so on."""
    return () if name == "n" else tuple(factors["uv".index(x)] for x in name)


def _axes(step: Step, data: Data, found: FoundColumn | None) -> Iterator[Axis]:
    """Yield the axes of the cells: keys of ``by``, then what the statistic splits.

    Columns whose keys were found together are one axis, where the first of them stands.
    """
    apart = [x for x in step.by if found is None or x not in found.columns]
    first = next((x for x in step.by if x not in apart), None)
    for name in step.by:
        if name in apart:
            yield _key_axis(name, data)
        elif found is not None and name == first:
            yield KeyAxis(found.name, found.size, found=True)
    if step.edges:
        name = step.columns[0]
        binned, drops = column_bins(data, name, step.edges), drops_nulls(data, name)
        yield BinAxis(name, binned, drops)
        return
    for name in step.bin_columns:
        yield _key_axis(name, data)


def _key_axis(name: str, data: Data) -> KeyAxis:
    fill = (
        None if isinstance(data.column(name), CategoryColumn) else fill_of(data, name)
    )
    return KeyAxis(name, len(data.category(name).keys), fill)


def _product(numbers: Iterable[int]) -> int:
    return reduce(mul, numbers, 1)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _reads(tally: Tally) -> Iterator[str]:
    """Yield the columns that a tally reads."""
    yield from tally.present
    yield from (axis.column for axis in tally.selection.axes)
    yield from (factor.column for factor in tally.factors)
    for flag in tally.flags:
        yield from columns_of(flag.test)
    if tally.counted is not None:
        yield from columns_of(tally.counted)
    if tally.distinct is not None:
        yield tally.distinct.column
    if tally.selection.where is not None:
        yield from columns_of(tally.selection.where)
