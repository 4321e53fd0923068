"""How far a correct result may lie from the truth, when a test may fail once in 10**k.

    tolerance    least t with P(|noise| > t) <= 10**-k              rounded up
    complement   largest t with P(|noise| < t) <= 10**-k            rounded down

A result within the tolerance is near the truth; a result beyond the complement has
noise at all. k is a positive number, 23 in many test suites. No step of the
computation forms 1 - 10**-k in floats, which is 1 from k = 16 on.

Arguments are exact: int, Fraction, Decimal, decimal text, or a float taken as the
binary number it is. See `dpql.testing.rounding` for why floats come out.
Source: MATH 9; seed 002 with the errata g, g2, g3 of MATH 2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import fraction, ln_down, ln_up, sidak_down
from dpql.mechanisms.geometric_law import steps_within
from dpql.testing.rounding import (
    Number,
    exact,
    flakiness_down,
    flakiness_up,
    float_down,
    float_up,
    not_negative,
    positive,
)

if TYPE_CHECKING:
    from dpql.mechanisms.mechanism import Mechanism
    from dpql.mechanisms.snapping import SnappingNoise

_PRECISION = 256
_TEN = Fraction(10)


def laplace_tolerance(k: Number, *, epsilon: Number, l1: Number = 1) -> float:
    """Return the tolerance of Laplace noise of scale l1 / epsilon.

        t = l1 k ln(10) / epsilon

    >>> laplace_tolerance(23, epsilon=50)
    1.059189142777261
    """
    scale = positive("l1", l1) / positive("epsilon", epsilon)
    flakiness_down(k)
    return float_up(scale * exact(k) * ln_up(_TEN))


def laplace_complement(k: Number, *, epsilon: Number, l1: Number = 1) -> float:
    """Return the complementary tolerance of Laplace noise of scale l1 / epsilon.

        t = -(l1 / epsilon) ln(1 - 10**-k), by log1p

    >>> laplace_complement(23, epsilon=50)
    1.9999999999999998e-25
    """
    scale = positive("l1", l1) / positive("epsilon", epsilon)
    return float_down(scale * -_log1p_up(-flakiness_down(k)))


def geometric_tolerance(k: Number, *, theta: Number) -> int:
    """Return the tolerance of two-sided geometric noise, in whole steps.

        least a with P(|X| > a) = 2 q**(a + 1) / (1 + q) <= 10**-k,  q = exp(-theta)

    There is no complement: P(X = 0) = (1 - q) / (1 + q) is far above 10**-k, so a
    correct draw is often 0. Source: MATH 7, 9.

    >>> geometric_tolerance(23, theta=1)
    53
    """
    return steps_within(positive("theta", theta), flakiness_down(k))


def snapping_tolerance(k: Number, noise: SnappingNoise) -> float:
    """Return the tolerance of a snapping release, in the units of its query.

        t = sensitivity (lambda' k ln(10) + Lambda' / 2)

    The outer clamp, which only brings outcomes nearer, is not counted.
    Source: MATH 3.3, 9.
    """
    flakiness_down(k)
    rescaled = noise.lambda_prime * exact(k) * ln_up(_TEN) + noise.Lambda_prime / 2
    return float_up(noise.sensitivity * rescaled)


def mechanism_tolerance(k: Number, mechanism: Mechanism[Any], noise: Any) -> float:
    """Return the tolerance of any mechanism of the table, in the units of its query.

    It is the accuracy that the mechanism states for alpha = 10**-k.
    """
    return float_up(mechanism.accuracy(noise, flakiness_down(k)))


def integer_tolerance(tolerance: Number) -> int:
    """Return the tolerance of noise that is rounded to the nearest integer.

        T = ceil(t - 1/2), for P(|round(X)| > T) = P(|X| >= T + 1/2) <= P(|X| >= t)

    >>> [integer_tolerance(t) for t in ("1.1", "2.6", "2.5")]
    [1, 3, 2]
    """
    return max(0, -((Fraction(1, 2) - not_negative("tolerance", tolerance)) // 1))


def split_flakiness(k: Number, parts: int) -> float:
    """Return l such that ``parts`` independent checks at 10**-l fail but 10**-k.

        (1 - 10**-l)**parts = 1 - 10**-k
        l = -log10(-expm1(log1p(-10**-k) / parts))

    Rounded up. The exact l is never above k + log10(parts), the simple rule.

    >>> split_flakiness(23, 2)
    23.30102999566398
    """
    _require_parts(parts)
    level = sidak_down(flakiness_down(k), parts)
    return float_up(-ln_down(level) / ln_down(_TEN))


def overall_flakiness(k: Number, parts: int) -> float:
    """Return the chance that any of ``parts`` independent checks at 10**-k fails.

        1 - (1 - 10**-k)**parts = -expm1(parts log1p(-10**-k)) <= parts 10**-k

    >>> overall_flakiness(23, 10)
    1e-22
    """
    _require_parts(parts)
    flakiness = flakiness_up(k)
    with gmpy2.context(precision=_PRECISION, round=gmpy2.RoundDown):
        survives = gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(-flakiness))) * parts
        return float_up(-fraction(gmpy2.expm1(survives)))


def _log1p_up(x: Fraction) -> Fraction:
    with gmpy2.context(precision=_PRECISION, round=gmpy2.RoundUp):
        return fraction(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(x))))


def _require_parts(parts: int) -> None:
    if parts < 1:
        raise ValueError("there must be at least one part")
