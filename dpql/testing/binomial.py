"""Exact confidence bounds for a probability, from a count of successes.

The Clopper-Pearson lower bound of x successes in n trials at level a solves

    P(Bin(n, p) >= x) = a.

With u = ln p the logarithm of the left side is concave in u, because it is the
distribution function of the logarithm of a Beta(x, n - x + 1) variable, whose density
is log-concave. So a tangent lies above it, Newton's steps stay on the left of the
root, and stopping early only makes the bound more careful.
Source: Clopper and Pearson (1934), Biometrika 26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gmpy2

if TYPE_CHECKING:
    from gmpy2 import mpfr

_PRECISION = 96
_SLACK = 2.0**-40
"""Far above all rounding errors of 96 bits, far below what a test can see."""
_STEPS = 64


def probability_down(successes: int, trials: int, level: float) -> float:
    """Return a bound that is above the true probability with chance at most level.

        sup{p: P(Bin(n, p) >= x) <= level}

    Requires: 0 <= successes <= trials, 0 < level < 1/2.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError("successes must lie between 0 and trials, and trials above 0")
    if not 0 < level < 1 / 2:
        raise ValueError("level must lie strictly between 0 and 1/2")
    if not successes:
        return 0.0
    with gmpy2.context(precision=_PRECISION):
        target = gmpy2.log(gmpy2.mpfr(level))
        u = gmpy2.log(gmpy2.mpq(successes, trials))
        for _ in range(_STEPS):
            log_tail, weight = _tail(successes, trials, u)
            step = (target - log_tail) / (successes * weight)
            u += step
            if abs(step) < _SLACK / 4:
                break
        return float(gmpy2.exp(u) * (1 - _SLACK))


def probability_up(successes: int, trials: int, level: float) -> float:
    """Return a bound that is below the true probability with chance at most level.

    The failures have the mirrored law: 1 - `probability_down` of the failures.
    """
    return 1.0 - probability_down(trials - successes, trials, level)


def _tail(x: int, n: int, u: mpfr) -> tuple[mpfr, mpfr]:
    """Return ln P(Bin(n, e^u) >= x) and the share of the tail that lies at x.

    The terms fall faster than a geometric series from x on, since e^u <= x/n, so the
    rest of the sum is bounded by that series and added: the tail is never too small.
    """
    p = gmpy2.exp(u)
    odds = p / (-gmpy2.expm1(u)) if x < n else gmpy2.mpfr(0)
    term = total = gmpy2.mpfr(1)
    ratio = gmpy2.mpfr(0)
    enough = gmpy2.mpfr(2) ** -_PRECISION
    for i in range(x, n):
        ratio = odds * (n - i) / (i + 1)
        term *= ratio
        total += term
        if term < enough * total:
            total += term * ratio / (1 - ratio)
            break
    log_first = (
        gmpy2.lngamma(gmpy2.mpfr(n + 1))
        - gmpy2.lngamma(gmpy2.mpfr(x + 1))
        - gmpy2.lngamma(gmpy2.mpfr(n - x + 1))
        + x * u
    )
    if x < n:
        log_first += (n - x) * gmpy2.log(-gmpy2.expm1(u))
    return log_first + gmpy2.log(total), 1 / total
