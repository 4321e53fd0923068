"""Expressions of a row in exact rationals, by the words of docs/maths/derived.md alone.

A value is a Fraction, a bool, the text of a key, or None. Nothing here knows of
lattices: numbers are numbers, and a floor is a floor.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import oracle
import oracle_cells

from dpql.model import calendar
from dpql.model.expression import (
    And,
    Bands,
    Between,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    IsMissing,
    IsNull,
    Listed,
    Map,
    Membership,
    Not,
    Operator,
    Or,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.notation import bin_keys
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    FillNulls,
    NumberColumn,
    TimeColumn,
)

FLOAT_STEPS = 1 << 20
HOLDS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operators.eq,
    Operator.UNEQUAL: operators.ne,
    Operator.LESS: operators.lt,
    Operator.AT_MOST: operators.le,
    Operator.GREATER: operators.gt,
    Operator.AT_LEAST: operators.ge,
}
_NUMBER: Mapping[Function, Callable[..., Fraction]] = {
    Function.ADD: operators.add,
    Function.SUBTRACT: operators.sub,
    Function.MULTIPLY: operators.mul,
    Function.FLOOR_DIVIDE: lambda x, c: Fraction(math.floor(x / c)),
    Function.MIN: min,
    Function.MAX: max,
    Function.ABS: abs,
    Function.ROUND: lambda x, step: step * math.floor(x / step + Fraction(1, 2)),
}


class Row:
    """A row of stored cells, and what expressions are of it."""

    def __init__(self, data: Data, cells: Mapping[str, Any]) -> None:
        self._declared = {column.name: column for column in data.columns}
        self._derived = {one.name: one.expression for one in data.derived}
        self._cells = cells

    def value(  # noqa: PLR0911, PLR0912, C901  one per kind
        self, found: Expression
    ) -> Any:
        """Return the value of an expression; None is null."""
        match found:
            case Reference(column=name):
                return self._reference(name)
            case Constant(value=value):
                return {"true": True, "false": False}.get(str(value), value)
            case Call():
                return self._called(found)
            case Bands(operand=operand, edges=edges):
                return self._band(operand, edges)
            case Map():
                key = self.value(found.operand)
                if key is None:
                    return found.missing
                if isinstance(key, bool):
                    key = str(key).lower()
                return {x.key: x.value for x in found.pairs}.get(key, found.otherwise)
            case PartOf(part=part, column=name):
                return self._part(part, name)
            case Not(operand=operand):
                value = self.value(operand)
                return None if value is None else not value
            case And(operands=operands):
                values = [self.value(one) for one in operands]
                return _kleene(values, decisive=False)
            case Or(operands=operands):
                values = [self.value(one) for one in operands]
                return _kleene(values, decisive=True)
            case IsNull(column=name):
                if name in self._declared:
                    return self.cell(name) is None
                return self._reference(name) is None
            case IsMissing(operand=operand):
                return self.value(operand) is None
        return self._tested(found)

    def _reference(self, name: str) -> Any:  # noqa: PLR0911  one per type
        if name in self._derived:
            return self.value(self._derived[name])
        column, cell = self._declared[name], self.cell(name)
        fill = getattr(column, "nulls", None)
        match column:
            case CategoryColumn():
                return cell
            case BooleanColumn():
                if cell is None and isinstance(fill, FillNulls):
                    return bool(fill.value)
                return cell
            case NumberColumn():
                return _on_grid(column, cell)
        if cell is None and isinstance(fill, FillNulls):
            cell = int(fill.value)
        if cell is None:
            return None
        first, last, step = column.first, column.last, getattr(column, "step", 1)
        inside = max(min(cell, last), first)
        return Fraction(first + (inside - first) // step * step)

    def cell(self, name: str) -> Any:
        """Return the stored cell of a declared column, if it is of its type."""
        column, raw = self._declared[name], self._cells[name]
        match column:
            case NumberColumn():
                return oracle.number(column, raw)
            case CategoryColumn(keys=keys):
                word = oracle.words(raw)
                if column.numeric:
                    word = str(oracle_cells.whole(raw))
                return word if word in keys else None
            case BooleanColumn():
                truth = oracle_cells.truth(raw)
                return None if truth is None else bool(truth)
            case DateColumn():
                return oracle_cells.day(raw)
            case TimeColumn(zone=zone):
                return oracle_cells.second(raw, 60 * zone)
        raise AssertionError

    def _called(self, call: Call) -> Any:
        if call.function is Function.CASE:
            condition, yes, no = call.operands
            return self.value(yes if self.value(condition) is True else no)
        values = [self.value(one) for one in call.operands]
        if call.function is Function.COALESCE:
            return values[0] if values[0] is not None else values[1]
        if None in values:
            return None
        if call.function is Function.SUBTRACT:
            # A constant beside a date is its day.
            values = [_day(one) for one in values]
        numbers = [_as_number(one) for one in values]
        if call.function is not Function.DIV:
            return _NUMBER[call.function](*numbers)
        x, y, lower, upper, step = numbers
        if y == 0:
            return None
        steps = math.floor((x / y - lower) / step + Fraction(1, 2))
        return lower + step * max(min(steps, (upper - lower) / step), 0)

    def _band(self, operand: Expression, edges: tuple[Fraction, ...]) -> str | None:
        plain = isinstance(operand, Reference) and operand.column in self._declared
        if plain and isinstance(operand, Reference):
            column = self._declared[operand.column]
            if isinstance(column, NumberColumn) and column.step is None:
                value, edges_ = _clamped(column, self.cell(column.name)), edges
                return _band_of(value, [oracle.as_double(x) for x in edges_], edges)
        return _band_of(self.value(operand), list(edges), edges)

    def _part(self, part: Any, name: str) -> Any:
        column, cell = self._declared[name], self.cell(name)
        nulls = getattr(column, "nulls", None)
        if cell is None and isinstance(nulls, FillNulls):
            cell = int(nulls.value)
        if cell is None:
            return None
        if isinstance(column, DateColumn):
            if not column.first <= cell <= column.last:
                return None
            cell *= calendar.DAY
        elif isinstance(column, TimeColumn):
            u = (cell - column.first) // column.step
            if not 0 <= u <= (column.last - column.first) // column.step:
                return None
        return calendar.part_key(part, calendar.part_index(part, cell))

    def _tested(self, found: Any) -> Any:  # noqa: PLR0911, C901  one per kind
        match found:
            case Comparison(column=name, operator=operator, value=value):
                return self._compared(Reference(column=name), operator, [value], all)
            case Membership(column=name, values=values):
                equal = Operator.EQUAL
                return self._compared(Reference(column=name), equal, values, any)
            case Between(column=name, lower=lower, upper=upper):
                return self._between(Reference(column=name), lower, upper)
            case Listed(operand=operand, values=values):
                return self._compared(operand, Operator.EQUAL, values, any)
            case Ranged(operand=operand, lower=lower, upper=upper):
                return self._between(operand, lower, upper)
            case Compared(left=left, operator=operator, right=right):
                if isinstance(right, Constant):
                    return self._compared(left, operator, [right.value], all)
                sides = self._stored(left), self._stored(right)
                if any(side is NotImplemented for side in sides):
                    sides = self.value(left), self.value(right)
                if None in sides:
                    return None
                if not all(isinstance(side, str) for side in sides):
                    sides = _as_number(sides[0]), _as_number(sides[1])
                return HOLDS[operator](*sides)
        raise AssertionError(found)

    def _between(self, operand: Expression, lower: Any, upper: Any) -> Any:
        first = self._compared(operand, Operator.AT_LEAST, [lower], all)
        last = self._compared(operand, Operator.AT_MOST, [upper], all)
        return None if first is None else first and last

    def _stored(self, operand: Expression) -> Any:
        """Return the cell of a plain number, date or time; else `NotImplemented`."""
        if not isinstance(operand, Reference):
            return NotImplemented
        column = self._declared.get(operand.column)
        if not isinstance(column, NumberColumn | DateColumn | TimeColumn):
            return NotImplemented
        cell = self.cell(column.name)
        if cell is None and isinstance(column.nulls, FillNulls):
            cell = column.nulls.value
            if isinstance(column, NumberColumn) and not oracle.is_whole(column):
                cell = oracle.as_double(column.nulls.value)
        return cell

    def _compared(
        self, operand: Expression, operator: Operator, values: Any, gather: Any
    ) -> Any:
        cell = self._stored(operand)
        column = self._declared.get(getattr(operand, "column", ""))
        if cell is NotImplemented:
            cell, column = self.value(operand), None
        elif self.cell(operand.column) is None and isinstance(column, NumberColumn):  # type: ignore[attr-defined]
            # What is filled in is compared as the spec has it.
            nulls, column = column.nulls, None
            cell = nulls.value if isinstance(nulls, FillNulls) else None
        if cell is None:
            return None
        literals = [_literal(column, cell, value) for value in values]
        if not isinstance(literals[0], str):
            cell = _as_number(cell)
        return gather(HOLDS[operator](cell, literal) for literal in literals)


def _literal(column: Column | None, cell: Any, value: Any) -> Any:
    match column:
        case NumberColumn():
            return value if oracle.is_whole(column) else oracle.as_double(value)
        case DateColumn():
            return calendar.read_date(value)
        case TimeColumn():
            return calendar.read_time(value)
    if isinstance(cell, bool) and isinstance(value, str):
        return Fraction(value == "true")
    return value


def _day(value: Any) -> Any:
    day = calendar.read_date(value) if isinstance(value, str) else None
    return value if day is None else Fraction(day)


def _as_number(value: Any) -> Any:
    """Return truth as a number; the key of a part that is a number is one, too."""
    return Fraction(int(value)) if isinstance(value, bool | str) else value


def _on_grid(column: NumberColumn, cell: Any) -> Fraction | None:
    """Return a number clamped and on its grid, the fill where it is missing."""
    width = column.upper - column.lower
    steps = FLOAT_STEPS if column.step is None else int(width / column.step)
    if cell is None:
        if not isinstance(column.nulls, FillNulls):
            return None
        u = oracle.fill_index(column, steps)
    else:
        found = oracle.index(column, cell, steps)
        assert found is not None
        u = found
    return column.lower + u * width / steps


def _clamped(column: NumberColumn, cell: Any) -> float | None:
    if cell is None:
        if not isinstance(column.nulls, FillNulls):
            return None
        cell = oracle.as_double(column.nulls.value)
    lower, upper = oracle.as_double(column.lower), oracle.as_double(column.upper)
    return max(min(float(cell), upper), lower)


def _band_of(value: Any, ends: list[Any], edges: tuple[Fraction, ...]) -> str | None:
    if value is None or not ends[0] <= value <= ends[-1]:
        return None
    reached = sum(end <= value for end in ends) - 1
    return bin_keys(edges)[min(reached, len(edges) - 2)]


def _kleene(values: list[Any], *, decisive: bool) -> bool | None:
    if decisive in values:
        return decisive
    return None if None in values else not decisive
