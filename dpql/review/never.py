"""Can any row pass a condition? What columns hold is tried at all points that matter.

A test of one declared column against literals changes its truth at those literals
only, so it is enough to try these, points between and beyond them, the ends of the
bounds, and a missing cell. Tests of other kinds may be true, false or null, whatever
the rest is, so that a condition is never called impossible that is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeGuard

from dpql.model.expression import (
    And,
    Between,
    Comparison,
    Condition,
    IsNull,
    Membership,
    Not,
    Operator,
    Or,
)
from dpql.model.spec import (
    CategoryColumn,
    Column,
    Data,
    FillNulls,
    NumberColumn,
    NumberType,
)

_MOST_TRIED = 20_000
"""Rows that are tried; conditions on more columns are not judged."""

Cell = Fraction | str | bool | None
"""A number, a key, what a test of another kind gives, or nothing."""

_Test = Comparison | Membership | Between | IsNull


class Verdict(StrEnum):
    """Why no row passes."""

    BOUNDS = "bounds"
    CONTRADICTION = "contradiction"


def never_true(condition: Condition, data: Data) -> Verdict | None:
    """Return why no row passes a condition, None where some row may."""
    columns = {column.name: column for column in data.columns}
    if _may_pass(condition, columns, bounded=True) is not False:
        return None
    if _may_pass(condition, columns, bounded=False) is False:
        return Verdict.CONTRADICTION
    return Verdict.BOUNDS


def _may_pass(
    condition: Condition, columns: Mapping[str, Column], *, bounded: bool
) -> bool | None:
    """Tell whether some row passes; None if there is too much to try."""
    literals: dict[str, set[Fraction | str]] = {}
    others: list[Condition] = []
    for test in _tests(condition):
        if _is_simple(test, columns):
            literals.setdefault(test.column, set()).update(_literals(test))
        else:
            others.append(test)
    candidates: list[list[Cell]] = [
        _cells(columns[name], found, bounded=bounded)
        for name, found in literals.items()
    ]
    candidates += [[True, False, None] for _ in others]
    count = 1
    for each in candidates:
        count *= len(each)
    if count > _MOST_TRIED:
        return None
    return any(
        _value(
            condition,
            columns,
            dict(zip(literals, cells, strict=False)),
            dict(zip(map(id, others), cells[len(literals) :], strict=True)),
        )
        is True
        for cells in product(*candidates)
    )


def _tests(condition: Condition) -> list[Condition]:
    match condition:
        case And(operands=operands) | Or(operands=operands):
            return [test for operand in operands for test in _tests(operand)]
        case Not(operand=operand):
            return _tests(operand)
        case _:
            return [condition]


def _is_simple(test: Condition, columns: Mapping[str, Column]) -> TypeGuard[_Test]:
    """Tell whether a test compares a number or a key with literals of its kind."""
    if not isinstance(test, _Test):
        return False
    column = columns.get(test.column)
    if isinstance(column, NumberColumn):
        return all(isinstance(value, Fraction) for value in _literals(test))
    if not isinstance(column, CategoryColumn):
        return False
    ordered = isinstance(test, Comparison) and test.operator not in _EQUALITIES
    texts = all(isinstance(value, str) for value in _literals(test))
    return texts and not ordered and not isinstance(test, Between)


_EQUALITIES = frozenset({Operator.EQUAL, Operator.UNEQUAL})


def _literals(test: _Test) -> tuple[Fraction | str, ...]:
    match test:
        case Comparison(value=value):
            return (value,)
        case Membership(values=values):
            return values
        case Between(lower=lower, upper=upper):
            return lower, upper
        case IsNull():
            return ()


def _cells(
    column: Column, literals: set[Fraction | str], *, bounded: bool
) -> list[Cell]:
    """Return the cells of a column among which truth can change."""
    if isinstance(column, CategoryColumn):
        # A key that is not declared counts as null.
        return [None, *column.keys]
    assert isinstance(column, NumberColumn)
    ends = {column.lower, column.upper}
    points = sorted({Fraction(value) for value in literals} | ends)
    tried = {*points, points[0] - 1, points[-1] + 1}
    tried |= {(low + high) / 2 for low, high in pairwise(points)}
    if column.type is NumberType.INTEGER:
        tried = {Fraction(end) for x in tried for end in (x.__floor__(), x.__ceil__())}
        tried |= {x + step for x in tried for step in (-1, 1)}
    if bounded:
        tried = {x for x in tried if column.lower <= x <= column.upper}
    return [None, *tried]


def _value(
    condition: Condition,
    columns: Mapping[str, Column],
    row: Mapping[str, Cell],
    others: Mapping[int, Cell],
) -> bool | None:
    """Return whether a row passes, by Kleene's rules."""
    match condition:
        case And(operands=operands):
            found = [_value(each, columns, row, others) for each in operands]
            return False if False in found else None if None in found else True
        case Or(operands=operands):
            found = [_value(each, columns, row, others) for each in operands]
            return True if True in found else None if None in found else False
        case Not(operand=operand):
            inner = _value(operand, columns, row, others)
            return None if inner is None else not inner
        case _ if id(condition) in others:
            given = others[id(condition)]
            return given if isinstance(given, bool) else None
        case Comparison() | Membership() | Between() | IsNull():
            return _tested(condition, columns[condition.column], row[condition.column])
        case _:
            raise AssertionError("every other test is among the others")


def _tested(test: _Test, column: Column, cell: Cell) -> bool | None:
    if isinstance(test, IsNull):
        return cell is None
    nulls = getattr(column, "nulls", None)
    if cell is None and isinstance(nulls, FillNulls):
        cell = nulls.value
    if cell is None:
        return None
    match test:
        case Comparison(operator=operator, value=value):
            return _compared(cell, operator, value)
        case Membership(values=values):
            return cell in values
        case Between(lower=lower, upper=upper):
            return isinstance(cell, Fraction) and lower <= cell <= upper


def _compared(cell: Cell, operator: Operator, value: Fraction | str) -> bool:
    match operator:
        case Operator.EQUAL:
            return cell == value
        case Operator.UNEQUAL:
            return cell != value
    assert isinstance(cell, Fraction)
    assert isinstance(value, Fraction)
    match operator:
        case Operator.LESS:
            return cell < value
        case Operator.AT_MOST:
            return cell <= value
        case Operator.GREATER:
            return cell > value
        case _:
            return cell >= value
