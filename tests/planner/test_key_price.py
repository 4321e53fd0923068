"""What keys cost is the least that reaches the target, and a little more does too."""

from __future__ import annotations

from fractions import Fraction

import pytest
from private_specs import COLUMNS, SHARE
from spec_text import make_spec

from dpql.errors import PlanFault
from dpql.model.plan import Plan
from dpql.planner import plan


def _plan(within: str, mechanism: str, counted: str = "count: units") -> Plan:
    keyword, _, what = counted.partition(": ")
    columns = dict(COLUMNS, dest=COLUMNS["dest"] % "")
    found = {keyword: what, "by": "[dest]", "spend": f"{{accuracy: {within}}}"}
    return plan(
        make_spec(
            columns,
            {"found": found, "planes": {"count": "units", "spend": SHARE}},
            rows="{at_most: 100000}",
            unit="plane",
            contributes="{rows: 1, groups: 2}",
            epsilon="300",
            delta="1e-6",
            mechanism=mechanism,
        )
    )


@pytest.mark.parametrize("counted", ["count: units", "list: keys"])
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian", "auto"])
def test_the_target_is_reached_and_not_by_far(mechanism: str, counted: str) -> None:
    """A target of one less costs more."""
    costs = []
    for within in (30, 31):
        step = _plan(str(within), mechanism, counted).step("found")
        assert step.search is not None
        # Of keys alone it says from how many units on they are shown.
        reached = step.search.usual if step.accuracy is None else step.accuracy
        assert reached <= within
        costs.append(step.rho if step.epsilon is None else step.epsilon)
    assert Fraction(0) < costs[1] < costs[0]


def test_what_nothing_reaches_is_refused() -> None:
    """No epsilon shows a key that no unit has."""
    with pytest.raises(PlanFault) as caught:
        _plan("0.5", "geometric", "list: keys")
    assert "DPQL412" == caught.value.diagnostics[0].code
