"""Intervals of parts of one under Gaussian noise: the tests of `inversion`, decided.

    fires   b > 0  and  b**2 > z**2 sigma2 ||w||**2,
            b = sum coef_i(x) B~_i - shift sum |w_i|

All numbers are rational, so the test is decided exactly, and an end is the last point
of the grid, seen from where the test fires, at which it does.
Source: MATH-statistics 3.3; MATH-delta 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gmpy2 import lcm, mpq, mpz

from dpql.exact import fraction
from dpql.statistics.inversion import END, GRID, Family, Interval, Method
from dpql.statistics.normal_tails import NormalTail, quantile_squared


class NormalInversion:
    """The tests of a family at one level, ready for the parts of many cells."""

    def __init__(self, family: Family, tail: NormalTail, alpha: Fraction) -> None:
        ends = [end for pair in family.coefficients for end in pair]
        common = lcm(*(end.denominator for end in ends))
        self._pieces = [
            (mpz(first * common) << GRID, mpz((last - first) * common))
            for first, last in family.coefficients
        ]
        self._lower = mpq(family.lower)
        self._step = mpq(family.upper - family.lower) / END
        self._shift = mpq(tail.shift)
        self._square = mpq(tail.sigma2 * quantile_squared(alpha))

    def kept(self, noisy: Sequence[int]) -> Interval:
        """Return an interval that holds every x in the range that the parts allow."""
        least, most = 0, END
        if self._fires(noisy, 0, 1):
            far = self._fires(noisy, END, 1)
            least = END if far else self._edge(noisy, 0, 1)
        if self._fires(noisy, END, -1):
            far = self._fires(noisy, 0, -1)
            most = 0 if far else self._edge(noisy, END, -1)
        return self._lower + least * self._step, self._lower + most * self._step

    def _fires(self, noisy: Sequence[int], point: int, sign: int) -> bool:
        """Tell whether the parts, with that sign, contradict a point of the grid."""
        weights = [at_lower + rise * point for at_lower, rise in self._pieces]
        pairs = zip(weights, noisy, strict=True)
        total = sign * sum(weight * part for weight, part in pairs)
        if total <= 0:
            return False
        beyond = total - self._shift * sum(map(abs, weights))
        norm = sum((weight * weight for weight in weights), mpz(0))
        return bool(beyond > 0 and beyond * beyond > self._square * norm)

    def _edge(self, noisy: Sequence[int], fired: int, sign: int) -> int:
        """Return the end: the test fires at ``fired``, not at the other end."""
        quiet = END - fired
        while abs(quiet - fired) > 1:
            middle = (quiet + fired) // 2
            if self._fires(noisy, middle, sign):
                fired = middle
            else:
                quiet = middle
        return fired


def _width(tail: NormalTail, weights: Sequence[mpq], alpha: Fraction) -> mpq:
    """Return c(w)."""
    return mpq(tail.width([fraction(weight) for weight in weights], alpha))


NORMAL = Method(
    inversion=NormalInversion,
    width=_width,
    enough=1 - mpq(1, 1 << 40),
)
"""How intervals are found under Gaussian noise."""
