"""Which private keys are shown, and nothing more, under zero-concentrated privacy.

    a key of n units is shown if n + X is at least tau; the number itself is not

X and tau are those of `key_threshold`, and so is what all keys of a unit cost. A unit
of one key, or of few, shows more of them by `selection`, which is optimal for a key by
itself: there the noise grows with the number of keys, here with its root.
Source: MATH-delta 3.4; docs/maths/private-keys.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.mechanisms import key_threshold
from dpql.mechanisms.bits import Bits
from dpql.mechanisms.key_threshold import (
    FARTHEST,
    PARAMETERS,
    KeyThreshold,
    calibrate_keys,
    certain,
    chance,
    is_within,
    loss,
    miniatures,
    parameters,
    restore,
    rho,
    units_for,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "NAME",
    "PARAMETERS",
    "accuracy",
    "calibrate_keys",
    "certain",
    "chance",
    "find",
    "is_outcome",
    "is_within",
    "loss",
    "miniatures",
    "parameters",
    "restore",
    "rho",
    "units_for",
]

NAME = "gaussian_selection"


def accuracy(noise: KeyThreshold, alpha: Fraction) -> int:
    """Return from how many units on keys are shown, but with probability alpha."""
    return units_for(noise, 1 - alpha)


def is_outcome(noise: KeyThreshold, count: int) -> bool:
    """Tell whether a number may be released of a key: none but 1 is."""
    del noise
    return count == 1


def find(
    noise: KeyThreshold, units: NDArray[np.int64], bits: Bits, *, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the keys that are shown, and 1 for each.

    ``most`` bounds what is released, which is 1. What is counted ends far beyond the
    rows that there are anywhere.
    """
    del most
    import numpy as np

    shown, _ = key_threshold.find(noise, units, bits, most=FARTHEST)
    return shown, np.ones(len(shown), np.int64)
