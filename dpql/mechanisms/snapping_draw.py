"""Snapping, the sampler: one lane of coins in, one step of the grid out.

Time must not tell the noise. So the exponent of U comes from a bit length, not from a
loop; the logarithm is taken of an integer of fixed size, far from 1, where MPFR always
takes the same path; and sums are over one fixed denominator, with no fraction reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.mechanisms.bits import Bits, flips, read_one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpql.mechanisms.snapping import SnappingNoise

_LIFT = 70
"""Bits by which the lift exceeds the farthest step."""

_EXTRA = 80
"""Bits beyond p in which a logarithm is first computed."""


class Kit:
    """Constants of the sampler, computed once per noise.

    A value is carried in units of the grid with the half of the rounding added,
    ``slope * value + offset`` = f / Lambda + 1/2, as an integer over ``whole``. A
    logarithm of p bits, mantissa * 2**-places, is a multiple of ``unit`` over it.
    ``lift`` steps are added before the division and taken off after it, so that every
    quotient has the same size and takes the same time.
    """

    __slots__ = (
        "bottom",
        "correct",
        "edge",
        "flips",
        "gain",
        "lift",
        "ln2",
        "mask",
        "needed",
        "offset",
        "places",
        "start",
        "top",
        "unit",
        "whole",
        "wide",
        "width",
    )

    def __init__(self, noise: SnappingNoise) -> None:
        Lambda = noise.Lambda_prime
        half = Fraction(1, 2)
        self.edge = -(-noise.B // Lambda)
        self.needed = noise.precision + 2
        self.width = width(noise)
        self.mask = (1 << (self.width - 1)) - 1
        self.flips = flips(self.width)
        self.places = 2 * self.needed
        slope = 1 / (noise.sensitivity * Lambda)
        self.offset = half - noise.shift * slope
        reach = noise.B / Lambda
        ratio = noise.lambda_prime / Lambda
        common = gmpy2.lcm(slope.denominator, self.offset.denominator)
        common = gmpy2.lcm(gmpy2.lcm(common, reach.denominator), ratio.denominator)
        self.whole = gmpy2.mpz(common) << self.places
        self.lift = 1 << (self.edge.bit_length() + _LIFT)
        self.gain = gmpy2.mpz(slope * int(self.whole))
        self.start = gmpy2.mpz((self.offset + self.lift) * int(self.whole))
        self.bottom = gmpy2.mpz((half - reach + self.lift) * int(self.whole))
        self.top = gmpy2.mpz((half + reach + self.lift) * int(self.whole))
        self.unit = gmpy2.mpz(ratio * int(common))
        self.correct = gmpy2.context(precision=noise.precision)
        self.wide = gmpy2.context(precision=noise.precision + _EXTRA)
        self.ln2 = self.wide.log(2)


def width(noise: SnappingNoise) -> int:
    """Return the bits of one request: a sign, a run of digits, a one, p + 1 digits."""
    return 1 + noise.run + 1 + noise.precision + 1


def perturb(noise: SnappingNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width.

    The lane is read as the sign S and then the binary digits of U, complemented where
    the sign bit is set (so that `vector` can read both as one signed integer). A
    further request is made only when U < 2**-run, run = 87.
    Source: MATH 1.1.
    """
    kit = noise.kit
    read = kit.width
    lane = read_one(bits, 0, read)
    negative = lane > kit.mask
    digits = (lane ^ kit.flips[negative]) & kit.mask
    while digits.bit_length() < kit.needed:
        missing = kit.needed - digits.bit_length()
        digits = digits << missing | read_one(bits, read, read + missing)
        read += missing
    spare = digits.bit_length() - kit.needed
    mantissa, exponent = logarithm(kit, digits >> spare, read - 1 - spare)
    fall = (kit.unit * mantissa) << int(exponent + kit.places)
    parts = int(value.denominator)
    centre = kit.gain * int(value.numerator) + kit.start * parts
    centre = min(max(centre, kit.bottom * parts), kit.top * parts)
    noisy = centre + fall * parts if negative else centre - fall * parts
    snapped = int(noisy // (kit.whole * parts)) - kit.lift
    return min(max(snapped, -kit.edge), kit.edge)


def logarithm(kit: Kit, digits: int, places: int) -> tuple[gmpy2.mpz, gmpy2.mpz]:
    """Return RN_p(ln(digits * 2**-places)) as mantissa and exponent of two.

    The logarithm is computed to p + 80 bits as ln(digits) - places * ln 2, with an
    absolute error below places * 2**(4 - p - 80); if both ends round alike, that is
    the correct rounding. Otherwise (once in 2**60 draws) MPFR rounds U itself.
    """
    wide, correct = kit.wide, kit.correct
    value = wide.sub(wide.log(digits), wide.mul(kit.ln2, places))
    error = wide.div_2exp(places, wide.precision - 4)
    low = correct.sub(value, error)
    if low != correct.add(value, error):
        uniform = gmpy2.context(precision=kit.needed).div_2exp(digits, places)
        low = correct.log(uniform)
    return low.as_mantissa_exp()  # type: ignore[no-any-return]


def outcome(noise: SnappingNoise, step: int) -> Fraction:
    """Return the released number: a multiple of the grid, or the clamp bound."""
    if abs(step) < noise.edge:
        rescaled = step * noise.Lambda_prime
    else:
        rescaled = noise.B if step > 0 else -noise.B
    return noise.shift + noise.sensitivity * rescaled


def perturb_many(
    noise: SnappingNoise, values: Sequence[int] | NDArray[np.int64], bits: Bits
) -> NDArray[Any]:
    """Return the steps that `perturb` gives on the same lanes."""
    from dpql.mechanisms.vector import snapped_steps

    kit = noise.kit
    Lambda = noise.Lambda_prime
    return snapped_steps(
        values,
        bits,
        slope=1 / (noise.sensitivity * Lambda),
        offset=kit.offset,
        ratio=noise.lambda_prime / Lambda,
        reach=noise.B / Lambda,
        edge=kit.edge,
        width=kit.width,
        precision=noise.precision,
        draw=lambda value, lane: perturb(noise, value, lane),
    )
