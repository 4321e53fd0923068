"""Discrete Gaussian noise by its sigma2 alone, for the tests of it."""

from __future__ import annotations

from fractions import Fraction

from dpql.mechanisms.gaussian import GaussianNoise
from dpql.mechanisms.gaussian_tail import DIGITS


def noise_of(sigma2: Fraction | int | str, *, digits: int = DIGITS) -> GaussianNoise:
    """Return noise on whole numbers, of which one cell changes by 1."""
    return GaussianNoise(
        sensitivity=Fraction(1),
        lattice=Fraction(1),
        rounded=False,
        squared=Fraction(1),
        rho=1 / (2 * Fraction(sigma2)),
        digits=digits,
    )
