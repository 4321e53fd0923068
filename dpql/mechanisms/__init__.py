"""Noise mechanisms, one module each; `MECHANISMS` is the table of them.

`CHOOSERS` holds those that choose an outcome instead of adding noise to a number.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dpql.mechanisms import geometric, quantile, snapping
from dpql.mechanisms.mechanism import Chooser, Mechanism, Query

__all__ = [
    "CHOOSERS",
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


CHOOSERS: MappingProxyType[str, Chooser[Any]] = MappingProxyType(
    {
        "exponential": quantile,
    }
)
