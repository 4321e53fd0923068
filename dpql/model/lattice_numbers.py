"""The numbers of the lattice: arithmetic, rounding, quotients and choices.

Source: MATH-statistics 4, the table and "Integers".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.diagnostics import shown
from dpql.model.calendar import read_date, read_time
from dpql.model.expression import Call, Constant, Function
from dpql.model.lattice_nodes import (
    Absolute,
    Choice,
    Extreme,
    Filled,
    Floor,
    Kind,
    Node,
    Product,
    Quotient,
    Shape,
    Sum,
    Whole,
)
from dpql.model.lattice_rules import (
    Untyped,
    Word,
    as_number,
    as_truth,
    common,
    common_step,
    nullable,
    shaped,
)

if TYPE_CHECKING:
    from dpql.model.lattice import Lattice

_ONE = Fraction(1)


def called(call: Call, operands: Sequence[Node], lattice: Lattice) -> Node:
    """Return the node of a function of operands.

    Raises:
        Untyped: an operand is of the wrong kind, or no constant where one is needed.
    """
    if len(operands) != ARITY[call.function]:
        raise Untyped(f"`{call.function.value}` takes {ARITY[call.function]} operands")
    dates = {node.shape.kind for node in operands} & {Kind.DATE, Kind.TIME}
    if call.function is Function.SUBTRACT and dates:
        left, right = operands
        return _between_dates(_dated(left, right, 0), _dated(right, left, 1))
    if call.function is Function.CASE:
        condition = as_truth(operands[0], 0)
        yes, no = (as_number(operands[i], lattice, i) for i in (1, 2))
        return _choice(condition, yes, no)
    numbers = [as_number(x, lattice, i) for i, x in enumerate(operands)]
    return _BUILDERS[call.function](call, numbers)


def _sum(call: Call, numbers: Sequence[Node]) -> Node:
    left, right = numbers
    step, (left_by, right_by) = common(left, right)
    if call.function is Function.SUBTRACT:
        right_by = -right_by
    return _added(left, right, left_by, right_by, step)


def _added(
    left: Node, right: Node, left_by: int, right_by: int, step: Fraction
) -> Node:
    ends = sorted((right_by * right.shape.low, right_by * right.shape.high))
    first = (left_by * left.shape.low, left_by * left.shape.high)
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=step,
            low=first[0] + ends[0],
            high=first[1] + ends[1],
            nullable=nullable(left, right),
        ),
        left,
        right,
        met=(*ends, *first, left_by, right_by),
    )
    return Sum(left=left, right=right, left_by=left_by, right_by=right_by, shape=shape)


def _dated(node: Node, other: Node, operand: int) -> Node:
    """Return a constant beside a date or a time as one of its kind.

    Raises:
        Untyped: it is none.
    """
    if not isinstance(node, Word):
        return node
    kind = other.shape.kind
    found = read_date(node.text) if kind is Kind.DATE else read_time(node.text)
    if found is None:
        form = "2013-06-01" if kind is Kind.DATE else "2013-06-01 12:30"
        message = f"`{shown(node.text)}` is not {kind.value}"
        raise Untyped(message, f"write it like `{form}`", operand=operand)
    step = common_step(Fraction(found), other.shape.step)
    z = int(found / step)
    shape = replace(other.shape, step=step, low=z, high=z, nullable=False, excess=None)
    return Whole(z=z, shape=shape)


def _between_dates(left: Node, right: Node) -> Node:
    """Return a difference in days, or in steps of the times."""
    kind = left.shape.kind
    if right.shape.kind is not kind:
        raise Untyped(f"{kind.value} minus {right.shape.kind.value}", operand=1)
    if left.shape.clock != right.shape.clock:
        raise Untyped(
            "the times have different steps or zones",
            "declare them with one step and one zone",
            operand=1,
        )
    step, (left_by, right_by) = common(left, right)
    unit = 1 if left.shape.clock is None else left.shape.clock[0]
    return _added(left, right, left_by, -right_by, step / unit)


def _product(_: Call, numbers: Sequence[Node]) -> Node:
    left, right = numbers
    corners = [
        x * y
        for x in (left.shape.low, left.shape.high)
        for y in (right.shape.low, right.shape.high)
    ]
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=left.shape.step * right.shape.step,
            low=min(corners),
            high=max(corners),
            nullable=nullable(left, right),
        ),
        left,
        right,
    )
    return Product(left=left, right=right, shape=shape)


def _extreme(call: Call, numbers: Sequence[Node]) -> Node:
    left, right = numbers
    largest = call.function is Function.MAX
    step, (left_by, right_by) = common(left, right)
    lows = (left_by * left.shape.low, right_by * right.shape.low)
    highs = (left_by * left.shape.high, right_by * right.shape.high)
    choose: Callable[[tuple[int, int]], int] = max if largest else min
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=step,
            low=choose(lows),
            high=choose(highs),
            nullable=nullable(left, right),
        ),
        left,
        right,
        met=(*lows, *highs, left_by, right_by),
    )
    return Extreme(
        left=left,
        right=right,
        left_by=left_by,
        right_by=right_by,
        largest=largest,
        shape=shape,
    )


def _absolute(_: Call, numbers: Sequence[Node]) -> Node:
    (operand,) = numbers
    low, high = operand.shape.low, operand.shape.high
    ends = sorted((abs(low), abs(high)))
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=operand.shape.step,
            low=0 if low <= 0 <= high else ends[0],
            high=ends[1],
            nullable=operand.shape.nullable,
        ),
        operand,
    )
    return Absolute(operand=operand, shape=shape)


def _floor(call: Call, numbers: Sequence[Node]) -> Node:
    divisor = constant(call, 1)
    if divisor == 0:
        raise Untyped("a division by 0", "divide by another constant", operand=1)
    ratio = numbers[0].shape.step / divisor
    return _floored(numbers[0], ratio.numerator, 0, ratio.denominator, _ONE)


def _round(call: Call, numbers: Sequence[Node]) -> Node:
    step = constant(call, 1)
    if step <= 0:
        raise Untyped("the step must be above 0", "such as `round(x, 0.1)`", operand=1)
    ratio = numbers[0].shape.step / step
    top, bottom = ratio.numerator, ratio.denominator
    return _floored(numbers[0], 2 * top, bottom, 2 * bottom, step)


def _floored(operand: Node, times: int, plus: int, over: int, step: Fraction) -> Node:
    ends = (operand.shape.low, operand.shape.high)
    reached = sorted((times * z + plus) // over for z in ends)
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=step,
            low=reached[0],
            high=reached[1],
            nullable=operand.shape.nullable,
        ),
        operand,
        met=(*(abs(times * z) + plus for z in ends), times, over),
    )
    return Floor(operand=operand, times=times, plus=plus, over=over, shape=shape)


def _quotient(call: Call, numbers: Sequence[Node]) -> Node:
    x, y, *_ = numbers
    lower, upper, step = (constant(call, index) for index in (2, 3, 4))
    if step <= 0:
        raise Untyped("the step must be above 0", operand=4)
    if lower > upper:
        raise Untyped("the lower bound is above the upper", operand=3)
    if ((upper - lower) / step).denominator != 1:
        raise Untyped("the bounds are not a whole number of steps apart", operand=4)
    g = common_step(lower, step)
    by_y = y.shape.step
    unit = common_step(x.shape.step, abs(lower) * by_y, step * by_y)
    c_x, c_y, c_s = (
        int(one / unit) for one in (x.shape.step, lower * by_y, step * by_y)
    )
    far_x = max(abs(x.shape.low), abs(x.shape.high))
    far_y = max(abs(y.shape.low), abs(y.shape.high))
    number = 2 * (c_x * far_x + abs(c_y) * far_y) + c_s * far_y
    steps = int((upper - lower) / step)
    base, factor = int(lower / g), int(step / g)
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=g,
            low=base,
            high=base + factor * steps,
            nullable=nullable(x, y) or y.shape.low <= 0 <= y.shape.high,
        ),
        x,
        y,
        met=(number, 2 * c_s * far_y, c_x, c_y, c_s, factor * steps),
    )
    return Quotient(
        x=x,
        y=y,
        c_x=c_x,
        c_y=c_y,
        c_s=c_s,
        steps=steps,
        base=base,
        factor=factor,
        shape=shape,
    )


def _choice(condition: Node, yes: Node, no: Node) -> Node:
    step, (yes_by, no_by) = common(yes, no)
    ends = (
        yes_by * yes.shape.low,
        yes_by * yes.shape.high,
        no_by * no.shape.low,
        no_by * no.shape.high,
    )
    both = yes.shape.kind is no.shape.kind is Kind.BOOLEAN
    shape = shaped(
        Shape(
            kind=Kind.BOOLEAN if both else Kind.NUMBER,
            step=step,
            low=min(ends),
            high=max(ends),
            nullable=nullable(yes, no),
        ),
        condition,
        yes,
        no,
        met=(yes_by, no_by),
    )
    return Choice(
        condition=condition, yes=yes, no=no, yes_by=yes_by, no_by=no_by, shape=shape
    )


def _filled(call: Call, numbers: Sequence[Node]) -> Node:
    operand, value = numbers
    if not isinstance(call.operands[1], Constant):
        raise Untyped(
            "`coalesce` fills in a constant",
            "or write `case(is_null(x), y, x)`",
            operand=1,
        )
    step, (by, fill_by) = common(operand, value)
    fill = fill_by * value.shape.low
    ends = (by * operand.shape.low, by * operand.shape.high, fill)
    both = operand.shape.kind is value.shape.kind is Kind.BOOLEAN
    shape = shaped(
        Shape(
            kind=Kind.BOOLEAN if both else Kind.NUMBER,
            step=step,
            low=min(ends),
            high=max(ends),
            nullable=False,
        ),
        operand,
        value,
        met=(by, fill),
    )
    return Filled(operand=operand, by=by, fill=fill, shape=shape)


def constant(call: Call, index: int) -> Fraction:
    """Return the constant number at a place.

    Raises:
        Untyped: it is none.
    """
    operand = call.operands[index]
    if isinstance(operand, Constant) and isinstance(operand.value, Fraction):
        return operand.value
    raise Untyped("a constant number is needed here", "such as `15`", operand=index)


_BUILDERS: dict[Function, Callable[[Call, Sequence[Node]], Node]] = {
    Function.ADD: _sum,
    Function.SUBTRACT: _sum,
    Function.MULTIPLY: _product,
    Function.FLOOR_DIVIDE: _floor,
    Function.MIN: _extreme,
    Function.MAX: _extreme,
    Function.ABS: _absolute,
    Function.ROUND: _round,
    Function.DIV: _quotient,
    Function.COALESCE: _filled,
}

ARITY = dict.fromkeys(Function, 2) | {
    Function.ABS: 1,
    Function.CASE: 3,
    Function.DIV: 5,
}
"""How many operands each function takes."""
