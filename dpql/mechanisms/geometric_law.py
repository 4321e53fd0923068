"""The law of two-sided geometric noise: exact accuracy and probabilities.

    P(X = x) = (1 - q)/(1 + q) * q**|x|      P(|X| > a) = 2 q**(a+1) / (1 + q)

    q        exp(-theta)
    theta    privacy loss per lattice step

Source: MATH 7.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2

from dpql.exact import exp_down, exp_up, fraction, ln_down, ln_up, sidak_down
from dpql.mechanisms.geometric_draw import nearest
from dpql.mechanisms.mechanism import require_level

if TYPE_CHECKING:
    from dpql.mechanisms.geometric import GeometricNoise

_BITS = 320


def accuracy(noise: GeometricNoise, alpha: Fraction) -> Fraction:
    """Return the exact quantile of |outcome - value|, rounding included."""
    half = Fraction(1, 2) if noise.rounded else 0
    return (steps_within(noise.theta, alpha) + half) * noise.lattice


def simultaneous_accuracy(
    noise: GeometricNoise, alpha: Fraction, cells: int
) -> Fraction:
    """Return the accuracy that all of ``cells`` independent outcomes keep together."""
    return accuracy(noise, sidak_down(alpha, cells))


def nominal_accuracy(noise: GeometricNoise, alpha: Fraction) -> Fraction:
    """Return ceil(ln(1/alpha)/theta) steps: valid, and up to one step too wide.

    Kept for comparison with the source note (seed 001); no plan uses it.
    """
    require_level(alpha)
    return -(-ln_up(1 / alpha) // noise.theta) * noise.lattice


def steps_within(theta: Fraction, alpha: Fraction) -> int:
    """Return the smallest a >= 0 with P(|X| > a) = 2 q**(a+1)/(1+q) <= alpha.

    Source: MATH 7. The bound is no integer (q is transcendental), so the two directed
    bounds agree at some precision.
    """
    require_level(alpha)
    bits = _BITS
    while True:
        most_q, least_q = exp_up(-theta, bits=bits), exp_down(-theta, bits=bits)
        low = ln_down(2 / alpha, bits=bits) - ln_up(1 + most_q, bits=bits)
        high = ln_up(2 / alpha, bits=bits) - ln_down(1 + least_q, bits=bits)
        least, most = -(-low // theta), -(-high // theta)
        if least == most:
            return max(0, least - 1)
        bits *= 2


def probability(noise: GeometricNoise, value: Fraction, step: int) -> Fraction:
    """Return P(step) at ``value``, to about 300 bits: tanh(theta/2) q**distance."""
    distance = abs(step - nearest(noise, value))
    with gmpy2.context(precision=_BITS):
        theta = gmpy2.mpq(noise.theta.numerator, noise.theta.denominator)
        return fraction(gmpy2.tanh(theta / 2) * gmpy2.exp(-theta * distance))


def drift(noise: GeometricNoise) -> Fraction:
    """Return 0: the law of the code is the law stated."""
    del noise
    return Fraction(0)


def theta_for(steps: int, alpha: Fraction) -> Fraction:
    """Return theta with 2 q**(steps+1) = alpha (1+q), by Newton; 1e-60 above it.

    The function is concave and decreasing in theta, so after one step every iterate
    lies at or above the root and they decrease to it.
    """
    with gmpy2.context(precision=_BITS):
        level = gmpy2.mpfr(gmpy2.mpq(alpha.numerator, alpha.denominator))
        theta = gmpy2.log(1 / level) / (steps + 1)
        for _ in range(64):
            q = gmpy2.exp(-theta)
            value = gmpy2.log(2 / (level * (1 + q))) - (steps + 1) * theta
            slope = q / (1 + q) - (steps + 1)
            step = value / slope
            theta -= step
            if abs(step) < theta * gmpy2.exp2(-_BITS // 2):
                break
        return fraction(theta * (1 + gmpy2.exp10(-60)))
