"""The numbers behind the page; the planner computes every one of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Plan, Step
from dpql.model.spec import Share
from dpql.planner.bind import hiding, statistic_of
from dpql.review.alternatives import error_at

ROWS = 1_000
"""The count for which the error of a ratio is drawn where none is promised."""

_CEILING = Fraction(1_000)
_OCTAVE = tuple(Fraction(n, 1_000) for n in (1_000, 1_122, 1_260, 1_414, 1_587, 1_782))
_OCTAVES_OF_EPSILON = range(-7, 4)
_OCTAVES_OF_TOTAL = range(-3, 3)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCurves:
    """One statistic: its step, its share if it has one, and a curve per mechanism."""

    step: Step
    weight: Fraction | None
    curves: tuple[Curve, ...]


def step_curves(plan: Plan) -> tuple[StepCurves, ...]:
    """Return the curves of every statistic, its own epsilon among the points."""
    own = {step.epsilon for step in plan.steps}
    grid = {plan.epsilon * factor for factor in _factors(_OCTAVES_OF_EPSILON)}
    epsilons = tuple(sorted(e for e in grid | own if e <= _CEILING))
    found = error_curves(plan, epsilons, rows=ROWS)
    return tuple(
        StepCurves(
            step=step,
            weight=step.spend.weight if isinstance(step.spend, Share) else None,
            curves=tuple(curve for curve in found if curve.name == step.name),
        )
        for step in plan.steps
    )


def totals(plan: Plan) -> tuple[Fraction, ...]:
    """Return the totals that the slider offers; the plan's own is among them."""
    grid = {plan.epsilon * factor for factor in _factors(_OCTAVES_OF_TOTAL)}
    top = plan.epsilon * 2**_OCTAVES_OF_TOTAL.stop
    return tuple(sorted(e for e in {*grid, top} if e <= _CEILING))


def error_curves(
    plan: Plan, epsilons: tuple[Fraction, ...], *, rows: int
) -> tuple[Curve, ...]:
    """Return error against epsilon, for every statistic and mechanism.

    The error of a ratio is for its promised count, or for ``rows`` where none is
    promised.
    """
    return tuple(
        _curve(plan, step, mechanism, epsilons, rows)
        for step in plan.steps
        for mechanism in hiding(statistic_of(plan, step))
    )


def _curve(
    plan: Plan, step: Step, mechanism: str, epsilons: tuple[Fraction, ...], rows: int
) -> Curve:
    count = step.at_least or rows
    points = []
    for epsilon in epsilons:
        try:
            error = error_at(plan, step, mechanism, epsilon, rows=count)
        except PlanFault:
            # The curve ends where no release may spend more.
            break
        assert error is not None, "a count is given"
        points.append((epsilon, error))
    return Curve(
        name=step.name,
        mechanism=mechanism,
        unit=step.accuracy_unit,
        rows=count if step.sensitivity is None and not step.picks else None,
        points=tuple(points),
    )


def _factors(octaves: range) -> list[Fraction]:
    return [Fraction(2) ** octave * step for octave in octaves for step in _OCTAVE]
