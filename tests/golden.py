"""Reads the golden vectors of tests/vectors and compares numbers as they demand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent / "vectors"


SPECS = Path(__file__).parents[1] / "specs"


def gallery_spec(name: str) -> Path:
    """Return a spec of the gallery as earlier formats knew it."""
    kept = VECTORS / "gallery" / f"{name}.yaml"
    return kept if kept.exists() else SPECS / f"{name}.yaml"


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of one vector file."""
    data = json.loads((VECTORS / f"{name}.json").read_text("utf-8"))
    assert len(data["cases"]) == data["count"]
    return list(data["cases"])


def label(case: dict[str, Any]) -> str:
    """Return a name for a case in test reports."""
    return str(case.get("id") or case.get("theta") or case.get("kind"))


def close(expected: str, actual: Fraction, tolerance: Fraction) -> bool:
    """Say whether ``actual`` is ``expected`` to a relative tolerance.

    A probability below 1e-4900 is not spelt out: any bound below 1e-4900 will do.
    """
    exponent = int(expected.partition("e")[2] or 0)
    if exponent < -4900:
        return 0 <= actual < Fraction(1, 10**4900)
    exact = Fraction(expected)
    return abs(actual - exact) <= tolerance * abs(exact)


TOLERANCE = Fraction(1, 10**12)
