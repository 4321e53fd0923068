"""What a cell looks like that does not fit its column."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.curator.preflight.notations import Notation, notation_of
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
CASES: list[tuple[Column, str, Notation | None]] = [
    (KEYS, "1.0", Notation.DECIMALS),
    (KEYS, "2.0", None),
    (KEYS, " 1", Notation.BLANKS),
    (KEYS, "north", Notation.CASE),
    (KEYS, "Yes", Notation.WORDS),
    (KEYS, "n/a", Notation.MISSING),
    (KEYS, "  ", Notation.MISSING),
    (KEYS, "x" * 300, None),
    (TRUTH, "yes", Notation.WORDS),
    (TRUTH, "true ", Notation.BLANKS),
    (TRUTH, "maybe", None),
    (DAY, "31.01.2013", Notation.DATE),
    (DAY, "1/31/2013 12:00", Notation.DATE),
    (DAY, "2013-01-31 ", Notation.BLANKS),
    (DAY, "soon", None),
    (NUMBER, "$17,000", Notation.MONEY),
    (NUMBER, "17 000 EUR", Notation.MONEY),
    (NUMBER, "(1,200.50)", Notation.MONEY),
    (NUMBER, "3,5", Notation.COMMA),
    (NUMBER, "12 %", Notation.PERCENT),
    (NUMBER, " 12", Notation.BLANKS),
    (NUMBER, "NA", Notation.MISSING),
    (NUMBER, "twelve", None),
    (IdColumn(name="x"), "1.0", None),
]


@pytest.mark.parametrize(("column", "text", "expected"), CASES)
def test_common_habits_are_named(
    column: Column, text: str, expected: Notation | None
) -> None:
    """Each in its own words, and nothing is said of what is only strange."""
    assert expected == notation_of(text, column)
