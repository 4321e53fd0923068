"""A finished plan, examined from its own members alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import DpqlError, PlanFault
from dpql.mechanisms import (
    CHOOSERS,
    CONCENTRATED,
    IMPURE,
    MECHANISMS,
    SEARCHES,
    lets_parts_share,
)
from dpql.mechanisms.accounting import zcdp_delta_up
from dpql.mechanisms.composition import (
    RHO,
    costs_of,
    step_costs,
    total_by,
    total_rho,
)
from dpql.model.codec import Malformed, encode
from dpql.model.figures import quantity, rational
from dpql.model.plan import Part, Pick, Plan, Search, Step
from dpql.model.spec import Neighbours, Spec
from dpql.planner.rules import Rules
from dpql.planner.shared_sensitivity import shared_sensitivity, shared_squares
from dpql.planner.soundness import is_sound


def audit_loss(plan: Plan) -> Fraction:
    """Return the total loss, recomputed; refuse a plan that exceeds its budget.

        loss(part) = l0 * loss of the noise of the parameters

    The noise must hide at least the part's sensitivity, or the quantile's cost. That of
    joint parts is derived again here. Nothing else that the planner computed is
    believed but sensitivities, costs and l0, which `refuse_altered` derives again.
    Of a plan with a delta the rho of every step is recomputed, and from these the total
    by the rule that the plan names.

    Raises:
        PlanFault: a stated loss is not the recomputed one (DPQL402), or the losses add
            up to more than a part, a step or the plan may spend (DPQL403).
    """
    for step in plan.steps:
        _audit_step(step, accounted=plan.delta > 0)
    _agree(plan.epsilon == plan.spec.privacy.epsilon, "the budget")
    _agree(plan.delta == plan.spec.privacy.delta, "the delta")
    total = _audit_rho(plan) if plan.delta else _audit_pure(plan)
    _afford(plan.spent, plan.epsilon, "the plan")
    _afford(total, plan.spent if plan.delta else plan.epsilon, "the plan")
    return total


def _audit_pure(plan: Plan) -> Fraction:
    losses = [step.loss for step in plan.steps if step.loss is not None]
    epsilons = [step.epsilon for step in plan.steps if step.epsilon is not None]
    whole = len(losses) == len(epsilons) == len(plan.steps)
    _agree(whole, "the purity of the plan")
    total = sum(losses, Fraction(0))
    _agree(plan.loss == total, "the total loss")
    _agree(plan.spent == sum(epsilons, Fraction(0)), "the sum of the steps' epsilons")
    return total


def _audit_rho(plan: Plan) -> Fraction:
    """Return the total loss by the stated rule, from the parameters of the noise.

    Where rho decides, the conversion is checked by the delta that it gives, too, which
    another formula computes.
    """
    costs = costs_of(plan)
    rho = total_rho(costs)
    events = sum((step.delta for step in plan.steps), Fraction(0))
    _agree(plan.rho == rho, "the rho")
    _agree(0 <= events <= plan.delta, "the sum of the steps' deltas")
    left = plan.delta - events
    total = total_by(plan.composition, costs, left)
    if total is None:
        raise _altered("its composition is not one that its steps have")
    _agree(plan.loss >= total, "the total loss")
    if plan.composition == RHO:
        _agree(zcdp_delta_up(rho, plan.spent) <= left, "the delta that its rho gives")
    return plan.loss


def _audit_step(step: Step, *, accounted: bool) -> None:
    name = f"`{shown(step.name)}`"
    made: list[Part | Pick] = [*step.parts, *step.picks]
    if step.search is not None:
        _agree(not made and not step.joint and accounted, f"the noise of {name}")
        _audit_search(step, step.search, name)
        return
    _agree(step.delta == 0, f"the delta of {name}")
    losses = [_part_loss(step, part) for part in step.parts]
    losses += [_pick_loss(step, pick) for pick in step.picks]
    if step.joint:
        _require_shared(step)
    _agree(bool(made), f"the noise of {name}")
    add = max if step.joint else _total
    known = [loss for loss in losses if loss is not None]
    epsilons = [each.epsilon for each in made if each.epsilon is not None]
    _agree(len(known) in (0, len(made)), f"the purity of {name}")
    _agree(len(known) == len(epsilons), f"the purity of {name}")
    if known:
        loss = add(known)
        _agree(step.loss == loss, f"the loss of {name}")
        _agree(step.epsilon is not None, f"the purity of {name}")
        budget = step.epsilon or Fraction(0)
        _afford(loss, budget, name)
        _agree(add(epsilons) <= budget, f"the parts' epsilons of {name}")
    else:
        _agree(accounted, f"the purity of {name}")
        _agree(step.loss is None and step.epsilon is None, f"the purity of {name}")
    rhos = [each.rho for each in made if each.rho is not None]
    if accounted:
        rho = total_rho(step_costs(step))
        _agree(len(rhos) == len(made), f"the parts' rhos of {name}")
        _agree(step.rho == rho == add(rhos), f"the rho of {name}")
    else:
        _agree(not rhos and step.rho is None, f"the rho of {name}")


def _audit_search(step: Step, search: Search, name: str) -> None:
    """Refuse a search whose noise costs more than it says, or hides less.

    What a unit changes follows from the spec again: one for each of its keys, and twice
    as many where it is replaced.
    """
    finder = SEARCHES.get(search.noise.mechanism)
    if finder is None:
        raise _altered(f"the mechanism of {name} is none that is known")
    noise = finder.restore(dict(search.noise.parameters))
    least = 1 if step.bound is None else step.bound.cells
    least *= 2 if step.relation is Neighbours.REPLACE_ONE else 1
    _agree(search.keys >= least, f"the keys of a unit of {name}")
    _agree(0 < search.delta == step.delta, f"the delta of {name}")
    within = finder.is_within(noise, search.delta, keys=search.keys)
    _agree(within, f"the delta of {name}")
    if search.noise.mechanism in IMPURE:
        hides = noise.keys >= search.keys
        _agree(hides and search.rho == finder.rho(noise), f"the rho of {name}")
        _agree(search.loss is None and search.epsilon is None, f"the purity of {name}")
    else:
        loss = search.keys * finder.loss(noise)
        _agree(search.loss == loss, f"the loss of {name}")
        _agree(search.epsilon is not None, f"the epsilon of {name}")
        _afford(loss, search.epsilon or Fraction(0), name)
        _agree(search.rho == search.keys * finder.rho(noise), f"the rho of {name}")
    _agree(step.loss == search.loss, f"the loss of {name}")
    _agree(step.epsilon == search.epsilon, f"the epsilon of {name}")
    _agree(step.rho == search.rho, f"the rho of {name}")


def _total(amounts: list[Fraction]) -> Fraction:
    return sum(amounts, Fraction(0))


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


def _part_loss(step: Step, part: Part) -> Fraction | None:
    """Return the loss of a part, which the noise must hide; None if it is not pure."""
    name = f"`{shown(step.name)}`, part `{shown(part.measure.name)}`"
    module = MECHANISMS.get(part.noise.mechanism)
    if module is None:
        raise _altered(f"the mechanism of {name} is none that is known")
    noise = module.restore(dict(part.noise.parameters))
    _agree(noise.sensitivity >= part.measure.sensitivity > 0, f"the noise of {name}")
    _agree(part.measure.l0 > 0, f"the l0 of {name}")
    if part.noise.mechanism in CONCENTRATED:
        _require_squares(part, noise, name)
        return None
    loss = part.measure.l0 * module.loss(noise)
    _agree(part.loss == loss, f"the loss of {name}")
    _agree(part.epsilon is not None, f"the epsilon of {name}")
    _afford(loss, part.epsilon or Fraction(0), name)
    return loss


def _require_squares(part: Part, noise: Any, name: str) -> None:
    """Refuse noise that hides less than the measure changes in squares.

    Where values are rounded to the lattice, only the bounds of single cells hold.
    """
    measure = part.measure
    steps, squared = noise.sensitivity / noise.lattice, measure.squared
    _agree(squared is not None, f"the squares of {name}")
    needed = Fraction(squared or 0) / noise.lattice**2
    if noise.rounded:
        needed = measure.l0 * steps**2
    _agree(noise.rounded or noise.lattice == 1, f"the lattice of {name}")
    _agree(noise.squared >= needed > 0, f"the squares of {name}")
    _agree(part.loss is None and part.epsilon is None, f"the purity of {name}")
    _agree(part.rho == noise.squared / (2 * noise.sigma2), f"the rho of {name}")


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
    noises = {
        (part.noise, part.measure.sensitivity, part.measure.squared)
        for part in step.parts
    }
    _agree(len(noises) == 1, name)
    for part in step.parts:
        _agree(lets_parts_share(part.noise.mechanism), name)
        _agree(part.measure.l0 == 1, name)
        module: Any = MECHANISMS[part.noise.mechanism]
        noise = module.restore(dict(part.noise.parameters))
        spends: tuple[Any, ...] = (part.measure.sensitivity, part.epsilon)
        if part.noise.mechanism in CONCENTRATED:
            spends = (part.measure.sensitivity, part.measure.squared, part.rho)
        _agree(noise == module.calibrate_joint(*spends), name)
    measure = step.parts[0].measure
    if step.parts[0].noise.mechanism in CONCENTRATED:
        squares = shared_squares(step)
        _agree(squares is not None and squares <= (measure.squared or 0), name)
        return
    derived = shared_sensitivity(step)
    _agree(derived is not None and derived <= measure.sensitivity, name)


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
