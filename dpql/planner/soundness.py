"""What every spec inside a plan must be, whoever wrote the plan.

A spec that comes from a text has been checked by `resolve`. One that comes inside a
plan has not, so its invariants are looked at again before anything relies on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from fractions import Fraction

from dpql.diagnostics import is_hidden
from dpql.model import limits
from dpql.model.characters import look, mixes_alphabets
from dpql.model.codec import layout
from dpql.model.spec import (
    AccuracyTarget,
    And,
    Between,
    CategoryColumn,
    Column,
    Comparison,
    Condition,
    Contributes,
    DropNulls,
    Epsilon,
    FillNulls,
    IdColumn,
    IsNull,
    Literal,
    MechanismName,
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
)
from dpql.planner.bind import count_cells, is_known
from dpql.planner.rules import NOW, Rules
from dpql.statistics import OPTIONS, STATISTICS
from dpql.statistics.option import Input, Usage

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NUMERIC_KEY = re.compile(r"0|-?[1-9][0-9]{0,19}")
_LARGEST = 10**400


def is_sound(spec: Spec, rules: Rules = NOW) -> bool:
    """Tell whether the spec keeps every invariant that its types state in words."""
    return _modest(spec) and all(_facts(spec, rules))


def _has_format(text: str, text_format: limits.TextFormat) -> bool:
    """Tell whether a text could have been written in a spec."""
    return (
        len(text) <= text_format.longest
        and re.fullmatch(text_format.pattern, text) is not None
        and not any(map(is_hidden, text))
    )


def _unmistakable(words: Sequence[str], text_format: limits.TextFormat) -> bool:
    """Tell whether no word looks like another one, or like what it is not."""
    return (
        all(_has_format(word, text_format) for word in words)
        and _distinct(list(map(look, words)))
        and not any(map(mixes_alphabets, words))
    )


def _modest(value: object) -> bool:
    """Tell whether every number inside is of a size that a text can hold."""
    if isinstance(value, int | Fraction):
        return max(abs(value.numerator), value.denominator) < _LARGEST
    if isinstance(value, tuple):
        return all(map(_modest, value))
    if is_dataclass(value) and not isinstance(value, type):
        members = layout(type(value))
        return all(_modest(getattr(value, name)) for name, _ in members)
    return True


def _facts(spec: Spec, rules: Rules) -> Iterator[bool]:
    columns = spec.data.columns
    by_name = {column.name: column for column in columns}
    yield bool(columns)
    yield _unmistakable([column.name for column in columns], limits.COLUMN)
    yield all(_sound_column(column) for column in columns)
    yield not spec.data.derived
    yield _has_format(spec.release, limits.NAME)
    yield _has_format(spec.data.source, limits.NAME)
    yield _has_format(spec.purpose, limits.PURPOSE)
    yield spec.signer is None or _has_format(spec.signer, limits.SIGNER)
    yield from _promise(spec, by_name)
    yield bool(spec.statistics)
    yield _distinct([statistic.name for statistic in spec.statistics])
    yield _parts(spec) <= limits.MOST_PARTS
    for statistic in spec.statistics:
        yield from _statistic(spec, statistic, by_name, rules)


def _parts(spec: Spec) -> int:
    """Return a number of scalars that any text of the spec has at least."""
    columns, statistics = spec.data.columns, spec.statistics
    # A range or a file of keys is one part, however many they are.
    keys = [
        1 if c.numeric or c.digest is not None else len(c.keys)
        for c in columns
        if isinstance(c, CategoryColumn)
    ]
    lists = [len(statistic.edges) + len(statistic.at) for statistic in statistics]
    return 2 * len(columns) + 3 * len(statistics) + sum(keys) + sum(lists)


def _promise(spec: Spec, columns: dict[str, Column]) -> Iterator[bool]:
    privacy, rows = spec.privacy, spec.data.rows
    exact = isinstance(rows, RowsExactly)
    yield 1 <= rows.count <= limits.MOST_ROWS
    yield 0 < privacy.epsilon <= limits.LARGEST_EPSILON
    yield exact or privacy.neighbours is Neighbours.ADD_REMOVE
    yield privacy.delta == 0
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        numbers = [c for c in columns.values() if isinstance(c, NumberColumn)]
        yield not any(isinstance(column.nulls, DropNulls) for column in numbers)
    yield _sound_bounds(privacy.contributes)
    if privacy.unit is None:
        yield privacy.contributes == Contributes(rows=1, groups=1)
        yield all(one.contributes is None for one in spec.statistics)
    else:
        yield isinstance(columns.get(privacy.unit), IdColumn)


def _sound_bounds(bounds: Contributes) -> bool:
    rows, groups, total = bounds.rows, bounds.groups, bounds.total
    return min(rows, groups) >= 1 and (total is None or rows <= total < rows * groups)


def _sound_column(column: Column) -> bool:  # noqa: PLR0911  one per type
    match column:
        case IdColumn(name=name):
            return name != "row"
        case CategoryColumn(keys=keys):
            return _sound_keys(column) and 0 < len(keys) <= limits.MOST_CELLS
        case NumberColumn(lower=lower, upper=upper, step=step):
            if column.unit is not None and not _has_format(column.unit, limits.UNIT):
                return False
            fill = column.nulls.value if isinstance(column.nulls, FillNulls) else lower
            if not lower <= fill <= upper or lower == upper:
                return False
            if step is None or column.type is NumberType.FLOAT:
                return step is None and column.type is NumberType.FLOAT
            numbers = (step, lower) if column.type is NumberType.INTEGER else ()
            whole = all(number.denominator == 1 for number in numbers)
            return step > 0 and whole and ((upper - lower) / step).denominator == 1
        case _:
            return False


def _sound_keys(column: CategoryColumn) -> bool:
    if column.digest is not None and not _DIGEST.fullmatch(column.digest):
        return False
    if not column.numeric:
        return _unmistakable(column.keys, limits.KEY)
    return _distinct(column.keys) and all(map(_is_numeric_key, column.keys))


def _is_numeric_key(key: str) -> bool:
    """Tell whether a key is the shortest form of a whole number near enough to 0."""
    return (
        _NUMERIC_KEY.fullmatch(key) is not None
        and abs(int(key)) <= limits.LARGEST_WHOLE
    )


def _statistic(
    spec: Spec, statistic: Statistic, columns: dict[str, Column], rules: Rules
) -> Iterator[bool]:
    kind = STATISTICS.get(statistic.kind)
    if kind is None:
        yield False
        return
    inputs = tuple(_input(name, columns.get(name)) for name in statistic.columns)
    yield _has_format(statistic.name, limits.NAME)
    yield len(inputs) == kind.columns
    yield _distinct(statistic.columns)
    yield spec.privacy.unit not in statistic.columns
    yield spec.privacy.unit is not None or not kind.once
    yield all(given.type in kind.column_types for given in inputs)
    yield _distinct(statistic.by)
    yield len(statistic.by) <= limits.MOST_GROUPINGS
    yield all(isinstance(columns.get(name), CategoryColumn) for name in statistic.by)
    values = count_cells(spec, statistic) * max(1, len(statistic.at))
    yield values <= limits.MOST_CELLS
    yield not kind.chooses or statistic.mechanism is MechanismName.AUTO
    yield (statistic.condition is not None) == kind.takes_condition
    yield statistic.condition is None or _filter(statistic.condition, columns)
    yield statistic.where is None or _filter(statistic.where, columns)
    usage = Usage(
        inputs=inputs,
        known=is_known(spec, statistic, rules),
        rows=spec.data.rows.count,
    )
    for option in OPTIONS:
        if option.meaning is not None:
            continue
        value = getattr(statistic, option.member)
        given = option.is_given(value)
        if option in kind.options:
            yield not given or option.fits(value)
            yield not any(option.check(value, usage))
        else:
            yield not given
    yield statistic.contributes is None or _sound_bounds(statistic.contributes)
    yield 0 < statistic.alpha < 1
    yield 0 < statistic.gamma <= 1
    match statistic.spend:
        case Share(weight=amount) | AccuracyTarget(within=amount):
            yield amount > 0
        case Epsilon(value=amount):
            yield 0 < amount <= spec.privacy.epsilon


def _input(name: str, column: Column | None) -> Input:
    match column:
        case NumberColumn(type=type_):
            found = type_.value
        case CategoryColumn():
            found = "category"
        case IdColumn():
            found = "id"
        case _:
            found = ""
    return Input(name=name, type=found, column=column)


def _filter(condition: Condition, columns: dict[str, Column]) -> bool:
    """Tell whether the condition is none too deep, none too long, and fits."""
    return (
        _depth(condition) <= limits.DEEPEST
        and _pieces(condition) <= limits.CONDITION.longest // 2
        and _condition(condition, columns)
    )


def _depth(condition: Condition) -> int:
    """Return the height of the tree, which the reading of a plan has bounded."""
    match condition:
        case Not(operand=operand):
            return 1 + _depth(operand)
        case And(operands=operands) | Or(operands=operands):
            return 1 + max(map(_depth, operands), default=0)
        case _:
            return 1


def _pieces(condition: Condition) -> int:
    """Return the number of words; each takes two characters at least."""
    match condition:
        case Not(operand=operand):
            return 1 + _pieces(operand)
        case And(operands=operands) | Or(operands=operands):
            return len(operands) - 1 + sum(map(_pieces, operands))
        case Membership(values=values):
            return 2 + len(values)
        case _:
            return 3


def _condition(  # noqa: PLR0911  one per kind
    condition: Condition, columns: dict[str, Column]
) -> bool:
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
        case IsNull(column=name):
            return isinstance(columns.get(name), NumberColumn | CategoryColumn)
        case _:
            return False


def _fits(column: Column | None, values: Sequence[Literal]) -> bool:
    """Tell whether the column can be compared with the values."""
    if isinstance(column, NumberColumn):
        return all(isinstance(value, Fraction) for value in values)
    return isinstance(column, CategoryColumn) and all(
        value in column.keys for value in values
    )


def _distinct(names: Sequence[object]) -> bool:
    return len(set(names)) == len(names)
