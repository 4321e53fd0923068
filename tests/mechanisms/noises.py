"""Noise of any mechanism of the table, calibrated for what it spends."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpql.mechanisms import CONCENTRATED, PURE, Query

GAMMA = Fraction(1, 10**9)


def calibrated(
    name: str, query: Query, amount: Fraction, *, gamma: Fraction = GAMMA
) -> Any:
    """Return the noise of one cell at an epsilon, or at a rho."""
    if name in CONCENTRATED:
        return CONCENTRATED[name].calibrate(query, amount, cells=1)
    return PURE[name].calibrate(query, amount, gamma=gamma)
