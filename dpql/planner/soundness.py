"""What every spec inside a plan must be, whoever wrote the plan.

A spec that comes from a text has been checked by `resolve`. One that comes inside a
plan has not, so its invariants are looked at again before anything relies on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from fractions import Fraction
from itertools import pairwise

from dpql.model.codec import layout
from dpql.model.spec import (
    AccuracyTarget,
    And,
    Between,
    CategoryColumn,
    Column,
    Comparison,
    Condition,
    Epsilon,
    FillNulls,
    IdColumn,
    Literal,
    Membership,
    Neighbours,
    Not,
    NumberColumn,
    NumberType,
    Operator,
    Or,
    RowsExactly,
    Share,
    Spec,
    Statistic,
    StatisticKind,
)

_INPUTS = {StatisticKind.COUNT: 0, StatisticKind.COVARIANCE: 2}
_LARGEST = 10**400
_SUMMED = frozenset(StatisticKind) - {StatisticKind.COUNT, StatisticKind.HISTOGRAM}


def is_sound(spec: Spec) -> bool:
    """Tell whether the spec keeps every invariant that its types state in words."""
    return _modest(spec) and all(_facts(spec))


def _modest(value: object) -> bool:
    """Tell whether every number inside is of a size that a text can spell."""
    if isinstance(value, int | Fraction):
        return max(abs(value.numerator), value.denominator) < _LARGEST
    if isinstance(value, tuple):
        return all(map(_modest, value))
    if is_dataclass(value) and not isinstance(value, type):
        members = layout(type(value))
        return all(_modest(getattr(value, name)) for name, _ in members)
    return True


def _facts(spec: Spec) -> Iterator[bool]:
    columns = spec.data.columns
    by_name = {column.name: column for column in columns}
    yield len(by_name) == len(columns)
    yield all(_sound_column(column) for column in columns)
    yield from _promise(spec, by_name)
    yield bool(spec.statistics)
    yield _distinct([ask.name for ask in spec.statistics])
    for ask in spec.statistics:
        yield from _statistic(spec, ask, by_name)


def _promise(spec: Spec, columns: dict[str, Column]) -> Iterator[bool]:
    privacy, rows = spec.privacy, spec.data.rows
    exact = isinstance(rows, RowsExactly)
    yield rows.count >= 1
    yield exact or privacy.neighbours is Neighbours.ADD_REMOVE
    yield privacy.delta == 0
    yield min(privacy.contributes.rows, privacy.contributes.groups) >= 1
    if privacy.unit is None:
        yield privacy.contributes.rows == privacy.contributes.groups == 1
    else:
        yield isinstance(columns.get(privacy.unit), IdColumn)


def _sound_column(column: Column) -> bool:
    match column:
        case IdColumn():
            return True
        case CategoryColumn(keys=keys):
            return bool(keys) and _distinct(keys)
        case NumberColumn(lower=lower, upper=upper, step=step):
            fill = column.nulls.value if isinstance(column.nulls, FillNulls) else lower
            if not lower <= fill <= upper or lower == upper:
                return False
            if step is None or column.type is NumberType.FLOAT:
                return step is None and column.type is NumberType.FLOAT
            numbers = (step, lower) if column.type is NumberType.INTEGER else ()
            whole = all(number.denominator == 1 for number in numbers)
            return step > 0 and whole and ((upper - lower) / step).denominator == 1


def _statistic(
    spec: Spec, ask: Statistic, columns: dict[str, Column]
) -> Iterator[bool]:
    inputs = [columns.get(name) for name in ask.columns]
    yield len(inputs) == _INPUTS.get(ask.kind, 1)
    yield _distinct(ask.columns)
    if ask.kind in _SUMMED:
        yield all(isinstance(column, NumberColumn) for column in inputs)
        yield not ask.edges
    if ask.kind is StatisticKind.HISTOGRAM:
        yield _bins(ask, inputs[0] if inputs else None)
    yield _distinct(ask.by)
    yield all(isinstance(columns.get(name), CategoryColumn) for name in ask.by)
    yield ask.where is None or _condition(ask.where, columns)
    yield ask.at_least is None or 1 <= ask.at_least <= spec.data.rows.count
    yield 0 < ask.alpha < 1
    yield 0 < ask.gamma <= 1
    match ask.spend:
        case Share(weight=amount) | AccuracyTarget(within=amount):
            yield amount > 0
        case Epsilon(value=amount):
            yield 0 < amount <= spec.privacy.epsilon


def _bins(ask: Statistic, column: Column | None) -> bool:
    if isinstance(column, NumberColumn):
        rising = all(one < other for one, other in pairwise(ask.edges))
        inside = all(column.lower <= edge <= column.upper for edge in ask.edges)
        return len(ask.edges) > 1 and rising and inside
    return isinstance(column, CategoryColumn) and not ask.edges


def _condition(condition: Condition, columns: dict[str, Column]) -> bool:
    match condition:
        case Not(operand=operand):
            return _condition(operand, columns)
        case And(operands=operands) | Or(operands=operands):
            flat = not any(type(operand) is type(condition) for operand in operands)
            return (
                flat
                and len(operands) > 1
                and all(_condition(operand, columns) for operand in operands)
            )
        case Comparison(column=name, operator=operator, value=value):
            number = isinstance(columns.get(name), NumberColumn)
            plain = operator in (Operator.EQUAL, Operator.UNEQUAL)
            return (number or plain) and _fits(columns.get(name), [value])
        case Membership(column=name, values=values):
            return (
                _distinct(values) and bool(values) and _fits(columns.get(name), values)
            )
        case Between(column=name, lower=lower, upper=upper):
            return isinstance(columns.get(name), NumberColumn) and lower <= upper
        case _:
            return condition.column in columns


def _fits(column: Column | None, values: Sequence[Literal]) -> bool:
    """Tell whether the column can be compared with the values."""
    if isinstance(column, NumberColumn):
        return all(isinstance(value, Fraction) for value in values)
    return isinstance(column, CategoryColumn) and all(
        value in column.keys for value in values
    )


def _distinct(names: Sequence[object]) -> bool:
    return len(set(names)) == len(names)
