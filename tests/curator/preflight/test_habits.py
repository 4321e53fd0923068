"""What a cell looks like that does not fit its column."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.curator.preflight.habits import Habit, habit_of
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    DropNulls,
    IdColumn,
    NumberColumn,
    NumberType,
)

KEYS = CategoryColumn(name="x", keys=("1", "North", "false"))
TRUTH = BooleanColumn(name="x", nulls=DropNulls())
DAY = DateColumn(name="x", first=0, last=9, nulls=DropNulls())
NUMBER = NumberColumn(
    name="x",
    type=NumberType.FLOAT,
    lower=Fraction(0),
    upper=Fraction(9),
    step=None,
    unit=None,
    nulls=DropNulls(),
)
CASES: list[tuple[Column, str, Habit | None]] = [
    (KEYS, "1.0", Habit.DECIMALS),
    (KEYS, "2.0", None),
    (KEYS, " 1", Habit.BLANKS),
    (KEYS, "north", Habit.CASE),
    (KEYS, "Yes", Habit.WORDS),
    (KEYS, "n/a", Habit.MISSING),
    (KEYS, "  ", Habit.MISSING),
    (KEYS, "x" * 300, None),
    (TRUTH, "yes", Habit.WORDS),
    (TRUTH, "true ", Habit.BLANKS),
    (TRUTH, "maybe", None),
    (DAY, "31.01.2013", Habit.DATE),
    (DAY, "1/31/2013 12:00", Habit.DATE),
    (DAY, "2013-01-31 ", Habit.BLANKS),
    (DAY, "soon", None),
    (NUMBER, "$17,000", Habit.MONEY),
    (NUMBER, "17 000 EUR", Habit.MONEY),
    (NUMBER, "(1,200.50)", Habit.MONEY),
    (NUMBER, "3,5", Habit.COMMA),
    (NUMBER, "12 %", Habit.PERCENT),
    (NUMBER, " 12", Habit.BLANKS),
    (NUMBER, "NA", Habit.MISSING),
    (NUMBER, "twelve", None),
    (IdColumn(name="x"), "1.0", None),
]


@pytest.mark.parametrize(("column", "text", "expected"), CASES)
def test_common_habits_are_named(
    column: Column, text: str, expected: Habit | None
) -> None:
    """Each in its own words, and nothing is said of what is only strange."""
    assert expected == habit_of(text, column)
