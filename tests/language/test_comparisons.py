"""What stands beside an operator: a column, a key, or a fault that asks which."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.flights import faults, flights, marked_where, where

from dpql.model.expression import (
    Between,
    CalendarPart,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    IsNull,
    Listed,
    Membership,
    Not,
    Operator,
    PartOf,
    Ranged,
    Reference,
)

A, D = Reference(column="arr_delay"), Reference(column="dep_delay")
SUM = Call(function=Function.ADD, operands=(A, D))
MONTH = PartOf(part=CalendarPart.MONTH, column="when")
YEAR = PartOf(part=CalendarPart.YEAR, column="when")


def comparison(column: str, operator: str, value: object) -> Expression:
    """Return a comparison of a column with a literal."""
    literal = value if isinstance(value, str) else Fraction(str(value))
    return Comparison(column=column, operator=Operator(operator), value=literal)


def compared(left: Expression, operator: str, right: Expression) -> Expression:
    """Return a comparison of two expressions."""
    return Compared(left=left, operator=Operator(operator), right=right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arr_delay < dep_delay", compared(A, "<", D)),
        ("15 < arr_delay", comparison("arr_delay", ">", 15)),
        ("15 == arr_delay", comparison("arr_delay", "==", 15)),
        ("'DL' != carrier", comparison("carrier", "!=", "DL")),
        ("carrier == DL", comparison("carrier", "==", "DL")),
        ("carrier == 'UA'", comparison("carrier", "==", "UA")),
        (
            "big == `UA`",
            compared(Reference(column="big"), "==", Reference(column="UA")),
        ),
        ("big == true", comparison("big", "==", "true")),
        ("big", Reference(column="big")),
        ("not big", Not(operand=Reference(column="big"))),
        ("big is null", IsNull(column="big")),
        ("month == 1", comparison("month", "==", "1")),
        ("month in [1, 12.0]", Membership(column="month", values=("1", "12"))),
        ("when >= 2013-06-01", comparison("when", ">=", "2013-06-01")),
        ("when >= '2013-06-01'", comparison("when", ">=", "2013-06-01")),
        ("left < 2013-06-01 12:30", comparison("left", "<", "2013-06-01 12:30")),
        ("left < 2013-06-01T12:30", comparison("left", "<", "2013-06-01T12:30")),
        (
            "when < due",
            compared(Reference(column="when"), "<", Reference(column="due")),
        ),
        (
            "when between 2013-02-01 and 2013-03-01",
            Ranged(
                operand=Reference(column="when"),
                lower="2013-02-01",
                upper="2013-03-01",
            ),
        ),
        (
            "arr_delay between -1 and 1",
            Between(column="arr_delay", lower=Fraction(-1), upper=Fraction(1)),
        ),
        (
            "arr_delay + dep_delay between -1 and 1",
            Ranged(operand=SUM, lower=Fraction(-1), upper=Fraction(1)),
        ),
        ("arr_delay + dep_delay in [1]", Listed(operand=SUM, values=(Fraction(1),))),
        ("month(when) == 2013-06", compared(MONTH, "==", Constant(value="2013-06"))),
        ("month(when) in ['2013-06']", Listed(operand=MONTH, values=("2013-06",))),
        ("year(when) == 2013", compared(YEAR, "==", Constant(value=Fraction(2013)))),
        ("year(when) == '2013'", compared(YEAR, "==", Constant(value="2013"))),
        (
            "(arr_delay > 1) == (dep_delay > 1)",
            compared(
                comparison("arr_delay", ">", 1), "==", comparison("dep_delay", ">", 1)
            ),
        ),
        ("d > 0", comparison("d", ">", 0)),
        (
            "arr_delay -1 > 0",
            compared(
                Call(
                    function=Function.SUBTRACT,
                    operands=(A, Constant(value=Fraction(1))),
                ),
                ">",
                Constant(value=Fraction(0)),
            ),
        ),
    ],
)
def test_both_sides_mean_what_they_say(text: str, expected: Expression) -> None:
    """A bare word right of an operator is a column if one is declared, else a key."""
    assert expected == where(text)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("carrier == UA", "DPQL361", "UA"),
        ("carrier == ZZ", "DPQL319", "ZZ"),
        ("carrier in [DL, ZZ]", "DPQL319", "ZZ"),
        ("carrier < DL", "DPQL319", "carrier"),
        ("carrier between AA and DL", "DPQL319", "carrier"),
        ("UA == yes", "DPQL319", "yes"),
        ("arr_delay > dely", "DPQL319", "dely"),
        ("arr_delay > `dely`", "DPQL301", "dely"),
        ("dely < arr_delay", "DPQL301", "dely"),
        ("DL == carrier", "DPQL301", "DL"),
        ("arr_delay in [1, `dep_delay`]", "DPQL319", "`dep_delay`"),
        ("arr_delay between 5 and dep_delay", "DPQL319", "dep_delay"),
        ("arr_delay in [1, 1.0]", "DPQL305", "1.0"),
        ("arr_delay between 1 and 0", "DPQL320", "1 and 0"),
        (
            "when between 2013-03-01 and 2013-02-01",
            "DPQL320",
            "2013-03-01 and 2013-02-01",
        ),
        ("when > 2013", "DPQL319", "2013"),
        ("when > 2013-02-30", "DPQL319", "2013-02-30"),
        ("when > left", "DPQL360", "when > left"),
        ("when > arr_delay", "DPQL360", "when > arr_delay"),
        ("arr_delay > carrier", "DPQL360", "carrier"),
        ("month(when) == 2013-13", "DPQL319", "2013-13"),
        ("month(when) < '2013-06'", "DPQL319", "month(when)"),
        ("month == 13", "DPQL319", "13"),
        ("arr_delay", "DPQL360", "arr_delay"),
        ("carrier and big", "DPQL360", "carrier"),
        ("1 < 2 and 'a'", "DPQL360", "'a'"),
        ("1 == 1", "DPQL360", "1 == 1"),
        ("true", "DPQL360", "true"),
        ("tailnum == 'x'", "DPQL302", "tailnum"),
    ],
)
def test_faults_are_marked_where_they_are(text: str, code: str, words: str) -> None:
    """The caret is under the word that is at fault."""
    found = [(found, word.strip("`")) for found, word in marked_where(text)]
    assert (code, words.strip("`")) == found[0]


def test_a_key_before_its_column_is_recognised() -> None:
    """The hint turns the comparison round; in quotes it may stand there."""
    (fault,) = faults(flights(where="DL == carrier"))
    assert fault.hint == "put the column first, `carrier == DL`, or the key in quotes"


def test_the_column_and_the_key_are_told_by_quotes() -> None:
    """The hint says how either is written."""
    (fault,) = faults(flights(where="carrier == UA"))
    assert fault.hint == "write `'UA'` for the key, or `` `UA` `` for the column"
