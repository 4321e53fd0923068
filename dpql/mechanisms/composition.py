"""What the parts of a release cost together, where it may fail with probability delta.

The total is the least epsilon that one of these rules gives. All are sound, and which
one is taken follows from the costs, before there are data:

    sum     sum of epsilon, if every part is pure; delta is not used
    rho     epsilon(sum of rho, delta)
    mixed   sum of epsilon of pure parts + epsilon(sum of rho of the others, delta)
    order   sum of Renyi divergences of one order a, and what that gives at delta

Sums run over the parts that one unit touches: of l0 cells each one counts.
Source: MATH-delta 2.1, 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2

from dpql.exact import ln_up, round_down_to_digits
from dpql.mechanisms import CHOOSERS, CONCENTRATED, IMPURE, MECHANISMS, SEARCHES
from dpql.mechanisms.concentrated import (
    epsilon_at,
    epsilon_up,
    pure_rho_up,
    renyi_up,
    rho_down,
)
from dpql.model.plan import ADDED_UP, Noise, Plan, Step
from dpql.model.spec import Neighbours

RHO = "the ρ of the steps add up, and give ε at this δ"
MIXED = (
    "the losses of pure steps add up; to them comes the ε that the ρ of the others "
    "give at this δ"
)
ORDER = "the Rényi divergences of order {} add up, and give ε at this δ"

_SIXTEENTH = Fraction(1, 16)
_SPREAD = 12
"""Orders that are tried on either side of the best one for rho, a quarter apart."""

_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCost:
    """What one of ``count`` equal parts costs that one unit touches.

    ``epsilon`` is None where it is not pure. A count that is not whole bounds what
    fewer losses, some of them smaller, cost together.
    """

    count: int | Fraction
    epsilon: Fraction | None
    rho: Fraction

    def renyi(self, order: Fraction) -> Fraction:
        """Return the Renyi divergence of that order of all of them, rounded up."""
        most = order * self.rho
        if self.epsilon is not None:
            most = min(most, renyi_up(self.epsilon, order))
        return self.count * most


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """An epsilon of the whole release, rounded up, and the rule that gives it."""

    epsilon: Fraction
    rule: str


def costs_of(plan: Plan) -> tuple[PartCost, ...]:
    """Return the costs of all parts of a plan, from the parameters of its noise.

    Plans without a delta count moves whose losses add up to enough; in divergences
    these cost the most where they meet in few cells (`worst_costs`).
    """
    found = step_costs if plan.delta else worst_costs
    return tuple(cost for step in plan.steps for cost in found(step))


def worst_costs(step: Step) -> Iterator[PartCost]:
    """Yield the costs of the parts of a pure step wherever a unit's rows fall.

    Of l0 moves of one sensitivity m may fall into one cell: under a total the k rows of
    a unit there, and twice as many where one unit replaces another and terms have
    either sign. What a loss x costs, divided by x, rises with x; so losses of at most
    m epsilon each, l0 epsilon in all, cost at most l0/m times as much as one of them.
    Source: docs/maths/accounting.md, "Where rows fall".
    """
    costs = list(step_costs(step))
    if step.joint or step.picks or step.search is not None:
        yield from costs
        return
    for part, cost in zip(step.parts, costs, strict=True):
        measure = part.measure
        most = 1 if step.bound is None or not step.bound.total else step.bound.rows
        signed = measure.lower < 0 < measure.upper
        if signed and step.relation is Neighbours.REPLACE_ONE:
            most *= 2
        most = min(most, measure.l0)
        if most == 1 or cost.epsilon is None:
            yield cost
            continue
        loss = most * cost.epsilon
        yield PartCost(
            count=Fraction(measure.l0, most), epsilon=loss, rho=pure_rho_up(loss)
        )


def step_costs(step: Step) -> Iterator[PartCost]:
    """Yield the costs of the parts of a step; joint ones cost once.

    Those of keys that are found are what they cost where nothing fails: `Step.delta`.
    """
    for part in step.parts[:1] if step.joint else step.parts:
        module = MECHANISMS[part.noise.mechanism]
        noise = _restored(module, part.noise)
        if part.noise.mechanism in CONCENTRATED:
            yield PartCost(count=1, epsilon=None, rho=module.rho(noise))
        else:
            count = 1 if step.joint else part.measure.l0
            loss, rho = module.loss(noise), module.rho(noise)
            yield PartCost(count=count, epsilon=loss, rho=rho)
    if step.search is not None:
        finder = SEARCHES[step.search.noise.mechanism]
        noise = _restored(finder, step.search.noise)
        if step.search.noise.mechanism in IMPURE:
            yield PartCost(count=1, epsilon=None, rho=finder.rho(noise))
        else:
            loss, rho = finder.loss(noise), finder.rho(noise)
            yield PartCost(count=step.search.keys, epsilon=loss, rho=rho)
    for pick in step.picks:
        chooser = CHOOSERS[pick.noise.mechanism]
        noise = _restored(chooser, pick.noise)
        yield PartCost(count=1, epsilon=chooser.loss(noise), rho=chooser.rho(noise))


def total_rho(costs: Iterable[PartCost]) -> Fraction:
    """Return what the parts cost together under zero-concentrated privacy."""
    return sum((cost.count * cost.rho for cost in costs), Fraction(0))


def pure_epsilon(costs: Sequence[PartCost]) -> Fraction | None:
    """Return the sum of epsilons; None if some part has none."""
    if any(cost.epsilon is None for cost in costs):
        return None
    return _epsilons(costs)


def budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the rho that (epsilon, delta) allow a release, to 15 digits, down."""
    return round_down_to_digits(rho_down(epsilon, delta), _DIGITS)


def total(costs: Sequence[PartCost], delta: Fraction) -> Total:
    """Return the cheapest total at ``delta``, the first of equal ones.

    A ``delta`` of 0 leaves the sum alone.
    """
    return min(_totals(_merged(costs), delta), key=lambda found: found.epsilon)


def total_by(rule: str, costs: Sequence[PartCost], delta: Fraction) -> Fraction | None:
    """Return the total that a rule gives; None where no such rule is tried here."""
    found = (each for each in _totals(_merged(costs), delta) if each.rule == rule)
    return next((each.epsilon for each in found), None)


def _totals(costs: Sequence[PartCost], delta: Fraction) -> Iterator[Total]:
    added = pure_epsilon(costs)
    if added is not None:
        yield Total(epsilon=added, rule=ADDED_UP)
    if delta == 0:
        return
    rho = total_rho(costs)
    yield Total(epsilon=epsilon_up(rho, delta), rule=RHO)
    others = [cost for cost in costs if cost.epsilon is None]
    if others and len(others) < len(costs):
        rest = epsilon_up(total_rho(others), delta)
        yield Total(epsilon=_epsilons(costs) + rest, rule=MIXED)
    for order in _orders(rho, delta):
        renyi = sum((cost.renyi(order) for cost in costs), Fraction(0))
        found = max(Fraction(0), epsilon_at(order, renyi, delta))
        yield Total(epsilon=found, rule=ORDER.format(order))


def _orders(rho: Fraction, delta: Fraction) -> Iterator[Fraction]:
    """Yield orders around the best one for rho, sqrt(ln(1/delta) / rho) nearly."""
    square = ln_up(1 / delta) / rho
    middle = Fraction(int(gmpy2.isqrt(gmpy2.mpz(square * (1 << 64) // 1))), 1 << 32)
    seen: set[Fraction] = set()
    for step in range(-_SPREAD, _SPREAD + 1):
        excess = middle * (Fraction(5, 4) ** step)
        order = 1 + max(1, round(excess / _SIXTEENTH)) * _SIXTEENTH
        if order not in seen:
            seen.add(order)
            yield order


def _merged(costs: Sequence[PartCost]) -> list[PartCost]:
    """Return the costs with equal parts counted together."""
    counts: dict[tuple[Fraction | None, Fraction], int | Fraction] = {}
    for cost in costs:
        same = cost.epsilon, cost.rho
        counts[same] = counts.get(same, 0) + cost.count
    return [
        PartCost(count=count, epsilon=epsilon, rho=rho)
        for (epsilon, rho), count in counts.items()
    ]


def _epsilons(costs: Iterable[PartCost]) -> Fraction:
    return sum(
        (cost.count * cost.epsilon for cost in costs if cost.epsilon is not None),
        Fraction(0),
    )


def _restored(module: Any, noise: Noise) -> Any:
    return module.restore(dict(noise.parameters))
