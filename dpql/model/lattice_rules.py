"""What the rules of the lattice share: common steps, limits, and what has no type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.model.expression import NUMBERED, CalendarPart
from dpql.model.lattice_nodes import KeyNumber, Kind, Node, PartKey, Shape, Whole

if TYPE_CHECKING:
    from dpql.model.lattice import Lattice

LIMIT = 1 << 62
"""No integer that is met on the way may reach this, in absolute value."""

MOST_KEYS = 100_000
"""The most keys that a part of a date may have."""

_LONGEST = 2_048
"""Bits of the numerator and the denominator of a step."""

_ONE = Fraction(1)

TRUTH = Shape(kind=Kind.BOOLEAN, step=_ONE, low=0, high=1, nullable=False)
"""A test that is never null."""

_NUMBERED_FROM = {CalendarPart.MONTH_OF_YEAR: 1, CalendarPart.WEEKDAY: 1}
"""What the first of the indices is called, where it is not called by its index."""


class Untyped(Exception):
    """An expression has no type; ``operand`` is the place of the one at fault."""

    def __init__(
        self, message: str, hint: str | None = None, *, operand: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.operand = operand


@dataclass(frozen=True, slots=True, kw_only=True)
class Word(Node):
    """A constant text, whose meaning follows from what it is compared with."""

    text: str


def word(text: str) -> Shape:
    """Return the shape of a text before its meaning is known."""
    if text in ("true", "false"):
        truth = int(text == "true")
        return replace(TRUTH, low=truth, high=truth)
    return Shape(kind=Kind.KEY, step=_ONE, low=0, high=0, nullable=False, keys=(text,))


def constant(value: Fraction | str) -> Node:
    """Return the node of a constant."""
    if isinstance(value, str):
        return Word(text=value, shape=word(value))
    if value == 0:
        shape = Shape(kind=Kind.NUMBER, step=Fraction(1), low=0, high=0, nullable=False)
        return Whole(z=0, shape=shape)
    z = 1 if value > 0 else -1
    return Whole(
        z=z,
        shape=shaped(
            Shape(kind=Kind.NUMBER, step=abs(value), low=z, high=z, nullable=False)
        ),
    )


def shaped(shape: Shape, *operands: Node, met: tuple[int, ...] = ()) -> Shape:
    """Return the shape, with its excess where an integer met is too large.

    So is one whose operand has an excess. What is beyond has the bounds 0 and 1, so
    that nothing made of it grows any further.
    """
    excess = next((x.shape.excess for x in operands if x.shape.excess), None)
    largest = max(map(abs, (shape.low, shape.high, *met)))
    step = shape.step
    if excess is None and largest >= LIMIT:
        excess = min(largest, 1 << _LONGEST)
    if max(step.numerator.bit_length(), step.denominator.bit_length()) > _LONGEST:
        excess = excess or 1 << _LONGEST
    if excess is None:
        return shape
    if shape.kind is Kind.KEY:
        return replace(shape, excess=excess)
    return replace(shape, step=_ONE, low=0, high=1, excess=excess)


def common_step(*steps: Fraction) -> Fraction:
    """Return the largest step of which all are multiples; 0 counts for nothing."""
    # Of fractions in lowest terms: numerators' largest divisor, denominators' multiple.
    top, bottom = 0, 1
    for step in steps:
        if step:
            top = _divisor(top, abs(step.numerator))
            bottom *= step.denominator // _divisor(bottom, step.denominator)
    return Fraction(top, bottom) if top else _ONE


def _divisor(x: int, y: int) -> int:
    """Return the largest whole number that divides both; 0 is divided by all."""
    while y:
        x, y = y, x % y
    return x


def common(*nodes: Node) -> tuple[Fraction, tuple[int, ...]]:
    """Return the common step of numbers, and by how much each is multiplied."""
    step = common_step(*(_own_step(node) for node in nodes))
    factors = (int(_own_step(node) / step) or 1 for node in nodes)
    return step, tuple(factors)


def _own_step(node: Node) -> Fraction:
    """Return the step of a number; the constant 0 has none of its own."""
    zero = isinstance(node, Whole) and node.z == 0 and node.shape.kind is Kind.NUMBER
    return Fraction(0) if zero else node.shape.step


def is_number(node: Node) -> bool:
    """Tell whether a node counts as a number: truth does, as 1 and 0."""
    return node.shape.kind in (Kind.NUMBER, Kind.BOOLEAN)


def is_numbered(node: Node, lattice: Lattice) -> bool:
    """Tell whether a key is also a number: years, weekdays, hours and such are."""
    made = lattice.made(node)
    return isinstance(made, PartKey) and made.part in NUMBERED


def as_number(node: Node, lattice: Lattice, operand: int | None = None) -> Node:
    """Return the node of a number; some parts of dates are numbers too.

    Raises:
        Untyped: it is none.
    """
    if isinstance(node, Word) and node.shape.kind is Kind.BOOLEAN:
        return Whole(z=node.shape.low, shape=node.shape)
    if is_number(node):
        return node
    made = lattice.made(node)
    if isinstance(made, PartKey) and is_numbered(node, lattice):
        first = made.offset + _NUMBERED_FROM.get(made.part, 0)
        high = first + len(made.shape.keys) - 1
        shape = Shape(kind=Kind.NUMBER, step=_ONE, low=first, high=high, nullable=True)
        return KeyNumber(operand=node, first=first, shape=shape)
    raise Untyped(
        f"a number is needed here, and this is {described(node)}",
        _HINTS.get(node.shape.kind),
        operand=operand,
    )


_HINTS = {
    Kind.DATE: "subtract another date, or take a part such as `year(...)`",
    Kind.TIME: "subtract another time, or take a part such as `hour(...)`",
    Kind.KEY: "keys are compared with `==`, `!=` and `in`, or mapped",
}


def described(node: Node) -> str:
    """Return what a node is, for a message."""
    if isinstance(node, Word):
        return "a word"
    return node.shape.kind.value


def as_truth(node: Node, operand: int | None = None) -> Node:
    """Return the node of a condition.

    Raises:
        Untyped: it is none.
    """
    if isinstance(node, Word) and node.shape.kind is Kind.BOOLEAN:
        return Whole(z=node.shape.low, shape=node.shape)
    if node.shape.kind is Kind.BOOLEAN:
        return node
    hint = "compare it with something: `x > 0`, `x == key`, `x is not null`"
    if isinstance(node, Word):
        hint = "compare each: `x == a or x == b`, or write `x in [a, b]`"
    message = f"a condition is needed here, and this is {described(node)}"
    raise Untyped(message, hint, operand=operand)


def nullable(*nodes: Node) -> bool:
    """Tell whether any may be null."""
    return any(node.shape.nullable for node in nodes)
