"""The points of the curves are the planner's."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dpql.language import load
from dpql.mechanisms import PURE
from dpql.model.plan import Plan
from dpql.model.spec import RowsAtMost
from dpql.planner import plan
from dpql.review.curves.points import (
    error_curves,
    row_counts,
    step_curves,
    totals,
    variants,
)

SPECS = Path(__file__).parents[3] / "specs"
GRID = tuple(Fraction(factor, 100) for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500))
"""Parts of a total, from a hundredth to five times it."""


def planned(name: str) -> Plan:
    """Return the plan of a spec of the gallery."""
    return plan(load(SPECS / f"{name}.yaml"))


def around(made: Plan) -> tuple[Fraction, ...]:
    """Return epsilons around the total of a plan."""
    return tuple(made.epsilon * factor for factor in GRID)


def test_curves_fall() -> None:
    """Error against epsilon, for each statistic and mechanism, never rising."""
    made = planned("income")
    found = error_curves(made, around(made), rows=1000)
    assert len(found) == len(made.steps) * len(PURE)
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
    found = error_curves(made, (made.steps[0].epsilon,), rows=1000)
    stated = {curve.mechanism: curve.points[0][1] for curve in found}
    assert stated[made.steps[0].mechanism] == made.steps[0].accuracy


def test_curves_end_at_the_ceiling() -> None:
    """At a total of 1000 nothing dearer is drawn."""
    made = planned("smallest_mean")
    privacy = replace(made.spec.privacy, epsilon=Fraction(1000))
    dear = plan(replace(made.spec, privacy=privacy))
    found = error_curves(dear, around(dear), rows=1000)
    assert {curve.points[-1][0] for curve in found} == {Fraction(1000)}


def test_the_plan_itself_is_on_every_grid() -> None:
    """The sliders start at what is planned."""
    made = planned("district_wages")
    assert made.epsilon in totals(made)
    for each in step_curves(made):
        for curve in each.curves:
            assert each.step.epsilon in dict(curve.points)


def test_other_contributions_are_planned() -> None:
    """The plan's own is among them; each is what the planner makes of that spec."""
    made = planned("district_wages")
    found = variants(made)
    assert [1, 2, 3, 5, 10, 20] == [variant.rows for variant in found]
    (own,) = (variant for variant in found if variant.rows == 3)
    assert own.plan == made
    for variant in found:
        bound = variant.plan.spec.privacy.contributes
        assert bound == replace(made.spec.privacy.contributes, rows=variant.rows)
        for step, curves in zip(variant.plan.steps, variant.curves, strict=True):
            assert len(curves) == (1 if step.accuracy else len(row_counts(made)))
            epsilons = [epsilon for epsilon, _ in curves[0].points]
            assert step.epsilon in epsilons


def test_nothing_slides_where_nothing_would_change() -> None:
    """Rows as units contribute one row; statistics with bounds of their own stay."""
    made = planned("smallest_mean")
    assert [made] == [variant.plan for variant in variants(made)]
    assert () == row_counts(made)
    spec = planned("district_wages").spec
    own = spec.privacy.contributes
    fixed = replace(
        spec, statistics=tuple(replace(s, contributes=own) for s in spec.statistics)
    )
    assert 1 == len(variants(plan(fixed)))


def test_rows_do_not_pass_the_ceiling() -> None:
    """No error is shown for more rows than there can be."""
    made = planned("district_wages")
    assert (100, 1_000, 10_000, 100_000, 1_000_000) == row_counts(made)
    few = replace(made.spec, data=replace(made.spec.data, rows=RowsAtMost(count=5_000)))
    assert (100, 1_000, 5_000) == row_counts(plan(few))
