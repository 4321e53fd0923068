"""Zero-concentrated privacy and Renyi divergence: what parts cost, and what it means.

A release is rho-zCDP if its Renyi divergence of every order a > 1 between neighbours is
at most a rho. Costs of parts add up; every one here is rounded up, and every budget
down.

    epsilon-DP     r_a = ln(cosh((a - 1/2) epsilon) / cosh(epsilon / 2)) / (a - 1)
                   rho = epsilon tanh(epsilon / 2)
    geometric      rho = theta (D - 2q (1 - q**D) / (1 - q**2)),  q = exp(-theta)
    bounded range  rho = min(epsilon**2 / 8, epsilon tanh(epsilon / 2))

    epsilon(rho, delta)  = inf over a of a rho + ln(1/(a delta))/(a - 1) + ln(1 - 1/a)
    rho(epsilon, delta)  = sup over a of cap_a / a
    cap_a                = epsilon - ln(1/(a delta))/(a - 1) - ln(1 - 1/a)

Any a > 1 is valid: the best is searched, and the formula then evaluated there with
every rounding on the safe side.
Source: MATH-delta 2.1, 2.2; Canonne, Kamath, Steinke (2020), proposition 12.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import gmpy2

from dpql.errors import PlanFault
from dpql.exact import BITS, exp_down, exp_up, fraction, ln_down, ln_up, power_of_two_up

_LARGE = 1 << 13
"""From here on tanh is 1 but for 2**-11000."""

_STEPS = 160
"""Halvings of the search for an order."""


def pure_rho_up(epsilon: Fraction) -> Fraction:
    """Return epsilon tanh(epsilon / 2), rounded up: the rho of an epsilon-DP part.

    tanh(x) = 1 - 2 / (exp(2 x) + 1).
    """
    _require_epsilon(epsilon)
    if epsilon > _LARGE:
        return epsilon
    bits = _bits(epsilon)
    return epsilon * (1 - 2 / (exp_up(epsilon, bits=bits) + 1))


def geometric_rho_up(theta: Fraction, distance: int) -> Fraction:
    """Return the rho of geometric noise of ``theta`` when a value moves so many steps.

    2 q (1 - q**D) / (1 - q**2) = 2 (q + ... + q**D) / (1 + q) rises with q, so a q from
    below makes rho larger.
    """
    if theta <= 0 or distance < 1:
        raise PlanFault.of("DPQL413", "theta and the distance must be above 0")
    bits = 2 * _bits(theta)
    q = exp_down(-theta, bits=bits)
    power = _power_up(q, distance, bits)
    shift = 2 * q * (1 - power) / (1 - q * q)
    return theta * (distance - max(Fraction(0), shift))


def range_rho_up(epsilon: Fraction) -> Fraction:
    """Return the rho of a choice whose probabilities lie in a range of ``epsilon``."""
    return min(epsilon**2 / 8, pure_rho_up(epsilon))


def renyi_up(epsilon: Fraction, order: Fraction) -> Fraction:
    """Return the Renyi divergence of that order of an epsilon-DP part, rounded up.

        r_a = epsilon + (ln(1 + exp(-2u epsilon)) - ln(1 + exp(-epsilon))) / (a - 1)

    with u = a - 1/2; no cosh is taken, so nothing overflows.
    """
    if epsilon == 0:
        return Fraction(0)
    _require_epsilon(epsilon)
    require_order(order)
    bits = _bits(epsilon)
    most = ln_up(1 + exp_up(-(2 * order - 1) * epsilon, bits=bits), bits=bits)
    least = ln_down(1 + exp_down(-epsilon, bits=bits), bits=bits)
    return min(epsilon, epsilon + (most - least) / (order - 1))


def range_renyi_up(epsilon: Fraction, order: Fraction) -> Fraction:
    """Return the same of a choice in a range of ``epsilon``: <= a epsilon**2 / 8."""
    return min(renyi_up(epsilon, order), order * epsilon**2 / 8)


def epsilon_up(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the least epsilon, rounded up, at which rho-zCDP is (epsilon, delta)-DP.

    The best order has (a - 1)**2 rho = ln(1 / (a delta)).
    """
    if rho == 0:
        return Fraction(0)
    _require_rho(rho)
    _require_delta(delta)

    def rising(excess: gmpy2.mpfr, r: gmpy2.mpq, d: gmpy2.mpfr) -> bool:
        return bool(excess * excess * r + gmpy2.log1p(excess) + d > 0)

    order = _order(rising, rho, delta)
    return max(Fraction(0), epsilon_at(order, order * rho, delta))


def epsilon_at(order: Fraction, renyi: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon, rounded up, that a Renyi divergence of that order gives.

        epsilon = renyi + ln(1/(a delta))/(a - 1) + ln(1 - 1/a)

    It may be below 0, where the divergence says more than epsilon = 0.
    """
    require_order(order)
    _require_delta(delta)
    logarithm = ln_down(order)
    return (
        renyi
        + (ln_up(1 / delta) - logarithm) / (order - 1)
        - (logarithm - ln_up(order - 1))
    )


def cap_down(order: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the most Renyi divergence, rounded down, that gives (epsilon, delta).

    Where it is not above 0, no release of that order fits.
    """
    require_order(order)
    _require_delta(delta)
    return epsilon - epsilon_at(order, Fraction(0), delta)


def rho_down(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho, rounded down, that gives (epsilon, delta)-DP.

    At the best order epsilon = (2a - 1) rho + ln(1 - 1/a), rho as in `epsilon_up`.
    """
    order = _rho_order(epsilon, delta)
    return cap_down(order, epsilon, delta) / order


def _rho_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    _require_epsilon(epsilon)
    _require_delta(delta)

    def rising(excess: gmpy2.mpfr, e: gmpy2.mpq, d: gmpy2.mpfr) -> bool:
        rho = (-d - gmpy2.log1p(excess)) / (excess * excess)
        return bool((2 * excess + 1) * rho - gmpy2.log1p(1 / excess) < e)

    return _order(rising, epsilon, delta)


def best_order(epsilon: Fraction, delta: Fraction, *, step: Fraction) -> Fraction:
    """Return the multiple of ``step`` above 1 with the largest cap_a / a.

    The smaller of two that are equal. It rises up to the best order of all and falls
    from there on, so the best multiple is one of its neighbours.
    """
    near = int(_rho_order(epsilon, delta) / step)
    least = int(1 / step) + 1
    orders = [step * max(least, near + k) for k in range(-2, 4)]
    return max(
        sorted(set(orders)),
        key=lambda order: cap_down(order, epsilon, delta) / order,
    )


def require_order(order: Fraction) -> None:
    """Refuse an order of which there is no divergence here."""
    if order <= 1:
        raise PlanFault.of("DPQL413", "a Renyi order must be above 1")


def _order(
    rising: Callable[[gmpy2.mpfr, gmpy2.mpq, gmpy2.mpfr], bool],
    given: Fraction,
    delta: Fraction,
) -> Fraction:
    """Return a > 1 where ``rising`` turns true for a - 1, by halving."""
    with gmpy2.context(precision=2 * BITS):
        number = gmpy2.mpq(*given.as_integer_ratio())
        logarithm = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(*delta.as_integer_ratio())))
        low = high = gmpy2.mpfr(1)
        while rising(low, number, logarithm):
            low /= 2
        while not rising(high, number, logarithm):
            high *= 2
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if rising(middle, number, logarithm):
                high = middle
            else:
                low = middle
        return 1 + _short(fraction(high))


def _short(excess: Fraction) -> Fraction:
    """Return the number to 160 bits: any order is valid, and this one is near."""
    size = power_of_two_up(excess) - _STEPS
    step = Fraction(1 << size) if size >= 0 else Fraction(1, 1 << -size)
    return -(-excess // step) * step


def _power_up(q: Fraction, distance: int, bits: int) -> Fraction:
    with gmpy2.context(precision=bits, round=gmpy2.RoundUp):
        return fraction(gmpy2.mpfr(gmpy2.mpq(*q.as_integer_ratio())) ** distance)


def _bits(small: Fraction) -> int:
    """Return a precision at which what cancels for a small number does no harm."""
    return BITS + 4 * max(0, power_of_two_up(1 / small))


def _require_epsilon(epsilon: Fraction) -> None:
    if epsilon <= 0:
        raise PlanFault.of("DPQL413", "epsilon must be above 0", hint="try 1.0")


def _require_rho(rho: Fraction) -> None:
    if rho < 0:
        raise PlanFault.of("DPQL413", "rho must not be below 0", hint="try 0.01")


def _require_delta(delta: Fraction) -> None:
    if not 0 < delta < 1:
        raise PlanFault.of(
            "DPQL413", "delta must be above 0 and below 1", hint="try 1e-9"
        )
