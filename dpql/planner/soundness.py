"""What every spec inside a plan must be, whoever wrote the plan.

A spec that comes from a text has been checked by `resolve`. One that comes inside a
plan has not, so its invariants are looked at again before anything relies on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from fractions import Fraction

from dpql.mechanisms import CONCENTRATED
from dpql.model import limits
from dpql.model.calendar import (
    DAY,
    FIRST_DAY,
    LARGEST_ZONE,
    LAST_DAY,
    STEPS,
)
from dpql.model.codec import layout
from dpql.model.columns import OTHERS
from dpql.model.spec import (
    AccuracyTarget,
    BooleanColumn,
    CategoryColumn,
    Column,
    Contributes,
    DateColumn,
    DropNulls,
    Epsilon,
    FillNulls,
    IdColumn,
    MechanismName,
    Neighbours,
    Nulls,
    NumberColumn,
    NumberType,
    PrivateColumn,
    Rho,
    RowsExactly,
    Share,
    Spec,
    Statistic,
    TimeColumn,
)
from dpql.planner.bind import count_cells, is_known
from dpql.planner.rules import NOW, Rules
from dpql.planner.sound_expressions import (
    are_distinct,
    are_unmistakable,
    is_condition,
    is_formatted,
    lattice_of,
)
from dpql.statistics import OPTIONS, STATISTICS, searches, total
from dpql.statistics.option import Input, Usage
from dpql.statistics.statistic import PRIVATE

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NUMERIC_KEY = re.compile(r"0|-?[1-9][0-9]{0,19}")
_LARGEST = 10**400


def is_sound(spec: Spec, rules: Rules = NOW) -> bool:
    """Tell whether the spec keeps every invariant that its types state in words."""
    return _modest(spec) and all(_facts(spec, rules))


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
    yield bool(columns)
    names = [column.name for column in (*columns, *spec.data.derived)]
    yield are_unmistakable(names, limits.COLUMN)
    yield all(_sound_column(column, rules) for column in columns)
    yield rules.expressions or not spec.data.derived
    lattice = lattice_of(spec.data)
    if lattice is None:
        yield False
        return
    by_name = dict(spec.data.by_name)
    yield is_formatted(spec.release, limits.NAME)
    yield is_formatted(spec.data.source, limits.NAME)
    yield is_formatted(spec.purpose, limits.PURPOSE)
    yield spec.signer is None or is_formatted(spec.signer, limits.SIGNER)
    yield from _promise(spec, by_name, rules)
    yield bool(spec.statistics)
    yield are_distinct([statistic.name for statistic in spec.statistics])
    yield _parts(spec) <= limits.MOST_PARTS
    yield total.are_sound(spec)
    for statistic in spec.statistics:
        yield from _statistic(spec, statistic, by_name, rules)
        asked = [one for one in (statistic.condition, statistic.where) if one]
        old = not rules.expressions
        yield all(is_condition(one, lattice, old=old) for one in asked)
    yield searches.are_sound(spec)


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


def _promise(spec: Spec, columns: dict[str, Column], rules: Rules) -> Iterator[bool]:
    privacy, rows = spec.privacy, spec.data.rows
    exact = isinstance(rows, RowsExactly)
    yield 1 <= rows.count <= limits.MOST_ROWS
    yield 0 < privacy.epsilon <= limits.LARGEST_EPSILON
    yield exact or privacy.neighbours is Neighbours.ADD_REMOVE
    yield 0 <= privacy.delta < 1
    yield privacy.delta == 0 or rules.expressions
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        found = [getattr(column, "nulls", None) for column in spec.data.columns]
        yield not any(isinstance(nulls, DropNulls) for nulls in found)
    yield _sound_bounds(privacy.contributes)
    if privacy.unit is None:
        yield privacy.contributes == Contributes(rows=1, groups=1)
        yield all(one.contributes is None for one in spec.statistics)
    else:
        yield isinstance(columns.get(privacy.unit), IdColumn)


def _sound_bounds(bounds: Contributes) -> bool:
    rows, groups, total = bounds.rows, bounds.groups, bounds.total
    return min(rows, groups) >= 1 and (total is None or rows <= total < rows * groups)


def _sound_column(  # noqa: C901, PLR0911  one per type
    column: Column, rules: Rules
) -> bool:
    match column:
        case IdColumn(name=name):
            return name != "row"
        case PrivateColumn():
            return rules.expressions
        case CategoryColumn(keys=keys):
            few = len(column.declared) > 0 and len(keys) <= limits.MOST_CELLS
            return _sound_keys(column) and few
        case NumberColumn(lower=lower, upper=upper, step=step):
            if column.unit is not None and not is_formatted(column.unit, limits.UNIT):
                return False
            fill = column.nulls.value if isinstance(column.nulls, FillNulls) else lower
            if not lower <= fill <= upper or lower == upper:
                return False
            if step is None or column.type is NumberType.FLOAT:
                return step is None and column.type is NumberType.FLOAT
            numbers = (step, lower) if column.type is NumberType.INTEGER else ()
            whole = all(number.denominator == 1 for number in numbers)
            return step > 0 and whole and ((upper - lower) / step).denominator == 1
        case BooleanColumn(nulls=nulls):
            return rules.expressions and _fills(nulls, 0, 1)
        case DateColumn(first=first, last=last, nulls=nulls):
            known = FIRST_DAY <= first < last <= LAST_DAY
            return rules.expressions and known and _fills(nulls, first, last)
        case TimeColumn(first=first, last=last, nulls=nulls):
            known = FIRST_DAY * DAY <= first < last < (LAST_DAY + 1) * DAY
            known = known and column.step in STEPS.values()
            known = known and abs(column.zone) <= LARGEST_ZONE
            return rules.expressions and known and _fills(nulls, first, last)


def _fills(nulls: Nulls, lower: int, upper: int) -> bool:
    """Tell whether what a missing cell counts as is a whole number within bounds."""
    if isinstance(nulls, DropNulls):
        return True
    return nulls.value.denominator == 1 and lower <= nulls.value <= upper


def _sound_keys(column: CategoryColumn) -> bool:
    if column.digest is not None and not _DIGEST.fullmatch(column.digest):
        return False
    if column.others and column.keys[-1:] != (OTHERS,):
        return False
    if not column.numeric:
        return are_unmistakable(column.keys, limits.KEY)
    return are_distinct(column.keys) and all(map(_is_numeric_key, column.declared))


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
    yield is_formatted(statistic.name, limits.NAME)
    yield len(inputs) == kind.columns
    yield are_distinct(statistic.columns)
    yield spec.privacy.unit not in statistic.columns
    yield spec.privacy.unit is not None or not kind.once or kind.finds
    yield all(given.type in kind.column_types for given in inputs)
    yield are_distinct(statistic.by)
    yield len(statistic.by) <= limits.MOST_GROUPINGS
    listed = CategoryColumn | BooleanColumn
    grouping = listed | PrivateColumn
    yield all(isinstance(columns.get(name), grouping) for name in statistic.by)
    binned = not kind.splits or bool(statistic.edges)
    yield binned or all(
        isinstance(columns.get(name), listed) for name in statistic.columns
    )
    values = count_cells(spec, statistic) * max(1, len(statistic.at))
    yield values <= limits.MOST_CELLS
    yield not kind.chooses or statistic.mechanism is MechanismName.AUTO
    yield (statistic.condition is not None) == kind.takes_condition
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
            yield statistic.mechanism not in CONCENTRATED
        case Rho(value=amount):
            yield amount > 0
            yield spec.privacy.delta > 0
            yield statistic.mechanism in (*CONCENTRATED, MechanismName.AUTO)
    yield statistic.mechanism not in CONCENTRATED or spec.privacy.delta > 0


def _input(name: str, column: Column | None) -> Input:
    match column:
        case NumberColumn(type=type_):
            found = type_.value
        case CategoryColumn():
            found = "category"
        case PrivateColumn():
            found = PRIVATE
        case IdColumn():
            found = "id"
        case BooleanColumn():
            found = "boolean"
        case DateColumn():
            found = "date"
        case TimeColumn():
            found = "time"
        case _:
            found = ""
    return Input(name=name, type=found, column=column)
