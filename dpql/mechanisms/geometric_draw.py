"""Two-sided geometric noise, the sampler: one lane of coins in, one step out.

    |X| = floor( -ln(U)/theta + beta ),   beta = ln(2/(1+q)) / theta,   fair sign

With the digits D of U read so far, -ln(U) is known to 1/(D + 1/2). The working
precision exceeds the digits by 64 bits; ``slack`` is 2**16 times the unit of the last
place of the largest term, far more than the five roundings can add up to.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import fraction, power_of_two_up
from dpql.mechanisms.bits import Bits, read_one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpql.mechanisms.geometric import GeometricNoise


class Kit:
    """Constants of the sampler for a number of digits, computed once per noise."""

    __slots__ = (
        "arithmetic",
        "beta",
        "digits",
        "double",
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
        self.step = noise.lattice.numerator
        self.double = 2 * noise.lattice.denominator
        precision = digits + 64
        self.arithmetic = gmpy2.context(precision=precision)
        with gmpy2.context(precision=precision):
            theta = gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))
            self.beta = gmpy2.log(2 / (1 + gmpy2.exp(-theta))) / theta
            self.scale = 1 / theta
            self.ln2 = gmpy2.log(2) / theta
            self.slack = (2 * digits * self.ln2 + 1) * gmpy2.exp2(16 - precision)


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
    digits = lane & kit.mask ^ (kit.mask if negative else 0)
    magnitude = _magnitude(kit, digits)
    while magnitude is None:
        digits = digits << noise.kit.digits | read_one(
            bits, read, read + noise.kit.digits
        )
        read += noise.kit.digits
        kit = Kit(noise, read - 1)
        magnitude = _magnitude(kit, digits)
    return nearest(noise, value) + (-magnitude if negative else magnitude)


def nearest(noise: GeometricNoise, value: Fraction | int) -> int:
    """Return the lattice step nearest to ``value``; ties go up.

    Integers only, over one denominator: reducing fractions would take its time from
    the value.
    """
    kit = noise.kit
    parts = kit.step * int(value.denominator)
    return (kit.double * int(value.numerator) + parts) // (2 * parts)


def _magnitude(kit: Kit, digits: int) -> int | None:
    """Return floor(-ln(U)/theta + beta), or None if these digits leave it open.

    The logarithm is taken of an integer of fixed length, far from 1, where MPFR always
    takes the same path: time must not tell the noise. Every operation goes through the
    kit's own arithmetic: a plain operator would round to whatever precision the calling
    thread has set.
    """
    exactly = kit.arithmetic
    missing = kit.digits - digits.bit_length()
    odd = (2 * digits + 1) << missing
    fixed = exactly.mul(exactly.log(odd), kit.scale)
    tail = exactly.mul(kit.ln2, kit.digits + 1 + missing)
    middle = exactly.add(exactly.sub(tail, fixed), kit.beta)
    radius = exactly.div(exactly.mul_2exp(kit.scale, missing + 1), odd)
    radius = exactly.add(radius, kit.slack)
    low = exactly.floor(exactly.sub(middle, radius))
    high = exactly.floor(exactly.add(middle, radius))
    return int(low) if low == high and digits and low >= 0 else None


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
