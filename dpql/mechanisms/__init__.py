"""Noise mechanisms, one module each; `MECHANISMS` is the table of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dpql.mechanisms import geometric, snapping
from dpql.mechanisms.mechanism import Mechanism, Query

__all__ = ["MECHANISMS", "Mechanism", "Query"]

MECHANISMS: MappingProxyType[str, Mechanism[Any]] = MappingProxyType(
    {
        "snapping": snapping,
        "geometric": geometric,
    }
)
