"""Noise mechanisms, one module each; `MECHANISMS` is the table of them.

`CONCENTRATED` holds those whose cost is a rho, under zero-concentrated privacy.
`CHOOSERS` holds those that choose an outcome instead of adding noise to a number.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dpql.mechanisms import gaussian, geometric, quantile, snapping
from dpql.mechanisms.mechanism import Chooser, Mechanism, Query

__all__ = [
    "CHOOSERS",
    "CONCENTRATED",
    "MECHANISMS",
    "Chooser",
    "Mechanism",
    "Query",
    "lets_parts_share",
]

MECHANISMS: MappingProxyType[str, Mechanism[Any]] = MappingProxyType(
    {
        "snapping": snapping,
        "geometric": geometric,
    }
)


def lets_parts_share(mechanism: str) -> bool:
    """Tell whether numbers hidden by the mechanism may share one sensitivity."""
    return hasattr(MECHANISMS[mechanism], "calibrate_joint")


CONCENTRATED: MappingProxyType[str, Any] = MappingProxyType({"gaussian": gaussian})

CHOOSERS: MappingProxyType[str, Chooser[Any]] = MappingProxyType(
    {
        "exponential": quantile,
    }
)
