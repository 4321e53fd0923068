"""The law of a chosen quantile: its accuracy in ranks, and exact probabilities.

    P(score >= t) <= 1 / (1 + e^(theta t) / (m - 1))

since some candidate has score 0 and at most m - 1 have a score of t or more. So with

    Lambda = ln((m - 1)(1 - alpha) / alpha),   t = max(0, ceil(Lambda / theta))

the score is below t, and the rank at most max(0, t - 1)/b rows off, but with
probability alpha.
Source: MATH-statistics 1.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import BITS, fraction, ln_down, ln_up
from dpql.mechanisms.mechanism import require_level
from dpql.mechanisms.quantile_score import scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpql.mechanisms.quantile import QuantileNoise

_BITS = 320


def accuracy(noise: QuantileNoise, alpha: Fraction) -> Fraction:
    """Return r rows: P(the rank is more than r off) <= alpha, whatever the data."""
    return rows_within(noise.theta, noise.at, noise.candidates, alpha)


def rows_within(
    theta: Fraction, at: Fraction, candidates: int, alpha: Fraction
) -> Fraction:
    """Return max(0, t - 1)/b."""
    steps = score_within(theta, candidates, alpha)
    return Fraction(max(0, steps - 1), at.denominator)


def score_within(theta: Fraction, candidates: int, alpha: Fraction) -> int:
    """Return t = max(0, ceil(Lambda / theta)), which scores stay below.

    Lambda is irrational unless it is 0, so two directed bounds agree at some precision.
    """
    require_level(alpha)
    odds = (candidates - 1) * (1 - alpha) / alpha
    if odds <= 1:
        return 0
    bits = BITS
    while True:
        least = -(-ln_down(odds, bits=bits) // theta)
        most = -(-ln_up(odds, bits=bits) // theta)
        if least == most:
            return most
        bits *= 2


def theta_for(
    rows: Fraction, at: Fraction, candidates: int, alpha: Fraction
) -> Fraction:
    """Return a theta, rounded up, that keeps ranks within ``rows``; 0 if any does."""
    odds = (candidates - 1) * (1 - alpha) / alpha
    if odds <= 1:
        return Fraction(0)
    return ln_up(odds) / ((at.denominator * rows).__floor__() + 1)


def probability(
    noise: QuantileNoise, counts: Sequence[int] | NDArray[Any], index: int
) -> Fraction:
    """Return P(index) of the law for these counts, to 300 bits."""
    found = scores(counts, noise.at).tolist()
    with gmpy2.context(precision=_BITS):
        theta = gmpy2.mpq(noise.theta)
        weights = [gmpy2.exp(-theta * score) for score in found]
        return fraction(weights[index] / gmpy2.fsum(weights))


def drift(noise: QuantileNoise) -> Fraction:
    """Return 0: the law of the code is the law stated."""
    del noise
    return Fraction(0)
