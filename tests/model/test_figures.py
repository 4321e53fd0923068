"""Numbers for people: exact digits, errors rounded up."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.model.figures import (
    bar,
    decimal,
    equal_to,
    percent,
    plural,
    quantity,
    rational,
    times,
    within_text,
)


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        ("0", 3, "0"),
        ("1/3", 3, "0.333"),
        ("2/3", 3, "0.667"),
        ("-1/2", 3, "-0.5"),
        ("1871.5", 5, "1 871.5"),
        ("1234567.89", 3, "1 234 568"),
        ("999.96", 4, "1 000"),
        ("1/1000000000", 3, "1e-9"),
        ("12345/100000000000", 3, "1.23e-7"),
    ],
)
def test_decimals_have_the_digits_asked_for(
    number: str, digits: int, expected: str
) -> None:
    """All digits before the point stay, trailing zeros go, thousands stand apart."""
    assert expected == decimal(Fraction(number), digits)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12))
def test_an_error_is_never_shown_smaller_than_it_is(error: Fraction) -> None:
    """Rounding up is up, and by less than one part in ten thousand."""
    shown = Fraction(decimal(error, 5, up=True).replace(" ", ""))
    assert error <= shown <= error * (1 + Fraction(1, 10**4))


def test_texts_for_the_table() -> None:
    """Fractions stay fractions while they are short."""
    assert rational(Fraction(3, 20)) == "3/20"
    assert rational(Fraction(10**9, 3 * 10**9 + 1)) == "≈ 0.3334"
    assert quantity(None) == "-"
    assert within_text(Fraction(60), None) == "± 60"
    assert within_text(Fraction(187151, 100), "USD\x1b[2J") == (
        '± 1 871.6 "USD\\u{1b}[2J"'
    )
    assert times(Fraction(1)) == "2.72"
    assert percent(Fraction(19, 20)) == "95%"
    assert plural(1, "row") == "1 row"
    assert plural(2000, "row") == "2 000 rows"


def test_bars_show_every_share_that_is_not_nothing() -> None:
    """A small share still has one cell, a whole one has ten."""
    assert bar(Fraction(3, 4)) == "████████░░"
    assert bar(Fraction(1, 1000)) == "█░░░░░░░░░"
    assert bar(Fraction(0)) == "░░░░░░░░░░"
    assert bar(Fraction(1)) == "██████████"


def test_numbers_of_any_length_are_shown_short() -> None:
    """No number of a hostile plan is too long for a message."""
    long = Fraction(10**9000 + 1, 3**9000)
    assert rational(long).startswith("≈ ")
    assert decimal(Fraction(10) ** 9000, 3) == "1e9000"
    assert decimal(Fraction(10) ** -9000, 3) == "1e-9000"
    assert quantity(Fraction(123_456)) == "123 456"


def test_what_is_rounded_is_not_said_to_be_equal() -> None:
    """A short number is equal, a long one is about as large."""
    assert "= 1/3" == equal_to(Fraction(1, 3))
    assert "≈ 0.3334" == equal_to(Fraction(1_000_000, 3_000_001))
