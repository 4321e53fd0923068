"""Noise mechanisms, one module each; `MECHANISMS` is the table of them.

`PURE` holds those of them whose cost is an epsilon, `CONCENTRATED` those whose cost is
a rho, under zero-concentrated privacy. `CHOOSERS` holds those that choose an outcome
instead of adding noise to a number, and `SEARCHES` those that decide which private keys
are shown.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dpql.mechanisms import (
    gaussian,
    geometric,
    key_names,
    key_threshold,
    quantile,
    selection,
    snapping,
    truncated,
)
from dpql.mechanisms.mechanism import (
    Additive,
    Chooser,
    Concentrated,
    KeyFinder,
    Mechanism,
    Query,
)

__all__ = [
    "CHOOSERS",
    "CONCENTRATED",
    "IMPURE",
    "MECHANISMS",
    "PURE",
    "SEARCHES",
    "Additive",
    "Chooser",
    "Concentrated",
    "KeyFinder",
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


SEARCHES: MappingProxyType[str, KeyFinder[Any]] = MappingProxyType(
    {
        "selection": selection,
        "truncated_geometric": truncated,
        "gaussian_threshold": key_threshold,
        "gaussian_selection": key_names,
    }
)

IMPURE: frozenset[str] = frozenset({*CONCENTRATED, key_threshold.NAME, key_names.NAME})
"""The names of those that spend a rho, whether noise is added or keys are shown."""


def lets_parts_share(mechanism: str) -> bool:
    """Tell whether numbers hidden by the mechanism may share one sensitivity."""
    return hasattr(MECHANISMS[mechanism], "calibrate_joint")
