"""What parts of one promise before there are data, where cells have n_0 rows or more.

    mean, proportion   delta = (ln(1/alpha')/theta + sigma) / (F n_0),
                       alpha' = alpha - q^(F n_0)/(1 + q)^2
    variance           a_v/(N_0 - a_N) + (a_p/(N_0 - a_N))^2,   N_0 = F n_0,
                       a_N = c(1,1,1) at alpha/5,  a_p = c(1,1/2) at alpha/10,
                       a_v = ln(1/(.8 alpha))/theta + sigma
    covariance         the same with a_v = 5/4 (ln(1/(.7 alpha))/theta + sigma),
                       a_p = c(1,1) at alpha/10,  a_N = c(1,1,1,1) at alpha/5

in units of the width, or of the product of the widths; there is no promise where alpha'
<= 0 or delta >= 1, and none where N_0 - a_N < F, less than one row. Where parts were
rounded to their lattice, sigma gains 1/2 and the exponent of q loses 1.

n_0 is what the owner says of every released cell, after filter, dropped nulls and
bounding. It is never checked; where it is false only the promise is void. Ratios and
deviations have none.
Source: MATH-statistics 3.4, 3.5 (rounded parts).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import round_up_to_digits
from dpql.statistics.lattice import AnyLattice

_DIGITS = 15
_HALF = Fraction(1, 2)

Promise = Callable[[AnyLattice, int, Fraction], Fraction | None]


def share_promise(found: AnyLattice, at_least: int, alpha: Fraction) -> Fraction | None:
    """Return delta with P(|x^ - x| > delta) <= alpha, or None; for means too."""
    rows = found.per_row * at_least
    tail = found.tail
    level = alpha - tail.below(rows)
    if level <= 0:
        return None
    delta = tail.alone(level) / rows
    return delta if delta < 1 else None


def variance_promise(
    found: AnyLattice, at_least: int, alpha: Fraction
) -> Fraction | None:
    """Return the most that the variance errs, over the squared width, or None."""
    tail = found.tail
    one = Fraction(1)
    return _spread(
        found,
        at_least,
        count=tail.width([one] * 3, alpha / 5),
        mean=tail.width([one, _HALF], alpha / 10),
        main=tail.alone(Fraction(4, 5) * alpha),
    )


def covariance_promise(
    found: AnyLattice, at_least: int, alpha: Fraction
) -> Fraction | None:
    """Return the most that the covariance errs, over the widths' product, or None."""
    tail = found.tail
    one = Fraction(1)
    main = tail.alone(Fraction(7, 10) * alpha)
    return _spread(
        found,
        at_least,
        count=tail.width([one] * 4, alpha / 5),
        mean=tail.width([one, one], alpha / 10),
        main=Fraction(5, 4) * main,
    )


def amount_for_promise(
    promise: Promise,
    lattice: Callable[[Fraction], AnyLattice],
    *,
    at_least: int,
    target: Fraction,
    alpha: Fraction,
    most: Fraction,
) -> Fraction | None:
    """Return an epsilon or rho, up to 15 digits, that keeps the promise to ``target``.

    ``lattice`` is what takes noise where so much is spent. The answer is the least but
    for its last digits; None if ``most`` is not enough. ``target`` is in units of the
    width or of the product of the widths, without quantisation. What is returned was
    checked forwards.
    """

    def kept(amount: Fraction) -> bool:
        promised = promise(lattice(amount), at_least, alpha)
        return promised is not None and promised <= target

    if target <= 0:
        raise PlanFault.of("DPQL410", "an accuracy target must be above 0")
    if not kept(most):
        return None
    high = most
    while kept(high / 2):
        high /= 2
    low = high / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    rounded = round_up_to_digits(high, _DIGITS)
    return rounded if rounded <= most and kept(rounded) else high


_HALVINGS = 56


def _spread(
    found: AnyLattice, at_least: int, *, count: Fraction, mean: Fraction, main: Fraction
) -> Fraction | None:
    """Return main/(N_0 - a_N) + (a_p/(N_0 - a_N))^2 where that is a promise."""
    left = found.per_row * at_least - count
    if left < found.per_row:
        return None
    return main / left + (mean / left) ** 2
