"""Expressions with their types: what each computes of a row, in whole numbers.

A number is ``shape.step * z``, z whole from ``shape.low`` to ``shape.high``, or null;
true is 1 and false 0; a key is its place among ``shape.keys``. All integers of a node
fit 62 bits, whatever the row holds, unless ``shape.excess`` says otherwise; then the
planner refuses it.

`u` of a declared column is what a sum counts of it: steps above its lower bound, in
0..steps, the filled value where the cell is missing, else null. Null goes by each
node's own rule; where nothing is said, a null operand makes the node null.
Source: MATH-statistics 4, 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dpql.model.expression import CalendarPart, Operator


class Kind(StrEnum):
    """What an expression is, in words."""

    NUMBER = "a number"
    BOOLEAN = "true or false"
    KEY = "a key"
    DATE = "a date"
    TIME = "a time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is public about the values of an expression.

    ``keys`` are those of a key, in order. ``clock`` are the step and the zone of a
    time. ``excess`` is the largest integer met, if it is too large.
    """

    kind: Kind
    step: Fraction
    low: int
    high: int
    nullable: bool
    keys: tuple[str, ...] = ()
    clock: tuple[int, int] | None = None
    excess: int | None = None

    @property
    def lower(self) -> Fraction:
        """The least value."""
        return self.step * self.low

    @property
    def upper(self) -> Fraction:
        """The largest value."""
        return self.step * self.high

    @property
    def steps(self) -> int:
        """Q: how many steps lie between the bounds."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all nodes have."""

    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCell(Node):
    """z = base + factor * u of a declared number, boolean, date or time.

    ``steps`` is the number of its steps: 2^20 for a float.
    """

    column: str
    steps: int
    base: int
    factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCell(Node):
    """The place of a declared category's key; null where the cell is none of them."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedCell(Node):
    """The value of a derived column, which stands above: its z, truth or key."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKey(Node):
    """The part of a date or time: its `calendar.part_index` less ``offset``.

    Null where the cell is missing and not filled, or out of the column's bounds: of a
    time, where its u, if it were not clamped, would be. It reads the stored time, not
    that of its step.
    """

    part: CalendarPart
    column: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNumber(Node):
    """The number that the key of a part stands for: ``first`` + its place."""

    operand: Node
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Node):
    """The constant z."""

    z: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Node):
    """left_by * x + right_by * y."""

    left: Node
    right: Node
    left_by: int
    right_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Product(Node):
    """x * y."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme(Node):
    """The largest of left_by * x and right_by * y, or the least."""

    left: Node
    right: Node
    left_by: int
    right_by: int
    largest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Absolute(Node):
    """|x|."""

    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor(Node):
    """floor((times * x + plus) / over), over > 0: of `//` and of `round`."""

    operand: Node
    times: int
    plus: int
    over: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient(Node):
    """base + factor * clamp(floor(num / den), 0, steps); also null where y is 0.

        num = 2 * (c_x * x - c_y * y) + c_s * y,   den = 2 * c_s * y

    both negated where y < 0.
    """

    x: Node
    y: Node
    c_x: int
    c_y: int
    c_s: int
    steps: int
    base: int
    factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Node):
    """yes_by * yes where the condition is true, else (false or null) no_by * no."""

    condition: Node
    yes: Node
    no: Node
    yes_by: int
    no_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled(Node):
    """by * x, or ``fill`` where x is null; never null."""

    operand: Node
    by: int
    fill: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCompare(Node):
    """``cell operator value`` of a declared number, date or time, as it is stored.

    Not clamped and on no grid. A value of a date is a day, of a time a second of the
    clock. Where the cell is missing the truth is ``missing``; None is null.
    """

    column: str
    operator: Operator
    value: Fraction
    missing: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAmong(Node):
    """The cell is one of the values; the rest is as in `CellCompare`."""

    column: str
    values: tuple[Fraction, ...]
    missing: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBetween(Node):
    """lower <= cell <= upper; the rest is as in `CellCompare`."""

    column: str
    lower: Fraction
    upper: Fraction
    missing: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPair(Node):
    """``left operator right`` of two declared columns of one kind, as they are stored.

    A missing cell counts as its column's ``fill``; None is null.
    """

    left: str
    operator: Operator
    right: str
    left_fill: Fraction | None
    right_fill: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMissing(Node):
    """The stored cell of a declared column is missing, whatever it is filled with.

    Of a category, that it is none of its keys. Never null.
    """

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(Node):
    """left_by * x operator right_by * y."""

    left: Node
    operator: Operator
    right: Node
    left_by: int
    right_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Among(Node):
    """x is one of the whole numbers."""

    operand: Node
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within(Node):
    """lowest <= x <= highest; nothing is if lowest > highest."""

    operand: Node
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAmong(Node):
    """The place of a key is one of ``codes``."""

    operand: Node
    codes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair(Node):
    """Two keys are the same text, or are not if ``negated``.

    ``codes`` has for each place of the left one that of the same key on the right, or
    -1.
    """

    left: Node
    right: Node
    codes: tuple[int, ...]
    negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing(Node):
    """The operand is null; never null."""

    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation(Node):
    """`not`: of null, null."""

    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunction(Node):
    """`and`: false if one is false, else null if one is null, else true."""

    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disjunction(Node):
    """`or`: true if one is true, else null if one is null, else false."""

    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBand(Node):
    """The bin of a declared number, as the histogram with these edges has it.

    Clamped and filled, integers and decimals on their steps, floats on no grid.
    """

    column: str
    edges: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(Node):
    """The last i with starts[i] <= x; null below the first, and above ``end``."""

    operand: Node
    starts: tuple[int, ...]
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped(Node):
    """codes[place of the operand], ``missing`` where that is null; None is null."""

    operand: Node
    codes: tuple[int | None, ...]
    missing: int | None
