"""Gaussian noise: its scale for (epsilon, delta), and its tolerances.

    delta(sigma) = Phi(s/(2 sigma) - epsilon sigma/s)
                   - e**epsilon Phi(-s/(2 sigma) - epsilon sigma/s),   s = l2

is the exact delta of real-valued Gaussian noise, and falls as sigma grows. It is not
that of discrete Gaussian noise, whose exact delta can be a little larger (MATH 10).
Source: Balle and Wang (2018), theorem 8; MATH 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import gmpy2

from dpql.exact import fraction, ln_up
from dpql.testing.rounding import (
    Number,
    flakiness_down,
    float_down,
    float_up,
    positive,
)

_PRECISION = 384
_SLACK = Fraction(1, 1 << 256)
"""Above the relative error of every 384-bit evaluation here, by a factor 2**60."""
_HALVINGS = 72
_LARGEST_EPSILON = 1000


@dataclass(frozen=True, slots=True)
class ClassicGaussian:
    """The textbook scale, with what it is worth.

    Attributes:
        sigma: l2 sqrt(2 ln(1.25 / delta)) / epsilon.
        true_delta: the delta that this sigma really gives at this epsilon.
        private: whether true_delta is within the delta asked for.
    """

    sigma: float
    true_delta: float
    private: bool


def gaussian_sigma(epsilon: Number, delta: Number, *, l2: Number = 1) -> float:
    """Return the least sigma that is (epsilon, delta)-private, rounded up.

    >>> gaussian_sigma(1, "1e-6")
    4.224678889326836
    """
    loss, target = _epsilon(epsilon), _delta(delta)

    def private(ratio: Fraction) -> bool:
        return _delta_up(ratio, loss) <= target

    return float_up(positive("l2", l2) * _boundary(private)[1])


def gaussian_delta(sigma: Number, epsilon: Number, *, l2: Number = 1) -> float:
    """Return the delta of Gaussian noise at ``epsilon``, rounded up."""
    ratio = positive("sigma", sigma) / positive("l2", l2)
    return float_up(_delta_up(ratio, _epsilon(epsilon)))


def classic_gaussian(
    epsilon: Number, delta: Number, *, l2: Number = 1
) -> ClassicGaussian:
    """Return the textbook scale and its true delta.

        sigma = l2 sqrt(2 ln(1.25 / delta)) / epsilon

    Proved for epsilon <= 1 only, where it is wasteful. NOT private for large epsilon:
    at delta = 1e-6 and epsilon = 10 the true delta is 1.9e-6. Use `gaussian_sigma`.

    >>> classic_gaussian(10, "1e-6").private
    False
    """
    loss, target = _epsilon(epsilon), _delta(delta)
    square = 2 * ln_up(Fraction(5, 4) / target)
    with gmpy2.context(precision=_PRECISION, round=gmpy2.RoundUp):
        root = fraction(gmpy2.sqrt(gmpy2.mpfr(gmpy2.mpq(square))))
    sigma = float_up(positive("l2", l2) * root / loss)
    true_delta = _delta_up(Fraction(sigma) / positive("l2", l2), loss)
    return ClassicGaussian(sigma, float_up(true_delta), true_delta <= target)


def gaussian_tolerance(k: Number, *, sigma: Number) -> float:
    """Return the tolerance of Gaussian noise: P(|X| > t) <= 10**-k, rounded up.

        t = sigma sqrt(2) erfcinv(10**-k)

    >>> gaussian_tolerance(23, sigma=1)
    10.041637612175574
    """
    return float_up(positive("sigma", sigma) * _quantile_up(flakiness_down(k)))


def gaussian_complement(k: Number, *, sigma: Number) -> float:
    """Return the complementary tolerance: P(|X| < t) <= 10**-k, rounded down.

        t = sigma sqrt(2) erfinv(10**-k)

    >>> gaussian_complement(23, sigma=1)
    1.2533141373155002e-23
    """
    return float_down(positive("sigma", sigma) * _quantile_down(flakiness_down(k)))


@lru_cache(maxsize=64)
def _quantile_up(flakiness: Fraction) -> Fraction:
    """Return the least z with erfc(z / sqrt(2)) <= flakiness, rounded up."""

    def covers(z: Fraction) -> bool:
        with gmpy2.context(precision=_PRECISION):
            tail = gmpy2.erfc(gmpy2.mpq(z) / gmpy2.sqrt(2))
        return fraction(tail) * (1 + _SLACK) <= flakiness

    return _boundary(covers)[1]


@lru_cache(maxsize=64)
def _quantile_down(flakiness: Fraction) -> Fraction:
    """Return the largest z with erf(z / sqrt(2)) <= flakiness, rounded down."""

    def exceeds(z: Fraction) -> bool:
        with gmpy2.context(precision=_PRECISION):
            middle = gmpy2.erf(gmpy2.mpq(z) / gmpy2.sqrt(2))
        return fraction(middle) * (1 + _SLACK) > flakiness

    return _boundary(exceeds)[0]


def _delta_up(ratio: Fraction, epsilon: Fraction) -> Fraction:
    """Return an upper bound of delta for sigma / l2 = ratio."""
    with gmpy2.context(precision=_PRECISION):
        half = gmpy2.mpq(1 / (2 * ratio))
        drift = gmpy2.mpq(epsilon * ratio)
        first = gmpy2.erfc((drift - half) / gmpy2.sqrt(2)) / 2
        second = gmpy2.erfc((drift + half) / gmpy2.sqrt(2)) / 2
        bound = first - second * gmpy2.exp(gmpy2.mpq(epsilon))
    return max(Fraction(0), fraction(bound) + fraction(first) * _SLACK)


def _boundary(holds: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Return x < y, within 2**-70 of each other, with holds(y) and not holds(x).

    Requires that ``holds`` is false up to some positive number and true from there on.
    """
    low = high = Fraction(1)
    while holds(low):
        high, low = low, low / 16
    while not holds(high):
        low, high = high, high * 16
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def _epsilon(epsilon: Number) -> Fraction:
    loss = positive("epsilon", epsilon)
    if loss > _LARGEST_EPSILON:
        raise ValueError(f"epsilon must be at most {_LARGEST_EPSILON}")
    return loss


def _delta(delta: Number) -> Fraction:
    target = positive("delta", delta)
    if target >= 1:
        raise ValueError("delta must lie strictly between 0 and 1")
    return target
