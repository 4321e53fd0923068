"""Bounds on the tail of discrete Gaussian noise, as integers over a power of two.

    low <= 2**bits H(x) <= high,   H(x) = P(|X| >= x) = 2 Z_x / Z

    Z_m   sum over y >= m of exp(-y**2 / (2 sigma2))
    Z     the same sum over all whole y

Below sigma2 = 4096 the sums are taken term by term. Above, by Euler and Maclaurin:

    H(x) = erfc(u / sqrt 2) + (f (1 + 2 S) + rest) / (sigma sqrt(2 pi))
    S    = sum over j = 1..J of B_2j / (2j)! He_(2j-1)(u) / sigma**(2j-1)

with u = x / sigma and f = exp(-u**2 / 2). Every term of S is rational, for sigma enters
squared. By Cramer's bound on Hermite polynomials the rest is at most, over its divisor,

    2 (2 zeta(2J) / (2 pi sigma)**2J) 1.0865 sqrt((2J)! / 2) erfc(u / 2)

and Z exceeds sigma sqrt(2 pi) by a factor below 1 + 2**-100000.
Source: MATH-delta 1.1, 1.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import gmpy2

from dpql.exact import exp_down, exp_up

DIGITS = 63
"""Digits of U in the first word of a lane, beside the sign."""

BRANCH = Fraction(4096)
"""Below this sigma2 every term is summed, from here on the series is used."""

DIGITS = 63
"""Digits of U in the first word of a draw, beside the sign."""

LARGEST = Fraction(1 << 86)
"""Of sigma2. Above it doubles settle no lane, and every lane is drawn exactly."""

_GUARD = 64
"""Places beyond the bits asked for, against all roundings of a sum."""

_LAST = 1 << 20
"""The last term of a plain sum, in units of its last place: far above all roundings."""

_CRAMER = gmpy2.mpfr("4.347")
"""More than 4 * 1.0865 * zeta(2J), for J of 12 and more."""

_TERMS = 24
"""Terms of the series to begin with; doubled until the rest is small enough."""


class Tail:
    """The tail of the noise of one sigma2."""

    __slots__ = ("_sums", "sigma2")

    def __init__(self, sigma2: Fraction) -> None:
        assert sigma2 > 0, "noise has a positive parameter"
        self.sigma2 = sigma2
        self._sums: dict[int, tuple[Sequence[int], Sequence[int]]] = {}

    def bounds(self, x: int, bits: int) -> tuple[int, int]:
        """Return two integers around 2**bits H(x), for x >= 1."""
        assert x >= 1, "every |X| is at least 0"
        if self.sigma2 >= BRANCH:
            return _series_bounds(self.sigma2, x, bits)
        low, high = self.sums(bits)
        whole = 1 << (bits + _GUARD)
        if x >= len(low):
            return 0, 1
        most, least = whole + 2 * high[1], whole + 2 * low[1]
        return (low[x] << (bits + 1)) // most, -(-(high[x] << (bits + 1)) // least)

    def sums(self, bits: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return bounds of 2**(bits + 64) Z_x for x = 0, 1, ...; only for small sigma2.

        Beyond the last one H is below 2**-bits.
        """
        if bits not in self._sums:
            self._sums[bits] = _plain_sums(self.sigma2, bits + _GUARD)
        return self._sums[bits]


@lru_cache(maxsize=64)
def tail_of(sigma2: Fraction) -> Tail:
    """Return the tail of the noise of this parameter."""
    return Tail(sigma2)


def _plain_sums(
    sigma2: Fraction, precision: int
) -> tuple[Sequence[int], Sequence[int]]:
    """Return lower and upper sums of 2**precision exp(-y**2 / (2 sigma2)) over y >= x.

        t_0 = 1,  t_(y+1) = t_y g_y,    g_0 = exp(-1/(2 sigma2)),  g_(y+1) = g_y c

    Every product is rounded down for one and up for the other. It ends where a term is
    far below what is asked for; all that follow are at most a geometric series.
    """
    whole = 1 << precision
    step, twice = -1 / (2 * sigma2), -1 / sigma2
    ratio_low, ratio_high = (
        int(exp_down(step, bits=precision) * whole),
        -int(-exp_up(step, bits=precision) * whole // 1),
    )
    change_low, change_high = (
        int(exp_down(twice, bits=precision) * whole),
        -int(-exp_up(twice, bits=precision) * whole // 1),
    )
    low, high = [whole], [whole]
    while high[-1] > _LAST:
        low.append(low[-1] * ratio_low >> precision)
        high.append(-(-high[-1] * ratio_high >> precision))
        ratio_low = ratio_low * change_low >> precision
        ratio_high = -(-ratio_high * change_high >> precision)
    rest = -(-(high[-1] << precision) // (whole - ratio_high))
    high[-1] += rest
    for y in range(len(low) - 1, 0, -1):
        low[y - 1] += low[y]
        high[y - 1] += high[y]
    return low, high


def _series_bounds(sigma2: Fraction, x: int, bits: int) -> tuple[int, int]:
    precision = bits + _GUARD
    u2 = x * x / sigma2
    terms = _TERMS
    rest = _rest_up(sigma2, u2, terms)
    while gmpy2.mul_2exp(rest, precision) > 1 and terms < _most_terms(sigma2):
        terms *= 2
        rest = _rest_up(sigma2, u2, terms)
    least, most = _series(sigma2, x, terms, precision)
    half = gmpy2.mpq(u2.numerator, 2 * u2.denominator)
    square = gmpy2.mpq(sigma2.numerator, sigma2.denominator)
    with gmpy2.context(precision=precision, round=gmpy2.RoundUp):
        root_up, divisor_up = (
            gmpy2.sqrt(half),
            gmpy2.sqrt(2 * gmpy2.const_pi() * square),
        )
        f_up = gmpy2.exp(-half)
    with gmpy2.context(precision=precision, round=gmpy2.RoundDown):
        root, divisor = gmpy2.sqrt(half), gmpy2.sqrt(2 * gmpy2.const_pi() * square)
        f = gmpy2.exp(-half)
        lower = gmpy2.erfc(root_up) + f / divisor_up * gmpy2.mpq(least, 1 << precision)
        lower = gmpy2.floor(gmpy2.mul_2exp(lower - rest, bits))
    with gmpy2.context(precision=precision, round=gmpy2.RoundUp):
        upper = gmpy2.erfc(root) + f_up / divisor * gmpy2.mpq(most, 1 << precision)
        upper = gmpy2.ceil(gmpy2.mul_2exp(upper + rest, bits))
    return max(0, int(lower) - 1), int(upper)


def _series(sigma2: Fraction, x: int, terms: int, precision: int) -> tuple[int, int]:
    """Return two integers around 2**precision (1 + 2 S).

    With sigma2 = a/b, He_n(u) / sigma**n is p_n / a**n, where
    p_0 = 1, p_1 = x b and p_(n+1) = x b p_n - n a b p_(n-1).
    """
    a, b = gmpy2.mpz(sigma2.numerator), gmpy2.mpz(sigma2.denominator)
    before, now, power = gmpy2.mpz(1), x * b, a
    least = 1 << precision
    for j, coefficient in enumerate(_coefficients(terms), start=1):
        top = 2 * coefficient.numerator * now << precision
        least += int(top // (coefficient.denominator * power))
        for n in (2 * j - 1, 2 * j):
            before, now = now, x * b * now - n * a * b * before
        power *= a * a
    return least, least + terms


@lru_cache(maxsize=8)
def _coefficients(terms: int) -> tuple[gmpy2.mpq, ...]:
    """Return B_2j / (2j)! for j = 1..terms.

    They are the coefficients of y coth(y) = sum of b_k (2y)**2k, so that
    1/(2n)! = sum over k <= n of b_k 4**k / (2n - 2k + 1)!
    """
    scaled = [gmpy2.mpq(1)]
    for n in range(1, terms + 1):
        known = sum(scaled[k] / _factorial(2 * (n - k) + 1) for k in range(n))
        scaled.append(gmpy2.mpq(1, _factorial(2 * n)) - known)
    return tuple(scaled[n] / 4**n for n in range(1, terms + 1))


def _factorial(n: int) -> gmpy2.mpz:
    found = gmpy2.mpz(1)
    for factor in range(2, n + 1):
        found *= factor
    return found


def _most_terms(sigma2: Fraction) -> int:
    """Return how many terms, about, bring the rest to its least."""
    return int(9 * sigma2)


def _rest_up(sigma2: Fraction, u2: Fraction, terms: int) -> gmpy2.mpfr:
    """Return a bound on what the series leaves out of H, from above."""
    square = gmpy2.mpq(sigma2.numerator, sigma2.denominator)
    with gmpy2.context(precision=64, round=gmpy2.RoundDown):
        divisor = (4 * gmpy2.const_pi() ** 2 * square) ** terms
        quarter = gmpy2.sqrt(gmpy2.mpfr(gmpy2.mpq(u2.numerator, 4 * u2.denominator)))
    with gmpy2.context(precision=64, round=gmpy2.RoundUp):
        root = gmpy2.sqrt(gmpy2.mpfr(_factorial(2 * terms)) / 2)
        return _CRAMER * root / divisor * gmpy2.erfc(quarter)
