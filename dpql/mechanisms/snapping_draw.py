"""Snapping, the sampler: one lane of coins in, one step of the grid out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import fraction
from dpql.mechanisms.bits import Bits, read_one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpql.mechanisms.snapping import SnappingNoise


class Kit:
    """Constants of the sampler, computed once per noise.

    A value is carried in units of the grid with the half of the rounding added:
    ``value * slope + offset`` is f / Lambda + 1/2.
    """

    __slots__ = (
        "bottom",
        "edge",
        "log",
        "mask",
        "needed",
        "offset",
        "ratio",
        "scaled",
        "slope",
        "top",
        "width",
    )

    def __init__(self, noise: SnappingNoise) -> None:
        Lambda = noise.Lambda_prime
        half = Fraction(1, 2)
        self.edge = -(-noise.B // Lambda)
        self.slope = _mpq(1 / (noise.sensitivity * Lambda))
        self.offset = _mpq(half - noise.shift / (noise.sensitivity * Lambda))
        self.bottom = _mpq(half - noise.B / Lambda)
        self.top = _mpq(half + noise.B / Lambda)
        self.ratio = _mpq(noise.lambda_prime / Lambda)
        self.log = gmpy2.context(precision=noise.precision).log
        self.needed = noise.precision + 2
        self.scaled = gmpy2.context(precision=self.needed).div_2exp
        self.width = width(noise)
        self.mask = (1 << (self.width - 1)) - 1


def width(noise: SnappingNoise) -> int:
    """Return the bits of one request: a sign, a run of digits, a one, p + 1 digits."""
    return 1 + noise.run + 1 + noise.precision + 1


def perturb(noise: SnappingNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width.

    The lane is read as the sign S and then the binary digits of U, complemented where
    the sign bit is set (so that `vector` can read both as one signed integer). The
    exponent of U is the bit length of that one number, so no loop runs as long as the
    noise is large; a further request is made only when U < 2**-run, run = 63.
    Source: MATH 1.1.
    """
    kit = noise.kit
    read = kit.width
    lane = read_one(bits, 0, read)
    negative = lane > kit.mask
    digits = lane & kit.mask ^ (kit.mask if negative else 0)
    while digits.bit_length() < kit.needed:
        missing = kit.needed - digits.bit_length()
        digits = digits << missing | read_one(bits, read, read + missing)
        read += missing
    spare = digits.bit_length() - kit.needed
    uniform = kit.scaled(gmpy2.mpfr(digits >> spare, kit.needed), read - 1 - spare)
    logarithm = kit.ratio * gmpy2.mpq(kit.log(uniform))
    centre = min(max(kit.slope * value + kit.offset, kit.bottom), kit.top)
    noisy = centre + logarithm if negative else centre - logarithm
    return min(max(int(noisy.numerator // noisy.denominator), -kit.edge), kit.edge)


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
    return snapped_steps(
        values,
        bits,
        slope=fraction(kit.slope),
        offset=fraction(kit.offset),
        ratio=fraction(kit.ratio),
        reach=noise.B / noise.Lambda_prime,
        edge=kit.edge,
        width=kit.width,
        draw=lambda value, lane: perturb(noise, value, lane),
    )


def _mpq(x: Fraction) -> gmpy2.mpq:
    return gmpy2.mpq(x.numerator, x.denominator)
