"""Tolerances of a mean and of a variance made from noisy sums and a noisy count.

The noisy total, count and sum of squares each lie in an interval, all at once but
with probability 10**-k (`split_flakiness` gives each its share). The mean and the
variance then lie in the box that interval arithmetic gives:

    C  in [max(1, c - tc), max(1, c + tc)]     S in s -+ ts     S2 in s2 -+ t2
    m  in [m-, m+]   m- = S-/C+ if S- > 0 else S-/C-;  m+ = S+/C- if S+ > 0 else S+/C+
    v  in [m2- - (m*m)+, m2+ - (m*m)-], both ends clamped to [0, (width/2)**2]

Sums are normalised: of the distances of the values from the middle of their bounds.
Source: MATH 4 and 9; seed 002, bounded mean and bounded variance, with erratum g4:
the ends of the variance are clamped. There is no complement: test that the noisy
value differs from the true one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.testing.rounding import (
    Number,
    exact,
    float_down,
    float_up,
    not_negative,
    positive,
)

_Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Box:
    """Where a noisy value lies, and how far that is from the true one.

    Attributes:
        lower: lower end, rounded down.
        upper: upper end, rounded up.
        tolerance: the larger distance of an end from the true value, rounded up.
    """

    lower: float
    upper: float
    tolerance: float


def mean_box(
    total: Number,
    count: Number,
    *,
    total_tolerance: Number,
    count_tolerance: Number,
) -> Box:
    """Return where the noisy mean lies, less the middle of the bounds.

    >>> mean_box(50, 20, total_tolerance=3, count_tolerance=2).tolerance
    0.4444444444444445
    """
    counts = _counts(count, count_tolerance)
    mean = _quotient(_around("total", total, total_tolerance), counts)
    return _box(mean, exact(total) / max(Fraction(1), exact(count)))


def variance_box(
    squares: Number,
    total: Number,
    count: Number,
    *,
    squares_tolerance: Number,
    total_tolerance: Number,
    count_tolerance: Number,
    width: Number,
) -> Box:
    """Return where the noisy variance lies; ``width`` is upper less lower bound."""
    counts = _counts(count, count_tolerance)
    second = _quotient(_around("squares", squares, squares_tolerance), counts)
    low, high = _square(_quotient(_around("total", total, total_tolerance), counts))
    largest = (positive("width", width) / 2) ** 2
    ends = (
        min(max(second[0] - high, Fraction(0)), largest),
        min(max(second[1] - low, Fraction(0)), largest),
    )
    size = max(Fraction(1), exact(count))
    return _box(ends, exact(squares) / size - (exact(total) / size) ** 2)


def _box(ends: _Interval, truth: Fraction) -> Box:
    lower, upper = ends
    tolerance = max(upper - truth, truth - lower)
    return Box(float_down(lower), float_up(upper), float_up(tolerance))


def _around(name: str, middle: Number, tolerance: Number) -> _Interval:
    half = not_negative(f"{name}_tolerance", tolerance)
    return exact(middle) - half, exact(middle) + half


def _counts(count: Number, tolerance: Number) -> _Interval:
    low, high = _around("count", count, tolerance)
    return max(Fraction(1), low), max(Fraction(1), high)


def _quotient(total: _Interval, counts: _Interval) -> _Interval:
    """Return the least and the largest quotient; the counts are at least 1."""
    (low, high), (few, many) = total, counts
    return (
        low / (many if low > 0 else few),
        high / (few if high > 0 else many),
    )


def _square(interval: _Interval) -> _Interval:
    low, high = interval
    least = Fraction(0) if low <= 0 <= high else min(low**2, high**2)
    return least, max(low**2, high**2)
