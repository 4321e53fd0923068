"""Exact numbers in, floats out, each rounded to the side that keeps a test honest.

A tolerance is compared with results that are mostly floats, so tolerances are floats
as well; but the true tolerance is seldom one. Rounded up, a tolerance keeps the
flakiness below the stated one; a complementary tolerance is rounded down for the same
reason. Inside, everything is an exact rational or a directed bound of one.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import gmpy2

from dpql.exact import exp_down, exp_up, ln_down, ln_up

Number = int | Fraction | Decimal | str | float
"""An exact number: a float means the binary number it is, "0.1" means one tenth."""

_LARGEST_K = 4000


def exact(number: Number) -> Fraction:
    """Return the exact value; ValueError for infinities and what is not a number."""
    try:
        return Fraction(number)
    except OverflowError:
        raise ValueError("an infinite number has no exact value") from None


def positive(name: str, number: Number) -> Fraction:
    """Return the exact value; ValueError unless it is above 0."""
    value = exact(number)
    if value <= 0:
        raise ValueError(f"{name} must be above 0")
    return value


def not_negative(name: str, number: Number) -> Fraction:
    """Return the exact value; ValueError if it is below 0."""
    value = exact(number)
    if value < 0:
        raise ValueError(f"{name} must be at least 0")
    return value


def float_up(x: Fraction) -> float:
    """Return the least float >= x."""
    return _to_float(x, gmpy2.RoundUp)


def float_down(x: Fraction) -> float:
    """Return the largest float <= x."""
    return _to_float(x, gmpy2.RoundDown)


def flakiness_down(k: Number) -> Fraction:
    """Return 10**-k, rounded down where it is not rational."""
    exponent = _exponent(k)
    if exponent.denominator == 1:
        return Fraction(1, 10**exponent.numerator)
    return exp_down(-exponent * ln_up(Fraction(10)))


def flakiness_up(k: Number) -> Fraction:
    """Return 10**-k, rounded up where it is not rational."""
    exponent = _exponent(k)
    if exponent.denominator == 1:
        return Fraction(1, 10**exponent.numerator)
    return exp_up(-exponent * ln_down(Fraction(10)))


def _exponent(k: Number) -> Fraction:
    exponent = positive("k", k)
    if exponent > _LARGEST_K:
        raise ValueError(f"k must be at most {_LARGEST_K}")
    return exponent


def _to_float(x: Fraction, mode: int) -> float:
    double = gmpy2.ieee(64)
    double.round = mode
    with gmpy2.context(double):
        return float(gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator)))
