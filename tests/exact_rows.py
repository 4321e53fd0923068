"""Expressions of a row in pure Python: as they mean, and as their nodes compute.

`meaning` knows nothing of lattices: rationals, texts and None. `computed` follows a
node in whole numbers. What both say of a row is the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpql.model import calendar
from dpql.model import lattice_nodes as nodes
from dpql.model.expression import (
    NUMBERED,
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
    Literal,
    Map,
    Membership,
    Not,
    Or,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.lattice_tests import HOLDS
from dpql.model.notation import bin_keys
from dpql.model.spec import (
    CategoryColumn,
    Data,
    DateColumn,
    FillNulls,
    NumberColumn,
    TimeColumn,
)

Cell = int | float | Fraction | None
"""A canonical cell: a number, 0 or 1, the code of a key, a day, a second of the clock,
or None."""

Row = Mapping[str, Cell]

Value = Fraction | str | None
"""A number (truth is 1 or 0, a date its day, a time its second), a key, or null."""


def filled(data: Data, name: str, row: Row) -> Fraction | None:
    """Return the stored number, as it is, or what the column fills in."""
    cell = row[name]
    if cell is not None:
        return Fraction(cell)
    nulls = getattr(data.by_name[name], "nulls", None)
    return nulls.value if isinstance(nulls, FillNulls) else None


def steps_of(data: Data, name: str, row: Row) -> int | None:
    """Return u: the steps above the lower bound that an expression counts."""
    cell = filled(data, name, row)
    if cell is None:
        return None
    column = data.number(name)
    width = column.upper - column.lower
    steps = 1 << 20 if column.step is None else int(width / column.step)
    clamped = min(max(cell, column.lower), column.upper)
    half = 0 if isinstance(data.by_name[name], TimeColumn) else Fraction(1, 2)
    return min(((clamped - column.lower) * steps / width + half).__floor__(), steps)


def meaning(  # noqa: C901, PLR0911, PLR0912, PLR0915  one per kind
    expression: Expression, data: Data, row: Row
) -> Value:
    """Return what an expression is of a row, by the definition of each function."""

    def of(operand: Expression) -> Value:
        return meaning(operand, data, row)

    match expression:
        case Reference(column=name):
            return _value(name, data, row)
        case Constant(value=value):
            return _constant(value)
        case Call():
            return _called(expression, data, row)
        case Bands(operand=operand, edges=edges):
            number = of(operand)
            if isinstance(operand, Reference):
                number = _clamped(operand.column, data, row, number)
            assert not isinstance(number, str)
            keys = bin_keys(edges)
            if number is None or not edges[0] <= number <= edges[-1]:
                return None
            return keys[max(i for i, e in enumerate(edges[:-1]) if e <= number)]
        case Map(operand=operand):
            key = _key(of(operand))
            pairs = {pair.key: pair.value for pair in expression.pairs}
            if key is None:
                return expression.missing
            return pairs.get(key, expression.otherwise)
        case PartOf(part=part, column=name):
            return _part(part, name, data, row)
        case Comparison(column=name, operator=operator, value=value):
            return _compared(name, operator, value, data, row)
        case Membership(column=name, values=values):
            cell = _stored(name, data, row, values)
            found = [_literal(value, name, data) for value in values]
            return None if cell is None else Fraction(cell in found)
        case Between(column=name, lower=lower, upper=upper):
            cell = _stored(name, data, row, [lower])
            assert not isinstance(cell, str)
            return None if cell is None else Fraction(lower <= cell <= upper)
        case Compared(left=left, operator=operator, right=right):
            if isinstance(left, Reference) and isinstance(right, Reference):
                one, other = (
                    _stored(side.column, data, row, ()) for side in (left, right)
                )
            else:
                one, other = of(left), of(right)
                if all(
                    isinstance(side, PartOf) and side.part in NUMBERED
                    for side in (left, right)
                ):
                    one, other = _same(one), _same(other)
                if {type(one), type(other)} == {Fraction, str}:
                    one, other = _same(one), _same(other)
            if one is None or other is None:
                return None
            return Fraction(HOLDS[operator](one, other))
        case Listed(operand=operand, values=values):
            found_value = of(operand)
            if any(isinstance(value, str) for value in values):
                key = _key(found_value)
                return None if key is None else Fraction(key in values)
            number = _same(found_value)
            return None if number is None else Fraction(number in values)
        case Ranged(operand=operand, lower=low, upper=high):
            if isinstance(operand, Reference):
                name = operand.column
                cell = _stored(name, data, row, ())
                ends = [_literal(end, name, data) for end in (low, high)]
            else:
                cell, ends = _same(of(operand)), [low, high]
            if cell is None:
                return None
            return Fraction(ends[0] <= cell <= ends[1])  # type: ignore[operator]
        case IsNull(column=name):
            return Fraction(_is_missing(name, data, row))
        case IsMissing(operand=operand):
            return Fraction(of(operand) is None)
        case Not(operand=operand):
            truth = of(operand)
            assert not isinstance(truth, str)
            return None if truth is None else 1 - truth
        case And(operands=operands):
            found_truths = [of(operand) for operand in operands]
            if 0 in found_truths:
                return Fraction(0)
            return None if None in found_truths else Fraction(1)
        case Or(operands=operands):
            found_truths = [of(operand) for operand in operands]
            if 1 in found_truths:
                return Fraction(1)
            return None if None in found_truths else Fraction(0)


def _declared(name: str, data: Data) -> Any:
    return next((column for column in data.columns if column.name == name), None)


def _derived(name: str, data: Data) -> Expression:
    return next(one.expression for one in data.derived if one.name == name)


def _value(name: str, data: Data, row: Row) -> Value:
    column = _declared(name, data)
    if column is None:
        return meaning(_derived(name, data), data, row)
    if isinstance(column, CategoryColumn):
        code = row[name]
        return None if code is None else column.keys[int(code)]
    u = steps_of(data, name, row)
    if u is None:
        return None
    number = data.number(name)
    step = number.step or (number.upper - number.lower) / (1 << 20)
    return number.lower + u * step


def _clamped(name: str, data: Data, row: Row, number: Value) -> Value:
    """Return a plain float clamped, on no grid."""
    column = _declared(name, data)
    if not isinstance(column, NumberColumn) or column.step is not None:
        return number
    cell = filled(data, name, row)
    return None if cell is None else min(max(cell, column.lower), column.upper)


def _constant(value: Literal) -> Value:
    if value in ("true", "false"):
        return Fraction(value == "true")
    return value


def _key(value: Value) -> str | None:
    if isinstance(value, Fraction):
        return ("false", "true")[int(value)]
    return value


def _same(value: Value) -> Fraction | None:
    """Return the number that a part's key stands for."""
    return Fraction(value) if isinstance(value, str) else value


def _is_missing(name: str, data: Data, row: Row) -> bool:
    if _declared(name, data) is None:
        return _value(name, data, row) is None
    return row[name] is None


def _stored(name: str, data: Data, row: Row, values: Any) -> Value:
    """Return what is compared with literals: the stored cell of a number or a date."""
    column = _declared(name, data)
    if isinstance(column, NumberColumn | DateColumn | TimeColumn):
        return filled(data, name, row)
    found = _value(name, data, row)
    if any(isinstance(value, str) for value in values):
        return _key(found)
    if isinstance(found, str) and values:
        return _same(found)
    return found


def _literal(value: Literal, name: str, data: Data) -> Value:
    column = _declared(name, data)
    if isinstance(value, str) and isinstance(column, DateColumn):
        return Fraction(calendar.read_date(value) or 0)
    if isinstance(value, str) and isinstance(column, TimeColumn):
        return Fraction(calendar.read_time(value) or 0)
    return value


def _compared(name: str, operator: Any, value: Literal, data: Data, row: Row) -> Value:
    cell = _stored(name, data, row, [value])
    if cell is None:
        return None
    return Fraction(HOLDS[operator](cell, _literal(value, name, data)))


def _part(part: Any, name: str, data: Data, row: Row) -> str | None:
    column = _declared(name, data)
    cell = filled(data, name, row)
    if cell is None:
        return None
    if isinstance(column, DateColumn):
        if not column.first <= cell <= column.last:
            return None
        seconds = int(cell) * calendar.DAY
    else:
        u = (int(cell) - column.first) // column.step
        if not 0 <= u <= (column.last - column.first) // column.step:
            return None
        seconds = int(cell)
    return calendar.part_key(part, calendar.part_index(part, seconds))


def _called(call: Call, data: Data, row: Row) -> Value:  # noqa: C901, PLR0911, PLR0912  one per function
    instants = [_instant(operand, call, data) for operand in call.operands]
    given = [
        meaning(operand, data, row) if instant is None else instant
        for operand, instant in zip(call.operands, instants, strict=True)
    ]
    if call.function is Function.CASE:
        return _same(given[1] if given[0] == 1 else given[2])
    if call.function is Function.COALESCE:
        return _same(given[1] if given[0] is None else given[0])
    numbers = [_same(value) for value in given]
    if None in numbers:
        return None
    x, *rest = [Fraction(number or 0) for number in numbers]
    y = rest[0] if rest else Fraction(0)
    match call.function:
        case Function.ADD:
            return x + y
        case Function.SUBTRACT:
            left, right = (_clock(operand, data) for operand in call.operands)
            return (x - y) / max(left, right)
        case Function.MULTIPLY:
            return x * y
        case Function.FLOOR_DIVIDE:
            return Fraction((x / y).__floor__())
        case Function.MIN:
            return min(x, y)
        case Function.MAX:
            return max(x, y)
        case Function.ABS:
            return abs(x)
        case Function.ROUND:
            return y * (x / y + Fraction(1, 2)).__floor__()
        case Function.DIV:
            lower, upper, step = rest[1:]
            if y == 0:
                return None
            steps = ((x / y - lower) / step + Fraction(1, 2)).__floor__()
            return min(max(lower + step * steps, lower), upper)
        case _:
            raise AssertionError(call.function)


def _instant(operand: Expression, call: Call, data: Data) -> Fraction | None:
    """Return the day or the second of a text that a date or a time is reduced by."""
    if not isinstance(operand, Constant) or not isinstance(operand.value, str):
        return None
    for other in call.operands:
        if isinstance(other, Reference):
            column = _declared(other.column, data)
            if isinstance(column, DateColumn):
                return Fraction(calendar.read_date(operand.value) or 0)
            if isinstance(column, TimeColumn):
                return Fraction(calendar.read_time(operand.value) or 0)
    return None


def _clock(operand: Expression, data: Data) -> int:
    """Return the step of a difference of times."""
    if isinstance(operand, Reference):
        column = _declared(operand.column, data)
        return column.step if isinstance(column, TimeColumn) else 1
    return 1


def value_of(node: nodes.Node, data: Data, row: Row) -> Value:
    """Return the value that the whole number of a node stands for."""
    z = computed(node, data, row)
    if z is None:
        return None
    assert node.shape.low <= z <= node.shape.high, "within the public bounds"
    if node.shape.kind is nodes.Kind.KEY:
        return node.shape.keys[z]
    return node.shape.step * z


def computed(node: nodes.Node, data: Data, row: Row) -> int | None:
    """Return the whole number that a node computes of a row; every one is checked."""
    found = _computed(node, data, row)
    assert found is None or abs(found) < 1 << 62, "the planner has refused it"
    return found


def _computed(node: nodes.Node, data: Data, row: Row) -> int | None:  # noqa: C901, PLR0911, PLR0912, PLR0915  one per kind
    def of(operand: nodes.Node) -> int | None:
        return computed(operand, data, row)

    match node:
        case nodes.NumberCell(column=name, base=base, factor=factor):
            u = steps_of(data, name, row)
            return None if u is None else base + factor * u
        case nodes.KeyCell(column=name):
            code = row[name]
            return None if code is None else int(code)
        case nodes.DerivedCell(column=name):
            return of(data.lattice.derived[name])
        case nodes.PartKey(part=part, column=name):
            key = _part(part, name, data, row)
            return None if key is None else node.shape.keys.index(key)
        case nodes.KeyNumber(operand=operand, first=first):
            index = of(operand)
            return None if index is None else first + index
        case nodes.Filled(operand=operand, by=by, fill=fill):
            x = of(operand)
            return fill if x is None else by * x
        case nodes.Choice():
            if of(node.condition) == 1:
                yes = of(node.yes)
                return None if yes is None else node.yes_by * yes
            no = of(node.no)
            return None if no is None else node.no_by * no
        case nodes.CellMissing(column=name):
            return int(row[name] is None)
        case nodes.Missing(operand=operand):
            return int(of(operand) is None)
        case nodes.Conjunction(operands=operands):
            truths = [of(operand) for operand in operands]
            return 0 if 0 in truths else None if None in truths else 1
        case nodes.Disjunction(operands=operands):
            truths = [of(operand) for operand in operands]
            return 1 if 1 in truths else None if None in truths else 0
        case nodes.Mapped(operand=operand, codes=codes, missing=missing):
            index = of(operand)
            return missing if index is None else codes[index]
        case nodes.Whole(z=z):
            return z
        case nodes.CellBand(column=name, edges=edges):
            number = _clamped(name, data, row, _value(name, data, row))
            if number is None or not edges[0] <= number <= edges[-1]:  # type: ignore[operator]
                return None
            return max(i for i, e in enumerate(edges[:-1]) if e <= number)  # type: ignore[operator]
        case nodes.CellCompare(column=name, operator=operator, value=value):
            if row[name] is None:
                return None if node.missing is None else int(node.missing)
            return int(HOLDS[operator](Fraction(row[name]), value))
        case nodes.CellAmong(column=name, values=values):
            if row[name] is None:
                return None if node.missing is None else int(node.missing)
            return int(Fraction(row[name]) in values)
        case nodes.CellBetween(column=name, lower=lower, upper=upper):
            if row[name] is None:
                return None if node.missing is None else int(node.missing)
            return int(lower <= Fraction(row[name]) <= upper)
        case nodes.CellPair():
            left, right = (
                fill if row[name] is None else Fraction(row[name])
                for name, fill in (
                    (node.left, node.left_fill),
                    (node.right, node.right_fill),
                )
            )
            if left is None or right is None:
                return None
            return int(HOLDS[node.operator](left, right))
    given = [of(operand) for operand in _operands(node)]
    if None in given:
        return None
    x, *others = [one or 0 for one in given]
    y = others[0] if others else 0
    match node:
        case nodes.Sum(left_by=left_by, right_by=right_by):
            return left_by * x + right_by * y
        case nodes.Product():
            return x * y
        case nodes.Extreme(left_by=left_by, right_by=right_by, largest=largest):
            return (max if largest else min)(left_by * x, right_by * y)
        case nodes.Absolute():
            return abs(x)
        case nodes.Floor(times=times, plus=plus, over=over):
            return (times * x + plus) // over
        case nodes.Quotient():
            top = 2 * (node.c_x * x - node.c_y * y) + node.c_s * y
            bottom = 2 * node.c_s * y
            if y == 0:
                return None
            assert max(abs(top), abs(bottom)) < 1 << 62
            return node.base + node.factor * min(max(top // bottom, 0), node.steps)
        case nodes.Compare(left_by=left_by, right_by=right_by, operator=operator):
            return int(HOLDS[operator](left_by * x, right_by * y))
        case nodes.Among(values=values):
            return int(x in values)
        case nodes.Within(lowest=lowest, highest=highest):
            return int(lowest <= x <= highest)
        case nodes.KeyAmong(codes=codes):
            return int(x in codes)
        case nodes.KeyPair(codes=codes, negated=negated):
            return int((codes[x] == y) is not negated)
        case nodes.Negation():
            return 1 - x
        case nodes.Band(starts=starts, end=end):
            if not starts[0] <= x <= end:
                return None
            return max(i for i, start in enumerate(starts) if start <= x)
        case _:
            raise AssertionError(type(node))


def _operands(node: nodes.Node) -> tuple[nodes.Node, ...]:
    match node:
        case nodes.Quotient(x=x, y=y):
            return x, y
        case (
            nodes.Sum(left=left, right=right)
            | nodes.Product(left=left, right=right)
            | nodes.Extreme(left=left, right=right)
            | nodes.Compare(left=left, right=right)
            | nodes.KeyPair(left=left, right=right)
        ):
            return left, right
        case _:
            return (node.operand,)  # type: ignore[attr-defined]
