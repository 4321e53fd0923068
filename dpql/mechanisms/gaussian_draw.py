"""Discrete Gaussian noise, the sampler: one lane of coins in, one step out.

    |X| = #{x >= 1 : U < H(x)},   H(x) = P(|X| >= x),   fair sign

The lane is the sign, then the binary digits of U, every one complemented where the sign
bit is set. Its first word settles nearly every lane (`gaussian_vector`); the others
read on until bounds of H show which x it is:

    (M + 1) / 2**i <= H(x)   and   H(x + 1) <= M / 2**i,   M the first i digits

The result depends on the lane alone.
Source: MATH-delta 1.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.mechanisms.bits import Bits, Lane, each_lane, flips, read_one, stretches
from dpql.mechanisms.gaussian_tail import DIGITS, Tail, tail_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpql.mechanisms.gaussian import GaussianNoise
    from dpql.mechanisms.gaussian_vector import Arithmetic, Settler, Table

_LIFT = 1 << 12
"""Added to every magnitude: a small integer is one that Python treats apart."""

_MORE = 64
"""Places of a bound of H beyond the digits."""


class Kit:
    """What a sampler computes once per noise; its tables when it is first drawn."""

    __slots__ = ("_settler", "digits", "flips", "lift", "mask", "tail")

    def __init__(self, noise: GaussianNoise) -> None:
        self.digits = noise.digits
        self.mask = (1 << self.digits) - 1
        self.flips = flips(self.digits + 1)
        self.tail = tail_of(noise.sigma2)
        self.lift = max(_LIFT, 1 << (int(noise.sigma2).bit_length() // 2 + 12))
        self._settler: Settler | None = None

    @property
    def settler(self) -> Settler:
        """What settles the first word of a lane."""
        if self._settler is None:
            from dpql.mechanisms.gaussian_vector import Settler

            self._settler = Settler(self.tail, self.digits, self.lift)
        return self._settler

    @property
    def many(self) -> Table | Arithmetic | None:
        """What settles many words at once; None where every lane is drawn alone."""
        return self.settler.many


def width(noise: GaussianNoise) -> int:
    """Return the bits of one request: a sign and the digits of U."""
    return noise.kit.digits + 1


def perturb(noise: GaussianNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width."""
    kit = noise.kit
    read = kit.digits + 1
    lane = read_one(bits, 0, read)
    negative = lane >> kit.digits
    digits = (lane ^ kit.flips[negative]) & kit.mask
    lifted = kit.settler.settle(digits)
    while lifted is None:
        more = read_one(bits, read, read + kit.digits)
        digits = digits << kit.digits | (more ^ kit.flips[negative]) & kit.mask
        read += kit.digits
        magnitude = settled(kit.tail, digits, read - 1)
        lifted = None if magnitude is None else magnitude + kit.lift
    centre = nearest(noise, value) + kit.lift
    up, down = centre + lifted, centre + 2 * kit.lift - lifted
    return (up, down)[negative] - 2 * kit.lift


def nearest(noise: GaussianNoise, value: Fraction | int) -> int:
    """Return the lattice step nearest to ``value``; ties go up."""
    parts = noise.lattice.numerator * int(value.denominator)
    double = 2 * noise.lattice.denominator
    return (double * int(value.numerator) + parts) // (2 * parts)


def settled(tail: Tail, digits: int, count: int) -> int | None:
    """Return the magnitude that the first ``count`` digits give, None if they do not.

    The search starts at the normal law's quantile, and no start can mislead it.
    """
    if not digits:
        return None
    bits = count + _MORE
    least, most = digits << _MORE, (digits + 1) << _MORE
    x = _guess(tail.sigma2, digits, count)
    while True:
        low, high = tail.bounds(x + 1, bits)
        if low >= most:
            x += 1
        elif high > least:
            return None
        elif x == 0 or tail.bounds(x, bits)[0] >= most:
            return x
        elif tail.bounds(x, bits)[1] <= least:
            x -= 1
        else:
            return None


def _guess(sigma2: Fraction, digits: int, count: int) -> int:
    """Return about which x has H(x) > U >= H(x + 1), by Newton on ln erfc.

    It starts above the root of a concave falling function, and falls to it.
    """
    size = int(sigma2).bit_length()
    with gmpy2.context(precision=count + size + 64):
        wanted = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(2 * digits + 1, 2 << count)))
        z, root = gmpy2.sqrt(-2 * wanted), gmpy2.sqrt(gmpy2.mpfr(2))
        for _ in range(64):
            tail = gmpy2.erfc(z / root)
            slope = gmpy2.exp(-z * z / 2) * root / gmpy2.sqrt(gmpy2.const_pi())
            step = (gmpy2.log(tail) - wanted) * tail / slope
            z += step
            if abs(step) * gmpy2.exp2(size // 2 + 16) < 1:
                break
        square = gmpy2.mpq(*sigma2.as_integer_ratio())
        v = gmpy2.sqrt(square) * z / (1 + 1 / (24 * square))
        return max(0, int(gmpy2.floor(v + gmpy2.mpq(1, 2))))


def outcome(noise: GaussianNoise, step: int) -> Fraction:
    """Return the released number."""
    return step * noise.lattice


def most_drawn(sigma2: Fraction) -> int:
    """Return more than any noise, but with probability 2**-180000."""
    return (1 << (int(sigma2).bit_length() // 2 + 1)) << 9


def perturb_many(
    noise: GaussianNoise,
    values: Sequence[int] | NDArray[Any],
    bits: Bits,
    *,
    lower: int,
    upper: int,
) -> NDArray[Any]:
    """Return the steps that `perturb` gives on the same lanes."""
    from dpql.mechanisms.adding import Floor

    n, d = noise.lattice.numerator, noise.lattice.denominator
    floor = Floor(gain=d, base=n // 2, weight=n, divisor=n)
    most = most_drawn(noise.sigma2)
    drawn = _drawn(noise, len(values), bits)
    return floor.of(values, drawn, most=most, lower=lower, upper=upper)


def _drawn(noise: GaussianNoise, count: int, bits: Bits) -> NDArray[Any]:
    """Return the noise of so many lanes, in steps."""
    import numpy as np

    from dpql.mechanisms.adding import python_integers

    many = noise.kit.many
    if many is None:
        alone = each_lane(bits, count, width(noise))
        return python_integers(perturb(noise, 0, lane) for lane in alone)
    steps = np.empty(count, np.int64)
    for lanes in stretches(count):
        heads = bits.read(lanes, 0, DIGITS + 1)
        words = np.frombuffer(heads, ">i8").astype(np.int64)
        magnitudes, doubtful = many.settled(words)
        words >>= DIGITS
        magnitudes ^= words
        magnitudes -= words
        for index in doubtful.tolist():
            lane = Lane(bits, lanes[index], heads[8 * index : 8 * index + 8])
            magnitudes[index] = perturb(noise, 0, lane)
        steps[lanes.start : lanes.stop] = magnitudes
    return steps
