"""Noise added to many values at once, in integers as wide as their range asks for.

The noise was drawn before and knows nothing of the values. Here a value meets it, and
what is done follows from the plan alone: machine integers where the declared range
leaves room for every sum, Python's integers where it does not. No value is looked at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = Sequence[int] | NDArray[Any]

_ROOM = 1 << 62
"""Sums below this size are machine integers; there is a bit to spare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """step = floor((gain * value + base + weight * noise) / divisor)."""

    gain: int
    base: int
    weight: int
    divisor: int

    def of(
        self, values: Values, noise: NDArray[Any], *, most: int, lower: int, upper: int
    ) -> NDArray[Any]:
        """Return the step of each value: an array of int64, or of Python's integers.

        Requires: lower <= value <= upper, and |noise| <= most.
        """
        reach = abs(self.gain) * max(1, abs(lower), abs(upper)) + abs(self.base)
        largest = reach + self.weight * most + self.divisor
        if noise.dtype != object and largest < _ROOM:
            return self._narrow(_machine(values), noise)
        return self._wide(_python(values), noise, largest)

    def _narrow(self, values: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
        steps: NDArray[Any] = self.weight * noise
        steps += self.gain * values
        steps += self.base
        steps //= self.divisor
        return steps

    def _wide(
        self, values: Sequence[int], noise: NDArray[Any], largest: int
    ) -> NDArray[Any]:
        """Do the same in Python's integers, all of one size before the division.

        ``lift`` steps are added first and taken off after it: every dividend lies
        between one power of two and the next.
        """
        gain, weight, divisor = self.gain, self.weight, self.divisor
        lift = (3 << (largest.bit_length() + 1)) // divisor
        start = self.base + lift * divisor
        return python_integers(
            (gain * value + start + weight * drawn) // divisor - lift
            for value, drawn in zip(values, noise.tolist(), strict=True)
        )


def clipped(steps: NDArray[Any], edge: int) -> NDArray[Any]:
    """Return the steps, none of them beyond the edge; what is int64 is below _ROOM."""
    if steps.dtype == object:
        return python_integers(min(max(step, -edge), edge) for step in steps)
    edge = min(edge, _ROOM)
    within: NDArray[Any] = np.clip(steps, -edge, edge)
    return within


def python_integers(steps: Iterable[int]) -> NDArray[Any]:
    """Return an array of Python's integers, whatever their size."""
    found = list(steps)
    array = np.empty(len(found), object)
    array[:] = found
    return array


def _machine(values: Values) -> NDArray[Any]:
    """Return values of a narrow range as int64; refuse what is no whole number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values.astype(np.int64, copy=False)
    try:
        return np.frombuffer(array("q", values), np.int64)
    except TypeError:
        raise _not_whole() from None


def _python(values: Values) -> Sequence[int]:
    """Return values as integers of Python; refuse what is no whole number."""
    listed: Sequence[int] = (
        values.tolist() if isinstance(values, np.ndarray) else values
    )
    if not {int}.issuperset(map(type, listed)):
        raise _not_whole()
    return listed


def _not_whole() -> TypeError:
    return TypeError("many values at once must be whole numbers")
