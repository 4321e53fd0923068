"""Polars expressions that cannot fail on any cell: text, numbers, steps, conditions.

`min_horizontal` and `max_horizontal` clamp and swallow both null and NaN; whether there
was a number at all is kept apart, in a mask that is never null. Comparisons are joined
with that mask, since polars takes NaN for the largest number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, or_
from typing import Any, assert_never

import numpy as np
import polars as pl

from dpql.curator.cells import keys_of
from dpql.curator.engines.polars_numbers import nearest_double, nearest_integer
from dpql.curator.engines.polars_pieces import Source
from dpql.curator.engines.polars_text import bytes_words, float_words, inner, spelt
from dpql.curator.grid import FARTHEST, HALF, Cuts, Ruler, Whole, double, is_whole
from dpql.model.spec import (
    And,
    Between,
    CategoryColumn,
    Comparison,
    Condition,
    Data,
    IsNull,
    Membership,
    Not,
    NumberColumn,
    Operator,
    Or,
)

_COMPARE: Mapping[Operator, Any] = {
    Operator.EQUAL: eq,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
}
_FEW_BINS = 64


class Cells:
    """The cells of the declared columns, whatever types the data have."""

    def __init__(self, data: Data, source: Source) -> None:
        self._data = data
        self._types = source.types
        self._coded = source.coded
        self._raw = source.raw

    def words(self, name: str) -> pl.Expr:
        """Return a category as text; null where there is none.

        A whole number is the same text whether it came as an integer or as a float.
        """
        dtype = self._types[name]
        cell = self._cell(name)
        if dtype.is_float():
            return float_words(cell, dtype)
        if name in self._raw:
            return bytes_words(cell)
        return cell if dtype == pl.String else cell.cast(pl.String, strict=False)

    def is_coded(self, name: str) -> bool:
        """Tell whether the cells are places among the declared keys already."""
        return name in self._coded

    def is_raw(self, name: str) -> bool:
        """Tell whether the cells are bytes of texts."""
        return name in self._raw

    def key(self, name: str) -> pl.Expr:
        """Return a category as it is: a place among the keys, bytes, or else a word."""
        bare = self.is_coded(name) or self.is_raw(name)
        return self._cell(name) if bare else self.words(name)

    def place(self, name: str) -> pl.Expr:
        """Return the place of a category among its declared keys; null if in none."""
        if self.is_coded(name):
            return self._cell(name)
        keys = pl.Enum(list(keys_of(self._data, name)))
        return self.words(name).cast(keys, strict=False).to_physical()

    def unit(self, name: str) -> pl.Expr:
        """Return an id: an integer, or the bytes of anything else.

        It is null where there is none: an empty id belongs to nobody.
        """
        cell = self._cell(name)
        if self._types[name].is_integer():
            return cell
        return pl.when(cell.bin.size() > 0).then(cell)

    def number(self, name: str) -> pl.Expr:
        """Return the cell as Int64 for integer columns, else as Float64."""
        cell, dtype = self._cell(name), self._types[name]
        if self._whole(name):
            return nearest_integer(cell, dtype)
        return nearest_double(cell, dtype)

    def present(self, name: str) -> pl.Expr:
        """Return where the cell holds a number; never null."""
        number = self.number(name)
        if self._whole(name):
            return number.is_not_null()
        return number.is_not_nan().fill_null(False)

    def steps(self, name: str, ruler: Ruler) -> pl.Expr:
        """Return the cell in steps of a grid.

        A cell without a number has the steps of the fill. Where nulls are dropped it
        has any; the caller leaves it out by the mask `present`.
        """
        number = self.number(name)
        if isinstance(ruler, Whole):
            if ruler.fill is not None:
                number = number.fill_null(ruler.lower + ruler.fill * ruler.step)
            inside = _clamped(number, ruler.lower, ruler.upper, pl.Int64)
            steps = inside - ruler.lower if ruler.lower else inside
            if ruler.step != 1:
                steps = (2 * steps + ruler.step) // (2 * ruler.step)
        else:
            if self._whole(name):
                number = number.cast(pl.Float64)
            inside = _clamped(number, ruler.lower, ruler.upper, pl.Float64)
            above = inside - ruler.lower if ruler.lower else inside
            # What is cast is at least 1/2, so cutting off the fraction is the floor.
            steps = (above * ruler.scale + HALF).cast(pl.Int64, wrap_numerical=True)
            if ruler.overshoots:
                steps = _clamped(steps, 0, ruler.steps, pl.Int64)
            if ruler.fill is not None:
                steps = pl.when(self.present(name)).then(steps).otherwise(ruler.fill)
        return steps

    def reached(self, name: str, cuts: Cuts) -> tuple[pl.Expr, list[pl.Expr]]:
        """Return the clamped cell, and for each cut whether the cell has reached it.

        The last one tells whether the cell lies beyond the end. Null counts as the
        fill; where there is none, the caller leaves the row out.
        """
        if cuts.ruler is not None:
            cell = self.steps(name, cuts.ruler)
        else:
            number = self.number(name).cast(pl.Float64)
            cell = _clamped(number, cuts.lower, cuts.upper, pl.Float64)
            if cuts.fill is not None:
                cell = pl.when(self.present(name)).then(cell).otherwise(cuts.fill)
        return cell, [*(cell >= start for start in cuts.starts), cell > cuts.end]

    def bin(self, name: str, cuts: Cuts, *, drop: bool) -> pl.Expr:
        """Return the number of the bin, null outside all of them."""
        cell, reached = self.reached(name, cuts)
        if len(reached) <= _FEW_BINS:
            found = pl.sum_horizontal(
                *(flag.cast(pl.Int32) for flag in reached[:-1]), pl.lit(-1, pl.Int32)
            )
        else:
            starts = np.array(cuts.starts)
            found = cell.map_batches(
                lambda part: pl.Series(
                    np.searchsorted(starts, part.to_numpy(), side="right") - 1,
                    dtype=pl.Int32,
                ),
                return_dtype=pl.Int32,
                is_elementwise=True,
            )
        inside = reached[0] & ~reached[-1]
        return pl.when(inside & self.present(name) if drop else inside).then(found)

    def holds(self, condition: Condition) -> pl.Expr:  # noqa: PLR0911  one per kind
        """Return where the condition holds; never null."""
        match condition:
            case Not(operand=operand):
                return ~self.holds(operand)
            case And(operands=operands):
                return reduce(and_, map(self.holds, operands))
            case Or(operands=operands):
                return reduce(or_, map(self.holds, operands))
            case IsNull(column=name):
                return ~self._known(name)
            case Between(column=name, lower=lower, upper=upper):
                above = self._compared(name, Operator.AT_LEAST, lower)
                return above & self._compared(name, Operator.AT_MOST, upper)
            case Membership(column=name, values=values):
                words = [value for value in values if isinstance(value, str)]
                if words:
                    return self._among(name, words)
                return reduce(
                    or_,
                    (
                        self._compared(name, Operator.EQUAL, value)
                        for value in values
                        if isinstance(value, Fraction)
                    ),
                )
            case Comparison(column=name, operator=operator, value=value):
                if isinstance(value, Fraction):
                    return self._compared(name, operator, value)
                same = self._among(name, [value])
                return same if operator is Operator.EQUAL else self._known(name) & ~same
            case _:
                assert_never(condition)

    def _known(self, name: str) -> pl.Expr:
        """Return where the cell is of its type: a number, a declared key, an id."""
        column = self._data.column(name)
        if isinstance(column, NumberColumn):
            return self.present(name)
        if isinstance(column, CategoryColumn):
            return self._among(name, column.keys)
        return self.unit(name).is_not_null()

    def _among(self, name: str, words: Sequence[str]) -> pl.Expr:
        """Return where a category is one of the words."""
        if self.is_raw(name):
            held = pl.Series(spelt(words), dtype=pl.Binary)
            return self._cell(name).is_in(held.implode()).fill_null(False)
        if not self.is_coded(name):
            return self.words(name).is_in(list(words)).fill_null(False)
        keys, some = keys_of(self._data, name), set(words)
        wanted = [place for place, key in enumerate(keys) if key in some]
        if len(wanted) == len(keys):
            return self._cell(name).is_not_null()
        return self._cell(name).is_in(wanted).fill_null(False)

    def _compared(self, name: str, operator: Operator, value: Fraction) -> pl.Expr:
        """Return where the comparison holds; false where there is no number.

        Integers are compared exactly, others with the nearest double of the value. No
        integer is larger than the farthest, whatever it was stored as.
        """
        present = self.present(name)
        if operator is Operator.UNEQUAL:
            return present & ~self._compared(name, Operator.EQUAL, value)
        compare = _COMPARE[operator]
        if not self._whole(name):
            number = self.number(name)
            found: pl.Expr = compare(number, double(value))
            return (found & present).fill_null(False)
        if operator is Operator.EQUAL and value.denominator != 1:
            return present & ~present
        down = operator in (Operator.GREATER, Operator.AT_MOST)
        whole = value.__floor__() if down else value.__ceil__()
        number = self.number(name)
        if abs(whole) >= FARTHEST:
            number = number.clip(-FARTHEST, FARTHEST)
            whole = max(min(whole, FARTHEST + 1), -FARTHEST - 1)
        matched: pl.Expr = compare(number, whole)
        return matched.fill_null(False)

    def _whole(self, name: str) -> bool:
        column = self._data.column(name)
        return isinstance(column, NumberColumn) and is_whole(column)

    def _cell(self, name: str) -> pl.Expr:
        dtype = self._types[name]
        cell = pl.col(inner(name))
        if isinstance(dtype, pl.Categorical | pl.Enum):
            return cell.cast(pl.String)
        return cell


def _clamped(cell: pl.Expr, lower: float, upper: float, dtype: Any) -> pl.Expr:
    """Return the cell between the bounds; null and NaN become the upper one."""
    below = pl.min_horizontal(cell, pl.lit(upper, dtype))
    return pl.max_horizontal(below, pl.lit(lower, dtype))
