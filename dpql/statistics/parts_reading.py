"""Proportions, means and ratios read from noisy parts: the value and its interval.

    x^ = A+ / (A+ + B+),   A+ = max(0, A~);   1/2 if both are 0
    mean = lower + width x^
    ratio = sum P_ij e_j / sum P_ij d_i,   clamped to the range of e_j / d_i

Intervals are those x that the unclamped parts do not contradict (`inversion`); at the
true share, A~ - x N~ = (1 - x) X_1 - x X_2. The value always lies in its interval. All
is a function of what is released anyway, so it costs no privacy.
Source: MATH-statistics 3.1 (points), 3.3 (intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gmpy2 import mpq

from dpql.exact import fraction
from dpql.model.plan import Grid
from dpql.statistics.inversion import Family, Keeps
from dpql.statistics.readout import Reading

_ZERO, _ONE = Fraction(0), Fraction(1)

SHARE = Family(lower=_ZERO, upper=_ONE, coefficients=((_ONE, _ZERO), (_ZERO, -_ONE)))


def share_point(noisy: Sequence[int]) -> mpq:
    """Return A+ / (A+ + B+), or 1/2 if both are 0."""
    first, second = (max(0, part) for part in noisy)
    return mpq(first, first + second) if first + second else mpq(1, 2)


def read_share(noisy: Sequence[int], share: Keeps) -> Reading:
    """Return the share of the first of two noisy parts, and its interval in 0..1.

    ``share`` inverts the tests of `SHARE`.
    """
    lower, upper = share.kept(noisy)
    return Reading(
        value=fraction(share_point(noisy)), lower=fraction(lower), upper=fraction(upper)
    )


def read_mean(
    noisy: Sequence[int],
    share: Keeps,
    *,
    grid: Grid,
    quantisation: Fraction,
) -> Reading:
    """Return the mean over a grid, in the user's units, within its bounds.

    ``quantisation`` is how far the grid may take the mean of the values from the mean
    of its whole numbers, in the user's units.
    """
    first, last = share.kept(noisy)
    bottom, top, off = mpq(grid.lower), mpq(grid.upper), mpq(quantisation)
    width = top - bottom
    return Reading(
        value=fraction(bottom + width * share_point(noisy)),
        lower=fraction(max(bottom, bottom + width * first - off)),
        upper=fraction(min(top, bottom + width * last + off)),
    )


def ratio_family(below: Grid, above: Grid) -> Family:
    """Return the tests of the sum of ``above`` over the sum of ``below``."""
    corners = _corners(below, above)
    ratios = [e / d for d, e in corners]
    least, most = min(ratios), max(ratios)
    return Family(
        lower=least,
        upper=most,
        coefficients=tuple((e - least * d, e - most * d) for d, e in corners),
    )


def read_ratio(
    noisy: Sequence[int],
    ratio: Keeps,
    *,
    below: Grid,
    above: Grid,
) -> Reading:
    """Return the sum of ``above`` over the sum of ``below``, and its interval.

    ``ratio`` inverts the tests of their `ratio_family`. The parts are those of a
    covariance in the order P11, P10, P01, P00, with ``below`` as the first column; its
    lower bound must be positive. Where the noisy denominator is not positive nothing is
    known: the whole range, its middle as the value.
    """
    corners = _corners(below, above)
    ratios = [e / d for d, e in corners]
    least, most = min(ratios), max(ratios)
    pairs = list(zip(noisy, corners, strict=True))
    denominator = sum((part * d for part, (d, _) in pairs), _ZERO)
    if denominator <= 0:
        return Reading(value=(least + most) / 2, lower=least, upper=most)
    numerator = sum((part * e for part, (_, e) in pairs), _ZERO)
    lower, upper = (fraction(end) for end in ratio.kept(noisy))
    error = above.error * above.step
    lower -= (error + abs(lower) * below.error * below.step) / below.lower
    upper += (error + abs(upper) * below.error * below.step) / below.lower
    return Reading(
        value=min(max(numerator / denominator, least), most),
        lower=max(least, lower),
        upper=min(most, upper),
    )


def _corners(below: Grid, above: Grid) -> list[tuple[Fraction, Fraction]]:
    """Return what a row of each part adds to the denominator and the numerator."""
    assert below.lower > 0, "a ratio needs a positive denominator"
    return [
        (d, e) for d in (below.upper, below.lower) for e in (above.upper, above.lower)
    ]
