"""From a target to the widest noise of snapping that keeps it, and its epsilon.

In rescaled units, for a target a, with scale lambda_ and its grid Lambda:

    N    = floor(2 a / Lambda) + 1
    tail = (exp(-(a - Lambda/2) / lambda_) + exp(-((N - 1/2) Lambda - a) / lambda_)) / 2

is the largest chance, over all values, of an error above a: the two tails of the noise
where the value lies worst within its bin. It needs a >= Lambda/2; a coarser grid misses
a with certainty. The tail grows with lambda_ while Lambda stays, and twice the grid
never makes it smaller, so it grows with lambda_ altogether, in jumps where lambda_
passes a power of two. Hence the scales that keep a target are those up to a largest,
and a bisection finds it.

Source: MATH 3.3 (exact worst case), with the exponentials of its cosh written out.
"""

from __future__ import annotations

from fractions import Fraction

import gmpy2

from dpql.exact import (
    fraction,
    ln_up,
    power_of_two_up,
    round_up_to_digits,
    two_to,
)

GUARD = 118
"""Least precision planned: the notes' 118 bits (MATH 3.2, p0)."""

DIGITS = 15
"""Significant decimal digits of an epsilon found for an accuracy."""

_BITS = 128
_FOUND = 64
"""Significant bits to which the scale is found."""

_STATED = 53
"""Bits of an accuracy that a plan states; a target is taken down to as many."""


def widest_scale(accuracy: Fraction, alpha: Fraction) -> Fraction:
    """Return the largest scale with tail(accuracy) <= alpha, rounded down.

    At most 2**-60 below the largest, relatively. Requires: 0 < alpha < 1.
    """
    step = two_to(power_of_two_up(accuracy) - _STATED)
    target = accuracy // step * step
    grid = two_to(power_of_two_up(target / (1 + ln_up(1 / alpha))))
    # This grid keeps the target by the plain bound; one twice as coarse may as well.
    while grid <= target and _keeps(target, 2 * grid, grid, alpha):
        grid *= 2
    if _keeps(target, grid, grid, alpha):
        return grid
    low, gap = grid / 2, grid / 2
    for _ in range(_FOUND):
        gap /= 2
        if _keeps(target, grid, low + gap, alpha):
            low += gap
    return low


def least_epsilon(accuracy: Fraction, alpha: Fraction) -> Fraction:
    """Return the smallest epsilon, rounded up, for a plain accuracy in sensitivities.

        L      = ln(1/alpha)
        2**j   = smallest power of two >= accuracy / (1 + L)
        lambda = min(2**j, (accuracy - 2**(j-1)) / L)
        result = (1 + 12 * 2**-52) / lambda + 2**(1 - p), up to 15 digits,
                 p = max(118, 53 + ceil log2 lambda)

    At most 1.2e-14 above the true infimum, relatively. On a plateau (lambda == 2**j)
    rounding to nearest would double the grid, hence up. Requires: alpha < 1.
    Source: MATH 3.4, with p one lower: 1/epsilon is below lambda, and may be on the
    other side of a power of two.
    """
    L = ln_up(1 / alpha)
    power = two_to(power_of_two_up(accuracy / (1 + L)))
    return epsilon_of(min(power, (accuracy - power / 2) / L))


def epsilon_of(scale: Fraction) -> Fraction:
    """Return an epsilon, rounded up, whose noise has at most this scale."""
    least = max(GUARD, 53 + power_of_two_up(scale))
    epsilon = (1 + 12 * two_to(-52)) / scale + two_to(1 - least)
    return round_up_to_digits(epsilon, DIGITS)


def _keeps(target: Fraction, grid: Fraction, scale: Fraction, alpha: Fraction) -> bool:
    """Tell whether the tail, rounded up, is at most alpha."""
    intervals = 2 * target // grid + 1
    near = target - grid / 2
    far = (2 * intervals - 1) * grid / 2 - target
    with gmpy2.context(precision=_BITS, round=gmpy2.RoundUp):
        width = gmpy2.mpq(scale.numerator, scale.denominator)
        exponents = [
            gmpy2.mpfr(gmpy2.mpq(-x.numerator, x.denominator) / width)
            for x in (near, far)
        ]
        tail = fraction(gmpy2.exp(exponents[0]) + gmpy2.exp(exponents[1]))
    return tail <= 2 * alpha
