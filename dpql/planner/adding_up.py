"""The last pass: what is promised of totals and groups that are made to add up.

Both have noise of one theta. After sharing out what they differ by, each result has one
noise of weight H/(H+1) and H of weight 1/(H+1), for H groups; the accuracy of all cells
at once is a union of bounds, since these errors hang together.
Source: MATH-statistics 6.
"""

from __future__ import annotations

from dataclasses import replace

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


def _promised(step: Step, groups: Step) -> Step:
    """Return a step with the accuracy of its values after they were moved."""
    # Most plans have no totals, and planning starts fast.
    from dpql.statistics.agreement import reach_of

    readout = step.readout
    if not isinstance(readout, Affine):
        raise InternalFault.of("DPQL900", "a total of what is no sum over rows")
    accuracy, everywhere = (
        readout.scale * reach_of(groups, level) + step.quantisation
        for level in (step.alpha, step.alpha / step.cells)
    )
    span = step.upper - step.lower
    return replace(
        step,
        accuracy=min(accuracy, span),
        accuracy_all=min(everywhere, span),
    )
