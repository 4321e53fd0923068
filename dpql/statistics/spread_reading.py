"""Variances, deviations and covariances read from noisy parts of one.

With p the mean of u/Q, beta(p) = (p^2, -p(1-p), (1-p)^2) and N~ the sum of the parts,

    v^ = clamp(B~2/N - p^^2, 0, 1/4),   p^ = (B~1/2 + B~2)/N,   N = max(N~, F)

p^ is not clamped: that would break the symmetry of u and Q - u. For the interval the
mean is inverted at alpha/10, which gives p- and p+. The rest of alpha is for

    |Gamma(p) - v N~| <= c*,   Gamma(p) = sum beta_i(p) B~_i

at the true p and v, where c* is the width for the largest weights |beta_i(p) - v| that
p in p-..p+ and v in the interval so far allow. Four rounds, the first with all v, or
fewer where the weights have stopped to fall.
A covariance is alike, with p and p_2, each inverted at alpha/20, coefficients

    (1-p)(1-p_2), -(1-p) p_2, -p (1-p_2), p p_2          less kappa each

and kappa within 1/4 of 0. All is in units of the product of the widths.
Source: MATH-statistics 3.1 (points), 3.3 (intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from gmpy2 import isqrt, mpq

from dpql.exact import fraction
from dpql.model.plan import Grid
from dpql.statistics.inversion import NOW, Family, Interval, Method
from dpql.statistics.readout import Reading
from dpql.statistics.tails import Strays

_ZERO, _QUARTER, _HALF, _ONE = (mpq(k, 4) for k in (0, 1, 2, 4))

_ROUNDS = 4
_GRID = 1 << 64
"""Ends lie on a grid of 2**-64, rounded outwards."""

_MEAN = Family(
    lower=_ZERO,
    upper=_ONE,
    coefficients=((_ZERO, -_ONE), (_HALF, -_HALF), (_ONE, _ZERO)),
)
_FIRST_MEAN = Family(
    lower=_ZERO,
    upper=_ONE,
    coefficients=((_ONE, _ZERO), (_ONE, _ZERO), (_ZERO, -_ONE), (_ZERO, -_ONE)),
)
_SECOND_MEAN = Family(
    lower=_ZERO,
    upper=_ONE,
    coefficients=((_ONE, _ZERO), (_ZERO, -_ONE), (_ONE, _ZERO), (_ZERO, -_ONE)),
)


def variance_point(noisy: Sequence[int], per_row: Fraction) -> mpq:
    """Return the variance over the squared width, from B0, B1, B2."""
    count = max(mpq(sum(noisy)), mpq(per_row))
    mean = (mpq(noisy[1], 2) + noisy[2]) / count
    return min(max(noisy[2] / count - mean**2, _ZERO), _QUARTER)


def covariance_point(noisy: Sequence[int], per_row: Fraction) -> mpq:
    """Return the covariance over the product of the widths, from P11 .. P00."""
    both, first, second, _ = noisy
    count = max(mpq(sum(noisy)), mpq(per_row))
    found = both / count - (both + first) * (both + second) / count**2
    return min(max(found, -_QUARTER), _QUARTER)


class Spread:
    """The intervals of variances and covariances at one level, for many cells."""

    def __init__(self, tail: Strays, alpha: Fraction, method: Method = NOW) -> None:
        self._tail, self._level, self._method = tail, 9 * alpha / 10, method
        self._mean = method.inversion(_MEAN, tail, alpha / 10)
        self._means = [
            method.inversion(family, tail, alpha / 20)
            for family in (_FIRST_MEAN, _SECOND_MEAN)
        ]

    def variance(self, noisy: Sequence[int]) -> Interval:
        """Return an interval for the variance over the squared width."""
        whole = (_ZERO, _QUARTER)
        count = sum(noisy)
        if count <= 0:
            return whole
        low, high = self._mean.kept(noisy)
        middle = (mpq(noisy[1], 2) + noisy[2]) / count
        bends = [p for p in (_HALF, middle) if low < p < high]
        betas = [(p**2, -p * (1 - p), (1 - p) ** 2) for p in (low, high, *bends)]
        return self._narrowed(betas, noisy, whole)

    def covariance(self, noisy: Sequence[int]) -> Interval:
        """Return an interval for the covariance over the product of the widths."""
        whole = (-_QUARTER, _QUARTER)
        if sum(noisy) <= 0:
            return whole
        firsts, seconds = (mean.kept(noisy) for mean in self._means)
        betas = [
            ((1 - p) * (1 - r), -(1 - p) * r, -p * (1 - r), p * r)
            for p, r in product(firsts, seconds)
        ]
        return self._narrowed(betas, noisy, whole)

    def _narrowed(
        self, betas: Sequence[Sequence[mpq]], noisy: Sequence[int], whole: Interval
    ) -> Interval:
        """Return the interval of v after some rounds, from extremes of beta and Gamma.

        An intersection that is empty is not taken: the last interval stays.
        """
        count = sum(noisy)
        sums = [
            sum((b * part for b, part in zip(beta, noisy, strict=True)), _ZERO)
            for beta in betas
        ]
        least, most = min(sums), max(sums)
        ranges = [(min(column), max(column)) for column in zip(*betas, strict=True)]
        lower, upper = whole
        taken = 8 * _ONE
        for _ in range(_ROUNDS):
            weights = [max(top - lower, upper - bottom) for bottom, top in ranges]
            if sum(weights) >= self._method.enough * taken:
                break
            taken = sum(weights)
            width = self._method.width(self._tail, weights, self._level)
            low = max(lower, _down((least - width) / count))
            high = min(upper, -_down(-(most + width) / count))
            if low > high:
                break
            lower, upper = low, high
        return lower, upper


def read_variance(
    noisy: Sequence[int],
    spread: Spread,
    *,
    per_row: Fraction,
    grid: Grid,
    quantisation: Fraction,
) -> Reading:
    """Return the population variance in the user's units, and its interval."""
    return _scaled(
        variance_point(noisy, per_row),
        spread.variance(noisy),
        grid.width**2,
        quantisation,
        (_ZERO, _QUARTER),
    )


def read_covariance(
    noisy: Sequence[int],
    spread: Spread,
    *,
    per_row: Fraction,
    grids: tuple[Grid, Grid],
    quantisation: Fraction,
) -> Reading:
    """Return the population covariance in the user's units, and its interval."""
    first, second = grids
    return _scaled(
        covariance_point(noisy, per_row),
        spread.covariance(noisy),
        first.width * second.width,
        quantisation,
        (-_QUARTER, _QUARTER),
    )


def read_deviation(variance: Reading, width: Fraction) -> Reading:
    """Return the square roots of a variance's value and ends.

    ``width`` is that of the column's bounds. The ends are rounded outwards to 2**-64 of
    it, the value downwards.
    """
    value, lower, upper = (
        end / width**2 for end in (variance.value, variance.lower, variance.upper)
    )
    return Reading(
        value=width * _root(value),
        lower=width * _root(lower),
        upper=min(width * (_root(upper) + Fraction(1, _GRID)), width / 2),
    )


def _scaled(
    value: mpq,
    interval: Interval,
    width: Fraction,
    quantisation: Fraction,
    whole: Interval,
) -> Reading:
    """Return value and interval in the user's units; the value lies in the interval."""
    lower, upper = interval
    scale, off = mpq(width), mpq(quantisation)
    bottom, top = (scale * end for end in whole)
    return Reading(
        value=fraction(scale * min(max(value, lower), upper)),
        lower=fraction(max(bottom, scale * lower - off)),
        upper=fraction(min(top, scale * upper + off)),
    )


def _down(x: mpq) -> mpq:
    return mpq(x * _GRID // 1, _GRID)


def _root(x: Fraction) -> Fraction:
    """Return the square root of x >= 0, rounded down to the grid."""
    return Fraction(int(isqrt(mpq(x) * _GRID**2 // 1)), _GRID)
