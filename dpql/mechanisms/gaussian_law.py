"""The law of discrete Gaussian noise: accuracy, probabilities, and the noise for them.

    P(X = x) = exp(-x**2 / (2 sigma2)) / Z      P(|X| > a) = 2 Z_(a+1) / Z

Z and the tail are bounded in `gaussian_tail`. The noise rises with sigma2: so does the
probability of any miss, strictly, and one sigma2 belongs to every whole accuracy.
Source: MATH-delta 1.1, 1.4, 1.5.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2

from dpql.exact import fraction, power_of_two_up, round_up_to_digits, sidak_down, two_to
from dpql.mechanisms.gaussian_tail import Tail, tail_of
from dpql.mechanisms.mechanism import require_level

if TYPE_CHECKING:
    from dpql.mechanisms.gaussian import GaussianNoise

_BITS = 320
_MOST_BITS = 4096
_DIGITS = 15
"""Significant decimal digits of a rho found for an accuracy."""

_CLOSE = 200
"""Bits to which a sigma2 found for an accuracy is known."""


def accuracy(noise: GaussianNoise, alpha: Fraction) -> Fraction:
    """Return the quantile of |outcome - value|, rounding included."""
    half = Fraction(1, 2) if noise.rounded else 0
    return (steps_within(noise.sigma2, alpha) + half) * noise.lattice


def simultaneous_accuracy(
    noise: GaussianNoise, alpha: Fraction, cells: int
) -> Fraction:
    """Return the accuracy that all of ``cells`` independent outcomes keep together."""
    return accuracy(noise, sidak_down(alpha, cells))


def steps_within(sigma2: Fraction, alpha: Fraction) -> int:
    """Return the least whole a >= 0 with P(|X| > a) <= alpha.

    The tail is an infinite series, and nothing is known to keep it from being a
    rational: where 4096 bits do not tell the two apart, the larger a is taken.
    Source: MATH-delta 1.4.
    """
    require_level(alpha)
    tail = tail_of(sigma2)
    low, high = -1, _sub_gaussian(sigma2, alpha)
    while high - low > 1:
        middle = (low + high) // 2
        if _misses_at_most(tail, middle, alpha):
            high = middle
        else:
            low = middle
    return high


def _sub_gaussian(sigma2: Fraction, alpha: Fraction) -> int:
    """Return an a with 2 exp(-(a + 1)**2 / (2 sigma2)) <= alpha."""
    with gmpy2.context(precision=64, round=gmpy2.RoundUp):
        level = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(*(2 / alpha).as_integer_ratio())))
        square = 2 * gmpy2.mpfr(gmpy2.mpq(*sigma2.as_integer_ratio())) * level
        return int(gmpy2.ceil(gmpy2.sqrt(square)))


def _misses_at_most(tail: Tail, steps: int, alpha: Fraction) -> bool:
    """Decide P(|X| > steps) <= alpha; no, where no precision decides."""
    bits = _BITS
    while bits <= _MOST_BITS:
        low, high = tail.bounds(steps + 1, bits)
        wanted = alpha * (1 << bits)
        if high <= wanted:
            return True
        if low > wanted:
            return False
        bits *= 2
    return False


def probability(noise: GaussianNoise, value: Fraction, step: int) -> Fraction:
    """Return P(step) at ``value``, to about 300 bits."""
    from dpql.mechanisms.gaussian_draw import nearest

    distance = step - nearest(noise, value)
    with gmpy2.context(precision=_BITS):
        square = gmpy2.mpq(*noise.sigma2.as_integer_ratio())
        mass = gmpy2.exp(-distance * distance / (2 * square))
        return fraction(mass / normaliser(noise.sigma2))


def drift(noise: GaussianNoise) -> Fraction:
    """Return 0: the law of the code is the law stated."""
    del noise
    return Fraction(0)


def normaliser(sigma2: Fraction) -> gmpy2.mpfr:
    """Return Z to about 300 bits.

        Z = sigma sqrt(2 pi) (1 + 2 sum over k >= 1 of w**(k*k))
        w = exp(-2 pi**2 sigma2)

    Below sigma2 = 1 the sum over whole numbers is the shorter one.
    """
    with gmpy2.context(precision=_BITS):
        square = gmpy2.mpfr(gmpy2.mpq(*sigma2.as_integer_ratio()))
        if square < 1:
            return 1 + 2 * _theta(gmpy2.exp(-1 / (2 * square)), 0)
        wave = gmpy2.exp(-2 * gmpy2.const_pi() ** 2 * square)
        return gmpy2.sqrt(2 * gmpy2.const_pi() * square) * (1 + 2 * _theta(wave, 0))


def variance(sigma2: Fraction) -> Fraction:
    """Return Var X to about 300 bits: sum of y**2 exp(-y**2 / (2 sigma2)) / Z.

    It is sigma2 - 4 pi**2 sigma2**2 (2 sum of k**2 w**(k*k)) / (1 + 2 sum of w**(k*k)),
    below sigma2 always.
    """
    with gmpy2.context(precision=_BITS):
        square = gmpy2.mpfr(gmpy2.mpq(*sigma2.as_integer_ratio()))
        if square < 1:
            mass = gmpy2.exp(-1 / (2 * square))
            return fraction(2 * _theta(mass, 2) / (1 + 2 * _theta(mass, 0)))
        wave = gmpy2.exp(-2 * gmpy2.const_pi() ** 2 * square)
        part = 2 * _theta(wave, 2) / (1 + 2 * _theta(wave, 0))
        return fraction(square - 4 * gmpy2.const_pi() ** 2 * square**2 * part)


def _theta(base: gmpy2.mpfr, power: int) -> gmpy2.mpfr:
    """Return the sum over k >= 1 of k**power base**(k*k)."""
    total = term = gmpy2.mpfr(base)
    k = 1
    while gmpy2.mul_2exp(term, _BITS) > total:
        k += 1
        term = k**power * base ** (k * k)
        total += term
    return total


def sigma2_for(steps: int, alpha: Fraction) -> Fraction:
    """Return the sigma2 with P(|X| > steps) = alpha, to about 200 bits.

    The logarithm of that probability rises with sigma2. The root is enclosed and then
    approached by secants, each of which is a bisection where it is not the shorter.
    Source: MATH-delta 1.5.
    """
    low, high = Fraction(1, 4), Fraction(4)
    start = Fraction((2 * steps + 1) ** 2, 16)
    low, high = start * low, start * high
    while _excess(low, steps, alpha) > 0:
        low /= 4
    while _excess(high, steps, alpha) < 0:
        high *= 4
    at_low, at_high = _excess(low, steps, alpha), _excess(high, steps, alpha)
    side = 0
    for _ in range(400):
        if high - low <= low / (1 << _CLOSE):
            break
        middle = _shortened(
            (low * at_high - high * at_low) / (at_high - at_low), low, high
        )
        found = _excess(middle, steps, alpha)
        if found == 0:
            return middle
        if found < 0:
            low, at_low = middle, found
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
        else:
            high, at_high = middle, found
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
    return low


def _shortened(x: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return x to 256 bits, or the middle if that leaves the interval."""
    step = two_to(power_of_two_up(x) - 256) if x > 0 else Fraction(1)
    near = x // step * step
    return near if low < near < high else (low + high) / 2


def _excess(sigma2: Fraction, steps: int, alpha: Fraction) -> Fraction:
    """Return ln P(|X| > steps) - ln alpha, to about 256 bits."""
    bits = _BITS + max(0, power_of_two_up(1 / alpha))
    low, high = Tail(sigma2).bounds(steps + 1, bits)
    with gmpy2.context(precision=256):
        middle = gmpy2.mpq(low + high + 1, 1 << (bits + 1))
        ratio = gmpy2.log(gmpy2.mpfr(middle / gmpy2.mpq(*alpha.as_integer_ratio())))
        return fraction(ratio)


def rho_for(squared: Fraction, steps: int, alpha: Fraction) -> Fraction:
    """Return the least rho, up to 15 digits, whose noise is within ``steps``.

        rho = squared / (2 sigma2),   sigma2 the largest with P(|X| > steps) <= alpha

    ``squared`` is the most that a neighbour changes the numbers, as a sum of squares.
    Ensures: the noise of the rho returned is within the target.
    """
    rho = round_up_to_digits(squared / (2 * sigma2_for(steps, alpha)), _DIGITS)
    while steps_within(squared / (2 * rho), alpha) > steps:
        rho = round_up_to_digits(rho * (1 + Fraction(1, 10**_DIGITS)), _DIGITS)
    return rho
