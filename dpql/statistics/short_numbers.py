"""Whole numbers of few significant bits, in order, and the least of them that passes.

The end of an interval and the width of a sum of noises are such numbers: the least for
which a test is true. So they follow from the test alone, however they were searched,
and a search may start from a guess that differs between machines.
"""

from __future__ import annotations

from typing import Protocol

BITS = 36
"""Significant bits: an interval is wider than it had to be by 2**-35 at most."""

_HALF = 1 << (BITS - 1)
_FASTER = 4


class Test(Protocol):
    """A test of a short number by its index; what is expected only saves time."""

    def __call__(self, index: int, *, expected: bool) -> bool:
        """Tell whether it passes."""


def short(index: int) -> int:
    """Return the short number that has so many below it."""
    if index < 2 * _HALF:
        return index
    shift, rest = divmod(index, _HALF)
    return (rest + _HALF) << (shift - 1)


def index_above(number: int) -> int:
    """Return the index of the least short number that is not below ``number`` >= 0."""
    shift = max(number.bit_length() - BITS, 0)
    rounded = -(-number >> shift)
    # A carry makes the mantissa 2 * _HALF, which is the first of the next exponent.
    return rounded + shift * _HALF


def least(test: Test, low: int, high: int, guess: int) -> int:
    """Return the least of low + 1 .. high that passes; ``high`` passes, ``low`` fails.

    Requires: what passes goes on to do so.
    """
    i = min(max(guess, low + 1), high)
    up = i != high and not test(i, expected=True)
    low, high = (i, high) if up else (low, i)
    step = 1
    while high - low > 1:
        i = min(low + step, high - 1) if up else max(high - step, low + 1)
        passes = test(i, expected=up)
        low, high = (low, i) if passes else (i, high)
        if passes == up:
            break
        step <<= _FASTER
    while high - low > 1:
        i = (low + high) // 2
        low, high = (low, i) if test(i, expected=True) else (i, high)
    return high
