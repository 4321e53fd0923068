"""What a `where` means: a total, two-valued test of one row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Operator(StrEnum):
    """The comparisons of a condition."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


Literal = Fraction | str
"""A number for a number column, a declared key for a category column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``column operator value``; categories know == and != only."""

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
class IsNull:
    """``column is null``: the cell is missing, not of its type, or NaN."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """True exactly where ``operand`` is false."""

    operand: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """All of at least two operands, none of which is itself an `And`."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """Any of at least two operands, none of which is itself an `Or`."""

    operands: tuple[Condition, ...]


Condition = Comparison | Membership | Between | IsNull | Not | And | Or
"""A total, two-valued test of one row.

It reads cells as they are, before clamping and filling. Comparison, membership and
between are false on a null; `Not` of a false is true. The tree is at most 32 deep.
"""


def columns_in(condition: Condition | None) -> set[str]:
    """Return the columns that a condition reads."""
    match condition:
        case None:
            return set()
        case Not(operand=operand):
            return columns_in(operand)
        case And(operands=operands) | Or(operands=operands):
            return set().union(*map(columns_in, operands))
        case _:
            return {condition.column}
