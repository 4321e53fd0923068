"""The tail of discrete Gaussian noise: both ways to bound it, and the vectors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from golden import cases, close

from dpql.mechanisms.gaussian_tail import (
    _GUARD,
    Tail,
    _coefficients,
    _plain_sums,
    _rest_up,
    _series_bounds,
    tail_of,
)

TOLERANCE = Fraction(1, 10**28)


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_law"))
def test_tail_vectors(case: dict[str, Any]) -> None:
    """The bounds hold the tail beyond x between them, to all digits given."""
    bits = 700
    tail = tail_of(Fraction(case["input"]["sigma2"]))
    for bound in tail.bounds(case["input"]["x"] + 1, bits):
        near = Fraction(bound, 1 << bits)
        assert close(case["expect"]["outside"], near, TOLERANCE)


@pytest.mark.parametrize("sigma2", ["1/2000", "1/50", "3/10", "1", "25", "4095"])
def test_plain_sums_hold_the_tail_between_them(sigma2: str) -> None:
    """The sum over whole numbers, by mpmath, lies within the bounds."""
    square, bits = Fraction(sigma2), 320
    mpmath.mp.dps = 150
    s2 = mpmath.mpf(square.numerator) / square.denominator
    reach = int(40 * float(square) ** 0.5) + 60
    terms = [mpmath.exp(-mpmath.mpf(y * y) / (2 * s2)) for y in range(reach)]
    whole = 1 + 2 * sum(terms[1:])
    for x in (1, 2, 7, reach // 8 + 1):
        exact = 2 * sum(terms[x:]) / whole * mpmath.mpf(2) ** bits
        low, high = Tail(square).bounds(x, bits)
        assert low <= exact <= high
        assert high - low <= 2


@pytest.mark.parametrize("sigma2", ["4096", "5000", "1763668/7", "300000"])
@pytest.mark.parametrize("x", [1, 2, 64, 500, 1500])
def test_both_ways_agree(sigma2: str, x: int) -> None:
    """The series and the plain sum enclose the same number, to 320 bits."""
    bits, square = 320, Fraction(sigma2)
    low, high = _plain_sums(square, bits + _GUARD)
    x = min(x, len(low) - 1)
    whole = 1 << (bits + _GUARD)
    least = (low[x] << (bits + 1)) // (whole + 2 * high[1])
    most = -(-(high[x] << (bits + 1)) // (whole + 2 * low[1]))
    lower, upper = _series_bounds(square, x, bits)
    assert least <= upper
    assert lower <= most
    assert upper - lower <= 8


def test_coefficients_are_bernoulli_over_factorials() -> None:
    """B_2j / (2j)!, as mpmath has the Bernoulli numbers."""
    for j, found in enumerate(_coefficients(30), start=1):
        top, bottom = mpmath.bernfrac(2 * j)
        expected = Fraction(int(top), int(bottom) * math.factorial(2 * j))
        assert expected == Fraction(int(found.numerator), int(found.denominator))


def test_the_rest_falls_below_any_place() -> None:
    """More terms are taken for more bits, and the bounds stay as close."""
    square = Fraction(4096)
    assert _rest_up(square, Fraction(1), 24) > _rest_up(square, Fraction(1), 48)
    for bits in (64, 320, 1500):
        low, high = _series_bounds(square, 100, bits)
        assert high - low <= 8
    assert _rest_up(Fraction(1 << 20), Fraction(1), 24) < 10**-148


def test_far_beyond_all_places() -> None:
    """Where H is below the last place the bounds say just that."""
    assert (0, 1) == Tail(Fraction(1)).bounds(1000, 64)
    low, high = Tail(Fraction(10**6)).bounds(10**6, 64)
    assert low == 0
    assert high <= 1
