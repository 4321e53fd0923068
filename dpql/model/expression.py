"""What a `where`, a `proportion` and a derived column mean: a total function of a row.

An expression has a value or is null, whatever the row holds. Conditions are
expressions that are true, false or null; `and`, `or` and `not` follow Kleene.

A column enters an expression clamped to its bounds and on its grid, a missing cell as
the value that the column fills in, or else as null. Tests of one declared column
against literals, and of two against each other, read the cells as they are: on no grid
and not clamped. `is null` of a declared column asks for the stored cell.

`dpql.model.lattice` gives every expression its exact integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Operator(StrEnum):
    """The comparisons."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


class Function(StrEnum):
    """What computes a number, or chooses among values, from its operands.

    ``round`` has the operands x, step; ``div`` x, y, lower, upper, step; ``case``
    condition, value, other value; ``coalesce`` x, constant. Of ``//`` the second
    operand is a constant. Constants here are `Constant`.
    """

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    FLOOR_DIVIDE = "//"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    ROUND = "round"
    DIV = "div"
    CASE = "case"
    COALESCE = "coalesce"


class CalendarPart(StrEnum):
    """What a date or a time is part of; `NUMBERED` ones are whole numbers too."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    MONTH_OF_YEAR = "month_of_year"
    WEEKDAY = "weekday"
    HOUR = "hour"


NUMBERED = frozenset(
    {
        CalendarPart.YEAR,
        CalendarPart.MONTH_OF_YEAR,
        CalendarPart.WEEKDAY,
        CalendarPart.HOUR,
    }
)

Literal = Fraction | str
"""A number; a key; ``true`` or ``false``; a date or time in ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The value of a column, declared or derived."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number, or a text as literals have them."""

    value: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function of operands."""

    function: Function
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """The band of a number: [e0, e1), [e1, e2), ..., the last closed; null outside.

    There are at least two edges, increasing.
    """

    operand: Expression
    edges: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A key and what it is mapped to."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """The value of a key; ``otherwise`` for keys without a pair, or null.

    The keys are different and are keys of the operand. A null becomes ``missing``, or
    stays null. ``digest`` is the sha256 of the file that the pairs were read from.
    """

    operand: Expression
    pairs: tuple[Pair, ...]
    otherwise: str | None
    missing: str | None
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf:
    """The part of a date or a time column: a key, null out of the column's bounds."""

    part: CalendarPart
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``column operator value``; of keys and booleans only == and !=."""

    column: str
    operator: Operator
    value: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """``column in [values]``; at least one value, all distinct."""

    column: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """``column between lower and upper``, both ends included, lower <= upper."""

    column: str
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """``left operator right`` of any two expressions of one type."""

    left: Expression
    operator: Operator
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """``operand in [values]`` of what is more than a column."""

    operand: Expression
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranged:
    """``operand between lower and upper`` of what is more than a column of numbers."""

    operand: Expression
    lower: Literal
    upper: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNull:
    """``column is null``: the cell is missing, not of its type, or NaN."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IsMissing:
    """``is_null(operand)`` of what is more than a column; never null."""

    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """True where ``operand`` is false, false where it is true, else null."""

    operand: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """Of at least two operands, none of which is itself an `And`.

    False if one of them is; else null if one of them is; else true.
    """

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """Of at least two operands, none of which is itself an `Or`.

    True if one of them is; else null if one of them is; else false.
    """

    operands: tuple[Condition, ...]


Test = (
    Comparison | Membership | Between | Compared | Listed | Ranged | IsNull | IsMissing
)
"""What is true or false of values that are not."""

Expression = Reference | Constant | Call | Bands | Map | PartOf | Test | Not | And | Or
"""At most 32 deep."""

Condition = Expression
"""An expression that is true, false or null: a row passes where it is true.

In plans of formats 1 to 3 no condition was null: a test of a null was false, and `not`
of it true.
"""


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that an expression is made of."""
    match expression:
        case Call(operands=operands) | And(operands=operands) | Or(operands=operands):
            return operands
        case (
            Bands(operand=operand)
            | Map(operand=operand)
            | Not(operand=operand)
            | IsMissing(operand=operand)
            | Listed(operand=operand)
            | Ranged(operand=operand)
        ):
            return (operand,)
        case Compared(left=left, right=right):
            return left, right
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of."""
    pending = [expression]
    while pending:
        found = pending.pop()
        yield found
        pending += operands_of(found)


def columns_in(expression: Expression | None) -> set[str]:
    """Return the columns that an expression names, declared and derived."""
    if expression is None:
        return set()
    return {
        found.column
        for found in walk(expression)
        if isinstance(
            found, Reference | PartOf | Comparison | Membership | Between | IsNull
        )
    }
