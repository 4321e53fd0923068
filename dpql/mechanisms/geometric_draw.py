"""Two-sided geometric noise, the sampler: one lane of coins in, one step out.

    |X| = floor( -ln(U)/theta + beta ),   beta = ln(2/(1+q)) / theta,   fair sign

With the digits D >= 1 of U read so far, -ln(U) is at most ln(1 + 1/(2 D)) from that of
the middle, which is below 2**-bits, D having so many bits. All arithmetic is in
integers over a power of two that exceeds the digits by 27 at least; ``slack`` bounds
every rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import fraction, power_of_two_up
from dpql.mechanisms.bits import Bits, flips, read_one, unshortened
from dpql.mechanisms.logarithm import ERROR, logarithm_to, within_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpql.mechanisms.geometric import GeometricNoise


_LIFT = 12
"""Bits by which the lift exceeds the scale: no magnitude comes near to it."""

_MORE = 27
"""Places of a logarithm beyond the digits: what it rounds is lost in their radius."""

_SPARE = 8
"""Bits of the scale, at least, beyond those of a logarithm's fraction."""


class Kit:
    """Constants of the sampler for a number of digits, computed once per noise.

    A magnitude is an integer over 2**``fraction_bits``, with ``lift`` steps added,
    so that no magnitude is shorter than another. ``base`` is lift + beta - ln(4)/theta
    less the ``slack``, ``scale`` is 1/theta over the bits that a logarithm has not,
    and ``reach`` * 2**shift is how far U may take it from the middle.
    """

    __slots__ = (
        "base",
        "beta",
        "digits",
        "double",
        "flips",
        "fraction_bits",
        "lift",
        "logarithm",
        "mask",
        "reach",
        "scale",
        "slack",
        "step",
    )

    def __init__(self, noise: GeometricNoise, digits: int | None = None) -> None:
        exact = noise.theta
        size = power_of_two_up(1 / exact)
        if digits is None:
            digits = unshortened(noise.guard + max(0, size) + 1) - 1
        self.digits = digits
        self.mask = (1 << digits) - 1
        self.flips = flips(digits + 1)
        self.step = noise.lattice.numerator
        self.double = 2 * noise.lattice.denominator
        self.lift = 1 << (max(0, size) + _LIFT)
        self.logarithm = logarithm_to(digits + _MORE)
        behind = self.logarithm.fraction_bits
        top = within_word(2 * behind + _SPARE + max(0, -size), 24, 48)
        self.fraction_bits = top - max(0, size)
        shift = self.fraction_bits - behind
        with gmpy2.context(precision=self.fraction_bits + max(0, size) + 4 + _LIFT):
            theta = gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))
            self.beta = gmpy2.log(2 / (1 + gmpy2.exp(-theta))) / theta
            lifted = gmpy2.mul_2exp(self.beta + self.lift, self.fraction_bits)
            lifted = gmpy2.mpz(gmpy2.floor(lifted))
        self.scale = gmpy2.mpz((1 << shift) * exact.denominator // exact.numerator)
        self.slack = _slack(digits, self.scale, behind)
        self.base = lifted - self.slack - 2 * self.logarithm.ln2 * self.scale
        self.reach = (self.scale + 1) << (behind - digits - 2)


def _slack(digits: int, scale: gmpy2.mpz, fraction_bits: int) -> gmpy2.mpz:
    """Return more than all roundings of a magnitude together, in units of its last bit.

        ((shift - 2) * ln 2 - ln m) * scale + beta,   shift <= digits + 1, -ln m <= ln 2

    The first factor is below digits and less than digits + 4 units too small, the
    scale less than one; beta is off by less than one, and its floor by one more.
    """
    return (digits + ERROR) * (scale + 1) + (gmpy2.mpz(digits) << fraction_bits) + 2


def width(noise: GeometricNoise) -> int:
    """Return the bits of one request: a sign and the digits of U."""
    return noise.kit.digits + 1


def perturb(noise: GeometricNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width.

    The lane is read as the sign and then the digits of U, complemented where the sign
    bit is set (so that `vector` can read both as one signed integer). Nothing before
    the result is a small integer, which Python treats apart.
    """
    kit = noise.kit
    centre = nearest(noise, value) + kit.lift
    read = kit.digits + 1
    lane = read_one(bits, 0, read)
    negative = lane >> kit.digits
    digits = (lane ^ kit.flips[negative]) & kit.mask
    lifted = _lifted_magnitude(kit, digits)
    while lifted is None:
        digits = digits << noise.kit.digits | read_one(
            bits, read, read + noise.kit.digits
        )
        read += noise.kit.digits
        kit = Kit(noise, read - 1)
        lifted = _lifted_magnitude(kit, digits)
    up, down = centre + lifted, centre + 2 * kit.lift - lifted
    return (up, down)[negative] - 2 * kit.lift


def nearest(noise: GeometricNoise, value: Fraction | int) -> int:
    """Return the lattice step nearest to ``value``; ties go up.

    Integers only, over one denominator: reducing fractions would take its time from
    the value.
    """
    kit = noise.kit
    parts = kit.step * int(value.denominator)
    return (kit.double * int(value.numerator) + parts) // (2 * parts)


def _lifted_magnitude(kit: Kit, digits: int) -> int | None:
    """Return lift + floor(-ln(U)/theta + beta), or None if the digits leave it open."""
    least, most = enclosure(kit, digits)
    low, high = least >> kit.fraction_bits, most >> kit.fraction_bits
    return int(low) if low == high and digits else None


def enclosure(kit: Kit, digits: int) -> tuple[gmpy2.mpz, gmpy2.mpz]:
    """Return two bounds of lift - ln(U)/theta + beta in binary, for digits >= 1.

    Time must not tell the noise: U is 4 m * 2**-shift, m of fixed length and shift
    neither 0 nor 1, which GMP treats apart; and all that follows is the same work on
    integers of the same sizes.
    """
    shift = kit.digits + 2 - digits.bit_length()
    middle = gmpy2.mpz(2 * digits + 1) << shift
    fall = kit.logarithm.fall(middle, kit.digits + 3)
    depth = kit.logarithm.ln2 * shift + fall
    radius = kit.reach << shift
    least = kit.base + depth * kit.scale - radius
    return least, least + 2 * (radius + kit.slack)


def outcome(noise: GeometricNoise, step: int) -> Fraction:
    """Return the released number."""
    return step * noise.lattice


def perturb_many(
    noise: GeometricNoise,
    values: Sequence[int] | NDArray[Any],
    bits: Bits,
    *,
    lower: int,
    upper: int,
) -> NDArray[Any]:
    """Return the steps that `perturb` gives on the same lanes.

        floor(value / lattice + 1/2) + X = floor((d value + n // 2 + n X) / n)

    for a lattice of n / d.
    """
    from dpql.mechanisms.adding import Floor
    from dpql.mechanisms.vector import drawn_floors, most_drawn

    kit = noise.kit
    scale = 1 / noise.theta
    n, d = noise.lattice.numerator, noise.lattice.denominator
    drawn = drawn_floors(
        len(values),
        bits,
        scale=scale,
        offset=fraction(kit.beta),
        width=kit.digits + 1,
        mirrored=True,
        draw=lambda lane: perturb(noise, 0, lane),
    )
    floor = Floor(gain=d, base=n // 2, weight=n, divisor=n)
    return floor.of(values, drawn, most=most_drawn(scale), lower=lower, upper=upper)
