"""Two-sided geometric noise, the sampler: one lane of coins in, one step out.

    |X| = floor( -ln(U)/theta + beta ),   beta = ln(2/(1+q)) / theta,   fair sign

With the digits D of U read so far, -ln(U) is known to 1/(D + 1/2). The working
precision exceeds the digits by 76 bits; ``slack`` is 2**16 times the unit of the last
place of the largest term, far more than the five roundings can add up to.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import fraction, power_of_two_up
from dpql.mechanisms.bits import Bits, flips, read_one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpql.mechanisms.geometric import GeometricNoise


_LIFT = 12
"""Bits by which the lift exceeds the scale: no magnitude comes near to it."""


class Kit:
    """Constants of the sampler for a number of digits, computed once per noise."""

    __slots__ = (
        "arithmetic",
        "beta",
        "digits",
        "double",
        "flips",
        "lift",
        "lifted_beta",
        "ln2",
        "mask",
        "scale",
        "slack",
        "step",
    )

    def __init__(self, noise: GeometricNoise, digits: int | None = None) -> None:
        exact = noise.theta
        if digits is None:
            digits = noise.guard + max(0, power_of_two_up(1 / exact))
        self.digits = digits
        self.mask = (1 << digits) - 1
        self.flips = flips(digits + 1)
        self.step = noise.lattice.numerator
        self.double = 2 * noise.lattice.denominator
        self.lift = 1 << (max(0, power_of_two_up(1 / exact)) + _LIFT)
        precision = digits + 64 + _LIFT
        self.arithmetic = gmpy2.context(precision=precision)
        with gmpy2.context(precision=precision):
            theta = gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))
            self.beta = gmpy2.log(2 / (1 + gmpy2.exp(-theta))) / theta
            self.lifted_beta = self.beta + self.lift
            self.scale = 1 / theta
            self.ln2 = gmpy2.log(2) / theta
            largest = 2 * digits * self.ln2 + self.lift
            self.slack = largest * gmpy2.exp2(16 - precision)


def width(noise: GeometricNoise) -> int:
    """Return the bits of one request: a sign and the digits of U."""
    return noise.kit.digits + 1


def perturb(noise: GeometricNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width.

    The lane is read as the sign and then the digits of U, complemented where the sign
    bit is set (so that `vector` can read both as one signed integer).
    """
    kit = noise.kit
    read = kit.digits + 1
    lane = read_one(bits, 0, read)
    negative = lane > kit.mask
    digits = (lane ^ kit.flips[negative]) & kit.mask
    lifted = _lifted_magnitude(kit, digits)
    while lifted is None:
        digits = digits << noise.kit.digits | read_one(
            bits, read, read + noise.kit.digits
        )
        read += noise.kit.digits
        kit = Kit(noise, read - 1)
        lifted = _lifted_magnitude(kit, digits)
    centre = nearest(noise, value)
    if negative:
        return centre + kit.lift - lifted
    return centre - kit.lift + lifted


def nearest(noise: GeometricNoise, value: Fraction | int) -> int:
    """Return the lattice step nearest to ``value``; ties go up.

    Integers only, over one denominator: reducing fractions would take its time from
    the value.
    """
    kit = noise.kit
    parts = kit.step * int(value.denominator)
    return (kit.double * int(value.numerator) + parts) // (2 * parts)


def _lifted_magnitude(kit: Kit, digits: int) -> int | None:
    """Return lift + floor(-ln(U)/theta + beta), or None if these digits leave it open.

    Time must not tell the noise: the logarithm is taken of an integer of fixed length,
    far from 1, where MPFR always takes the same path, and the floor of a number that
    the lift has made large, so that no magnitude is shorter than another.

    Every operation goes through the kit's own arithmetic: a plain operator would round
    to whatever precision the calling thread has set.
    """
    exactly = kit.arithmetic
    shift = kit.digits + 1 - digits.bit_length()
    odd = (2 * digits + 1) << shift
    fixed = exactly.mul(exactly.log(odd), kit.scale)
    tail = exactly.mul(kit.ln2, kit.digits + 1 + shift)
    middle = exactly.add(exactly.sub(tail, fixed), kit.lifted_beta)
    radius = exactly.div(exactly.mul_2exp(kit.scale, shift + 1), odd)
    radius = exactly.add(radius, kit.slack)
    low = exactly.floor(exactly.sub(middle, radius))
    high = exactly.floor(exactly.add(middle, radius))
    return int(low) if low == high and digits and low >= kit.lift else None


def outcome(noise: GeometricNoise, step: int) -> Fraction:
    """Return the released number."""
    return step * noise.lattice


def perturb_many(
    noise: GeometricNoise, values: Sequence[int] | NDArray[np.int64], bits: Bits
) -> NDArray[Any]:
    """Return the steps that `perturb` gives on the same lanes."""
    from dpql.mechanisms.vector import magnitudes_added

    kit = noise.kit
    return magnitudes_added(
        values,
        bits,
        lattice=noise.lattice,
        scale=1 / noise.theta,
        offset=fraction(kit.beta),
        width=kit.digits + 1,
        draw=lambda value, lane: perturb(noise, value, lane),
    )
