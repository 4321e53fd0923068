"""All x that noisy parts do not contradict: a test turned into an interval.

Let sum coef_i(x) B_i be 0 at the true x for the true parts, every coef_i falling and
affine. Then x is kept iff |sum coef_i(x) B~_i| <= c(w), w_i = |coef_i(x)|, and the true
x is kept with probability 1 - alpha or more.

c is a norm of w, so that "sum coef_i(x) B~_i > c" fires on one interval of x. If it
fires at the lower end of the range, the interval's other end is where it stops firing;
if it does not, nothing is excluded from below. Likewise from above, with the signs
turned. A test that fires at both ends of the range leaves the far end alone.

No width is computed: the test fires iff the tail at theta (sum - shift sum w_i) is
below alpha, and only a tail rounded up counts. An end of the interval is a point of a
grid of 2**64 steps where the test does fire, so however it was found, all beyond it is
excluded rightly.
Source: MATH-statistics 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gmpy2 import lcm, mpfr, mpz

from dpql.statistics.tails import DOWN, UP, LaplaceTail, Tail

_BITS = 64
_END = 1 << _BITS

_SHARP = 32
"""A search ends when it has an end to 2**-32 of its distance from the middle."""

_ROUNDS = 200
"""More steps than a search takes; stopping early would only widen the interval."""

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The tests of one unknown x in lower..upper, one coefficient for each noisy part.

    ``coefficients`` are pairs: coef_i at the lower and at the upper end of the range,
    the first not below the second. Between the ends coef_i is affine.
    """

    lower: Fraction
    upper: Fraction
    coefficients: tuple[tuple[Fraction, Fraction], ...]


def kept(family: Family, noisy: Sequence[int], tail: Tail, alpha: Fraction) -> Interval:
    """Return an interval that holds every x in the range that the parts allow.

    Ensures: the true x lies in it with probability 1 - alpha or more; lower <= upper.
    """
    tests = _Tests(family, noisy, tail, alpha)
    least, most = 0, _END
    if tests.excess(0, 1) < 0:
        least = _END if tests.excess(_END, 1) < 0 else tests.edge(0, 1)
    if tests.excess(_END, -1) < 0:
        most = 0 if tests.excess(0, -1) < 0 else tests.edge(_END, -1)
    width = family.upper - family.lower
    return (
        family.lower + width * Fraction(least, _END),
        family.lower + width * Fraction(most, _END),
    )


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
