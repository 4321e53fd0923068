"""What a spec declares of columns: the public types of their cells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dpql.model.expression import Expression


class NumberType(StrEnum):
    """The kinds of column that hold numbers."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"


@dataclass(frozen=True, slots=True, kw_only=True)
class DropNulls:
    """A row whose cell is missing or not a number does not count for the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillNulls:
    """A cell that is missing or not a number counts as ``value``, within bounds."""

    value: Fraction


Nulls = DropNulls | FillNulls


@dataclass(frozen=True, slots=True, kw_only=True)
class IdColumn:
    """A column that names the protected unit; it is never shown or compared."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryColumn:
    """A column of words; ``keys`` are public, at least one, distinct, in order.

    A cell that is none of the keys, or null, belongs to no group. ``numeric`` keys are
    whole numbers in their shortest decimal form; a cell is such a key if it is the same
    number, however it is stored. ``digest`` is the sha256 of the file that the keys
    were read from, None if they stand in the spec.
    """

    name: str
    keys: tuple[str, ...]
    numeric: bool = False
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberColumn:
    """A column of numbers, clamped to the public interval lower < upper.

    ``step`` is above 0, divides upper - lower, and is None exactly for floats, whose
    grid is the planner's choice. Integers have whole bounds and a whole step.
    """

    name: str
    type: NumberType
    lower: Fraction
    upper: Fraction
    step: Fraction | None
    unit: str | None
    nulls: Nulls


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanColumn:
    """A column of true and false; what it fills in is 0 or 1."""

    name: str
    nulls: Nulls


@dataclass(frozen=True, slots=True, kw_only=True)
class DateColumn:
    """A column of days, counted from 1970-01-01, with first <= last.

    Days are those of the proleptic Gregorian calendar, of the years 1 to 9999.
    """

    name: str
    first: int
    last: int
    nulls: Nulls


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeColumn:
    """A column of times in one zone, ``zone`` minutes east of UTC.

    ``first`` <= ``last`` are seconds of that zone's clock since 1970-01-01 00:00. The
    step is a second, a minute, an hour or a day, in seconds.
    """

    name: str
    first: int
    last: int
    step: int
    zone: int
    nulls: Nulls


Column = (
    IdColumn | CategoryColumn | NumberColumn | BooleanColumn | DateColumn | TimeColumn
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedColumn:
    """A column that follows from others: declared ones, and derived ones above it."""

    name: str
    expression: Expression
