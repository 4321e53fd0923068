"""Numbers are taken exactly and floats come out on the right side."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpql.testing.rounding import (
    exact,
    flakiness_down,
    flakiness_up,
    float_down,
    float_up,
    not_negative,
    positive,
)


def test_numbers_are_taken_exactly() -> None:
    """Decimal text is decimal, a float is the binary number it is."""
    tenth = Fraction(1, 10)
    assert [tenth] * 3 == [exact("0.1"), exact(Decimal("0.1")), exact(tenth)]
    assert exact(0.1) == Fraction(3602879701896397, 36028797018963968)
    assert exact("1e-23") == Fraction(1, 10**23)
    assert exact(7) == 7


def test_what_is_no_number_is_refused() -> None:
    """Infinities, NaN, other text and wrong signs are a ValueError."""
    for number in ("inf", float("inf"), float("nan"), "one", Decimal("nan")):
        with pytest.raises(ValueError, match=r".+"):
            exact(number)
    with pytest.raises(ValueError, match="scale must be above 0"):
        positive("scale", 0)
    with pytest.raises(ValueError, match="width must be at least 0"):
        not_negative("width", "-0.1")
    for k in (0, -1, 4001):
        with pytest.raises(ValueError, match="k must be"):
            flakiness_down(k)


@pytest.mark.parametrize(
    "x",
    [
        Fraction(1, 3),
        Fraction(-1, 3),
        Fraction(10) ** -23,
        Fraction(10) ** 300 / 7,
        Fraction(10) ** -310 / 7,
        Fraction(10) ** -400,
        Fraction(-1, 10**400),
    ],
)
def test_floats_enclose(x: Fraction) -> None:
    """Up and down are the neighbouring floats, subnormal ones too."""
    low, high = float_down(x), float_up(x)
    assert Fraction(low) < x < Fraction(high)
    assert math.nextafter(low, math.inf) == high


def test_floats_stay() -> None:
    """A number that is a float is returned as it is."""
    for x in (0.1, -2.5, 0.0, 5e-324, 1e308):
        assert float_down(Fraction(x)) == float_up(Fraction(x)) == x


def test_flakiness_is_exact_or_enclosed() -> None:
    """Whole k give the exact power of ten; other k a pair of close bounds."""
    assert flakiness_down(23) == flakiness_up("23.0") == Fraction(1, 10**23)
    low, high = flakiness_down("2.5"), flakiness_up("2.5")
    assert low**2 < Fraction(1, 10**5) < high**2
    assert (high - low) / low < Fraction(1, 10**70)
