"""Conditions of a spec as tests of canonical cells.

Codes stand for keys, and intervals for comparisons of numbers, closed at ends that the
column's own type can hold. A test of a null is null, and `and`, `or` and `not` follow
Kleene: null is what may be either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SHOWN_KEYS = 12
"""Keys and bins that are printed; of more only the number is."""


@dataclass(frozen=True, slots=True)
class Present:
    """The cell is not null; never null itself."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} is present"


@dataclass(frozen=True, slots=True)
class Within:
    """The cell is a number of a closed interval; None is an end that is not there.

    Null where the cell is null.
    """

    column: str
    lower: int | float | None
    upper: int | float | None

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.column} == {self.lower}"
        if self.lower is None:
            return f"{self.column} <= {self.upper}"
        if self.upper is None:
            return f"{self.column} >= {self.lower}"
        if self.lower > self.upper:
            return f"{self.column} has no such value"
        return f"{self.lower} <= {self.column} <= {self.upper}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """The cell is one of these codes; ``keys`` are their words, for people.

    Null where the cell is null.
    """

    column: str
    codes: tuple[int, ...]
    keys: tuple[str, ...]

    def __str__(self) -> str:
        one = "is" if len(self.keys) == 1 else "is one of"
        quoted = [f'"{key}"' for key in self.keys]
        return f"{self.column} {one} {shortened(quoted)}"


@dataclass(frozen=True, slots=True)
class Negation:
    """True where the operand is false, false where it is true, else null."""

    operand: Test

    def __str__(self) -> str:
        match self.operand:
            case Present(column=column):
                return f"{column} is null"
            case Negation(operand=operand):
                return str(operand)
        return f"not ({self.operand})"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """True where all operands are, false where one is false, else null."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " and ".join(map(_bracketed, self.operands))


@dataclass(frozen=True, slots=True)
class Disjunction:
    """True where one operand is, false where all are false, else null."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " or ".join(map(_bracketed, self.operands))


@dataclass(frozen=True, slots=True)
class Known:
    """The operand is true or false; never null itself."""

    operand: Test

    def __str__(self) -> str:
        return f"({self.operand}) is known"


Test = Present | Within | OneOf | Negation | Conjunction | Disjunction | Known
"""A test of one row: true, false, or null. A row passes where it is true."""


def columns_of(test: Test) -> Iterator[str]:
    """Yield the columns that a test reads."""
    match test:
        case Negation(operand=operand) | Known(operand=operand):
            yield from columns_of(operand)
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            for operand in operands:
                yield from columns_of(operand)
        case _:
            yield test.column


def shortened(words: Sequence[object]) -> str:
    """Return a list of words, or its ends where it is long."""
    if len(words) <= _SHOWN_KEYS:
        return ", ".join(map(str, words))
    return f"{words[0]}, {words[1]}, ..., {words[-1]}"


def _bracketed(test: Test) -> str:
    compound = isinstance(test, Conjunction | Disjunction)
    return f"({test})" if compound else str(test)
