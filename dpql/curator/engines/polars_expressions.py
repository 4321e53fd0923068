"""A program as polars expressions over canonical columns.

No cell can make an expression fail: a cell is null, an integer, a code or a double that
is not NaN. `min_horizontal` and `max_horizontal` clamp faster than `clip` does, and
swallow nulls; a test of presence tells where there was a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add, and_, mul, or_
from typing import Any, assert_never

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.conditions import (
    Conjunction,
    Disjunction,
    Known,
    Negation,
    OneOf,
    Present,
    Test,
    Within,
)
from dpql.curator.engines.progression import progression
from dpql.curator.engines.steps import (
    above,
    filled,
    null_number,
    quantised,
    steps,
)
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import Bins, Quantiser, WholeQuantiser
from dpql.curator.program import (
    Axis,
    BinAxis,
    Distinct,
    KeyAxis,
    Program,
    Selection,
    Tally,
)

_FEW_BINS = 64
"""Up to so many bins are found by comparing with every start."""

_TABLE = 1 << 16
"""The bins of fewer whole numbers are looked up in a table."""

_UNSIGNED = ((8, pl.UInt8), (16, pl.UInt16), (32, pl.UInt32), (63, pl.Int64))


Packed = Selection | Flag | Distinct | Test | str
"""What is packed of a row: its cell, a code, or whether a test or column says yes."""


class Expressions:
    """How the derived columns of a program are made, each under a name of its own.

    Columns of a batch are named by their index in the program, since polars takes some
    names for patterns.
    """

    def __init__(self, program: Program) -> None:
        self._names = {
            name: f"c{index}" for index, name in enumerate(batch_names(program))
        }
        self._steps: dict[tuple[str, Quantiser], str] = {}
        self._named: dict[object, str] = {}
        self._made: dict[str, pl.Expr] = {}

    def derive(self, made: pl.Expr, *key: object) -> str:
        """Return the name of a derived column; equal keys share one."""
        if key not in self._named:
            self._named[key] = f"d{len(self._named)}"
            self._made[self._named[key]] = made
        return self._named[key]

    def derived(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the derived columns of a batch."""
        if not self._made:
            return pl.DataFrame()
        cells = dict(zip(self._names.values(), batch.get_columns(), strict=True))
        whole = {
            name: pl.Series(steps(cells[self._names[column]], grid).astype(np.int64))
            for (column, grid), name in self._steps.items()
        }
        made = (made.alias(name) for name, made in self._made.items())
        frame = pl.DataFrame(cells | whole)
        return frame.lazy().select(made).collect(engine="in-memory")

    def column(self, name: str) -> pl.Expr:
        """Return a canonical column."""
        return pl.col(self._names[name])

    def mask(self, tally: Tally) -> list[pl.Expr]:
        """Return the tests that a row must pass to count, apart from its cell."""
        where = tally.selection.where
        tests = [self.test(x) for x in (where, tally.counted) if x is not None]
        return tests + [self.column(name).is_not_null() for name in tally.present]

    def flag(self, flag: Flag) -> str:
        """Return the name of a column that is 1 where a test holds, else 0."""
        return self.derive(self.test(flag.test).cast(pl.Int64), flag)

    def cell(
        self, selection: Selection, masks: Sequence[pl.Expr], *, first: int = 0
    ) -> pl.Expr:
        """Return the number of a row's cell, counted from ``first``.

        Where a row is in none it is 0, or that after the last cell if 0 is the first.
        """
        outside = 0 if first else selection.cells
        dtype = unsigned(selection.cells)
        positions = [self._position(axis).cast(dtype) for axis in selection.axes]
        cell = reduce(add, map(mul, positions, selection.strides), pl.lit(first, dtype))
        if masks:
            cell = pl.when(reduce(and_, masks)).then(cell)
        return cell.fill_null(outside)

    def numbered(self, selection: Selection, mask: pl.Expr) -> pl.Expr:
        """Return a row's cell, counted from 1; 0 where it is in none, or masked."""
        where = selection.where
        masks = [mask] if where is None else [mask, self.test(where)]
        return self.cell(selection, masks, first=1)

    def whole(self, key: Packed, mask: pl.Expr) -> str:
        """Return the name of a column: cells from 1, codes, or whether a row passes.

        A row's cell is 0 where it is masked.
        """
        match key:
            case Selection():
                made = self.numbered(key, mask)
            case str():
                made = self.column(key).is_not_null()
            case Flag():
                return self.flag(key)
            case Distinct():
                made = self.column(key.column).fill_null(0)
            case _:
                made = self.test(key)
        return self.derive(made, key)

    def test(self, test: Test) -> pl.Expr:
        """Return where a test is true; never null."""
        return self._truth(test).fill_null(False)

    def _truth(self, test: Test) -> pl.Expr:  # noqa: PLR0911  one per kind
        """Return what a test is: polars' operators follow Kleene, too."""
        match test:
            case Negation(operand=operand):
                return ~self._truth(operand)
            case Conjunction(operands=operands):
                return reduce(and_, map(self._truth, operands))
            case Disjunction(operands=operands):
                return reduce(or_, map(self._truth, operands))
            case Known(operand=operand):
                return self._truth(operand).is_not_null()
            case Present(column=name):
                return self.column(name).is_not_null()
            case OneOf(column=name, codes=codes):
                cell = self.column(name)
                return cell == codes[0] if len(codes) == 1 else cell.is_in(codes)
            case Within(column=name, lower=lower, upper=upper):
                return self._within(name, lower, upper)
            case _:
                assert_never(test)

    def _within(self, name: str, lower: float | None, upper: float | None) -> pl.Expr:
        cell = self.column(name)
        ends = [] if lower is None else [cell >= lower]
        ends += [] if upper is None else [cell <= upper]
        return reduce(and_, ends)

    def _quantised(self, name: str, quantiser: Quantiser) -> pl.Expr:
        """Return the steps of a column; they are made once for all that need them."""
        key = name, quantiser
        return pl.col(self._steps.setdefault(key, f"s{len(self._steps)}"))

    def _position(self, axis: Axis) -> pl.Expr:
        """Return the position of a row along an axis; null where it has none."""
        if isinstance(axis, KeyAxis):
            code = self.column(axis.column)
            return code if axis.fill is None else code.fill_null(axis.fill)
        return self._bin(axis)

    def _bin(self, axis: BinAxis) -> pl.Expr:
        bins = axis.bins
        number = self.column(axis.column)
        if bins.quantiser is not None:
            cell = self._quantised(axis.column, bins.quantiser)
        else:
            cell = clamped(number.cast(pl.Float64), bins.lower, bins.upper, pl.Float64)
            if bins.fill is not None:
                cell = pl.when(number.is_not_null()).then(cell).otherwise(bins.fill)
        found = reached(cell, bins) - 1
        inside = (cell >= bins.starts[0]) & (cell <= bins.end)
        if axis.drops_nulls:
            inside &= number.is_not_null()
        return pl.when(inside).then(found)


class FactorSteps:
    """How the steps of factors are made; those of one column share its clamping."""

    def __init__(self, factors: Iterable[Factor], made: Expressions) -> None:
        self._numbers: dict[Factor, str] = {}
        self._absent: dict[Factor, str] = {}
        for factor in factors:
            column, grid = factor.column, factor.quantiser
            null, is_step = null_number(grid)
            cell = made.column(column)
            whole = isinstance(grid, WholeQuantiser)
            number = (cell if whole else cell.cast(pl.Float64)).fill_null(null)
            self._numbers[factor] = made.derive(number, column, whole, null)
            if not is_step:
                self._absent[factor] = made.derive(cell.is_null(), column, "absent")

    def __call__(self, derived: pl.DataFrame) -> Mapping[Factor, NDArray[Any]]:
        """Return the steps of all factors, given the derived columns of a batch."""
        clamped: dict[object, NDArray[Any]] = {}
        found = {}
        for factor, name in self._numbers.items():
            grid = factor.quantiser
            key = name, grid.lower, grid.upper
            if key not in clamped:
                clamped[key] = above(derived.get_column(name).to_numpy(), grid)
            found[factor] = quantised(clamped[key], grid)
            if factor in self._absent:
                absent = derived.get_column(self._absent[factor])
                found[factor] = filled(found[factor], absent, grid)
        return found


def reached(cell: pl.Expr, bins: Bins) -> pl.Expr:
    """Return how many bins start at or below a cell."""
    dtype = unsigned(len(bins.starts))
    if (equal := progression(bins.starts)) is not None:
        first, width, scale = equal
        near = ((cell - first) * scale).floor()
        near = pl.min_horizontal(near, pl.lit(len(bins.starts) - 1, pl.Float64))
        near -= (cell < near * width + first).cast(pl.Float64)
        # A cell before the first start is in no bin: what it has may be null.
        return (near + 1).cast(dtype, strict=False)
    if bins.quantiser is not None and bins.quantiser.steps < _TABLE:
        steps = np.arange(bins.quantiser.steps + 1)
        table = np.searchsorted(np.array(bins.starts), steps, side="right")
        return pl.lit(pl.Series(table, dtype=dtype)).gather(cell)
    if len(bins.starts) <= _FEW_BINS:
        flags = ((cell >= start).cast(dtype) for start in bins.starts)
        return reduce(add, flags)
    starts = np.array(bins.starts)
    return cell.map_batches(
        lambda part: pl.Series(
            np.searchsorted(starts, part.to_numpy(), side="right"), dtype=dtype
        ),
        return_dtype=dtype,
        is_elementwise=True,
    )


def batch_names(program: Program) -> list[str]:
    """Return the names of the columns of a batch: read, derived, and found ones."""
    read = [column.name for column in program.columns]
    derived = [one.column.name for one in program.derived]
    return read + derived + [one.name for one in program.found]


def unsigned(largest: int) -> Any:
    """Return a narrow type that holds whole numbers up to the largest."""
    return next(dtype for bits, dtype in _UNSIGNED if largest < 1 << bits)


def clamped(cell: pl.Expr, lower: float, upper: float, dtype: Any) -> pl.Expr:
    """Return the cell between the bounds; null becomes the upper one."""
    below = pl.min_horizontal(cell, pl.lit(upper, dtype))
    return pl.max_horizontal(below, pl.lit(lower, dtype))
