"""Rationals in, rationals out; the direction of every rounding is in the name.

Inside, MPFR works with directed rounding; outside there are only `Fraction` and `int`.
A function without a direction in its name is exact.

    ln_down(x) <= ln(x) <= ln_up(x)          exp_down(x) <= exp(x) <= exp_up(x)

Directed rounding of the argument and of the result in the same sense is sound because
every function here is increasing.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BITS = 256
"""Working precision of the bounds when the caller does not ask for another."""

_LOWEST = -(1 << 14)
"""Below this argument exp is not computed, so that no result needs unbounded memory."""

_TINIEST = Fraction(1, 1 << 23637)
"""A bound on exp(_LOWEST) from above."""


_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,2000})(?:/[1-9][0-9]{0,2000})?", re.ASCII)


def read_fraction(text: str) -> Fraction:
    """Return the number that `str(Fraction)` wrote as ``text``; ValueError otherwise.

    One number has one spelling: lowest terms, no sign on zero, no exponent.
    """
    if _PLAIN.fullmatch(text) is None:
        raise ValueError("not an exact number")
    number = Fraction(text)
    if str(number) != text:
        raise ValueError("not an exact number in lowest terms")
    return number


def ln_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational at least ln(x), for x > 0; tighter as ``bits`` grows."""
    return _directed(gmpy2.log, x, bits, up=True)


def ln_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational at most ln(x), for x > 0; tighter as ``bits`` grows."""
    return _directed(gmpy2.log, x, bits, up=False)


def exp_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a positive rational at least exp(x), never below 2**-23637."""
    if x < _LOWEST:
        return _TINIEST
    return _directed(gmpy2.exp, x, bits, up=True)


def exp_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational at most exp(x) and at least 0; 0 when x < -16384."""
    if x < _LOWEST:
        return Fraction(0)
    return _directed(gmpy2.exp, x, bits, up=False)


def sidak_down(alpha: Fraction, parts: int, *, bits: int = BITS) -> Fraction:
    """Return a level at most 1 - (1 - alpha)**(1/parts), and positive.

    Independent claims, each missed with at most this probability, all hold together
    but with probability ``alpha``. Source: MATH 4, 7.
    """
    assert parts >= 1
    if parts == 1:
        return alpha
    with gmpy2.context(precision=bits, round=gmpy2.RoundUp):
        root = gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(-alpha.numerator, alpha.denominator)))
        return -fraction(gmpy2.expm1(root / parts))


def arcosh_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational at most arcosh(x) and at least 0, for x >= 1."""
    return _directed(gmpy2.acosh, x, bits, up=False) if x > 1 else Fraction(0)


def power_of_two_up(x: Fraction) -> int:
    """Return the smallest integer j with 2**j >= x, for x > 0, by integers alone."""
    j = x.numerator.bit_length() - x.denominator.bit_length() - 1
    while two_to(j) < x:
        j += 1
    return j


def two_to(j: int) -> Fraction:
    """Return 2**j for any integer j."""
    return Fraction(1 << j) if j >= 0 else Fraction(1, 1 << -j)


def round_up_to_bits(x: Fraction, bits: int) -> Fraction:
    """Return the smallest rational >= x with at most ``bits`` significant bits.

    The sign is kept: a negative x is moved towards zero.
    """
    if x == 0:
        return x
    step = two_to(power_of_two_up(abs(x)) - bits)
    return -(-x // step) * step


def round_up_to_digits(x: Fraction, digits: int) -> Fraction:
    """Return a decimal >= x with at most ``digits`` significant digits, for x > 0.

    The least such decimal, unless x is a power of ten away from one.
    """
    exponent = len(str(x.numerator)) - len(str(x.denominator))
    if x < Fraction(10) ** exponent:
        exponent -= 1
    step = Fraction(10) ** (exponent + 1 - digits)
    return -(-x // step) * step


def round_down_to_digits(x: Fraction, digits: int) -> Fraction:
    """Return the largest decimal <= x with at most ``digits`` digits, for x > 0."""
    exponent = len(str(x.numerator)) - len(str(x.denominator))
    if x < Fraction(10) ** exponent:
        exponent -= 1
    step = Fraction(10) ** (exponent + 1 - digits)
    return x // step * step


def fraction(x: gmpy2.mpq | gmpy2.mpfr | gmpy2.mpz) -> Fraction:
    """Return the exact value of a gmpy2 number as a plain Fraction."""
    numerator, denominator = gmpy2.mpq(x).as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """Return the least whole number that makes all of them whole."""
    return int(gmpy2.lcm(*(number.denominator for number in numbers)))


def _directed(
    function: Callable[[gmpy2.mpfr], gmpy2.mpfr], x: Fraction, bits: int, *, up: bool
) -> Fraction:
    mode = gmpy2.RoundUp if up else gmpy2.RoundDown
    with gmpy2.context(precision=bits, round=mode):
        argument = gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator))
        return fraction(function(argument))
