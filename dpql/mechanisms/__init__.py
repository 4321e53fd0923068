"""Noise mechanisms, one module each; `MECHANISMS` is the table of them.

`PURE` holds those of them whose cost is an epsilon, `CONCENTRATED` those whose cost is
a rho, under zero-concentrated privacy. `CHOOSERS` holds those that choose an outcome
instead of adding noise to a number.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dpql.mechanisms import gaussian, geometric, quantile, snapping
from dpql.mechanisms.mechanism import (
    Additive,
    Chooser,
    Concentrated,
    Mechanism,
    Query,
)

__all__ = [
    "CHOOSERS",
    "CONCENTRATED",
    "MECHANISMS",
    "PURE",
    "Additive",
    "Chooser",
    "Concentrated",
    "Mechanism",
    "Query",
    "lets_parts_share",
]

PURE: MappingProxyType[str, Mechanism[Any]] = MappingProxyType(
    {
        "snapping": snapping,
        "geometric": geometric,
    }
)

CONCENTRATED: MappingProxyType[str, Concentrated[Any]] = MappingProxyType(
    {
        "gaussian": gaussian,
    }
)

MECHANISMS: MappingProxyType[str, Additive[Any]] = MappingProxyType(
    {**PURE, **CONCENTRATED}
)

CHOOSERS: MappingProxyType[str, Chooser[Any]] = MappingProxyType(
    {
        "exponential": quantile,
    }
)


def lets_parts_share(mechanism: str) -> bool:
    """Tell whether numbers hidden by the mechanism may share one sensitivity."""
    return hasattr(MECHANISMS[mechanism], "calibrate_joint")
