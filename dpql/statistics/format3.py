"""Intervals as releases of plans of format 3 have them, so that they verify for ever.

The tests are those of `inversion`. Ends were not the nearest points at which they fire:
they were wherever a search in 256 bits came to rest, and so were widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gmpy2 import lcm, mpfr, mpq, mpz

from dpql.exact import fraction
from dpql.statistics.inversion import Family, Interval, Method
from dpql.statistics.tails import DOWN, UP, LaplaceTail, Tail

_BITS = 64
_END = 1 << _BITS

_SHARP = 32
"""A search ended when it had an end to 2**-32 of its distance from the middle."""

_ROUNDS = 200
"""More steps than a search took; stopping early only widened the interval."""


class _Inversion:
    """The tests of a family at one level."""

    def __init__(self, family: Family, tail: Tail, alpha: Fraction) -> None:
        self._family, self._tail, self._alpha = family, tail, alpha

    def kept(self, noisy: Sequence[int]) -> Interval:
        """Return an interval that holds every x in the range that the parts allow."""
        family = self._family
        tests = _Tests(family, noisy, self._tail, self._alpha)
        least, most = 0, _END
        if tests.excess(0, 1) < 0:
            least = _END if tests.excess(_END, 1) < 0 else tests.edge(0, 1)
        if tests.excess(_END, -1) < 0:
            most = 0 if tests.excess(0, -1) < 0 else tests.edge(_END, -1)
        width = family.upper - family.lower
        return (
            mpq(family.lower + width * Fraction(least, _END)),
            mpq(family.lower + width * Fraction(most, _END)),
        )


def _width(tail: Tail, weights: Sequence[mpq], alpha: Fraction) -> mpq:
    """Return c(w) as the planner has it."""
    return mpq(tail.width([fraction(weight) for weight in weights], alpha))


FORMAT3 = Method(inversion=_Inversion, width=_width, enough=mpq(2))


class _Tests:
    """The tests at the points of the grid, in whole numbers over one denominator."""

    __slots__ = ("_level", "_noisy", "_pieces", "_scale", "_tail", "_wide")

    def __init__(
        self, family: Family, noisy: Sequence[int], tail: Tail, alpha: Fraction
    ) -> None:
        ends = [end for pair in family.coefficients for end in pair]
        common = lcm(*(end.denominator for end in ends))
        self._pieces = [
            (mpz(first * common) << _BITS, mpz((last - first) * common))
            for first, last in family.coefficients
        ]
        self._noisy = [mpz(number) for number in noisy]
        self._tail = [
            mpz(number)
            for number in (
                tail.theta.numerator * tail.shift.denominator,
                tail.theta.numerator * tail.shift.numerator,
                tail.theta.denominator * tail.shift.denominator,
            )
        ]
        self._level = DOWN.div(alpha.numerator, alpha.denominator)
        self._wide = UP.log(UP.div(1, self._level))

    def _middle(self) -> int:
        """Return a point next to that where the sum is 0, if it falls; else 0."""
        first, last = self._sums(0)[0], self._sums(_END)[0]
        if first <= last:
            return 0
        return int(min(max(first * _END // (first - last), 0), _END))

    def _sums(self, point: int) -> tuple[mpz, list[mpz]]:
        """Return the sum of the noisy parts at a point, and their weights."""
        coefficients = [at_lower + rise * point for at_lower, rise in self._pieces]
        pairs = zip(coefficients, self._noisy, strict=True)
        total = sum(coefficient * number for coefficient, number in pairs)
        return total, [abs(coefficient) for coefficient in coefficients]

    def excess(self, point: int, sign: int) -> mpfr:
        """Return w ln(tail / alpha), w the largest weight; below 0 the test fires.

        It is never too small, and nearly straight where the test is in doubt.
        """
        total, weights = self._sums(point)
        gain, loss, bottom = self._tail
        beyond = gain * sign * total - loss * sum(weights)
        if beyond <= 0:
            return UP.mul(max(weights), self._wide)
        tail = LaplaceTail(weights)
        above = tail.above(DOWN.div(beyond, bottom))
        return UP.mul(tail.largest, UP.log(UP.div(above, self._level)))

    def edge(self, fired: int, sign: int) -> int:
        """Return the farthest point found from ``fired`` where the test fires.

        Requires: the test fires there and not at the other end of the range.
        The search keeps a point that fires and one that does not, at first the middle,
        where the sum is 0. It ends when they are neighbours, or much nearer to each
        other than to the middle (the regula falsi with Illinois' halving).
        """
        middle = self._middle()
        if self.excess(middle, sign) < 0:
            middle = _END - fired
        other = middle
        low, high = self.excess(fired, sign), self.excess(other, sign)
        last = 0
        for _ in range(_ROUNDS):
            gap = abs(other - fired)
            if gap <= max(1, abs(middle - fired) >> _SHARP):
                break
            top, bottom = UP.div(low, UP.sub(low, high)).as_integer_ratio()
            step = min(max(int(gap * top // bottom), 1), gap - 1)
            point = fired + (step if other > fired else -step)
            found = self.excess(point, sign)
            if found < 0:
                fired, low = point, found
                high = UP.div(high, 2) if last < 0 else high
                last = -1
            else:
                other, high = point, found
                low = UP.div(low, 2) if last > 0 else low
                last = 1
        return fired
