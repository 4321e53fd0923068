"""What a step would state with another mechanism, epsilon or target."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dpql.language import load
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.alternatives import (
    description_of,
    error_at,
    finer_grid,
    round_target,
    statistic_of,
)

SPECS = Path(__file__).parents[2] / "specs"


def planned(name: str) -> Plan:
    """Return the plan of a spec of the gallery."""
    return plan(load(SPECS / f"{name}.yaml"))


def test_a_step_gives_back_what_it_was_made_from() -> None:
    """Description and statistic follow from the plan alone."""
    made = planned("income")
    step = made.steps[1]
    assert statistic_of(made, step).name == step.name
    error = error_at(made, step, step.mechanism, step.epsilon, rows=None)
    assert error == step.accuracy
    assert description_of(made, step, step.mechanism).upper == step.upper


def test_a_round_target_is_priced() -> None:
    """The next 1, 2 or 5 below the accuracy, its epsilon, the new total."""
    made = planned("smallest_mean")
    target = round_target(made, made.steps[0])
    assert target is not None
    assert target.within == 2
    assert target.total == target.amount > made.spent
    assert round_target(planned("income"), planned("income").steps[0]) is None


def test_a_target_out_of_reach_is_not_mentioned() -> None:
    """No remark on what more than 1000 would cost."""
    made = planned("smallest_mean")
    tiny = replace(made.steps[0], accuracy=Fraction(1, 10**9))
    assert round_target(made, tiny) is None
    assert round_target(made, replace(tiny, accuracy=Fraction(0))) is None


def test_nothing_beyond_the_ceiling_is_supposed() -> None:
    """At a total of 1000 there is no millionth more."""
    made = planned("smallest_mean")
    privacy = replace(made.spec.privacy, epsilon=Fraction(1000))
    dear = plan(replace(made.spec, privacy=privacy))
    assert finer_grid(dear, dear.steps[0]) is None


def test_only_snapping_sits_on_powers_of_two() -> None:
    """Geometric noise has no such grid, nor has a ratio a promised accuracy."""
    assert finer_grid(planned("smallest_mean"), planned("smallest_mean").steps[0])
    income = planned("income")
    assert [finer_grid(income, step) for step in income.steps] == [None, None]
