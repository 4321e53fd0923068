"""Totals that agree with their parts, by sharing out what they differ by.

    T' = (H T + sum T_i)/(H + 1),    T_i' = T_i + (T - sum T_i)/(H + 1)

for a total T and its H parts, all noisy and unclamped, with independent geometric
noises of one theta. This is right only where T = sum T_i holds before noise: sums over
the same kept rows, whose cells cover them; never by name alone.

Every result has one noise of weight H/(H+1) and H of weight 1/(H+1), so its error is
at most c(w) but with probability alpha. Up to H = 3 that is `tails`. From H = 4 on K is
the root of

    e^(-c/w_0) prod_j w_0^2/(w_0^2 - w_j^2) + P(R > c),   R the noise of all but w_0
    P(R > c) <= min over y of e^(-y c) prod_j 1/(1 - y^2 w_j^2),   0 < y < 1/max w_j

Forcing results above 0 would break both; the interval is cut at 0 instead.
Source: MATH-statistics 6.
"""

from __future__ import annotations

from fractions import Fraction

from gmpy2 import mpfr

from dpql.exact import fraction, round_up_to_bits
from dpql.statistics.tails import DOWN, UP, Tail

_CLOSED = 3
"""Up to so many parts the tail is a short sum."""

REACH_BITS = 20
"""Binary digits behind the point of a width that is released with numbers."""

_KEPT = 80
_HALVINGS = 80


def share_of(total: Fraction, added: Fraction, parts: int) -> Fraction:
    """Return what each of some parts, which add up to that, is moved by.

    The total is moved by as much the other way.
    """
    return (total - added) / (parts + 1)


def half_width(tail: Tail, parts: int, alpha: Fraction) -> Fraction:
    """Return c: each result is within c of the truth but with probability alpha."""
    largest, each = Fraction(parts, parts + 1), Fraction(1, parts + 1)
    if parts <= _CLOSED:
        return tail.width([largest] + [each] * parts, alpha)
    critical = _many_width(parts, alpha)
    size = largest + parts * each
    return round_up_to_bits(critical / tail.theta + size * tail.shift, _KEPT)


def _many_width(parts: int, alpha: Fraction) -> Fraction:
    """Return K for weights H/(H+1) and H times 1/(H+1), by halving from above."""
    level = DOWN.div(alpha.numerator, alpha.denominator)
    low, high = mpfr(0), mpfr(1)
    while _many_tail(parts, high) > level:
        low, high = high, UP.mul(high, 2)
    for _ in range(_HALVINGS):
        middle = UP.div(UP.add(low, high), 2)
        if _many_tail(parts, middle) > level:
            low = middle
        else:
            high = middle
    return round_up_to_bits(fraction(high), _KEPT)


def _many_tail(parts: int, critical: mpfr) -> mpfr:
    """Return the bound of above, never too small, with w_j = 1 and w_0 = H as units.

    The y that is best for the second term solves c (1 - y^2) = 2 H y; any y below 1
    gives a bound.
    """
    c = DOWN.mul(critical, parts + 1)
    squared = DOWN.mul(c, c)
    root = DOWN.sqrt(DOWN.add(parts * parts, squared))
    y = DOWN.div(DOWN.sub(root, parts), c)
    away = UP.mul(UP.exp(UP.minus(DOWN.mul(y, c))), _power(UP.mul(y, y), parts))
    main = UP.exp(UP.div(c, -parts))
    squares = UP.div(1, parts * parts)
    return UP.add(UP.mul(main, _power(squares, parts)), away)


def _power(square: mpfr, parts: int) -> mpfr:
    """Return (1 - square)^-parts, rounded up."""
    return UP.exp(UP.mul(-parts, DOWN.log(DOWN.sub(1, square))))
