"""What joint parts change together, derived without the planner's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.mechanisms import geometric
from dpql.model.plan import Bound, Noise, Part, Plan, Step
from dpql.model.spec import Neighbours
from dpql.planner import plan
from dpql.planner.audit import audit_loss
from dpql.planner.shared_sensitivity import shared_sensitivity

COLUMNS = {
    "p": ID,
    "x": integer(0, 20),
    "z": integer(0, 3),
    "y": "{type: float, bounds: [0, 1], nulls: {as: 0.5}}",
    "g": "{type: category, keys: [a, b, c]}",
}
KINDS = {
    "mean": {"mean": "x"},
    "variance": {"variance": "x"},
    "covariance": {"covariance": "[x, z]"},
    "fine_mean": {"mean": "y"},
    "fine_variance": {"variance": "y"},
    "fine_covariance": {"covariance": "[y, x]"},
}


def planned(neighbours: str = "add_remove", *, group: str = "[g]") -> Plan:
    """Return a plan of every kind of joint parts, for units of several rows."""
    rows = "{exactly: 99}" if neighbours == "replace_one" else "{at_most: 99}"
    kinds = {
        name: kind | {"by": group, "spend": "{share: 1}"}
        for name, kind in KINDS.items()
    }
    spec = make_spec(
        COLUMNS,
        kinds,
        rows=rows,
        neighbours=neighbours,
        unit="p",
        contributes="{rows: 2, groups: 2}",
    )
    return plan(spec)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", KINDS)
def test_it_is_what_the_planner_states(name: str, neighbours: str) -> None:
    """Two derivations of one number: rounded parts and clamped cells included."""
    step = planned(neighbours).step(name)
    assert step.parts[0].measure.sensitivity == shared_sensitivity(step)


def with_parts(step: Step, change: Callable[[Part], Part]) -> Step:
    """Return the step with every part changed."""
    return replace(step, parts=tuple(map(change, step.parts)))


def quieter(step: Step, sensitivity: int, **parameters: str) -> Step:
    """Return the step with the noise of another sensitivity, stated as it is."""

    def change(part: Part) -> Part:
        noise = geometric.calibrate_joint(sensitivity, part.epsilon)
        written = geometric.parameters(noise) | parameters
        return replace(
            part,
            measure=replace(part.measure, sensitivity=sensitivity),
            noise=Noise(
                mechanism="geometric", parameters=tuple(sorted(written.items()))
            ),
        )

    return with_parts(step, change)


def measured(step: Step, **members: Any) -> Step:
    """Return the step with a member of every measure changed."""
    return with_parts(
        step, lambda part: replace(part, measure=replace(part.measure, **members))
    )


def sensitivity(step: Step) -> int:
    """Return what the step states."""
    return step.parts[0].measure.sensitivity


FORGED: dict[str, Callable[[Step], Step]] = {
    "less noise": lambda step: quieter(step, sensitivity(step) - 1),
    "a larger scale": lambda step: measured(
        step, scale=step.parts[0].measure.scale * Fraction(9, 8)
    ),
    "a scale of one part": lambda step: replace(
        step,
        parts=(*step.parts[:-1], *measured(step, scale=Fraction(1, 3)).parts[-1:]),
    ),
    "a part twice": lambda step: replace(step, parts=(*step.parts, step.parts[0])),
    "a part less": lambda step: replace(step, parts=step.parts[1:]),
    "no part": lambda step: replace(step, parts=()),
    "moments multiplied": lambda step: measured(
        step, terms=(replace(step.parts[0].measure.terms[0], moments=("u", "u")),)
    ),
    "a lattice that rounds once more": lambda step: quieter(
        step,
        sensitivity(step) * 2,
        lattice="2",
        rounded="1",
        theta=str(step.epsilon / sensitivity(step)),
    ),
    "another relation": lambda step: replace(step, relation=Neighbours.REPLACE_ONE),
    "more rows of a unit": lambda step: replace(step, bound=Bound(rows=3, cells=2)),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("name", KINDS)
def test_the_audit_of_the_loss_alone_refuses_a_forged_step(
    name: str, forged: str
) -> None:
    """Each hides less than what its parts change together."""
    made = planned()
    audit_loss(made)
    steps = [FORGED[forged](step) if step.name == name else step for step in made.steps]
    with pytest.raises(PlanFault, match=r"DPQL402.*shared sensitivity"):
        audit_loss(replace(made, steps=tuple(steps)))


def test_parts_of_other_steps_cannot_be_passed_off_as_joint() -> None:
    """The centred sum of a mean can be negative, so a count is not its complement."""
    kind = {"mean": "x", "mechanism": "snapping", "spend": "{share: 1}"}
    (step,) = plan(make_spec(COLUMNS, {"it": kind})).steps
    assert shared_sensitivity(replace(step, joint=True)) is None


def test_a_part_that_may_be_negative_is_none_of_one() -> None:
    """Parts 2u and Q - 2u add up to Q, but change by up to 3Q."""
    step = planned().step("mean")
    upper, lower = step.parts

    def doubled(part: Part) -> Part:
        terms = tuple(
            replace(term, coefficient=2 * term.coefficient)
            if term.moments == ("u",)
            else term
            for term in part.measure.terms
        )
        return replace(part, measure=replace(part.measure, terms=terms))

    assert shared_sensitivity(step) is not None
    forged = replace(step, parts=(doubled(upper), doubled(lower)))
    assert shared_sensitivity(forged) is None


def test_a_step_without_grids_is_refused_without_a_traceback() -> None:
    """Its parts may name moments that nothing sums."""
    step = replace(planned().step("mean"), grids=())
    assert shared_sensitivity(step) is None
