"""How far a weighted sum of independent discrete Gaussian noises strays, rounded up.

    P(|sum w_i X_i| > c(w)) <= alpha,   c(w) = z sigma ||w|| + sum |w_i| * shift

    z      2 P(N > z) <= alpha - 2**-1100,  N standard normal
    shift  1/2 + 2**-10; and 1/2 more where parts were rounded to their lattice

since X and normal noise of sigma / (1 + 1/(24 sigma2)), which is less than sigma, can
be drawn from one uniform number no more than that apart: the thresholds of X lie at
z_x = s (1 + 1/(24 sigma2)) + xi, s = (x - 1/2) / sigma, |xi| <= (s**3 + 6) /
(280 sigma**4). Up to |X| = 40 sigma that moves them by less than 2**-10 steps where
sigma is 64 or more, and beyond lies less than 2**-1150 of the law of four noises.

Below an alpha of 2**-1000 no normal law is used: c(w) = sigma ||w|| sqrt(2 ln(2/alpha))
holds as the noise is sub-Gaussian.
Source: MATH-delta 1.1, 1.6 (the bound on xi); MATH-statistics 3.3, 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import gmpy2

from dpql.exact import fraction, ln_up, power_of_two_up, round_up_to_bits, two_to
from dpql.statistics.tails import DOWN, UP

LEAST = Fraction(1 << 12)
"""The smallest sigma2 of which the bound on xi is used."""

_SHIFT = Fraction(1, 2) + Fraction(1, 1 << 10)
_BEYOND = two_to(-1100)
_SMALL = two_to(-1000)
_HALVINGS = 84
_LEVEL = 53
_FAR = 800
"""erfc of its root is below 2**-1150."""

_KEPT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalTail:
    """The noise of parts of one: its sigma2, and the shift of above."""

    sigma2: Fraction
    shift: Fraction

    @classmethod
    def of(cls, sigma2: Fraction, *, rounded: bool = False) -> NormalTail:
        """Return the tail of Gaussian noise on whole, or on rounded, parts."""
        assert sigma2 >= LEAST, "lattices are refined until it is"
        shift = _SHIFT + (Fraction(1, 2) if rounded else 0)
        return cls(sigma2=sigma2, shift=shift)

    def width(self, weights: Sequence[Fraction], alpha: Fraction) -> Fraction:
        """Return c(w) at ``alpha``, rounded up; weights may have either sign."""
        norm = sum((weight**2 for weight in weights), Fraction(0))
        size = sum((abs(weight) for weight in weights), Fraction(0))
        strayed = _root_up(self.sigma2 * norm * quantile_squared(_shorter(alpha)))
        return round_up_to_bits(strayed + size * self.shift, _KEPT)

    def alone(self, alpha: Fraction) -> Fraction:
        """Return how far one noise strays, and any of weights that add up to 1."""
        return self.width([Fraction(1)], alpha)

    def below(self, total: Fraction) -> Fraction:
        """Return P(two noises take two parts of that total to 0 or below), up.

        Then their sum is at most -total, and its law that of sigma sqrt(2).
        """
        left = total - 2 * self.shift
        if left <= 0:
            return Fraction(1)
        ratio = left**2 / (4 * self.sigma2)
        if ratio >= _FAR:
            return 2 * _BEYOND
        argument = DOWN.sqrt(DOWN.div(ratio.numerator, ratio.denominator))
        chance = fraction(UP.div(UP.erfc(argument), 2)) + _BEYOND
        return round_up_to_bits(chance, _KEPT)


def _shorter(alpha: Fraction) -> Fraction:
    """Return a level of 53 bits, rounded down: many levels have one quantile."""
    step = two_to(power_of_two_up(alpha) - _LEVEL)
    return alpha // step * step


@lru_cache(64)
def quantile_squared(alpha: Fraction) -> Fraction:
    """Return z**2 with 2 P(N > z) <= alpha but for what is beyond, rounded up."""
    if alpha <= _SMALL:
        return 2 * ln_up(2 / alpha)
    left = alpha - _BEYOND
    level = DOWN.div(left.numerator, left.denominator)
    low, high = gmpy2.mpfr(0), gmpy2.mpfr(1)
    while _tail_up(high) > level:
        low, high = high, UP.mul(high, 2)
    for _ in range(_HALVINGS):
        middle = UP.div(UP.add(low, high), 2)
        low, high = (middle, high) if _tail_up(middle) > level else (low, middle)
    return round_up_to_bits(fraction(UP.mul(high, high)), _KEPT)


def _tail_up(z: gmpy2.mpfr) -> gmpy2.mpfr:
    """Return 2 P(N > z), rounded up."""
    return UP.erfc(DOWN.div(z, UP.sqrt(2)))


def _root_up(square: Fraction) -> Fraction:
    return fraction(UP.sqrt(UP.div(square.numerator, square.denominator)))
