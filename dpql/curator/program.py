"""What an engine must compute, decided once: a plan without its noise.

A `Program` names canonical columns, tests of a row, the cells that rows fall into, the
bound on what a unit contributes, and the whole numbers to be summed. It depends on the
plan alone and mentions no engine; engines compile it and decide nothing. `str(program)`
is for a curious reviewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import assert_never

from dpql.curator.columns import CanonicalColumn, canonical_columns
from dpql.curator.grid import Bins, Quantiser, bins, interval, quantiser
from dpql.model.plan import Bound, Plan, Step
from dpql.model.spec import (
    And,
    Between,
    CategoryColumn,
    Comparison,
    Condition,
    Data,
    DropNulls,
    IsNull,
    Membership,
    Neighbours,
    Not,
    NumberColumn,
    Operator,
    Or,
)

_TERM_BITS = 63
"""A term of a sum fits into a signed word."""

_SHOWN_KEYS = 12
"""Keys and bins that are printed; of more only the number is."""


@dataclass(frozen=True, slots=True)
class Present:
    """The cell is not null."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} is present"


@dataclass(frozen=True, slots=True)
class Within:
    """The cell is a number of a closed interval; None is an end that is not there."""

    column: str
    lower: int | float | None
    upper: int | float | None

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.column} == {self.lower}"
        if self.lower is None:
            return f"{self.column} <= {self.upper}"
        if self.upper is None:
            return f"{self.column} >= {self.lower}"
        if self.lower > self.upper:
            return f"{self.column} has no such value"
        return f"{self.lower} <= {self.column} <= {self.upper}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """The cell is one of these codes; ``keys`` are their words, for people."""

    column: str
    codes: tuple[int, ...]
    keys: tuple[str, ...]

    def __str__(self) -> str:
        one = "is" if len(self.keys) == 1 else "is one of"
        quoted = [f'"{key}"' for key in self.keys]
        return f"{self.column} {one} {_shown(quoted)}"


@dataclass(frozen=True, slots=True)
class Negation:
    """The operand is false."""

    operand: Test

    def __str__(self) -> str:
        match self.operand:
            case Present(column=column):
                return f"{column} is null"
            case Negation(operand=operand):
                return str(operand)
        return f"not ({self.operand})"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All operands are true."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " and ".join(map(_bracketed, self.operands))


@dataclass(frozen=True, slots=True)
class Disjunction:
    """At least one operand is true."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " or ".join(map(_bracketed, self.operands))


Test = Present | Within | OneOf | Negation | Conjunction | Disjunction
"""A test of one row: true or false, never null."""


@dataclass(frozen=True, slots=True)
class KeyAxis:
    """A row's position along the axis is the code of a column; a null is in no cell."""

    column: str
    size: int

    def __str__(self) -> str:
        return f"{self.column} ({self.size} keys)"


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
        return f"{self.column} ({self.size} bins: {_shown(ends)})"


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


@dataclass(frozen=True, slots=True)
class Factor:
    """The whole number 0..steps that stands for a cell of a column."""

    column: str
    quantiser: Quantiser

    def __str__(self) -> str:
        return f"{self.column} {self.quantiser}"


@dataclass(frozen=True, slots=True)
class Moment:
    """A sum over the rows of a cell: of the product of factors, or of 1."""

    name: str
    factors: tuple[Factor, ...]
    largest: int = field(init=False, compare=False)
    """The largest term."""

    def __post_init__(self) -> None:
        largest = _product(one.quantiser.steps for one in self.factors)
        assert largest < 1 << _TERM_BITS, "the planner makes no finer grids"
        object.__setattr__(self, "largest", largest)

    def __str__(self) -> str:
        return " * ".join(factor.column for factor in self.factors) or "rows"


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of one statistic, for every cell.

    Rows without a number in a column of ``present`` are left out of them, after the
    bound has acted.
    """

    statistic: str
    selection: Selection
    present: tuple[str, ...]
    moments: tuple[Moment, ...]

    def __str__(self) -> str:
        return "\n".join([self.statistic, *(f"  {x}" for x in self._lines())])

    def _lines(self) -> Iterator[str]:
        selection = self.selection
        if selection.where is not None:
            yield f"where   {selection.where}"
        if selection.axes:
            axes = " x ".join(map(str, selection.axes))
            yield f"cells   {selection.cells} = {axes}"
        if selection.bound is not None:
            rows = _counted(selection.bound.rows, "row")
            cells = _counted(min(selection.bound.cells, selection.cells), "cell")
            yield f"keeps   at most {rows} of a unit in each of at most {cells}"
        if self.present:
            yield f"drops   rows in which {' or '.join(self.present)} is null"
        for factor in dict.fromkeys(x for one in self.moments for x in one.factors):
            yield f"steps   {factor}"
        yield f"sums    {', '.join(map(str, self.moments))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All sums of a release.

    ``columns`` are those that are read. ``unit`` is the column of ids where units may
    have several rows. ``counts_rows`` says that the number of rows is public and must
    be counted; ``declared_rows`` is that number, or a ceiling.
    """

    columns: tuple[CanonicalColumn, ...]
    unit: str | None
    declared_rows: int
    counts_rows: bool
    tallies: tuple[Tally, ...]

    def __str__(self) -> str:
        many = "exactly" if self.counts_rows else "at most"
        head = [
            f"rows    {many} {self.declared_rows}, as declared",
            f"unit    {self.unit or 'row'}",
            *(f"reads   {column}" for column in self.columns),
        ]
        return "\n\n".join(["\n".join(head), *map(str, self.tallies)]) + "\n"


def compile_program(plan: Plan) -> Program:
    """Return what an engine must compute for the plan."""
    data = plan.spec.data
    tallies = tuple(_tally(step, data) for step in plan.steps)
    used = {name for tally in tallies for name in _reads(tally)}
    if plan.spec.privacy.unit is not None:
        used.add(plan.spec.privacy.unit)
    columns = canonical_columns(data)
    return Program(
        # A count of all rows reads no column; some column must bring the rows.
        columns=tuple(x for x in columns if x.name in used) or columns[:1],
        unit=plan.spec.privacy.unit,
        declared_rows=data.rows.count,
        counts_rows=plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE,
        tallies=tallies,
    )


def _tally(step: Step, data: Data) -> Tally:
    factors = [
        Factor(grid.column, quantiser(_number(data, grid.column), grid.steps))
        for grid in step.grids
    ]
    return Tally(
        statistic=step.name,
        selection=Selection(
            where=None if step.where is None else _test(step.where, data),
            axes=tuple(_axes(step, data)),
            bound=step.bound,
        ),
        present=tuple(
            dict.fromkeys(
                grid.column
                for grid in step.grids
                if isinstance(_number(data, grid.column).nulls, DropNulls)
            )
        ),
        moments=tuple(
            Moment(moment.name, _factors(moment.name, factors))
            for moment in step.moments
        ),
    )


def _factors(name: str, factors: list[Factor]) -> tuple[Factor, ...]:
    """Return what a moment multiplies: "n" nothing, "uv" both grids, and so on."""
    return () if name == "n" else tuple(factors["uv".index(x)] for x in name)


def _axes(step: Step, data: Data) -> Iterator[Axis]:
    """Yield the axes of the cells: keys of ``by``, then what the statistic splits."""
    for name in step.by:
        yield _key_axis(name, data)
    if step.edges:
        column = _number(data, step.columns[0])
        drops = isinstance(column.nulls, DropNulls)
        yield BinAxis(column.name, bins(column, step.edges), drops)
        return
    for name in step.columns:
        if isinstance(data.column(name), CategoryColumn):
            yield _key_axis(name, data)


def _key_axis(name: str, data: Data) -> KeyAxis:
    return KeyAxis(name, len(_category(data, name).keys))


def _test(condition: Condition, data: Data) -> Test:  # noqa: PLR0911  one per kind
    match condition:
        case Not(operand=operand):
            return Negation(_test(operand, data))
        case And(operands=operands):
            return Conjunction(tuple(_test(one, data) for one in operands))
        case Or(operands=operands):
            return Disjunction(tuple(_test(one, data) for one in operands))
        case IsNull(column=name):
            return Negation(Present(name))
        case Between(column=name, lower=lower, upper=upper):
            first = _within(name, Operator.AT_LEAST, lower, data)
            last = _within(name, Operator.AT_MOST, upper, data)
            return Within(name, first.lower, last.upper)
        case Membership(column=name, values=values):
            words = tuple(value for value in values if isinstance(value, str))
            if words:
                return _one_of(name, words, data)
            numbers = (value for value in values if isinstance(value, Fraction))
            return Disjunction(
                tuple(_within(name, Operator.EQUAL, value, data) for value in numbers)
            )
        case Comparison(column=name, operator=operator, value=value):
            unequal = operator is Operator.UNEQUAL
            same = Operator.EQUAL if unequal else operator
            found: Test = (
                _within(name, same, value, data)
                if isinstance(value, Fraction)
                else _one_of(name, (value,), data)
            )
            return Conjunction((Present(name), Negation(found))) if unequal else found
        case _:
            assert_never(condition)


def _within(name: str, operator: Operator, value: Fraction, data: Data) -> Within:
    found = interval(_number(data, name), operator, value)
    return Within(name, found.lower, found.upper)


def _one_of(name: str, words: tuple[str, ...], data: Data) -> OneOf:
    keys = _category(data, name).keys
    codes = tuple(code for code, key in enumerate(keys) if key in words)
    return OneOf(name, codes, tuple(keys[code] for code in codes))


def _product(numbers: Iterable[int]) -> int:
    return reduce(mul, numbers, 1)


def _bracketed(test: Test) -> str:
    compound = isinstance(test, Conjunction | Disjunction)
    return f"({test})" if compound else str(test)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _shown(words: Sequence[object]) -> str:
    """Return a list of words, or its ends where it is long."""
    if len(words) <= _SHOWN_KEYS:
        return ", ".join(map(str, words))
    return f"{words[0]}, {words[1]}, ..., {words[-1]}"


def _reads(tally: Tally) -> Iterator[str]:
    """Yield the columns that a tally reads."""
    yield from tally.present
    yield from (axis.column for axis in tally.selection.axes)
    for moment in tally.moments:
        yield from (factor.column for factor in moment.factors)
    if tally.selection.where is not None:
        yield from _tested(tally.selection.where)


def _tested(test: Test) -> Iterator[str]:
    match test:
        case Negation(operand=operand):
            yield from _tested(operand)
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            for operand in operands:
                yield from _tested(operand)
        case _:
            yield test.column


def _category(data: Data, name: str) -> CategoryColumn:
    column = data.column(name)
    assert isinstance(column, CategoryColumn), "the planner lets no other group"
    return column


def _number(data: Data, name: str) -> NumberColumn:
    column = data.column(name)
    assert isinstance(column, NumberColumn), "the planner sums no other"
    return column
