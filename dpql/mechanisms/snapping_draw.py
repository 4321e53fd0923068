"""Snapping, the sampler: one lane of coins in, one step of the grid out.

Time must not tell the noise. So the exponent of U comes from a bit length, not from a
loop; the logarithm is taken of an integer of fixed size, far from 1, where MPFR always
takes the same path; and sums are over one fixed denominator, with no fraction reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.mechanisms.bits import Bits, each_lane, flips, read_one, unshortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpql.mechanisms.snapping import SnappingNoise

_NEAR = 29
"""Bits, at least, that tell a step: as many as one digit of Python holds."""

_LIFT = 68
"""Bits by which the lift exceeds the farthest step, about."""

_EXTRA = 80
"""Bits beyond p in which a logarithm is first computed."""


class Kit:
    """Constants of the sampler, computed once per noise.

    A value is carried in units of the grid with the half of the rounding added,
    ``slope * value + offset`` = f / Lambda + 1/2, as an integer over ``whole``. A
    logarithm of p bits, mantissa / 2**fraction_bits, is then a multiple of
    ``unit`` over it.
    ``lift`` steps are added before the division, so that every quotient has the same
    size and takes the same time; it is no power of two, near which quotients would
    lose a digit. They are taken off by the ``low`` digits, which hold ``half`` more
    than the step: a difference of long integers takes less time where it is 0.
    ``shares`` are fraction_bits * ln 2 and the error of a logarithm, for the numbers of
    bits at hand.
    """

    __slots__ = (
        "bottom",
        "correct",
        "edge",
        "flips",
        "fraction_bits",
        "gain",
        "half",
        "highest",
        "ln2",
        "low",
        "lowest",
        "mask",
        "needed",
        "offset",
        "shares",
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
        self.fraction_bits = 2 * self.needed
        slope = 1 / (noise.sensitivity * Lambda)
        self.offset = half - noise.shift * slope
        reach = noise.B / Lambda
        ratio = noise.lambda_prime / Lambda
        common = gmpy2.lcm(slope.denominator, self.offset.denominator)
        common = gmpy2.lcm(gmpy2.lcm(common, reach.denominator), ratio.denominator)
        self.whole = gmpy2.mpz(common) << self.fraction_bits
        near = max(_NEAR, self.edge.bit_length() + 2)
        self.low = (1 << near) - 1
        self.half = 1 << (near - 1)
        lift = (3 << (near + _LIFT)) + self.half
        self.lowest, self.highest = lift - self.edge, lift + self.edge
        self.gain = gmpy2.mpz(slope * int(self.whole))
        self.start = gmpy2.mpz((self.offset + lift) * int(self.whole))
        self.bottom = gmpy2.mpz((half - reach + lift) * int(self.whole))
        self.top = gmpy2.mpz((half + reach + lift) * int(self.whole))
        self.unit = gmpy2.mpz(ratio * int(common))
        self.correct = gmpy2.context(precision=noise.precision)
        self.wide = gmpy2.context(precision=noise.precision + _EXTRA)
        self.ln2 = self.wide.log(2)
        self.shares: dict[int, tuple[gmpy2.mpfr, gmpy2.mpfr]] = {}

    def prepare(self) -> dict[int, tuple[gmpy2.mpfr, gmpy2.mpfr]]:
        """Return the shares of one request, made at the first draw: plans need none."""
        known = range(self.needed, self.width)
        self.shares = {
            fraction_bits: self.share(fraction_bits) for fraction_bits in known
        }
        return self.shares

    def share(self, fraction_bits: int) -> tuple[gmpy2.mpfr, gmpy2.mpfr]:
        """Return fraction_bits * ln 2, and a bound of the logarithm's error with it."""
        wide = self.wide
        bound = wide.div_2exp(fraction_bits, wide.precision - 4)
        return wide.mul(self.ln2, fraction_bits), bound


def width(noise: SnappingNoise) -> int:
    """Return the bits of one request: a sign, a run of digits, a one, p + 1 digits."""
    return unshortened(1 + noise.run + 1 + noise.precision + 1)


def perturb(noise: SnappingNoise, value: Fraction | int, bits: Bits) -> int:
    """Return the step of one noisy outcome, from one request of fixed width.

    Source: MATH 1.1.
    """
    kit = noise.kit
    parts = int(value.denominator)
    drawn = signed_logarithm(kit, bits) * parts
    centre = kit.gain * int(value.numerator) + kit.start * parts
    centre = min(max(centre, kit.bottom * parts), kit.top * parts)
    lifted = int((centre + drawn) // (kit.whole * parts))
    return (min(max(lifted, kit.lowest), kit.highest) & kit.low) - kit.half


def signed_logarithm(kit: Kit, bits: Bits) -> gmpy2.mpz:
    """Return -S * lambda_ * ln(U) in units of the grid over ``whole``.

    The lane is read as the sign S and then the binary digits of U, complemented where
    the sign bit is set (so that `vector` can read both as one signed integer). A
    further request is made only when U < 2**-run, run = 87.
    """
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
    fall = (kit.unit * mantissa) << int(exponent + kit.fraction_bits)
    return (-fall, fall)[negative]


def logarithm(kit: Kit, digits: int, fraction_bits: int) -> tuple[gmpy2.mpz, gmpy2.mpz]:
    """Return RN_p(ln(digits * 2**-fraction_bits)) as mantissa and exponent of two.

    The logarithm is computed to p + 80 bits as ln(digits) - fraction_bits * ln 2, with
    an absolute error below fraction_bits * 2**(4 - p - 80); if both ends round alike,
    that is the correct rounding. Otherwise (once in 2**60 draws) MPFR rounds U itself.
    """
    wide, correct = kit.wide, kit.correct
    shares = kit.shares or kit.prepare()
    whole, error = shares.get(fraction_bits) or kit.share(fraction_bits)
    value = wide.sub(wide.log(digits), whole)
    low = correct.sub(value, error)
    if low != correct.add(value, error):
        uniform = gmpy2.context(precision=kit.needed).div_2exp(digits, fraction_bits)
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
    noise: SnappingNoise,
    values: Sequence[int] | NDArray[Any],
    bits: Bits,
    *,
    lower: int,
    upper: int,
) -> NDArray[Any]:
    """Return the steps that `perturb` gives on the same lanes.

        floor(K/D + N) = floor((K + floor(D N)) / D)

    K/D is the value in units of the grid with the half of the rounding added, D its
    denominator for any whole value, N the noise. So noise is drawn in units of 1/D
    without the value. A range that the inner clamp could touch (none that `calibrate`
    was given is one) and logarithms of few bits are left to `perturb`, lane by lane.
    """
    from dpql.mechanisms.adding import Floor, clipped, python_integers
    from dpql.mechanisms.vector import WORD, drawn_floors, most_drawn

    kit = noise.kit
    reach = noise.B * noise.sensitivity
    inside = noise.shift - reach <= lower <= upper <= noise.shift + reach
    if not inside or noise.precision < WORD:
        lanes = each_lane(bits, len(values), kit.width)
        return python_integers(map(partial(perturb, noise), values, lanes))
    slope = Fraction(int(kit.gain), int(kit.whole))
    divisor = int(gmpy2.lcm(slope.denominator, kit.offset.denominator))
    scale = noise.lambda_prime / noise.Lambda_prime * divisor
    unit = kit.whole // divisor
    drawn = drawn_floors(
        len(values),
        bits,
        scale=scale,
        offset=Fraction(0),
        width=kit.width,
        mirrored=False,
        draw=lambda lane: int(signed_logarithm(kit, lane) // unit),
    )
    floor = Floor(
        gain=int(slope * divisor),
        base=int(kit.offset * divisor),
        weight=1,
        divisor=divisor,
    )
    steps = floor.of(values, drawn, most=most_drawn(scale), lower=lower, upper=upper)
    return clipped(steps, kit.edge)
