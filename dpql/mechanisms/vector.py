"""Many draws at once: doubles settle what they provably can, exact arithmetic the rest.

Both mechanisms are a floor of ``offset + scale * E`` with E = -ln(U) exponential and U
the number whose binary digits the lane holds. The first word of a lane, read as a
signed integer w, holds the sign and 31 or 63 digits: |w + 1/2| = M + 1/2. So E is known
as a double with a proved radius; where no integer lies within that radius of the
result, the floor is settled. The few other lanes are read on and drawn exactly, one by
one. The outcome is that of the exact sampler on the same lane, always. Only the noise
is ever a double: it is added to the value as an integer, for a value rounded to a
double before the noise would lose its sensitivity.

This module is the one place in `mechanisms` where floats are allowed.

Radius of E = bits * ln 2 - ln(M + 1/2):
    1/(M + 1/2)   the digits not read, for M >= 1: -ln(1-x) <= x/(1-x), x = 1/(2M+1)
    2**-43        conversion 2**-52, a log of at most 4 ulp at 44 (2**-45), constant
                  2**-46.5, three products and sums 2**-47.5 each: below 2**-44
It is multiplied by (scale + 1), which covers the rounding of the sum too, and makes the
radius exceed 1/2 when M = 0, where E has no bound.
Source: MATH 6.1, widened to lanes read in part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpql.mechanisms.bits import Bits, Lane, resume

Values = Sequence[int] | NDArray[np.int64]
Draw = Callable[[int, Lane], int]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Place = Callable[[Integers], tuple[Integers, Floats | float]]

CHUNK = 1 << 13
"""Lanes worked on at a time, so that the intermediate arrays stay in the cache."""

NARROW, WIDE = 32, 64
_NARROW_SCALE = Fraction(1 << 14)
_WIDE_SCALE = Fraction(1 << 34)
"""Up to these scales about 3e-4 and 8e-3 of the lanes stay unsettled."""

_RADIUS = 2.0**-43
_LN2 = 0.6931471805599453
_HALF = Fraction(1, 2)
_LARGEST = 1 << 61


def magnitudes_added(
    values: Values,
    bits: Bits,
    *,
    lattice: Fraction,
    scale: Fraction,
    offset: Fraction,
    width: int,
    draw: Draw,
) -> NDArray[Any]:
    """Return round(value / lattice) + S * floor(offset + scale * E) for each value.

    S is a fair sign. ``draw(value, lane)`` is the exact sampler, ``width`` the bits it
    reads at once.
    """
    word = _word(scale)
    integers = _int64(values)
    place = None if integers is None else _placing(integers, 1 / lattice, _HALF)
    if integers is None or place is None or word is None or word >= width:
        return _one_by_one(values, bits, width, draw)
    work = _Work(len(integers), bits, word, float(scale), float(offset) - 0.5)
    for part in work.parts():
        exponential = work.exponentials(part)
        magnitude = work.settle(exponential, work.radius)
        np.copysign(magnitude, work.signed, out=magnitude)
        centre, _ = place(integers[part])
        np.add(centre, magnitude.astype(np.int64), out=work.steps[part])
    return work.finish(integers, width, draw)


def snapped_steps(
    values: Values,
    bits: Bits,
    *,
    slope: Fraction,
    offset: Fraction,
    ratio: Fraction,
    reach: Fraction,
    edge: int,
    precision: int,
    width: int,
    draw: Draw,
) -> NDArray[Any]:
    """Return floor(slope * value + offset + S * ratio * E) for each, within +-edge.

    A value farther than ``reach`` grid steps from the middle is left to the exact
    sampler, which clamps it first. The radius of E covers logarithms rounded to
    ``precision`` bits from 64 on.
    """
    integers = _int64(values)
    place = None if integers is None else _placing(integers, slope, offset)
    rough = precision < WIDE or edge >= _LARGEST
    if integers is None or place is None or rough or width <= NARROW:
        return _one_by_one(values, bits, width, draw)
    inside = (reach + _HALF).__floor__() - 1
    work = _Work(len(integers), bits, NARROW, float(ratio), 0.0)
    for part in work.parts():
        noise = work.exponentials(part)
        np.copysign(noise, work.signed, out=noise)
        centre, fraction = place(integers[part])
        noise += fraction
        if max(-int(centre.min()), int(centre.max())) > inside:
            work.radius[np.abs(centre) > inside] = 1.0
        snapped = work.settle(noise, work.radius).astype(np.int64)
        snapped += centre
        np.clip(snapped, -edge, edge, out=work.steps[part])
    return work.finish(integers, width, draw)


class _Work:
    """One call: its steps, its buffers, and the lanes it could not settle."""

    def __init__(
        self, count: int, bits: Bits, word: int, scale: float, shift: float
    ) -> None:
        self.steps: Integers = np.empty(count, np.int64)
        self._bits = bits
        self._word = word
        self._scale = scale
        self._constant = (word - 1) * _LN2 * scale + shift
        self._limit = 0.5 - (scale + 1) * _RADIUS
        self._buffers = np.empty((4, min(CHUNK, count)))
        self._words: NDArray[Any] = np.empty(0, np.int64)
        self._start = 0
        self._lanes: list[int] = []
        self._heads: list[int] = []

    def parts(self) -> list[slice]:
        """Return the stretches of lanes to work on, in order."""
        count = len(self.steps)
        return [slice(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]

    def exponentials(self, part: slice) -> Floats:
        """Return scale * E + shift for a stretch; set `signed` and `radius`."""
        raw = self._bits.read(range(part.start, part.stop), 0, self._word)
        size = self._word // 8
        self._words = np.frombuffer(raw, f">i{size}").astype(f"=i{size}")
        self._start = part.start
        self.signed, result, self.radius, self._rounded = (
            buffer[: part.stop - part.start] for buffer in self._buffers
        )
        np.add(self._words, 0.5, out=self.signed)
        np.abs(self.signed, out=result)
        np.divide(self._scale + 1, result, out=self.radius)
        np.log(result, out=result)
        result *= -self._scale
        result += self._constant
        return result

    def settle(self, less_half: Floats, radius: Floats) -> Floats:
        """Return the floors of ``less_half`` + 1/2; note the lanes in doubt."""
        rounded = np.rint(less_half, out=self._rounded)
        less_half -= rounded
        np.abs(less_half, out=less_half)
        less_half += radius
        doubtful = np.flatnonzero(less_half >= self._limit)
        if len(doubtful):
            mask = (1 << self._word) - 1
            self._lanes += (doubtful + self._start).tolist()
            self._heads += [head & mask for head in self._words[doubtful].tolist()]
        return rounded

    def finish(self, values: Integers, width: int, draw: Draw) -> Integers:
        """Return the steps, the lanes in doubt read on and drawn exactly."""
        if self._lanes:
            lanes = resume(self._bits, self._lanes, self._heads, self._word, width)
            for index, lane in zip(self._lanes, lanes, strict=True):
                self.steps[index] = draw(int(values[index]), lane)
        return self.steps


def _one_by_one(values: Values, bits: Bits, width: int, draw: Draw) -> NDArray[Any]:
    """Draw every lane exactly; the only way for numbers beyond int64."""
    lanes = resume(bits, range(len(values)), [0] * len(values), 0, width)
    steps = np.empty(len(values), object)
    for index, lane in enumerate(lanes):
        steps[index] = draw(int(values[index]), lane)
    return steps


def _word(scale: Fraction) -> int | None:
    if scale <= _NARROW_SCALE:
        return NARROW
    return WIDE if scale <= _WIDE_SCALE else None


def _int64(values: Values) -> Integers | None:
    """Return the values as int64, or None if one is not below 2**61 in size.

    Arrays of other integers are widened first, so that nothing can wrap; whatever is
    not a whole number is refused.
    """
    array = np.asarray(values) if len(values) else np.empty(0, np.int64)
    if array.dtype == np.uint64 and _size(array) >= _LARGEST:
        return None
    if array.dtype.kind in "iu":
        whole = array.astype(np.int64, copy=False)
        return whole if _size(whole) < _LARGEST else None
    if array.dtype != object or not all(isinstance(value, int) for value in array):
        raise TypeError("many values at once must be whole numbers")
    small = all(abs(value) < _LARGEST for value in array)
    return array.astype(np.int64) if small else None


def _size(values: Integers) -> int:
    return max(-int(values.min()), int(values.max())) if len(values) else 0


def _placing(values: Integers, slope: Fraction, offset: Fraction) -> Place | None:
    """Return how to split slope * value + offset into its floor and the rest.

    The floor is exact; the rest, less 1/2, is right to 2**-51. None where 62 bits do
    not suffice.
    """
    if slope == 1 and offset == _HALF:
        return lambda part: (part, 0.0)
    denominator = slope.denominator * offset.denominator
    gain, base = int(slope * denominator), int(offset * denominator)
    if abs(gain) * _size(values) + abs(base) + denominator >= 1 << 62:
        return None

    def place(part: Integers) -> tuple[Integers, Floats]:
        numerator = part * gain
        numerator += base
        whole = numerator // denominator
        numerator -= whole * denominator
        return whole, numerator / denominator - 0.5

    return place
