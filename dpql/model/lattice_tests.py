"""The conditions of the lattice: comparisons, lists, intervals, Kleene's `and`.

What compares one declared column with literals, or two with each other, reads the cells
as they are stored; everything else compares whole numbers of a common step.
Source: MATH-statistics 4.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpql.diagnostics import shown
from dpql.model.calendar import read_date, read_time
from dpql.model.expression import (
    And,
    Compared,
    Expression,
    Literal,
    Not,
    Operator,
    Or,
    Reference,
)
from dpql.model.lattice_keys import keys_of
from dpql.model.lattice_nodes import (
    Among,
    CellAmong,
    CellBetween,
    CellCompare,
    CellPair,
    Compare,
    Conjunction,
    Disjunction,
    KeyAmong,
    KeyPair,
    Kind,
    Negation,
    Node,
    Shape,
    Within,
)
from dpql.model.lattice_rules import (
    TRUTH,
    Untyped,
    Word,
    as_number,
    as_truth,
    common,
    constant,
    described,
    is_numbered,
    nullable,
    shaped,
)

if TYPE_CHECKING:
    from dpql.model.lattice import Lattice

_EQUALITIES = (Operator.EQUAL, Operator.UNEQUAL)
_DATES = (Kind.DATE, Kind.TIME)

HOLDS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operators.eq,
    Operator.UNEQUAL: operators.ne,
    Operator.LESS: operators.lt,
    Operator.AT_MOST: operators.le,
    Operator.GREATER: operators.gt,
    Operator.AT_LEAST: operators.ge,
}
"""What each comparison says of two numbers."""

MIRRORED = {
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}
"""The comparison with its sides exchanged; the others are their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What is compared with literals.

    ``stored`` is the name of a declared number, date or time, whose cells are read as
    they are; ``fill`` is what a missing one counts as.
    """

    node: Node
    lattice: Lattice
    stored: str | None
    fill: Fraction | None

    @classmethod
    def of(cls, lattice: Lattice, name: str) -> Tested:
        """Return a column to be compared."""
        node = lattice.column(name)
        cells = (Kind.NUMBER, *_DATES)
        plain = name in lattice.declared and node.shape.kind in cells
        fill = _fill(lattice, name) if plain else None
        return cls(
            node=node, lattice=lattice, stored=name if plain else None, fill=fill
        )

    @classmethod
    def at(cls, lattice: Lattice, expression: Expression, node: Node) -> Tested:
        """Return an expression to be compared."""
        if isinstance(expression, Reference):
            return cls.of(lattice, expression.column)
        return cls(node=node, lattice=lattice, stored=None, fill=None)

    def missing(self, test: Callable[[Fraction], bool]) -> bool | None:
        """Return what a test says of a missing cell; None if nothing."""
        return None if self.fill is None else test(self.fill)

    @property
    def truth(self) -> Shape:
        """The shape of a test of the cells as they are stored."""
        return replace(TRUTH, nullable=self.fill is None)


def _fill(lattice: Lattice, name: str) -> Fraction | None:
    from dpql.model.spec import FillNulls

    nulls = getattr(lattice.declared[name], "nulls", None)
    return nulls.value if isinstance(nulls, FillNulls) else None


def compared(tested: Tested, operator: Operator, value: Literal) -> Node:
    """Return ``tested operator value``.

    Raises:
        Untyped: the value is none of the kind, or has no order.
    """
    node = tested.node
    if _are_keys(tested, [value]):
        _require_equality(node, operator)
        return _among_keys(node, [value], negated=operator is Operator.UNEQUAL)
    number = _number(tested, value)
    if tested.stored is not None:
        holds = HOLDS[operator]
        return CellCompare(
            column=tested.stored,
            operator=operator,
            value=number,
            missing=tested.missing(lambda fill: holds(fill, number)),
            shape=tested.truth,
        )
    other = constant(number)
    return _compare(as_number(node, tested.lattice), operator, other)


def listed(tested: Tested, values: Sequence[Literal]) -> Node:
    """Return ``tested in [values]``.

    Raises:
        Untyped: a value is none of the kind.
    """
    if _are_keys(tested, values):
        return _among_keys(tested.node, values, negated=False)
    numbers = [_number(tested, value) for value in values]
    if tested.stored is not None:
        return CellAmong(
            column=tested.stored,
            values=tuple(numbers),
            missing=tested.missing(lambda fill: fill in numbers),
            shape=tested.truth,
        )
    node = as_number(tested.node, tested.lattice)
    shape = node.shape
    indices = (value / shape.step for value in numbers)
    whole = sorted(int(z) for z in indices if z.denominator == 1)
    return Among(
        operand=node,
        values=tuple(z for z in whole if shape.low <= z <= shape.high),
        shape=shaped(replace(TRUTH, nullable=shape.nullable), node),
    )


def ranged(tested: Tested, lower: Literal, upper: Literal) -> Node:
    """Return ``tested between lower and upper``.

    Raises:
        Untyped: an end is none of the kind, or it has no order.
    """
    if _are_keys(tested, [lower, upper]):
        raise Untyped(
            f"this is {described(tested.node)}, and keys have no order",
            "write `... in [...]`",
            operand=0,
        )
    first, last = _number(tested, lower), _number(tested, upper)
    if tested.stored is not None:
        return CellBetween(
            column=tested.stored,
            lower=first,
            upper=last,
            missing=tested.missing(lambda fill: first <= fill <= last),
            shape=tested.truth,
        )
    node = as_number(tested.node, tested.lattice)
    shape = node.shape
    lowest = max(-(-first / shape.step).__floor__(), shape.low)
    highest = min((last / shape.step).__floor__(), shape.high)
    if lowest > highest:
        lowest, highest = 1, 0
    return Within(
        operand=node,
        lowest=lowest,
        highest=highest,
        shape=shaped(replace(TRUTH, nullable=shape.nullable), node),
    )


def paired(
    expression: Compared,
    operator: Operator,
    operands: Sequence[Node],
    lattice: Lattice,
) -> Node:
    """Return the comparison of two expressions.

    Raises:
        Untyped: they are of different kinds, or have no order.
    """
    left, right = operands
    if isinstance(right, Word):
        return compared(Tested.at(lattice, expression.left, left), operator, right.text)
    if isinstance(left, Word):
        tested = Tested.at(lattice, expression.right, right)
        return compared(tested, MIRRORED.get(operator, operator), left.text)
    sides = [
        Tested.at(lattice, side, node)
        for side, node in zip(
            (expression.left, expression.right), operands, strict=True
        )
    ]
    dates = {left.shape.kind, right.shape.kind}.intersection(_DATES)
    stored = [side.stored for side in sides if side.stored is not None]
    if dates and (
        left.shape.kind is not right.shape.kind
        or _zone(left) != _zone(right)
        or len(stored) < len(sides)
    ):
        raise Untyped(
            f"{described(left)} cannot be compared with {described(right)}",
            "dates are compared with dates, times with times of the same zone",
        )
    if len(stored) == len(sides):
        fills = [side.fill for side in sides]
        return CellPair(
            left=stored[0],
            operator=operator,
            right=stored[1],
            left_fill=fills[0],
            right_fill=fills[1],
            shape=replace(TRUTH, nullable=None in fills),
        )
    if left.shape.kind is right.shape.kind is Kind.KEY and not (
        is_numbered(left, lattice) and is_numbered(right, lattice)
    ):
        _require_equality(left, operator)
        indices = {key: index for index, key in enumerate(right.shape.keys)}
        return KeyPair(
            left=left,
            right=right,
            codes=tuple(indices.get(key, -1) for key in left.shape.keys),
            negated=operator is Operator.UNEQUAL,
            shape=shaped(replace(TRUTH, nullable=nullable(left, right)), left, right),
        )
    return _compare(as_number(left, lattice, 0), operator, as_number(right, lattice, 1))


def _zone(node: Node) -> int | None:
    return None if node.shape.clock is None else node.shape.clock[1]


def _compare(left: Node, operator: Operator, right: Node) -> Node:
    _, (left_by, right_by) = common(left, right)
    met = [left_by * z for z in (left.shape.low, left.shape.high)]
    met += [right_by * z for z in (right.shape.low, right.shape.high)]
    shape = replace(TRUTH, nullable=nullable(left, right))
    return Compare(
        left=left,
        operator=operator,
        right=right,
        left_by=left_by,
        right_by=right_by,
        shape=shaped(shape, left, right, met=(*met, left_by, right_by)),
    )


def joined(expression: Not | And | Or, operands: Sequence[Node]) -> Node:
    """Return `not`, `and` or `or` of conditions.

    Raises:
        Untyped: an operand is no condition.
    """
    found = tuple(as_truth(node, index) for index, node in enumerate(operands))
    shape = shaped(replace(TRUTH, nullable=nullable(*found)), *found)
    match expression:
        case Not():
            return Negation(operand=found[0], shape=shape)
        case And():
            return Conjunction(operands=found, shape=shape)
        case Or():
            return Disjunction(operands=found, shape=shape)


def _are_keys(tested: Tested, values: Sequence[Literal]) -> bool:
    """Tell whether what is tested is compared as a key.

    The number of a part of a date is not, unless it is compared with texts.
    """
    kind = tested.node.shape.kind
    words = any(isinstance(value, str) for value in values)
    if kind is Kind.BOOLEAN:
        return words
    if kind is not Kind.KEY:
        return False
    return words or not is_numbered(tested.node, tested.lattice)


def _require_equality(node: Node, operator: Operator) -> None:
    if operator not in _EQUALITIES:
        raise Untyped(
            f"this is {described(node)}, and keys have no order",
            "write `... in [...]`, or compare with `==` or `!=`",
            operand=0,
        )


def _among_keys(node: Node, values: Sequence[Literal], *, negated: bool) -> Node:
    known = keys_of(node)
    for value in values:
        if value not in known:
            raise Untyped(
                f"`{shown(str(value))}` is not a key here",
                f"the keys are {', '.join(f'`{shown(word)}`' for word in known[:6])}",
            )
    codes = [code for code, key in enumerate(known) if (key in values) is not negated]
    shape = shaped(replace(TRUTH, nullable=node.shape.nullable), node)
    if node.shape.kind is Kind.BOOLEAN:
        return Among(operand=node, values=tuple(codes), shape=shape)
    return KeyAmong(operand=node, codes=tuple(codes), shape=shape)


def _number(tested: Tested, value: Literal) -> Fraction:
    """Return the number that a literal is, of a date its day, of a time its second."""
    kind = tested.node.shape.kind
    if isinstance(value, Fraction) and kind not in _DATES:
        as_number(tested.node, tested.lattice)
        return value
    if isinstance(value, str) and kind in _DATES:
        found = read_date(value) if kind is Kind.DATE else read_time(value)
        if found is not None:
            return Fraction(found)
    if kind in _DATES:
        form = "2013-06-01" if kind is Kind.DATE else "2013-06-01 12:30"
        message = f"`{shown(str(value))}` is not {kind.value}"
        raise Untyped(message, f'write it as in `"{form}"`')
    message = f"`{shown(str(value))}` is not a number, and it is compared with one"
    raise Untyped(message, "compare with a number such as `18`, `0.5` or `1/3`")
