"""What many releases cost together, and when a private key may be shown.

Every delta is an upper bound of the formula beside it, tight to some 200 bits; a
threshold is the exact least integer.
Source: MATH 10, MATH-delta 3.4.
"""

from __future__ import annotations

from fractions import Fraction

import gmpy2

from dpql.errors import PlanFault
from dpql.exact import (
    BITS,
    exp_down,
    exp_up,
    fraction,
    ln_down,
    ln_up,
    power_of_two_up,
    sidak_down,
)
from dpql.mechanisms.gaussian_tail import tail_of

_LEAST_DELTA = Fraction(1, 10**300)
"""No claim needs a smaller delta, and the searches below stay short."""

_MOST_BITS = 4096


def threshold(theta: Fraction, delta: Fraction, l0: int, max_contribution: int) -> int:
    """Return the least noisy count at which a private key may be released.

        tau = c + min{m >= 1: 1 - (1 - q**m / (1 + q))**l0 <= delta},  q = exp(-theta)

        theta             privacy loss per unit of a count with geometric noise
        l0                most keys that one unit touches
        max_contribution  c, the most that one unit adds to the count of a key

    A key that only one unit has is released with probability at most q**m / (1 + q),
    so all its l0 keys together but with delta. Only present keys may be noised.
    Source: MATH 10, private keys.
    """
    if theta <= 0 or min(l0, max_contribution) < 1:
        raise PlanFault.of(
            "DPQL413",
            "theta must be above 0, l0 and the largest contribution at least 1",
        )
    _require_delta(delta)
    each = sidak_down(delta, l0)
    most = ln_up(1 / each) - ln_down(1 + exp_down(-theta))
    m = max(1, -(-most // theta))
    # All roundings above make m too large if anything; the exact test takes it back.
    while m > 1 and _hides(theta, delta, l0, m - 1):
        m -= 1
    return max_contribution + m


def gaussian_threshold(
    sigma2: Fraction, delta: Fraction, l0: int, max_contribution: int
) -> int:
    """Return the least noisy count at which a private key may be released.

        tau = c + min{m >= 1: 1 - (1 - P(X >= m))**l0 <= delta}

    X is discrete Gaussian noise of sigma2; l0 and c are as in `threshold`. Where 4096
    bits do not decide, the larger threshold is taken.
    Source: MATH-delta 3.4.
    """
    if sigma2 <= 0 or min(l0, max_contribution) < 1:
        raise PlanFault.of(
            "DPQL413",
            "sigma2 must be above 0, l0 and the largest contribution at least 1",
        )
    _require_delta(delta)
    low, high = 0, 1
    while not _gaussian_hides(sigma2, delta, l0, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        hides = _gaussian_hides(sigma2, delta, l0, middle)
        low, high = (low, middle) if hides else (middle, high)
    return max_contribution + high


def zcdp_delta_up(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return the delta, rounded up, at which rho-zCDP gives (epsilon, delta)-DP.

        delta = inf over a > 1 of exp((a - 1)(a rho - epsilon)) / (a - 1) (1 - 1/a)**a

    Any a gives a valid delta. The best one is the root of the increasing function
    (2a - 1) rho - epsilon + ln(1 - 1/a); it is found by bisection and the formula is
    then evaluated there with every rounding upwards, as

        exp((a - 1)(a rho - epsilon) + (a - 1) ln(a - 1) - a ln a).

    The result is at most 1, and never below 2**-16384.
    Source: MATH 10, zCDP.
    """
    if rho <= 0 or epsilon < 0:
        raise PlanFault.of("DPQL413", "rho must be above 0 and epsilon at least 0")
    order = _best_order(rho, epsilon)
    exponent = (
        (order - 1) * (order * rho - epsilon)
        + (order - 1) * ln_up(order - 1)
        - order * ln_down(order)
    )
    return min(Fraction(1), exp_up(exponent))


def optimal_delta_up(epsilon: Fraction, k: int, epsilon_total: Fraction) -> Fraction:
    """Return the least delta, rounded up, of k epsilon-DP releases at epsilon_total.

        delta = sum over l of C(k, l) [e**((k-l) epsilon) - e**(g + l epsilon)]_+
                / (1 + e**epsilon)**k,   g = epsilon_total

    It is the hockey stick divergence of k randomised responses, the worst case of all
    epsilon-DP mechanisms, and 0 from epsilon_total = k epsilon on.
    Source: MATH 10, composition; Kairouz, Oh, Viswanath (2015).
    """
    if epsilon <= 0 or epsilon_total < 0 or k < 1:
        raise PlanFault.of(
            "DPQL413", "epsilon must be above 0, its total at least 0 and k at least 1"
        )
    # (1 + e**epsilon)**k >= 2**k may be that much larger than the last difference.
    bits = BITS + 2 * k
    total = Fraction(0)
    ways = 1
    for l in range(k + 1):  # noqa: E741  the letter of the formula
        likely, unlikely = (k - l) * epsilon, epsilon_total + l * epsilon
        if likely <= unlikely:
            break
        total += ways * (exp_up(likely, bits=bits) - exp_down(unlikely, bits=bits))
        ways = ways * (k - l) // (l + 1)
    scale = k * ln_down(1 + exp_down(epsilon, bits=bits), bits=bits)
    return min(Fraction(1), total / exp_down(scale, bits=bits))


def _require_delta(delta: Fraction) -> None:
    if not _LEAST_DELTA <= delta < 1:
        raise PlanFault.of(
            "DPQL413", "delta must be below 1 and at least 1e-300", hint="try 1e-9"
        )


def _gaussian_hides(sigma2: Fraction, delta: Fraction, l0: int, m: int) -> bool:
    """Decide l0 ln(1 - P(X >= m)) >= ln(1 - delta); no, where no precision decides."""
    bits = 2 * BITS + max(0, power_of_two_up(1 / delta))
    while bits <= _MOST_BITS:
        low, high = tail_of(sigma2).bounds(m, bits)
        most, least = Fraction(high, 2 << bits), Fraction(low, 2 << bits)
        if l0 * ln_down(1 - most, bits=bits) >= ln_up(1 - delta, bits=bits):
            return True
        if l0 * ln_up(1 - least, bits=bits) < ln_down(1 - delta, bits=bits):
            return False
        bits *= 2
    return False


def _hides(theta: Fraction, delta: Fraction, l0: int, m: int) -> bool:
    """Decide l0 ln(1 - q**m / (1 + q)) >= ln(1 - delta).

    Equality would make q algebraic, and exp of a rational is not (Lindemann), so some
    precision decides.
    """
    bits = BITS
    while True:
        most = exp_up(-m * theta, bits=bits) / (1 + exp_down(-theta, bits=bits))
        least = exp_down(-m * theta, bits=bits) / (1 + exp_up(-theta, bits=bits))
        if l0 * ln_down(1 - most, bits=bits) >= ln_up(1 - delta, bits=bits):
            return True
        if l0 * ln_up(1 - least, bits=bits) < ln_down(1 - delta, bits=bits):
            return False
        bits *= 2


def _best_order(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return a > 1 where the slope of the exponent is 0, to 128 bits of a - 1."""
    with gmpy2.context(precision=2 * BITS):
        r, e = (gmpy2.mpq(x.numerator, x.denominator) for x in (rho, epsilon))

        def rising(excess: gmpy2.mpfr) -> bool:
            return bool((2 * excess + 1) * r - e - gmpy2.log1p(1 / excess) > 0)

        low = high = gmpy2.mpfr(1)
        while rising(low):
            low /= 2
        while not rising(high):
            high *= 2
        for _ in range(128):
            middle = (low + high) / 2
            low, high = (low, middle) if rising(middle) else (middle, high)
        return 1 + fraction(high)
