"""The law of snapping: accuracy, probabilities and bias, from the parameters alone.

In rescaled units, with scale lambda_, grid Lambda, clamp B and n = ceil(B/Lambda) - 1,
the outcome is i * Lambda for |i| <= n, or +-B. For a value f

    H(y)     = P(f + Laplace(lambda_) >= y)
    P(i)     = H((i - 1/2) Lambda) - H((i + 1/2) Lambda)
    P(-B)    = 1 - H(-(n + 1/2) Lambda)
    P(+B)    = H((n + 1/2) Lambda)

This is the ideal law; `drift` bounds how far the law of the code is from it. A guess of
f may be studied here; the true f never is.
Source: MATH 3.3, 3.5.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2

from dpql.exact import (
    arcosh_down,
    exp_down,
    exp_up,
    fraction,
    ln_down,
    ln_up,
    round_up_to_bits,
    two_to,
)
from dpql.mechanisms.mechanism import require_level

if TYPE_CHECKING:
    from dpql.mechanisms.snapping import SnappingNoise

_HALF = Fraction(1, 2)
_BITS = 320


def plain_accuracy(noise: SnappingNoise, alpha: Fraction) -> Fraction:
    """Return lambda' ln(1/alpha) + Lambda'/2, at most B + B', in units of the value.

    P(|outcome - value| > result) <= alpha for the ideal law. Plans of format 1 priced
    targets by it.
    Source: MATH 3.3.
    """
    require_level(alpha)
    wide = noise.lambda_prime * ln_up(1 / alpha) + noise.Lambda_prime / 2
    return noise.sensitivity * min(wide, noise.B + noise.B_prime)


def accuracy(noise: SnappingNoise, alpha: Fraction) -> Fraction:
    """Return the tight worst-case quantile of the error, rounded up to 53 bits.

        N = smallest integer >= 1 with exp(-(N-1) Lambda / (2 lambda)) < alpha
        a = max((N-1) Lambda/2,
                N Lambda/2 - lambda arcosh(alpha exp((N-1) Lambda/(2 lambda))))

    The level is lowered by the relative drift of the code's law before the formula is
    applied, so the claim holds for the code and not only for the ideal.
    Source: MATH 3.3.
    """
    require_level(alpha)
    if alpha == 1:
        return Fraction(0)
    scale = noise.lambda_prime
    half = noise.Lambda_prime / 2
    level = alpha * (1 - 2 * noise.eta * (2 + ln_up(1 / alpha)))
    intervals = scale * ln_up(1 / level) // half + 1
    cosine = level * exp_down(intervals * half / scale)
    inside = scale * arcosh_down(max(cosine, Fraction(1)))
    tight = max(intervals * half, (intervals + 1) * half - inside)
    capped = min(tight, noise.B + noise.B_prime)
    return noise.sensitivity * round_up_to_bits(capped, 53)


def drift(noise: SnappingNoise) -> Fraction:
    """Return a bound on |ln(P of the code / P of the ideal law)| for every outcome.

        rho = eta (B + y_max) / lambda,  u = 2**-(p+1),  r = exp(-Lambda/lambda)
        up   = ln((exp(rho+u) - r exp(-rho)) / (1 - r))
        down = -ln(1 - (1+r)/(1-r) (exp(rho+u) - 1))

    The larger of the two; ``down`` covers both an inner and an outer bin.
    Source: MATH 1.3 (b).
    """
    farthest = noise.B + (noise.edge - _HALF) * noise.Lambda_prime
    rho = noise.eta * farthest / noise.lambda_prime
    swell = exp_up(rho + noise.eta / 2)
    r = exp_up(-noise.Lambda_prime * noise.epsilon_prime)
    up = ln_up((swell - r * exp_down(-rho)) / (1 - r))
    left = 1 - (1 + r) / (1 - r) * (swell - 1)
    return max(up, -ln_down(left)) if left > 0 else Fraction(1 << 14)


def clamp_bound(noise: SnappingNoise) -> Fraction:
    """Return gamma ** (epsilon' Lambda'), rounded up. Source: MATH 3.3."""
    return exp_up(-noise.epsilon_prime * noise.Lambda_prime * _minus_ln_down(noise))


def clamp_probability(noise: SnappingNoise, guess: Fraction | None = None) -> Fraction:
    """Return P(the outer clamp changes the outcome) at ``guess``, rounded up.

        y = (floor(B / Lambda) + 1/2) Lambda,  P = Q(y - f) + Q(y + f)

    Without a guess, the worst value inside the public range, |f| = B'.
    Source: MATH 3.3.
    """
    f = noise.B_prime if guess is None else abs(_rescaled(noise, guess))
    grid = noise.Lambda_prime
    y = (noise.B // grid + _HALF) * grid
    return _tail_up(y - f, noise.lambda_prime) + _tail_up(y + f, noise.lambda_prime)


def probability(noise: SnappingNoise, value: Fraction, step: int) -> Fraction:
    """Return P(step) of the ideal law at ``value``, to about 200 bits."""
    edge = noise.edge
    if abs(step) > edge:
        return Fraction(0)
    f = _rescaled(noise, value)
    above = _reach(noise, f, step - _HALF) if step > -edge else Fraction(1)
    beyond = _reach(noise, f, step + _HALF) if step < edge else Fraction(0)
    return above - beyond


def bias(noise: SnappingNoise, guess: Fraction) -> Fraction:
    """Return E[outcome] - guess of the ideal law, to about 200 bits.

        -B - f + (B - n Lambda) [H(-(n+1/2) Lambda) + H((n+1/2) Lambda)]
               + Lambda * sum of H((i+1/2) Lambda) for i = -n .. n-1

    The sum is two geometric series, one on either side of f. Source: MATH 3.5.
    """
    f = _rescaled(noise, guess)
    grid = noise.Lambda_prime
    n = noise.edge - 1
    last = n + _HALF
    outer = _reach(noise, f, -last) + _reach(noise, f, last)
    below = min(max((f / grid + _HALF).__floor__() + n, 0), 2 * n)
    first = below - n + _HALF
    left = _HALF * _series(noise, f - (first - 1) * grid, below)
    right = _HALF * _series(noise, first * grid - f, 2 * n - below)
    total = -noise.B - f + (noise.B - n * grid) * outer + grid * (below - left + right)
    return noise.sensitivity * total


def _series(noise: SnappingNoise, distance: Fraction, terms: int) -> Fraction:
    """Return the sum of exp(-(distance + j Lambda)/lambda) for j below ``terms``."""
    if not terms:
        return Fraction(0)
    per_step = -noise.Lambda_prime * noise.epsilon_prime
    head = _exp(-distance * noise.epsilon_prime)
    return head * (1 - _exp(per_step * terms)) / (1 - _exp(per_step))


def _reach(noise: SnappingNoise, f: Fraction, threshold: Fraction) -> Fraction:
    """Return H(threshold * Lambda) for the value f."""
    distance = threshold * noise.Lambda_prime - f
    tail = _HALF * _exp(-abs(distance) * noise.epsilon_prime)
    return tail if distance > 0 else 1 - tail


def _rescaled(noise: SnappingNoise, value: Fraction) -> Fraction:
    f = (value - noise.shift) / noise.sensitivity
    return min(max(f, -noise.B), noise.B)


def _tail_up(distance: Fraction, scale: Fraction) -> Fraction:
    if distance < 0:
        return 1 - _HALF * exp_down(distance / scale)
    return _HALF * exp_up(-distance / scale)


def _minus_ln_down(noise: SnappingNoise) -> Fraction:
    """Return a rational at most ln(1/gamma)."""
    return -ln_up(noise.gamma)


def _exp(x: Fraction) -> Fraction:
    if x < -two_to(14):
        return Fraction(0)
    with gmpy2.context(precision=_BITS):
        return fraction(gmpy2.exp(gmpy2.mpq(x.numerator, x.denominator)))
