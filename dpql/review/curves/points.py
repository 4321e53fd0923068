"""The numbers behind the page; the planner computes every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.mechanisms import CONCENTRATED, IMPURE, PURE, SEARCHES
from dpql.model.figures import within_text
from dpql.model.key_text import from_text
from dpql.model.plan import Plan, Step
from dpql.model.spec import Share
from dpql.planner import plan as make_plan
from dpql.planner.bind import description_of, statistic_of
from dpql.planner.mechanism_choice import hiding
from dpql.planner.rules import NOW
from dpql.planner.settle import epsilon_within
from dpql.review.alternatives import error_at

ROWS = 1_000
"""The count for which the error of a ratio is drawn where none is promised."""

_MOST_VARIED = 12
"""Statistics of a plan for which other contributions are computed."""

_CEILING = Fraction(1_000)
_DIGITS = 4
"""Of an epsilon that costs a rho: what a curve can show."""

_OCTAVE = tuple(Fraction(n, 1_000) for n in (1_000, 1_122, 1_260, 1_414, 1_587, 1_782))
_OCTAVES_OF_EPSILON = range(-7, 4)
_OCTAVES_OF_TOTAL = range(-3, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The error of one statistic by one mechanism, against what it spends.

    That is an epsilon, or a rho where the statistics of the plan share one.

    ``rows`` is the count for which the error of a ratio holds, None for any other.
    ``keys`` is the step of keys without numbers: their error is from how many units on
    they are shown.
    """

    name: str
    mechanism: str
    unit: str | None
    rows: int | None
    points: tuple[tuple[Fraction, Fraction], ...]
    keys: Step | None = None

    def words(self, error: Fraction) -> str:
        """Return an error of the curve as text."""
        if self.keys is not None:
            return from_text(self.keys, error)
        return within_text(error, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCurves:
    """One statistic: its step, its share if it has one, and a curve per mechanism."""

    step: Step
    weight: Fraction | None
    curves: tuple[Curve, ...]


def step_curves(plan: Plan) -> tuple[StepCurves, ...]:
    """Return the curves of every statistic, its own cost among the points."""
    own = {plan.cost(step) for step in plan.steps}
    grid = {plan.shared * factor for factor in _factors(_OCTAVES_OF_EPSILON)}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A plan in which a unit contributes so many rows, and its curves.

    ``curves`` has one for each statistic and each number of `row_counts`, or one alone
    where the error does not depend on a number of rows.
    """

    rows: int
    plan: Plan
    curves: tuple[tuple[Curve, ...], ...]


def row_counts(plan: Plan) -> tuple[int, ...]:
    """Return for how many rows errors are computed that are known after a run only."""
    if not any(map(is_of_rows, plan.steps)):
        return ()
    offered = {10**power for power in range(2, 7)}
    most = plan.spec.data.rows.count
    return tuple(sorted({min(count, most) for count in offered}))


def is_of_rows(step: Step) -> bool:
    """Tell whether the error of a step is known after a run only."""
    return step.accuracy is None and not step.names_only


def _is_of_none(step: Step) -> bool:
    return bool(step.picks) or step.search is not None


def variants(plan: Plan) -> tuple[Variant, ...]:
    """Return what other contributions would give; the plan's own is among them.

    Contributions that cannot be planned, or that no statistic depends on, are left out.
    """
    if len(plan.steps) > _MOST_VARIED:
        return ()
    return tuple(
        Variant(
            rows=made.spec.privacy.contributes.rows,
            plan=made,
            curves=tuple(_chosen_curves(plan, made, step) for step in made.steps),
        )
        for made in _replanned(plan)
    )


def _replanned(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with each number of rows that a unit may contribute."""
    spec, bound = plan.spec, plan.spec.privacy.contributes
    shared = [one for one in spec.statistics if one.contributes is None]
    if spec.privacy.unit is None or not shared or plan.delta:
        # With a delta, other contributions may be accounted in another way.
        yield plan
        return
    ladder = (step * 10**power for power in range(7) for step in (1, 2, 5))
    near = {rows for rows in ladder if bound.rows <= 10 * rows <= 100 * bound.rows}
    for rows in sorted(near | {bound.rows}):
        if rows == bound.rows:
            yield plan
        elif bound.total is None or rows <= bound.total < rows * bound.groups:
            other = replace(spec.privacy, contributes=replace(bound, rows=rows))
            with suppress(PlanFault):
                yield make_plan(replace(spec, privacy=other))


def _chosen_curves(plan: Plan, made: Plan, step: Step) -> tuple[Curve, ...]:
    """Return the curves of a step by its mechanism, one for each number of rows."""
    own = {made.cost(each) for each in made.steps}
    grid = {plan.shared * factor for factor in _factors(_OCTAVES_OF_EPSILON)}
    costs = tuple(sorted(cost for cost in grid | own if cost <= _CEILING))
    counts = row_counts(plan) if is_of_rows(step) else (ROWS,)
    return tuple(_curve(made, step, step.mechanism, costs, n) for n in counts)


def totals(plan: Plan) -> tuple[Fraction, ...]:
    """Return the totals that the slider offers; the plan's own is among them."""
    grid = {plan.shared * factor for factor in _factors(_OCTAVES_OF_TOTAL)}
    top = plan.shared * 2**_OCTAVES_OF_TOTAL.stop
    return tuple(sorted(e for e in {*grid, top} if e <= _CEILING))


def error_curves(
    plan: Plan, costs: tuple[Fraction, ...], *, rows: int
) -> tuple[Curve, ...]:
    """Return error against cost, for every statistic and mechanism.

    The error of a ratio is for its promised count, or for ``rows`` where none is
    promised.
    """
    curves = (
        _curve(plan, step, mechanism, costs, rows)
        for step in plan.steps
        for mechanism in hiding(plan.spec, statistic_of(plan, step))
        if mechanism == step.mechanism or mechanism in _drawn(plan)
    )
    # Some mechanisms hide no parts that share a sensitivity, as a proportion has.
    return tuple(curve for curve in curves if curve.points)


def _drawn(plan: Plan) -> tuple[str, ...]:
    """Return the mechanisms whose curves are drawn beside those of the plan.

    Where rho is shared, snapping is left out: auto never takes it.
    """
    if plan.in_rho:
        return (*NOW.automatic, *CONCENTRATED, *SEARCHES)
    return (*PURE, *(name for name in SEARCHES if name not in IMPURE))


def _curve(
    plan: Plan, step: Step, mechanism: str, costs: tuple[Fraction, ...], rows: int
) -> Curve:
    count = step.at_least or rows
    points = []
    for cost in costs:
        try:
            spent = _spent(plan, step, mechanism, cost)
            error = error_at(plan, step, mechanism, spent, rows=count)
        except PlanFault:
            # The curve ends where no release may spend more.
            break
        if error is None:
            break
        points.append((cost, error))
    return Curve(
        name=step.name,
        mechanism=mechanism,
        unit=step.accuracy_unit,
        rows=count if step.sensitivity is None and not _is_of_none(step) else None,
        keys=step if step.names_only else None,
        points=tuple(points),
    )


def _spent(plan: Plan, step: Step, mechanism: str, cost: Fraction) -> Fraction:
    """Return what a mechanism spends in its own measure at a cost."""
    if not plan.in_rho or mechanism in IMPURE:
        return cost
    if mechanism == step.mechanism and cost == step.rho:
        return step.amount
    description = description_of(plan, step, mechanism)
    return epsilon_within(
        description, mechanism, cost, gamma=step.gamma, digits=_DIGITS
    )


def _factors(octaves: range) -> list[Fraction]:
    return [Fraction(2) ** octave * step for octave in octaves for step in _OCTAVE]
