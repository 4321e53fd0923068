"""Edits of a spec of the gallery, and the difference that each makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from spec_text import make_spec

from dpql.language import load
from dpql.model.plan import Plan
from dpql.model.spec import CategoryColumn, Spec
from dpql.planner import plan
from dpql.review.diff import Difference, diff

SPECS = Path(__file__).parents[2] / "specs"
OLD = load(SPECS / "income.yaml")
Edit = Callable[[Spec], Spec]

LONG = "c" * 100
SHARE = "{share: 1}"


def privacy(**changes: Any) -> Edit:
    """Return an edit of the promise."""
    return lambda spec: replace(spec, privacy=replace(spec.privacy, **changes))


def data(**changes: Any) -> Edit:
    """Return an edit of the data block."""
    return lambda spec: replace(spec, data=replace(spec.data, **changes))


def column(name: str, **changes: Any) -> Edit:
    """Return an edit of one column."""

    def edit(spec: Spec) -> Spec:
        columns = tuple(
            replace(c, **changes) if c.name == name else c  # type: ignore[misc]
            for c in spec.data.columns
        )
        return replace(spec, data=replace(spec.data, columns=columns))

    return edit


def statistic(index: int, **changes: Any) -> Edit:
    """Return an edit of one statistic."""

    def edit(spec: Spec) -> Spec:
        statistics = list(spec.statistics)
        statistics[index] = replace(statistics[index], **changes)
        return replace(spec, statistics=tuple(statistics))

    return edit


def unread(spec: Spec) -> Spec:
    """Add a column that nothing reads."""
    spare = CategoryColumn(name="spare", keys=("a",))
    return data(columns=(*spec.data.columns, spare))(spec)


def compared(edit: Edit, old: Spec = OLD) -> Difference:
    """Return the difference that an edit makes."""
    return diff(plan(old), plan(edit(old)))


def made(
    statistics: dict[str, dict[str, str]] | None = None,
    *,
    edge: str = "0.5",
    fill: str = "0",
    step: str = "0.001",
    **options: str,
) -> Plan:
    """Return a plan of a histogram, or of the statistics given."""
    histogram = {"histogram": "x", "bins": f"[0, {edge}, 1]", "spend": SHARE}
    spec = make_spec(
        {
            "x": f"{{type: float, bounds: [0, 1], nulls: {{as: {fill}}}}}",
            "d": f"{{type: decimal, bounds: [0, 1], step: {step}, nulls: drop}}",
            "y": "{type: integer, bounds: [0, 10], nulls: drop}",
            f"{LONG}_public": "{type: float, bounds: [0, 1], nulls: drop}",
            f"{LONG}_secret": "{type: float, bounds: [0, 1], nulls: drop}",
            "g": f"{{type: category, keys: [{LONG}_a, {LONG}_b, c]}}",
        },
        statistics or {"q": histogram},
        **options,
    )
    return plan(spec)
