"""How far a weighted sum of independent geometric noises strays, rounded up.

    P(|sum w_i X_i| > c(w)) <= alpha,   c(w) = K(w)/theta + sum |w_i| * shift

    K(w)   root at alpha of the tail of Laplace noises of scale 1,
           P(|sum w_i L_i| > c) = sum_i e^(-c/w_i) prod_{j != i} w_i^2/(w_i^2 - w_j^2),
           with two equal weights w: (1 + c/(2w)) e^(-c/w)
    shift  sigma = max(mu, 1 - mu), mu = ln(2/(1+q))/theta, q = e^-theta; and 1/2 more
           where parts were rounded to their lattice

since |X| = floor(E/theta + mu), E standard exponential, so that X and Laplace noise of
scale 1/theta can be drawn no more than sigma apart.

Tails grow with every weight. So weights are rounded up, and of three or more each is
raised to at least 1 + 2**-20 times the one before, which keeps the denominators away
from 0. Every rounding makes the tail larger.
Source: MATH-statistics 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import gmpy2

from dpql.exact import exp_down, exp_up, fraction, ln_down, ln_up, round_up_to_bits

BITS = 256
UP = gmpy2.context(precision=BITS, round=gmpy2.RoundUp)
DOWN = gmpy2.context(precision=BITS, round=gmpy2.RoundDown)
_ZERO = gmpy2.mpfr(0)
_ENOUGH = UP.div(1, 1 << 80)
"""Relative distance from the root at which a search ends."""

_ROUNDS = 60
_PAIR = 2

_APART = 20
"""Three or more weights are at least 1 + 2**-20 times one another."""

_FINE = 96
"""Binary places to which weights are rounded up, the largest being 1."""

_KEPT = 80
"""Significant bits of a width that leaves this module."""


class Strays(Protocol):
    """How far a weighted sum of independent noises of one law strays."""

    def width(self, weights: Sequence[Fraction], alpha: Fraction) -> Fraction:
        """Return c(w) at ``alpha``, rounded up; weights may have either sign."""
        ...

    def alone(self, alpha: Fraction) -> Fraction:
        """Return how far one noise strays, and any of weights that add up to 1."""
        ...

    def below(self, total: Fraction) -> Fraction:
        """Return P(two noises take two parts of that total to 0 or below), up."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The noise of parts of one, or of totals: its theta, and the shift of above."""

    theta: Fraction
    shift: Fraction
    rounded: bool = False

    @classmethod
    def of(cls, theta: Fraction, *, rounded: bool = False) -> Tail:
        """Return the tail of geometric noise on whole, or on rounded, parts."""
        shift = sigma_up(theta) + (Fraction(1, 2) if rounded else 0)
        kept = round_up_to_bits(shift, _KEPT)
        return cls(theta=theta, shift=kept, rounded=rounded)

    def width(self, weights: Sequence[Fraction], alpha: Fraction) -> Fraction:
        """Return c(w) at ``alpha``, rounded up; weights may have either sign."""
        sizes = [abs(weight) for weight in weights]
        width = laplace_width(sizes, alpha) / self.theta + sum(sizes) * self.shift
        return round_up_to_bits(width, _KEPT)

    def alone(self, alpha: Fraction) -> Fraction:
        """Return how far one noise strays, and any of weights that add up to 1."""
        return ln_up(1 / alpha) / self.theta + self.shift

    def below(self, total: Fraction) -> Fraction:
        """Return P(two noises take two parts of that total to 0 or below), up."""
        fewer = 1 if self.rounded else 0
        reached = exp_up(-self.theta * (total - fewer))
        return reached / (1 + exp_down(-self.theta)) ** 2


def sigma_up(theta: Fraction) -> Fraction:
    """Return a number at least max(mu, 1 - mu), mu = ln(2/(1+q))/theta."""
    most = (ln_up(Fraction(2)) - ln_down(1 + exp_down(-theta))) / theta
    least = (ln_down(Fraction(2)) - ln_up(1 + exp_up(-theta))) / theta
    return max(most, 1 - least)


def laplace_width(weights: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """Return K(w) at ``alpha``, rounded up, for up to four weights at least 0."""
    largest = max(weights)
    scaled = [-(-(weight * (1 << _FINE)) // largest) for weight in weights]
    critical = fraction(critical_up(scaled, alpha))
    return round_up_to_bits(critical * largest / (1 << _FINE), _KEPT)


def critical_up(weights: Sequence[int], alpha: Fraction) -> gmpy2.mpfr:
    """Return K of whole weights: the tail there is proved to be at most ``alpha``.

    The density of the sum is log-concave, and so is its tail. The first guess, K of the
    largest weight alone, is at most K; from there Newton's iteration on the logarithm
    of the tail steps beyond K and then falls to it.
    """
    tail = LaplaceTail(weights)
    level = DOWN.div(alpha.numerator, alpha.denominator)
    critical = UP.mul(tail.largest, UP.log(UP.div(1, level)))
    for _ in range(_ROUNDS):
        found, slope = tail.with_slope(critical)
        step = UP.div(UP.mul(UP.log(UP.div(found, level)), found), slope)
        critical = UP.add(critical, step)
        near = UP.mul(critical, _ENOUGH)
        if UP.minus(near) < step < near:
            break
    nudge = UP.mul(critical, _ENOUGH)
    while tail.above(critical) > level:
        critical = UP.add(critical, nudge)
    return critical


def moved_apart(weights: Sequence[int]) -> list[gmpy2.mpz]:
    """Return the weights above 0, rising; of three or more none is near another."""
    ordered = [gmpy2.mpz(weight) for weight in sorted(weights) if weight]
    assert ordered, "a sum of no noise has no tail"
    if len(ordered) > _PAIR:
        for i in range(1, len(ordered)):
            before = ordered[i - 1]
            ordered[i] = max(ordered[i], before + (before >> _APART) + 1)
    return ordered


class LaplaceTail:
    """P(|sum w_i L_i| > c) of whole weights w_i >= 0, never too small."""

    __slots__ = ("_equal", "_terms", "largest")

    def __init__(self, weights: Sequence[int]) -> None:
        ordered = moved_apart(weights)
        self._equal = len(ordered) == _PAIR and ordered[0] == ordered[1]
        self.largest = ordered[-1]
        self._terms = [] if self._equal else _terms(ordered)

    def above(self, critical: gmpy2.mpfr) -> gmpy2.mpfr:
        """Return the tail at ``critical`` > 0, rounded up."""
        if self._equal:
            w = self.largest
            factor = UP.add(1, UP.div(critical, 2 * w))
            return UP.mul(factor, UP.exp(UP.div(critical, -w)))
        total = _ZERO
        for coefficient, w, positive in self._terms:
            if positive:
                power = UP.exp(UP.div(critical, -w))
                total = UP.add(total, UP.mul(coefficient, power))
            else:
                power = DOWN.exp(DOWN.div(critical, -w))
                total = UP.sub(total, DOWN.mul(coefficient, power))
        return total

    def with_slope(self, critical: gmpy2.mpfr) -> tuple[gmpy2.mpfr, gmpy2.mpfr]:
        """Return the tail at ``critical`` and how steeply it falls, both nearly."""
        if self._equal:
            w = self.largest
            power = UP.exp(UP.div(critical, -w))
            half = UP.mul(power, UP.div(critical, 2 * w))
            slope = UP.div(UP.add(UP.div(power, 2), half), w)
            return UP.add(power, half), slope
        total = slope = _ZERO
        for coefficient, w, positive in self._terms:
            term = UP.mul(coefficient, UP.exp(UP.div(critical, -w)))
            if positive:
                total, slope = UP.add(total, term), UP.add(slope, UP.div(term, w))
            else:
                total, slope = UP.sub(total, term), UP.sub(slope, UP.div(term, w))
        return total, slope


def _terms(weights: Sequence[gmpy2.mpz]) -> list[tuple[gmpy2.mpfr, gmpy2.mpz, bool]]:
    """Return coefficient, weight and sign of each term, for rising weights.

    A coefficient that is added is rounded up, one that is taken off down.
    """
    terms = []
    for i, w in enumerate(weights):
        top, bottom = gmpy2.mpz(1), gmpy2.mpz(1)
        for j, other in enumerate(weights):
            if j != i:
                top *= w * w
                bottom *= abs(w * w - other * other)
        positive = (len(weights) - 1 - i) % 2 == 0
        terms.append(((UP if positive else DOWN).div(top, bottom), w, positive))
    return terms
