"""Many draws at once: doubles settle what they provably can, exact arithmetic the rest.

Both mechanisms draw a floor of ``offset + scale * E`` with E = -ln(U) exponential and U
the number whose binary digits the lane holds. The first word of a lane, read as a
signed integer w, holds the sign and 63 digits: |w + 1/2| = M + 1/2. So E is known as a
double with a proved radius; where no integer lies within that radius of the result, the
floor is settled. The few other lanes are drawn exactly, one by one, from the bits that
were read with all the others. The outcome is that of the exact sampler on the same
lane, always.

No value has a part in it: which lanes are in doubt is decided by the noise alone, and
`adding` brings noise and values together as integers. A value rounded to a double would
lose its sensitivity.

This module is the one place in `mechanisms` where floats are allowed.

Radius of E = 63 ln 2 - ln(M + 1/2), which is at most 44.4:
    1/(M + 1/2)   the digits not looked at, for M >= 1:
                  -ln(1-x) <= x/(1-x), x = 1/(2M+1)
    2**-43        sixteen units of 2**-47, the last place of numbers from 32 to 64:
                  4 for a logarithm within 4 of its last places, 2.1 for the constant
                  (63, ln 2, scale and offset, multiplied and added), 0.7 each for
                  rounding the scale, the product and the sum, 0.1 for the rest, the
                  rounding of E itself to 64 bits included: 8.3 in all
It is multiplied by (scale + 1), which covers an offset of up to a scale, and makes the
radius exceed 1/2 when M = 0, where E has no bound.
Source: MATH 6.1, widened to lanes looked at in part.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpql.mechanisms.adding import python_integers
from dpql.mechanisms.bits import Bits, Lane, each_lane, stretches

Draw = Callable[[Lane], int]

WORD = 64
"""Digits looked at, with the sign."""

LARGEST_SCALE = Fraction(1 << 38)
"""Up to this scale doubles settle the lanes, but for 2**-42 * scale of them."""

_RADIUS = 2.0**-43
"""Of E, for an offset of at most a scale; twice what was found above."""

_LN2 = 0.6931471805599453
_DEPTH = 16


def most_drawn(scale: Fraction) -> int:
    """Return more than any noise of this scale, but with probability 2**-94000."""
    return (scale.__ceil__() + 1) << _DEPTH


def drawn_floors(
    count: int,
    bits: Bits,
    *,
    scale: Fraction,
    offset: Fraction,
    width: int,
    mirrored: bool,
    draw: Draw,
) -> NDArray[Any]:
    """Return S * floor(offset + scale * E) for each lane, or floor(S * scale * E).

    S is a fair sign; it stands before the floor if ``mirrored``, else inside, with an
    offset of 0. ``draw`` is the exact sampler, ``width`` the bits it reads at once.
    Noise that doubles cannot settle, by its scale, is drawn exactly for every lane, in
    Python's integers.
    """
    if scale > LARGEST_SCALE or width < WORD or width % 8:
        return python_integers(map(draw, each_lane(bits, count, width)))
    settler = Settler(float(scale), float(offset) - 0.5)
    steps = np.empty(count, np.int64)
    size = width // 8
    for lanes in stretches(count):
        heads = bits.read(lanes, 0, width)
        words = np.ndarray(len(lanes), ">i8", heads, strides=(size,)).astype(np.int64)
        floors, doubtful = settler.settled(words)
        words >>= WORD - 1
        floors ^= words
        if mirrored:
            floors -= words
        for index in doubtful.tolist():
            head = heads[size * index : size * (index + 1)]
            floors[index] = draw(Lane(bits, lanes[index], head))
        steps[lanes.start : lanes.stop] = floors
    return steps


class Settler:
    """What doubles say of offset + scale * E, and how far they can be trusted."""

    def __init__(self, scale: float, shift: float) -> None:
        self._scale = scale
        self._constant = (WORD - 1) * _LN2 * scale + shift
        self._limit = 0.5 - (scale + 1) * _RADIUS

    def settled(
        self, words: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return floor(offset + scale * E) of the words, and which are in doubt."""
        points = words.astype(np.float64)
        points += 0.5
        np.abs(points, out=points)
        radius = (self._scale + 1) / points
        less_half = self.estimated(points)
        rounded = np.rint(less_half)
        less_half -= rounded
        np.abs(less_half, out=less_half)
        less_half += radius
        return rounded.astype(np.int64), np.flatnonzero(less_half >= self._limit)

    def estimated(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return shift + scale * (63 ln 2 - ln(point)), in the place of the points."""
        np.log(points, out=points)
        points *= -self._scale
        points += self._constant
        return points
