"""A total of rows may fall into one cell: its square, not its sum, is what it costs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import spec_text

from dpql.mechanisms.concentrated import geometric_rho_up
from dpql.model.plan import Plan
from dpql.planner import plan

ROWS, GROUPS, TOTAL = 4, 3, 6


def made(delta: str, total: int | None = TOTAL) -> Plan:
    """Return a plan of a geometric and a Gaussian count of units with many rows."""
    most = "" if total is None else f", total: {total}"
    count = {"count": "rows", "by": "[kind]", "spend": "{share: 1}"}
    text = spec_text.spec_text(
        {"person": spec_text.ID, "kind": "{type: category, keys: [a, b, c]}"},
        {
            "pure": count,
            "other": {**count, "mechanism": "gaussian"} if delta != "0" else count,
        },
        unit="person",
        contributes=f"{{rows: {ROWS}, groups: {GROUPS}{most}}}",
    )
    changed = text.replace("delta: 0", f"delta: {delta}")
    assert delta == "0" or changed != text
    return plan(spec_text.load_text(changed, form="yaml"))


@pytest.mark.parametrize("total", [TOTAL, None])
def test_no_way_to_spread_rows_costs_more_than_the_plan_says(total: int | None) -> None:
    """Every way to put a unit's rows into its groups is tried."""
    found = made("1e-9", total)
    step = found.step("pure")
    (part,) = step.parts
    theta = Fraction(dict(part.noise.parameters)["theta"])
    most = max(
        sum((geometric_rho_up(theta, d) for d in moves if d), Fraction(0))
        for moves in product(range(ROWS + 1), repeat=GROUPS)
        if sum(moves) <= (total or ROWS * GROUPS)
    )
    assert step.rho is not None
    assert most <= step.rho


def test_pure_plans_keep_what_a_total_saves() -> None:
    """Losses of single rows add up, wherever they fall."""
    (part,) = made("0").step("pure").parts
    assert (1, TOTAL) == (part.measure.sensitivity, part.measure.l0)
    (part,) = made("1e-9").step("pure").parts
    assert (ROWS, GROUPS) == (part.measure.sensitivity, part.measure.l0)
