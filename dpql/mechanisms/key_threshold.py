"""Counts of private keys with Gaussian noise: shown where they reach a threshold.

    a key of n units is shown with the count n + X, if that is at least tau
    P(X = x) = exp(-x**2 / (2 sigma2)) / Z,   sigma2 = keys / (2 rho)
    tau = 1 + min{m >= 1: 1 - (1 - P(X >= m))**keys <= delta}

Adding a unit changes the counts of at most ``keys`` keys by one. Those that it shares
with others cost rho together; those that it alone has are shown with a probability of
at most delta. The counts are of distinct units.
Source: MATH-delta 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.errors import PlanFault
from dpql.exact import read_fraction
from dpql.mechanisms import gaussian
from dpql.mechanisms.accounting import gaussian_threshold
from dpql.mechanisms.bits import Bits
from dpql.mechanisms.gaussian import GaussianNoise
from dpql.mechanisms.gaussian_tail import tail_of
from dpql.mechanisms.mechanism import agreed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "gaussian_threshold"

PARAMETERS: Mapping[str, str] = {
    "keys": "how many keys a unit changes at most",
    "rho": "what they cost together under zero-concentrated privacy, but for delta",
    "sigma2": "keys / (2 rho), the parameter of the noise",
    "delta": "the probability that keys of one unit are shown is at most this",
    "tau": "the least noisy count that is shown",
}

FARTHEST = 1 << 50
"""The largest threshold: noise of it keeps every count within a machine's numbers."""

_BITS = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyThreshold:
    """The noise of the counts of all keys, and the least count that is shown."""

    noise: GaussianNoise
    keys: int
    delta: Fraction
    tau: int

    @property
    def rho(self) -> Fraction:
        """What all keys of a unit cost."""
        return self.noise.rho

    @property
    def sigma2(self) -> Fraction:
        """The parameter of the noise."""
        return self.noise.sigma2


def calibrate_keys(spend: Fraction, delta: Fraction, *, keys: int) -> KeyThreshold:
    """Return noise and threshold of keys of which a unit changes so many.

    Raises:
        PlanFault: the rho is none that a release may have, delta not between 0 and 1,
            or the threshold beyond 2**50 (DPQL413).
    """
    noise = gaussian.calibrate_joint(1, keys, spend)
    tau = gaussian_threshold(noise.sigma2, delta, keys, 1)
    if tau > FARTHEST:
        raise PlanFault.of(
            "DPQL413",
            "so little rho and delta needs noise beyond any number of units",
            hint="spend more on the keys",
        )
    return KeyThreshold(noise=noise, keys=keys, delta=delta, tau=tau)


def parameters(noise: KeyThreshold) -> dict[str, str]:
    """Return every parameter as exact text."""
    return {name: str(getattr(noise, name)) for name in PARAMETERS}


def restore(given: Mapping[str, str]) -> KeyThreshold:
    """Return the noise that has these parameters; refuse any that disagree."""
    try:
        exact = {name: read_fraction(given[name]) for name in PARAMETERS}
        keys = exact["keys"]
        if keys.denominator != 1 or keys < 1:
            return agreed(NAME, None, {}, given)
        noise = calibrate_keys(exact["rho"], exact["delta"], keys=int(keys))
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: KeyThreshold) -> Fraction:
    """Return the rho of all keys of a unit, but for delta."""
    return noise.keys / (2 * noise.sigma2)


def rho(noise: KeyThreshold) -> Fraction:
    """Return the same: what it loses is a rho."""
    return loss(noise)


def is_within(noise: KeyThreshold, delta: Fraction, *, keys: int) -> bool:
    """Tell whether so many keys fail with a probability of at most delta."""
    return noise.tau >= gaussian_threshold(noise.sigma2, delta, keys, 1)


def chance(noise: KeyThreshold, units: int) -> Fraction:
    """Return the probability that a key with so many units is shown, from below."""
    if units < 1:
        return Fraction(0)
    least, whole = noise.tau - units, 2 << _BITS
    if least <= 0:
        return 1 - Fraction(tail_of(noise.sigma2).bounds(1 - least, _BITS)[1], whole)
    return Fraction(tail_of(noise.sigma2).bounds(least, _BITS)[0], whole)


def units_for(noise: KeyThreshold, wanted: Fraction) -> int:
    """Return the least number of units that is shown at least so probably."""
    assert 0 < wanted < 1, "no number of units is sure to be shown"
    low, high = 0, noise.tau
    while chance(noise, high) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(noise, middle) >= wanted else (middle, high)
    return high


def certain(noise: KeyThreshold) -> None:
    """Return None: no number of units is sure to be shown."""
    del noise


def accuracy(noise: KeyThreshold, alpha: Fraction) -> int:
    """Return A: a key is shown with a count that is more than A off seldom, alpha."""
    return int(gaussian.accuracy(noise.noise, alpha))


def is_outcome(noise: KeyThreshold, count: int) -> bool:
    """Tell whether a number may be released of a key."""
    return count >= noise.tau


def find(
    noise: KeyThreshold, units: NDArray[np.int64], bits: Bits, *, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of some keys are shown, and with what counts.

    ``units`` are all at least 1: an absent key draws no noise.
    """
    import numpy as np

    counted = np.minimum(units, most)
    counts = gaussian.perturb_many(noise.noise, counted, bits, lower=1, upper=most)
    shown = np.flatnonzero(counts >= noise.tau)
    return shown, np.array(counts.take(shown).tolist(), np.int64)


def miniatures() -> list[KeyThreshold]:
    """Return noises that read few bits, to enumerate wholly."""
    found = []
    for rho_, keys, delta, digits in (("2", 1, "1/20", 6), ("1/2", 2, "1/10", 6)):
        noise = calibrate_keys(Fraction(rho_), Fraction(delta), keys=keys)
        small = GaussianNoise(
            sensitivity=noise.noise.sensitivity,
            lattice=noise.noise.lattice,
            rounded=noise.noise.rounded,
            squared=noise.noise.squared,
            rho=noise.noise.rho,
            digits=digits,
        )
        found.append(
            KeyThreshold(noise=small, keys=keys, delta=noise.delta, tau=noise.tau)
        )
    return found
