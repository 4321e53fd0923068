"""What a spec declares of columns: the public types of their cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from dpql.model.expression import Expression
from dpql.model.lean import Lean

OTHERS = "others"
"""The key of everything that is no key, where a column asks for it."""


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
class CategoryColumn(Lean):
    """A column of words; ``keys`` are public, at least one, distinct, in order.

    A cell that is none of the keys, or null, belongs to no group. ``numeric`` keys are
    whole numbers in their shortest decimal form; a cell is such a key if it is the same
    number, however it is stored. ``digest`` is the sha256 of the file that the keys
    were read from, None if they stand in the spec. With ``others`` the last key is
    `OTHERS`: every cell has it that is none of the others, and not null.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"others": False}

    name: str
    keys: tuple[str, ...]
    numeric: bool = False
    digest: str | None = None
    others: bool = False

    @property
    def declared(self) -> tuple[str, ...]:
        """The keys that cells are compared with."""
        return self.keys[:-1] if self.others else self.keys


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateColumn:
    """A column of words whose keys nobody knows: a statistic finds them in the data.

    A cell is a word if it is text of at most 100 characters that can be printed, or has
    such a text, as a number has its digits. ``others``: statistics by the keys that
    were found have one more, `OTHERS`, of all cells that are none of these and not
    null.
    """

    name: str
    others: bool = False


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
    IdColumn
    | CategoryColumn
    | PrivateColumn
    | NumberColumn
    | BooleanColumn
    | DateColumn
    | TimeColumn
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedColumn:
    """A column that follows from others: declared ones, and derived ones above it."""

    name: str
    expression: Expression
