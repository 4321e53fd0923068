"""The last pass: what is promised of totals and groups that are made to add up.

Both have noise of one theta. After sharing out what they differ by, each result has one
noise of weight H/(H+1) and H of weight 1/(H+1), for H groups; the accuracy of all cells
at once is a union of bounds, since these errors hang together.
Source: MATH-statistics 6.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpql.errors import InternalFault, PlanFault
from dpql.model.plan import Affine, Step
from dpql.model.spec import MechanismName
from dpql.planner.draft import Draft


def agree_totals(draft: Draft) -> Draft:
    """Tell the steps of totals and of their groups what they promise together."""
    steps = {step.name: step for step in draft.steps}
    for whole in draft.steps:
        if whole.total_of is None:
            continue
        for step in (whole, steps[whole.total_of]):
            if step.mechanism != MechanismName.GEOMETRIC:
                raise PlanFault.of(
                    "DPQL422",
                    f"`{step.name}` adds up only with geometric noise",
                    hint="write `mechanism: geometric` for total and groups",
                )
        groups = replace(steps[whole.total_of], total=whole.name)
        steps[groups.name] = _promised(groups, groups)
        steps[whole.name] = _promised(whole, groups)
    return replace(draft, steps=tuple(steps.values()))


def moved_error(
    step: Step, groups: Step, level: Fraction, *, epsilon: Fraction | None = None
) -> Fraction:
    """Return how far off a moved value of a step is at a level, at most.

    Raises:
        InternalFault: the step is no sum over rows (DPQL900).
    """
    # Most plans have no totals, and planning starts fast.
    from dpql.statistics.agreement import reach_of

    if not isinstance(step.readout, Affine):
        raise InternalFault.of("DPQL900", "a total of what is no sum over rows")
    reach = reach_of(groups, level, epsilon=epsilon)
    error = step.readout.scale * reach + step.quantisation
    return min(error, step.upper - step.lower)


def _promised(step: Step, groups: Step) -> Step:
    """Return a step with the accuracy of its values after they were moved."""
    return replace(
        step,
        accuracy=moved_error(step, groups, step.alpha),
        accuracy_all=moved_error(step, groups, step.alpha / step.cells),
    )
