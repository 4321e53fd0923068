"""What-ifs, curves, round targets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpql.errors import PlanFault
from dpql.language import load
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan
from dpql.model.spec import MechanismName
from dpql.planner import plan
from dpql.review.alternatives import (
    ask_of,
    curves,
    description_of,
    error_at,
    finer_grid,
    round_target,
    what_if,
)

SPECS = Path(__file__).parents[2] / "specs"


def planned(name: str) -> Plan:
    """Return the plan of a spec of the gallery."""
    return plan(load(SPECS / f"{name}.yaml"))


def test_what_if_says_what_another_total_would_give() -> None:
    """The same as planning the changed spec, but nothing that could be run."""
    made = planned("smallest_mean")
    supposed = what_if(made, epsilon=Fraction(2))
    privacy = replace(made.spec.privacy, epsilon=Fraction(2))
    expected = plan(replace(made.spec, privacy=privacy))
    assert supposed.spent == expected.spent == 2
    assert supposed.outcomes[0].accuracy == expected.steps[0].accuracy
    assert not hasattr(supposed, "to_json")


def test_what_if_takes_another_level_and_mechanism() -> None:
    """Less certainty or geometric noise gives a smaller error."""
    made = planned("smallest_mean")
    before = made.steps[0].accuracy
    assert before is not None
    looser = what_if(made, alpha=Fraction(1, 2)).outcomes[0]
    other = what_if(made, mechanism=MechanismName.GEOMETRIC).outcomes[0]
    assert looser.accuracy is not None
    assert other.accuracy is not None
    assert max(looser.accuracy, other.accuracy) < before
    assert other.mechanism == "geometric"


def test_what_if_refuses_what_cannot_be_planned() -> None:
    """Too small a total for the targets."""
    with pytest.raises(PlanFault, match="DPQL430"):
        what_if(planned("district_wages"), epsilon=Fraction(1, 10))


def test_curves_fall() -> None:
    """Error against epsilon, for each statistic and mechanism, never rising."""
    made = planned("income")
    found = curves(made)
    assert len(found) == len(made.steps) * len(MECHANISMS)
    for curve in found:
        errors = [error for _, error in curve.points]
        assert errors == sorted(errors, reverse=True)
        assert [epsilon for epsilon, _ in curve.points][-1] == 5 * made.epsilon
    ratio = next(curve for curve in found if curve.name == "mean_income")
    assert ratio.rows == 1000
    assert next(c for c in found if c.name == "households").rows is None


def test_a_curve_passes_through_the_plan() -> None:
    """At the planned epsilon a curve has the planned accuracy."""
    made = planned("smallest_mean")
    found = curves(made, epsilons=(made.steps[0].epsilon,))
    stated = {curve.mechanism: curve.points[0][1] for curve in found}
    assert stated[made.steps[0].mechanism] == made.steps[0].accuracy


def test_a_step_gives_back_what_it_was_made_from() -> None:
    """Description and ask follow from the plan alone."""
    made = planned("income")
    step = made.steps[1]
    assert ask_of(made, step).name == step.name
    error = error_at(made, step, step.mechanism, step.epsilon, rows=None)
    assert error == step.accuracy
    assert description_of(step).upper == step.upper


def test_a_round_target_is_priced() -> None:
    """The next 1, 2 or 5 below the accuracy, its epsilon, the new total."""
    made = planned("smallest_mean")
    target = round_target(made, made.steps[0])
    assert target is not None
    assert target.within == 2
    assert target.total == target.epsilon > made.spent
    assert round_target(planned("income"), planned("income").steps[0]) is None


def test_a_target_out_of_reach_is_not_mentioned() -> None:
    """No remark on what more than 1000 would cost."""
    made = planned("smallest_mean")
    tiny = replace(made.steps[0], accuracy=Fraction(1, 10**9))
    assert round_target(made, tiny) is None
    assert round_target(made, replace(tiny, accuracy=Fraction(0))) is None


def test_nothing_beyond_the_ceiling_is_supposed() -> None:
    """At a total of 1000 there is no millionth more, and curves end there."""
    made = planned("smallest_mean")
    privacy = replace(made.spec.privacy, epsilon=Fraction(1000))
    dear = plan(replace(made.spec, privacy=privacy))
    assert finer_grid(dear, dear.steps[0]) is None
    assert {curve.points[-1][0] for curve in curves(dear)} == {Fraction(1000)}


def test_only_snapping_sits_on_powers_of_two() -> None:
    """Geometric noise has no such grid, nor has a ratio a promised accuracy."""
    assert finer_grid(planned("smallest_mean"), planned("smallest_mean").steps[0])
    income = planned("income")
    assert [finer_grid(income, step) for step in income.steps] == [None, None]
