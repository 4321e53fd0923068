"""Conditions of a spec as tests of canonical cells.

A test is true or false, never null: codes stand for keys, and intervals for comparisons
of numbers, closed at ends that the column's own type can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpql.curator.grid import interval
from dpql.model.spec import (
    And,
    Between,
    Comparison,
    Condition,
    Data,
    IsNull,
    Membership,
    Not,
    Operator,
    Or,
)

_SHOWN_KEYS = 12
"""Keys and bins that are printed; of more only the number is."""


@dataclass(frozen=True, slots=True)
class Present:
    """The cell is not null."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} is present"


@dataclass(frozen=True, slots=True)
class Within:
    """The cell is a number of a closed interval; None is an end that is not there."""

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
    """The cell is one of these codes; ``keys`` are their words, for people."""

    column: str
    codes: tuple[int, ...]
    keys: tuple[str, ...]

    def __str__(self) -> str:
        one = "is" if len(self.keys) == 1 else "is one of"
        quoted = [f'"{key}"' for key in self.keys]
        return f"{self.column} {one} {shortened(quoted)}"


@dataclass(frozen=True, slots=True)
class Negation:
    """The operand is false."""

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
    """All operands are true."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " and ".join(map(_bracketed, self.operands))


@dataclass(frozen=True, slots=True)
class Disjunction:
    """At least one operand is true."""

    operands: tuple[Test, ...]

    def __str__(self) -> str:
        return " or ".join(map(_bracketed, self.operands))


Test = Present | Within | OneOf | Negation | Conjunction | Disjunction
"""A test of one row: true or false, never null."""


def compile_condition(condition: Condition, data: Data) -> Test:  # noqa: PLR0911  one per kind
    """Return the test of a row that a condition of a spec is."""
    match condition:
        case Not(operand=operand):
            return Negation(compile_condition(operand, data))
        case And(operands=operands):
            return Conjunction(tuple(compile_condition(one, data) for one in operands))
        case Or(operands=operands):
            return Disjunction(tuple(compile_condition(one, data) for one in operands))
        case IsNull(column=name):
            return Negation(Present(name))
        case Between(column=name, lower=lower, upper=upper):
            first = _within(name, Operator.AT_LEAST, lower, data)
            last = _within(name, Operator.AT_MOST, upper, data)
            return Within(name, first.lower, last.upper)
        case Membership(column=name, values=values):
            words = tuple(value for value in values if isinstance(value, str))
            if words:
                return _one_of(name, words, data)
            numbers = (value for value in values if isinstance(value, Fraction))
            return Disjunction(
                tuple(_within(name, Operator.EQUAL, value, data) for value in numbers)
            )
        case Comparison(column=name, operator=operator, value=value):
            unequal = operator is Operator.UNEQUAL
            same = Operator.EQUAL if unequal else operator
            found: Test = (
                _within(name, same, value, data)
                if isinstance(value, Fraction)
                else _one_of(name, (value,), data)
            )
            return Conjunction((Present(name), Negation(found))) if unequal else found
        case _:
            raise AssertionError("the planner lets no other condition pass")


def decided(condition: Condition, data: Data) -> tuple[Test, Test]:
    """Return where a condition is true and where it is false; elsewhere it is null.

    A comparison with a null is null. `and`, `or` and `not` follow Kleene.
    """
    match condition:
        case Not(operand=operand):
            true, false = decided(operand, data)
            return false, true
        case And(operands=operands):
            trues, falses = _all_decided(operands, data)
            return Conjunction(trues), Disjunction(falses)
        case Or(operands=operands):
            trues, falses = _all_decided(operands, data)
            return Disjunction(trues), Conjunction(falses)
        case IsNull(column=name):
            return Negation(Present(name)), Present(name)
        case Comparison(column=name) | Membership(column=name) | Between(column=name):
            true = compile_condition(condition, data)
            return true, Conjunction((Present(name), Negation(true)))
        case _:
            raise AssertionError("the planner lets no other condition pass")


def _all_decided(
    conditions: Sequence[Condition], data: Data
) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    trues, falses = zip(*(decided(one, data) for one in conditions), strict=True)
    return trues, falses


def _within(name: str, operator: Operator, value: Fraction, data: Data) -> Within:
    found = interval(data.number(name), operator, value)
    return Within(name, found.lower, found.upper)


def _one_of(name: str, words: tuple[str, ...], data: Data) -> OneOf:
    keys = data.category(name).keys
    codes = tuple(code for code, key in enumerate(keys) if key in words)
    return OneOf(name, codes, tuple(keys[code] for code in codes))


def columns_of(test: Test) -> Iterator[str]:
    """Yield the columns that a test reads."""
    match test:
        case Negation(operand=operand):
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
