"""A black-box audit of whole runs on neighbouring frames.

For every statistic and mechanism the sums of two neighbours are made by the real
engine, and the noisy numbers of each are drawn 2 * 10**4 times; what they prove about
epsilon at 99.99% must not exceed the claim. Three planted faults must be convicted: a
missing clamp, a sum in floats, a unit without a bound.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from curator_plans import ALL_FILLED, COLUMNS, KNOWN, ROWS, asked
from exact_sums import exact_sums
from spec_text import make_spec

from dpql.curator.bounding import Bounder
from dpql.curator.engines import steps
from dpql.curator.engines import totals as engine_totals
from dpql.curator.entropy import SystemBits
from dpql.curator.noise import totals
from dpql.mechanisms import MECHANISMS, PURE
from dpql.model.plan import Plan, Step
from dpql.planner import plan
from dpql.testing import epsilon_lower_bound

pytestmark = pytest.mark.stats

DRAWS = 20_000
CONFIDENCE = 0.9999
NAMES = list(COLUMNS)
Moments = tuple[Any, ...]


@cache
def audited(kind: str, mechanism: str) -> Plan:
    """Return a plan that gives each statistic an epsilon of 1."""
    known = kind == "known"
    statistics = KNOWN if known else ROWS
    columns = ALL_FILLED if known else COLUMNS
    options: dict[str, Any] = {
        "rows": "{exactly: 20}" if known else "{at_most: 200}",
        "neighbours": "replace_one" if known else "add_remove",
        "epsilon": str(len(statistics)),
        "mechanism": mechanism,
    }
    if kind == "unit":
        columns = {"person": "{type: id}", **columns}
        options |= {"unit": "person", "contributes": "{rows: 2, groups: 2}"}
    shared = {name: asked(wanted) for name, wanted in statistics.items()}
    return plan(make_spec(columns, shared, **options))


def table(rows: int, *, seed: int = 1, person: Any = None) -> pl.DataFrame:
    """Return a plain table; one person per row unless all belong to one."""
    rng = random.Random(seed)
    columns: dict[str, Any] = {
        name: [rng.uniform(0, 120) for _ in range(rows)] for name in NAMES
    }
    columns["region"] = [rng.choice(["north", "1", "other"]) for _ in range(rows)]
    columns["kind"] = [rng.choice(["a", "b"]) for _ in range(rows)]
    columns["person"] = [f"p{i}" if person is None else person for i in range(rows)]
    return pl.DataFrame(columns)


def extreme(value: float, count: int = 1, person: str = "hostile") -> pl.DataFrame:
    """Return rows of one person whose every number is the same extreme value."""
    cells: dict[str, Any] = dict.fromkeys(NAMES, value)
    cells |= {"region": "north", "kind": "a", "person": person}
    return pl.DataFrame({name: [cell] * count for name, cell in cells.items()})


BASE = table(20)
ADDED: dict[str, Callable[[], tuple[pl.DataFrame, pl.DataFrame]]] = {
    "one row": lambda: (BASE, pl.concat([BASE, table(1, seed=9)])),
    "NaN row": lambda: (BASE, pl.concat([BASE, extreme(float("nan"))])),
    "1e308 row": lambda: (BASE, pl.concat([BASE, extreme(1e308)])),
    "-inf row": lambda: (BASE, pl.concat([extreme(float("-inf")), BASE])),
}
REPLACED: dict[str, Callable[[], tuple[pl.DataFrame, pl.DataFrame]]] = {
    "another row": lambda: (BASE, pl.concat([BASE[1:], table(1, seed=9)])),
    "extreme to extreme": lambda: (
        pl.concat([BASE[1:], extreme(1e308)]),
        pl.concat([BASE[1:], extreme(-1e308)]),
    ),
    "NaN row": lambda: (BASE, pl.concat([BASE[1:], extreme(float("nan"))])),
}
UNITS: dict[str, Callable[[], tuple[pl.DataFrame, pl.DataFrame]]] = {
    "two rows": lambda: (BASE, pl.concat([BASE, extreme(100.0, 2)])),
    "10^5 rows": lambda: (BASE, pl.concat([BASE, extreme(1e308, 100_000)])),
    "many cells": lambda: (
        BASE,
        pl.concat([BASE, table(5_000, seed=4, person="hostile")]),
    ),
}
CASES = [
    (kind, mechanism, name, pair)
    for kind, pairs in (("row", ADDED), ("known", REPLACED), ("unit", UNITS))
    for mechanism in PURE
    for name, pair in pairs.items()
]


def summed(made: Plan, frame: pl.DataFrame) -> Moments:
    """Return the exact sums of the real engine."""
    return exact_sums(made, frame).moments


def proved(step: Step, one: Any, other: Any) -> float:
    """Return the epsilon that draws of two neighbours prove, at the cells that move.

    All parts are drawn at the cell that moves most; further cells that move are added
    as columns, at most three in all, so that the audit keeps its power.
    """
    columns: list[tuple[Any, int, int]] = []
    for part in step.parts:
        pairs = zip(
            totals(part.measure, one, step.cells),
            totals(part.measure, other, step.cells),
            strict=True,
        )
        moved = sorted(pairs, key=lambda pair: -abs(pair[0] - pair[1]))
        columns += [(part, a, b) for a, b in moved[:2] if a != b]
    if not columns:
        return 0.0
    bits = SystemBits()
    sides: list[list[Any]] = [[], []]
    for part, *values in columns[:3]:
        mechanism = MECHANISMS[part.noise.mechanism]
        noise = mechanism.restore(dict(part.noise.parameters))
        for side, value in zip(sides, values, strict=True):
            steps = mechanism.perturb_many(
                noise,
                [value] * DRAWS,
                bits,
                lower=part.measure.lower,
                upper=part.measure.upper,
            )
            side.append(np.asarray(steps, dtype=np.float64))
    bins = {1: 64, 2: 16, 3: 8}[len(sides[0])]
    return epsilon_lower_bound(
        np.column_stack(sides[0]),
        np.column_stack(sides[1]),
        confidence=CONFIDENCE,
        bins=bins,
    ).epsilon


@pytest.mark.parametrize(
    ("kind", "mechanism", "name", "pair"), CASES, ids=lambda x: str(x)[:20]
)
def test_neighbours_prove_no_more_than_claimed(
    kind: str, mechanism: str, name: str, pair: Any
) -> None:
    """The lower bound on epsilon of every statistic is at most its loss."""
    del name
    made = audited(kind, mechanism)
    first, second = (summed(made, frame) for frame in pair())
    for step, one, other in zip(made.steps, first, second, strict=True):
        assert proved(step, one, other) <= float(step.loss), step.name


@pytest.mark.parametrize("kind", ["row", "unit"])
def test_another_order_proves_nothing(kind: str) -> None:
    """Reversed rows give the very same sums, so they prove nothing at all."""
    made = audited(kind, "geometric")
    frame = table(3_000, person=None if kind == "row" else "hostile")
    assert summed(made, frame) == summed(made, frame.reverse())


def test_the_audit_has_power() -> None:
    """On a count that moves by its sensitivity the bound comes near the claim."""
    made = audited("row", "geometric")
    first, second = (summed(made, frame) for frame in ADDED["one row"]())
    bound = proved(made.steps[0], first[0], second[0])
    assert 0.7 < bound <= 1


def _convicted(made: Plan, one: pl.DataFrame, other: pl.DataFrame, name: str) -> float:
    index = [step.name for step in made.steps].index(name)
    first, second = summed(made, one), summed(made, other)
    return proved(made.steps[index], first[index], second[index])


def test_a_missing_clamp_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: cells are not clamped, so one row moves a sum at will."""
    asked = {"total_age": {"sum": "age", "spend": "{share: 1}"}}
    made = plan(make_spec({"age": COLUMNS["age"]}, asked, rows="{at_most: 200}"))
    far = extreme(1_000_000.0)
    far = far.with_columns(pl.col("age").cast(pl.Int64))
    base = BASE.with_columns(pl.col("age").cast(pl.Int64))
    honest = _convicted(made, base, pl.concat([base, far]), "total_age")
    assert honest <= 1
    monkeypatch.setattr(steps, "clamped", lambda numbers, _: numbers.copy())
    planted = _convicted(made, base, pl.concat([base, far]), "total_age")
    assert planted > 1.5


def test_a_float_sum_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: sums of single-precision floats tell the order of the rows."""
    made = plan(
        make_spec(
            {"score": "{type: float, bounds: [0, 100], nulls: drop}"},
            {"total": {"sum": "score", "spend": "{share: 1}"}},
            epsilon="1000",
            rows="{at_most: 100000}",
        )
    )
    rng = random.Random(3)
    frame = pl.DataFrame({"score": [rng.uniform(0, 100) for _ in range(50_000)]})
    assert _convicted(made, frame, frame.sort("score"), "total") == 0

    def floats(terms: Any) -> int:
        return int(np.cumsum(terms, dtype=np.float32)[-1])

    monkeypatch.setattr(engine_totals, "_sum", floats)
    assert _convicted(made, frame, frame.sort("score"), "total") > 0.5


def test_an_unbounded_unit_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: every row of a unit survives."""
    made = audited("unit", "geometric")
    one, other = UNITS["10^5 rows"]()
    assert _convicted(made, one, other, "everyone") <= 1

    def everybody(self: Bounder, cells: Any, **_: Any) -> Any:
        del self
        return cells > 0

    monkeypatch.setattr(Bounder, "survivors", everybody)
    assert _convicted(made, one, other, "everyone") > 1.5
