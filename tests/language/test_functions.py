"""Every function means what it says, and its misuse is marked where it is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.flights import derived, marked

from dpql.language.functions import FUNCTIONS
from dpql.model.expression import (
    Bands,
    CalendarPart,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    IsMissing,
    IsNull,
    Operator,
    PartOf,
    Reference,
)

A, D = Reference(column="arr_delay"), Reference(column="dep_delay")
LATE = Comparison(column="arr_delay", operator=Operator.GREATER, value=Fraction(15))


def number(value: object) -> Expression:
    """Return a constant."""
    return Constant(value=Fraction(str(value)))


def call(function: Function, *operands: Expression) -> Expression:
    """Return the call of a function."""
    return Call(function=function, operands=operands)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arr_delay + dep_delay", call(Function.ADD, A, D)),
        (
            "arr_delay - dep_delay * 2",
            call(Function.SUBTRACT, A, call(Function.MULTIPLY, D, number(2))),
        ),
        (
            "(arr_delay - dep_delay) * 2",
            call(Function.MULTIPLY, call(Function.SUBTRACT, A, D), number(2)),
        ),
        (
            "arr_delay - dep_delay - 1",
            call(Function.SUBTRACT, call(Function.SUBTRACT, A, D), number(1)),
        ),
        ("-arr_delay", call(Function.SUBTRACT, number(0), A)),
        ("arr_delay // (24 * 60)", call(Function.FLOOR_DIVIDE, A, number(1440))),
        ("arr_delay // -15", call(Function.FLOOR_DIVIDE, A, number(-15))),
        (
            "min(arr_delay, dep_delay, 0)",
            call(Function.MIN, call(Function.MIN, A, D), number(0)),
        ),
        ("max(arr_delay, 0)", call(Function.MAX, A, number(0))),
        ("abs(arr_delay)", call(Function.ABS, A)),
        ("round(arr_delay)", call(Function.ROUND, A, number(1))),
        ("round(arr_delay, 1/2)", call(Function.ROUND, A, number("1/2"))),
        (
            "div(arr_delay, dep_delay, 0, 10, 0.1)",
            call(Function.DIV, A, D, number(0), number(10), number("0.1")),
        ),
        (
            "div(arr_delay, dep_delay, step: 0.1, upper: 10, lower: 0)",
            call(Function.DIV, A, D, number(0), number(10), number("0.1")),
        ),
        (
            "case(arr_delay > 15, 1, is_null(dep_delay), 2, 3)",
            call(
                Function.CASE,
                LATE,
                number(1),
                call(Function.CASE, IsNull(column="dep_delay"), number(2), number(3)),
            ),
        ),
        ("coalesce(arr_delay, 0)", call(Function.COALESCE, A, number(0))),
        ("is_null(arr_delay)", IsNull(column="arr_delay")),
        (
            "is_null(arr_delay + dep_delay)",
            IsMissing(operand=call(Function.ADD, A, D)),
        ),
        (
            "bands(distance, [1, 500, 1_000])",
            Bands(
                operand=Reference(column="distance"),
                edges=(Fraction(1), Fraction(500), Fraction(1000)),
            ),
        ),
        (
            "when - 2013-01-01",
            call(
                Function.SUBTRACT,
                Reference(column="when"),
                Constant(value="2013-01-01"),
            ),
        ),
        ("hour(left)", PartOf(part=CalendarPart.HOUR, column="left")),
        (
            "`odd name` * 10",
            call(Function.MULTIPLY, Reference(column="odd name"), number(10)),
        ),
        (
            "weekday(when) >= 6",
            Compared(
                left=PartOf(part=CalendarPart.WEEKDAY, column="when"),
                operator=Operator.AT_LEAST,
                right=number(6),
            ),
        ),
    ],
)
def test_functions_mean_what_they_say(text: str, expected: Expression) -> None:
    """Products bind tighter than sums, and both from the left."""
    assert expected == derived(text)


@pytest.mark.parametrize("part", CalendarPart)
def test_every_part_of_a_date_is_a_function(part: CalendarPart) -> None:
    """They are called as the model calls them."""
    assert PartOf(part=part, column="left") == derived(f"{part.value}(left)")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("sqrt(arr_delay)", "DPQL363", "sqrt"),
        ("abs(arr_delay, 1)", "DPQL363", "abs(arr_delay, 1)"),
        ("abs()", "DPQL363", "abs()"),
        ("min(arr_delay)", "DPQL363", "min(arr_delay)"),
        ("abs([1, 2])", "DPQL363", "[1, 2]"),
        ("abs(x: 1)", "DPQL363", "x: 1"),
        ("1 + bands(distance, 5)", "DPQL363", "bands(distance, 5)"),
        ("bands(distance, [5])", "DPQL363", "[5]"),
        ("bands(distance, [5, 1])", "DPQL363", "1"),
        ("bands(distance, [5, x])", "DPQL319", "x"),
        ("bands(carrier, [1, 5])", "DPQL360", "carrier"),
        ("hour(when)", "DPQL360", "hour(when)"),
        ("hour(left + 1)", "DPQL363", "left + 1"),
        ("hour(arr_delay)", "DPQL360", "hour(arr_delay)"),
        ("case(arr_delay > 0, 1)", "DPQL363", "case(arr_delay > 0, 1)"),
        (
            "case(arr_delay > 0, 1, x > 1, 2)",
            "DPQL363",
            "case(arr_delay > 0, 1, x > 1, 2)",
        ),
        ("case(arr_delay, 1, 2)", "DPQL360", "arr_delay"),
        ("case(arr_delay > 0, carrier, 2)", "DPQL360", "carrier"),
        ("div(arr_delay, dep_delay)", "DPQL363", "div(arr_delay, dep_delay)"),
        ("div(arr_delay, dep_delay, 0, 10, 0)", "DPQL360", "0"),
        ("div(arr_delay, dep_delay, 10, 0, 1)", "DPQL360", "0"),
        ("arr_delay // 0", "DPQL360", "0"),
        ("arr_delay // dep_delay", "DPQL360", "dep_delay"),
        ("1 + arr_delay * carrier", "DPQL360", "carrier"),
        ("coalesce(arr_delay, dep_delay)", "DPQL360", "dep_delay"),
        ("round(arr_delay, -1)", "DPQL360", "-1"),
        ("when + 1", "DPQL360", "when"),
        ("when - 5", "DPQL360", "5"),
        ("when - carrier", "DPQL360", "carrier"),
        ("when - 'today'", "DPQL360", "'today'"),
        ("left - when", "DPQL360", "when"),
        ("tailnum + 1", "DPQL302", "tailnum"),
        ("arr_dely + 1", "DPQL301", "arr_dely"),
        ("arr_delay + 1x", "DPQL319", "1x"),
        (
            "air_time * distance * air_time * distance * air_time * distance",
            "DPQL362",
            "air_time * distance * air_time * distance * air_time * distance",
        ),
    ],
)
def test_misuse_is_marked_where_it_is(text: str, code: str, words: str) -> None:
    """The caret is under the operand that is to blame, not under the whole."""
    assert [(code, words)] == marked(text)


def test_a_function_may_share_its_name_with_a_column() -> None:
    """It is one only before a parenthesis."""
    assert derived("abs(arr_delay)") == call(Function.ABS, A)
    assert [("DPQL301", "abs")] == marked("abs + 1")


def test_every_function_shows_how_it_is_used() -> None:
    """Each form begins with the function's own name."""
    assert all(one.form.startswith(f"{name}(") for name, one in FUNCTIONS.items())
