"""What a step could be instead: another mechanism, another epsilon, a round target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan, Step
from dpql.model.spec import MechanismName, Statistic
from dpql.planner.calibrate import stated_error
from dpql.planner.compiler import plan as make_plan
from dpql.planner.price import price
from dpql.statistics import Description

_NUDGE = Fraction(1_000_001, 1_000_000)
_ROUND = (Fraction(5), Fraction(2), Fraction(1))
_GRID = tuple(
    mantissa * Fraction(10) ** exponent
    for exponent in range(-2, 1)
    for mantissa in (1, 2, 5)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A round accuracy, what it costs, and the total it would lead to."""

    within: Fraction
    epsilon: Fraction
    total: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One statistic of a supposed plan."""

    name: str
    mechanism: str
    epsilon: Fraction
    accuracy: Fraction | None
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposition:
    """What would follow from other settings.

    It is no plan, so it can be neither saved nor run.
    """

    epsilon: Fraction
    spent: Fraction
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The error of one statistic by one mechanism, against its own epsilon.

    ``rows`` is the count for which the error of a ratio holds, None for any other.
    """

    name: str
    mechanism: str
    unit: str | None
    rows: int | None
    points: tuple[tuple[Fraction, Fraction], ...]


def what_if(
    plan: Plan,
    *,
    epsilon: Fraction | None = None,
    alpha: Fraction | None = None,
    mechanism: MechanismName | None = None,
) -> Supposition:
    """Return what the plan's spec would give with another total, alpha or mechanism.

    Raises:
        PlanFault: it cannot be planned so (4xx).
    """
    spec = plan.spec
    asks = tuple(
        replace(ask, alpha=alpha or ask.alpha, mechanism=mechanism or ask.mechanism)
        for ask in spec.statistics
    )
    privacy = replace(spec.privacy, epsilon=epsilon or spec.privacy.epsilon)
    supposed = make_plan(replace(spec, privacy=privacy, statistics=asks))
    return Supposition(
        epsilon=supposed.epsilon,
        spent=supposed.spent,
        outcomes=tuple(
            Outcome(
                name=step.name,
                mechanism=step.mechanism,
                epsilon=step.epsilon,
                accuracy=step.accuracy,
                unit=step.unit,
            )
            for step in supposed.steps
        ),
    )


def curves(
    plan: Plan, *, epsilons: tuple[Fraction, ...] = (), rows: int = 1000
) -> tuple[Curve, ...]:
    """Return error against epsilon, for every statistic and mechanism.

    Without a grid, 1-2-5 steps from a hundredth of the total to five times it. The
    error of a ratio is for its promised count, or for ``rows`` where none is promised.
    """
    grid = epsilons or tuple(plan.epsilon * step for step in _GRID)
    return tuple(
        _curve(plan, step, mechanism, grid, rows)
        for step in plan.steps
        for mechanism in MECHANISMS
    )


def error_at(
    plan: Plan, step: Step, mechanism: str, epsilon: Fraction, *, rows: int | None
) -> Fraction | None:
    """Return the accuracy that the step would state with that noise."""
    return stated_error(
        description_of(step), mechanism, epsilon, ask=ask_of(plan, step), rows=rows
    )


def finer_grid(plan: Plan, step: Step) -> Fraction | None:
    """Return the better accuracy that a millionth more epsilon would give, if any.

    Just at a power of two the grid of snapping is twice as coarse as just above it.
    Source: MATH 3.2, powers of two.
    """
    grids = [dict(part.noise.parameters).get("Lambda_prime") for part in step.parts]
    if None in grids:
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
    if step.accuracy is None or step.accuracy <= step.quantisation:
        return None
    within = _round_below(step.accuracy)
    try:
        epsilon = price(
            ask_of(plan, step), description_of(step), step.mechanism, within
        )
    except PlanFault:
        return None
    return Target(
        within=within, epsilon=epsilon, total=plan.spent - step.epsilon + epsilon
    )


def description_of(step: Step) -> Description:
    """Return the description that the step was made from."""
    return Description(
        measures=tuple(part.measure for part in step.parts),
        readout=step.readout,
        lower=step.lower,
        upper=step.upper,
        quantisation=step.quantisation,
        sensitivity=step.sensitivity,
        unit=step.unit,
    )


def ask_of(plan: Plan, step: Step) -> Statistic:
    """Return the statistic of the spec that the step answers."""
    return next(ask for ask in plan.spec.statistics if ask.name == step.name)


def _curve(
    plan: Plan, step: Step, mechanism: str, grid: tuple[Fraction, ...], rows: int
) -> Curve:
    count = step.at_least or rows
    points = []
    for epsilon in grid:
        try:
            error = error_at(plan, step, mechanism, epsilon, rows=count)
        except PlanFault:
            # The grid may go beyond what any release may spend; the curve ends there.
            break
        assert error is not None, "a count is given"
        points.append((epsilon, error))
    return Curve(
        name=step.name,
        mechanism=mechanism,
        unit=step.unit,
        rows=count if step.sensitivity is None else None,
        points=tuple(points),
    )


def _round_below(x: Fraction) -> Fraction:
    """Return the largest 1, 2 or 5 times a power of ten below x."""
    power = Fraction(1)
    while power >= x:
        power /= 10
    while power * 10 < x:
        power *= 10
    return next(m * power for m in _ROUND if m * power < x)
