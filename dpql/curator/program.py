"""What an engine must compute, decided once: a plan without its noise.

A `Program` names canonical columns, tests of a row, the cells that rows fall into, the
bound on what a unit contributes, and the whole numbers to be summed. It depends on the
plan alone and mentions no engine; engines compile it and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

from dpql.curator.columns import CanonicalColumn
from dpql.curator.conditions import Test, shortened
from dpql.curator.derived import (
    Derived,
)
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import Bins
from dpql.curator.key_search import FoundColumn, KeySearch
from dpql.model.plan import Bound
from dpql.model.spec import (
    Data,
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

        Where keys are found nobody knows the number of cells.
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


def _product(numbers: Iterable[int]) -> int:
    return reduce(mul, numbers, 1)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
