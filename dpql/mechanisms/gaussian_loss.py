"""The exact delta of one release with discrete Gaussian noise; for print only.

    delta(epsilon) = P(S > c) - exp(epsilon) P(S > c + l0 D)
    c = epsilon sigma2 / D - l0 D / 2

S is the sum of the noises of l0 cells, each of which moves by D steps. The law is
log-concave, so that this neighbour is the worst of all that move at most l0 cells by at
most D. delta falls with epsilon, but is not monotone in sigma2, and no function of the
sum of squares: noise is calibrated by rho, never by this.
Source: MATH-delta 1.3.
"""

from __future__ import annotations

from fractions import Fraction

import gmpy2

from dpql.exact import exp_down, exp_up, round_up_to_digits
from dpql.mechanisms.concentrated import epsilon_up
from dpql.mechanisms.gaussian_tail import tail_of

_BITS = 640
_WEIGHT = 320
"""Bits of the mass of one outcome where laws are multiplied."""

_CHEAP = 1 << 25
"""Bits of the largest product that is worth a printed figure."""

_DIGITS = 30


def delta_up(
    sigma2: Fraction, *, distance: int, cells: int, epsilon: Fraction
) -> Fraction | None:
    """Return the delta at ``epsilon``, rounded up; None where it is not cheap."""
    assert distance >= 1, "a neighbour changes something"
    assert cells >= 1, "and somewhere"
    cut = epsilon * sigma2 / distance - Fraction(cells * distance, 2)
    first = cut.__floor__() + 1
    second = (cut + cells * distance).__floor__() + 1
    bounds = _single if cells == 1 else _summed
    found = bounds(sigma2, cells, first, second)
    if found is None:
        return None
    most, least = found
    return max(Fraction(0), min(Fraction(1), most - exp_down(epsilon) * least))


def least_epsilon_up(
    sigma2: Fraction, *, distance: int, cells: int, delta: Fraction
) -> Fraction | None:
    """Return the least epsilon of the release at ``delta``, up to 30 digits.

    The search begins at what its rho gives, which is never too small.
    """
    low = Fraction(0)
    high = epsilon_up(Fraction(cells * distance**2) / (2 * sigma2), delta)
    for _ in range(4 * _DIGITS):
        middle = _rounded((low + high) / 2)
        found = delta_up(sigma2, distance=distance, cells=cells, epsilon=middle)
        if found is None:
            return None
        low, high = (low, middle) if found <= delta else (middle, high)
    return round_up_to_digits(high, _DIGITS) if high else high


def _rounded(epsilon: Fraction) -> Fraction:
    return Fraction((epsilon * (1 << 160)).__floor__(), 1 << 160)


def _single(
    sigma2: Fraction, cells: int, first: int, second: int
) -> tuple[Fraction, Fraction]:
    """Return P(X >= first) from above and P(X >= second) from below."""
    del cells
    return _beyond(sigma2, first)[1], _beyond(sigma2, second)[0]


def _beyond(sigma2: Fraction, x: int) -> tuple[Fraction, Fraction]:
    if x <= 0:
        least, most = _beyond(sigma2, 1 - x)
        return 1 - most, 1 - least
    low, high = tail_of(sigma2).bounds(x, _BITS)
    return Fraction(low, 2 << _BITS), Fraction(high, 2 << _BITS)


def _summed(
    sigma2: Fraction, cells: int, first: int, second: int
) -> tuple[Fraction, Fraction] | None:
    """Return the same of the sum of ``cells`` noises, by one product of big integers.

    The masses of -B..B stand in the digits of a number whose power has the masses of
    the sum in its digits. What lies beyond B is below 2**-320 of the whole, and added.
    """
    reach = _reach(sigma2)
    digit = (_WEIGHT + (2 * reach + 1).bit_length()) * cells + 1
    if (2 * reach * cells + 1) * digit > _CHEAP:
        return None
    shift = reach * cells
    most, least = (_packed(sigma2, reach, digit, up=up) for up in (True, False))
    above = most**cells >> (digit * max(0, first + shift))
    below = least**cells >> (digit * max(0, second + shift))
    outside = cells * 2 * exp_up(-Fraction(reach * reach) / (2 * sigma2))
    whole = _digit_sum(most, digit) + _outside_up(sigma2, reach)
    return (
        Fraction(_digit_sum(above, digit), _digit_sum(least, digit) ** cells) + outside,
        Fraction(_digit_sum(below, digit), whole**cells),
    )


def _packed(sigma2: Fraction, reach: int, digit: int, *, up: bool) -> gmpy2.mpz:
    """Return the masses 2**320 exp(-x**2 / (2 sigma2)) of -B..B as digits."""
    mode = gmpy2.RoundUp if up else gmpy2.RoundDown
    half = -1 / (2 * gmpy2.mpq(*sigma2.as_integer_ratio()))
    masses = []
    with gmpy2.context(precision=_WEIGHT + 32, round=mode):
        for x in range(reach + 1):
            mass = gmpy2.mul_2exp(gmpy2.exp(half * x * x), _WEIGHT)
            masses.append(int(gmpy2.ceil(mass) if up else gmpy2.floor(mass)))
    packed = gmpy2.mpz(0)
    for x in range(-reach, reach + 1):
        packed |= gmpy2.mpz(masses[abs(x)]) << (digit * (x + reach))
    return packed


def _digit_sum(number: gmpy2.mpz, digit: int) -> int:
    """Return the sum of the digits, by halving their number."""
    count = 1
    while digit * count < number.bit_length():
        count *= 2
    while count > 1:
        count //= 2
        low = gmpy2.f_mod_2exp(number, digit * count)
        number = (number >> (digit * count)) + low
    return int(number)


def _reach(sigma2: Fraction) -> int:
    """Return B with exp(-B**2 / (2 sigma2)) < 2**-320, and the rest of the tail too."""
    root = int(gmpy2.isqrt(gmpy2.mpz((sigma2 * 460).__floor__() + 1))) + 1
    return max(2, root)


def _outside_up(sigma2: Fraction, reach: int) -> int:
    """Return more than the masses beyond B weigh together."""
    _, high = tail_of(sigma2).bounds(reach + 1, _WEIGHT)
    width = int(gmpy2.isqrt(gmpy2.mpz(sigma2.__floor__() + 1))) + 1
    return high * 3 * (width + 1)
