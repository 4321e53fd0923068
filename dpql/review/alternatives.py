"""What a step would state with another mechanism, epsilon or target."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.mechanisms import IMPURE
from dpql.mechanisms.composition import budget
from dpql.model.plan import Plan, Step
from dpql.model.step_text import kept_by
from dpql.planner.adding_up import moved_error
from dpql.planner.bind import description_of, statistic_of
from dpql.planner.calibrate import stated_error
from dpql.planner.price import price
from dpql.planner.settle import epsilon_within

_NUDGE = Fraction(1_000_001, 1_000_000)
_ROUND = (Fraction(5), Fraction(2), Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A round accuracy, what it costs, and the total it would lead to.

    Both are epsilons, or both a rho where the noise is not pure.
    """

    within: Fraction
    amount: Fraction
    total: Fraction


def error_at(
    plan: Plan, step: Step, mechanism: str, amount: Fraction, *, rows: int | None
) -> Fraction | None:
    """Return the accuracy that the step would state with that noise.

    None if it depends on a private count, or if the mechanism cannot hide it.
    """
    if step.total is not None or step.total_of is not None:
        # Only their own noise lets them add up.
        if mechanism != step.mechanism:
            return None
        groups = kept_by(plan, step)
        return moved_error(step, groups, step.alpha, epsilon=amount)
    try:
        description = description_of(plan, step, mechanism)
    except PlanFault:
        return None
    return stated_error(
        description,
        mechanism,
        amount,
        statistic=statistic_of(plan, step),
        rows=rows,
    )


def amount_for(plan: Plan, step: Step, mechanism: str) -> Fraction | None:
    """Return what a mechanism may spend in place of the step's own noise.

    The same epsilon; or, where the steps share a rho, what costs no more of it; or the
    same share of the rho, where they share an epsilon. None if the mechanism cannot
    hide the statistic, or not for so little.
    """
    if mechanism == step.mechanism:
        return step.amount
    if step.rho is None or (not plan.in_rho and mechanism not in IMPURE):
        return step.epsilon
    if mechanism in IMPURE and not plan.in_rho:
        # Where keys are found, half of the delta is theirs.
        finds = any(each.search is not None for each in plan.steps)
        delta = plan.delta / 2 if finds else plan.delta
        return budget(plan.epsilon, delta) * plan.cost(step) / plan.epsilon
    if mechanism in IMPURE:
        return step.rho
    try:
        description = description_of(plan, step, mechanism)
        return epsilon_within(description, mechanism, step.rho, gamma=step.gamma)
    except PlanFault:
        return None


def alone(plan: Plan) -> Fraction | None:
    """Return the least epsilon of a release that is one Gaussian number of a unit.

    It is for people to read: no budget is debited by it, as it cannot be added up.
    """
    if not plan.in_rho or len(plan.steps) != 1 or len(plan.steps[0].parts) != 1:
        return None
    (part,) = plan.steps[0].parts
    if part.epsilon is not None or part.measure.l0 != 1:
        return None
    from dpql.mechanisms.gaussian import restore
    from dpql.mechanisms.gaussian_loss import least_epsilon_up

    noise = restore(dict(part.noise.parameters))
    steps = int(noise.sensitivity / noise.lattice)
    return least_epsilon_up(noise.sigma2, distance=steps, cells=1, delta=plan.delta)


def finer_grid(plan: Plan, step: Step) -> Fraction | None:
    """Return the better accuracy that a millionth more epsilon would give, if any.

    Just at a power of two the grid of snapping is twice as coarse as just above it.
    Source: MATH 3.2, powers of two.
    """
    grids = [dict(part.noise.parameters).get("Lambda_prime") for part in step.parts]
    if not grids or None in grids or step.epsilon is None:
        return None
    rows = step.at_least or 1
    try:
        nudged = error_at(plan, step, step.mechanism, step.epsilon * _NUDGE, rows=rows)
    except PlanFault:
        # No release may spend more than the ceiling, not even a millionth.
        return None
    present = error_at(plan, step, step.mechanism, step.epsilon, rows=rows)
    if nudged is None or present is None or nudged * 100 > present * 99:
        return None
    return nudged if step.accuracy is not None else None


def round_target(plan: Plan, step: Step) -> Target | None:
    """Return the next round accuracy below the stated one and what it takes."""
    least = 0 if step.picks else step.quantisation
    if step.accuracy is None or step.accuracy <= least:
        return None
    if plan.in_rho and step.epsilon is not None:
        # What it needs is an epsilon, and what the steps share is not.
        return None
    within = _round_below(step.accuracy)
    try:
        amount = price(
            statistic_of(plan, step),
            description_of(plan, step, step.mechanism),
            step.mechanism,
            within,
        )
    except PlanFault:
        return None
    spent = plan.shared if plan.in_rho else plan.spent
    return Target(within=within, amount=amount, total=spent - step.amount + amount)


def _round_below(x: Fraction) -> Fraction:
    """Return the largest 1, 2 or 5 times a power of ten below x."""
    power = Fraction(1)
    while power >= x:
        power /= 10
    while power * 10 < x:
        power *= 10
    return next(m * power for m in _ROUND if m * power < x)
