"""The numbers behind the page: every one of them is the planner's."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Plan, Step
from dpql.model.spec import Share
from dpql.review.alternatives import Curve, curves

ROWS = 1_000
"""The count for which the error of a ratio is drawn where none is promised."""

_CEILING = Fraction(1_000)
_OCTAVE = tuple(Fraction(n, 1_000) for n in (1_000, 1_122, 1_260, 1_414, 1_587, 1_782))
_OCTAVES_OF_EPSILON = range(-7, 4)
_OCTAVES_OF_TOTAL = range(-3, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One statistic: its step, its share if it has one, and its two curves."""

    step: Step
    weight: Fraction | None
    curves: tuple[Curve, ...]


def drawn(plan: Plan) -> tuple[Drawn, ...]:
    """Return what is to be drawn of every statistic."""
    own = {step.epsilon for step in plan.steps}
    grid = {plan.epsilon * factor for factor in _factors(_OCTAVES_OF_EPSILON)}
    epsilons = tuple(sorted(e for e in grid | own if e <= _CEILING))
    found = curves(plan, epsilons=epsilons, rows=ROWS)
    return tuple(
        Drawn(
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


def _factors(octaves: range) -> list[Fraction]:
    return [Fraction(2) ** octave * step for octave in octaves for step in _OCTAVE]
