"""A finished plan, examined from its own members alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import DpqlError, PlanFault
from dpql.mechanisms import CHOOSERS, MECHANISMS, lets_parts_share
from dpql.model.codec import Malformed, encode
from dpql.model.figures import quantity, rational
from dpql.model.plan import Part, Pick, Plan, Step
from dpql.model.spec import Spec
from dpql.planner.rules import Rules
from dpql.planner.shared_sensitivity import shared_sensitivity
from dpql.planner.soundness import is_sound


def audit_loss(plan: Plan) -> Fraction:
    """Return the total loss, recomputed; refuse a plan that exceeds its budget.

        loss(part) = l0 * loss of the noise of the parameters

    The noise must hide at least the part's sensitivity, or the quantile's cost. That of
    joint parts is derived again here. Nothing else that the planner computed is
    believed but sensitivities, costs and l0, which `refuse_altered` derives again.

    Raises:
        PlanFault: a stated loss is not the recomputed one (DPQL402), or the losses add
            up to more than a part, a step or the plan may spend (DPQL403).
    """
    total = Fraction(0)
    for step in plan.steps:
        losses = [_part_loss(step, part) for part in step.parts]
        losses += [_pick_loss(step, pick) for pick in step.picks]
        epsilons = [part.epsilon for part in step.parts]
        epsilons += [pick.epsilon for pick in step.picks]
        if step.joint:
            _require_shared(step)
            loss, shares = max(losses), max(epsilons)
        else:
            _agree(bool(losses), f"the noise of `{shown(step.name)}`")
            loss, shares = sum(losses, Fraction(0)), sum(epsilons, Fraction(0))
        _agree(step.loss == loss, f"the loss of `{shown(step.name)}`")
        _afford(loss, step.epsilon, f"`{shown(step.name)}`")
        _agree(shares <= step.epsilon, f"the parts' epsilons of `{shown(step.name)}`")
        total += loss
    spent = sum((step.epsilon for step in plan.steps), Fraction(0))
    _agree(plan.loss == total, "the total loss")
    _agree(plan.spent == spent, "the sum of the steps' epsilons")
    _agree(plan.epsilon == plan.spec.privacy.epsilon, "the budget")
    _afford(spent, plan.epsilon, "the plan")
    _afford(total, plan.epsilon, "the plan")
    return total


def refuse_altered(
    plan: Plan, rules: Rules, compiled: Callable[[Spec, Rules], Plan]
) -> None:
    """Compare every member with what the plan's own spec compiles to.

    Raises:
        PlanFault: a member differs, or the spec does not compile (DPQL402).
    """
    if not is_sound(plan.spec, rules):
        raise _altered("its spec breaks the rules of the language")
    try:
        expected = compiled(plan.spec, rules)
    except DpqlError:
        raise _altered("its spec cannot be planned") from None
    if plan != expected:
        try:
            path = _difference(encode(Plan, expected), encode(Plan, plan), "plan")
        except Malformed:
            # It has members that plans of its format cannot have.
            path = "plan.version"
        raise _altered(f"`{path}` is not what its spec gives")


def _part_loss(step: Step, part: Part) -> Fraction:
    name = f"`{shown(step.name)}`, part `{shown(part.measure.name)}`"
    module = MECHANISMS.get(part.noise.mechanism)
    if module is None:
        raise _altered(f"the mechanism of {name} is none that is known")
    noise = module.restore(dict(part.noise.parameters))
    _agree(noise.sensitivity >= part.measure.sensitivity > 0, f"the noise of {name}")
    _agree(part.measure.l0 > 0, f"the l0 of {name}")
    loss = part.measure.l0 * module.loss(noise)
    _agree(part.loss == loss, f"the loss of {name}")
    _afford(loss, part.epsilon, name)
    return loss


def _pick_loss(step: Step, pick: Pick) -> Fraction:
    """Return the loss of a choice, whose scores a neighbour moves by its cost."""
    name = f"`{shown(step.name)}` at {pick.at}"
    module = CHOOSERS.get(pick.noise.mechanism)
    if module is None:
        raise _altered(f"the mechanism of {name} is none that is known")
    noise = module.restore(dict(pick.noise.parameters))
    _agree(noise.cost >= pick.cost > 0, f"the noise of {name}")
    _agree(noise.at == pick.at, f"the quantile of {name}")
    loss = module.loss(noise)
    _agree(pick.loss == loss, f"the loss of {name}")
    _afford(loss, pick.epsilon, name)
    return loss


def _require_shared(step: Step) -> None:
    """Refuse parts that cannot share one sensitivity, or that share too small a one.

    All must have the same noise, whose loss grows with the l1 change of all, and which
    rounds nothing: what rounding adds to that change is in the sensitivity.
    """
    name = f"the shared sensitivity of `{shown(step.name)}`"
    noises = {(part.noise, part.measure.sensitivity) for part in step.parts}
    _agree(len(noises) == 1, name)
    for part in step.parts:
        _agree(lets_parts_share(part.noise.mechanism), name)
        _agree(part.measure.l0 == 1, name)
        module: Any = MECHANISMS[part.noise.mechanism]
        noise = module.restore(dict(part.noise.parameters))
        joint = module.calibrate_joint(part.measure.sensitivity, part.epsilon)
        _agree(noise == joint, name)
    derived = shared_sensitivity(step)
    stated = step.parts[0].measure.sensitivity
    _agree(derived is not None and derived <= stated, name)


def _difference(expected: Any, found: Any, path: str) -> str:
    """Return the path of the first member that differs."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                there = f"{path}.{shown(name)}"
                return _difference(expected.get(name), found.get(name), there)
    if isinstance(expected, list) and isinstance(found, list):
        for index, (one, other) in enumerate(zip(expected, found, strict=False)):
            if one != other:
                return _difference(one, other, f"{path}[{index}]")
    return path


def _agree(holds: bool, what: str) -> None:  # noqa: FBT001  the fact that is stated
    if not holds:
        raise _altered(f"{what} is not what its parameters give")


def _afford(loss: Fraction, budget: Fraction, what: str) -> None:
    if loss > budget:
        raise PlanFault.of(
            "DPQL403",
            f"{what} loses {quantity(loss)}, more than its ε {rational(budget)}",
            hint="the plan was altered, or this is a bug in dpql; do not run it",
        )


def _altered(what: str) -> PlanFault:
    return PlanFault.of(
        "DPQL402",
        f"the plan disagrees with itself: {what}",
        hint="a plan is not edited by hand; plan the spec again",
    )
