"""Exponential mechanism for quantiles: one candidate is chosen, nothing is added.

    P(i) = e^(-theta score(i)) / sum of e^(-theta score(j)),   theta = epsilon / cost

    score  distance of the wanted rank from the ranks that candidate i has, scaled to
           whole numbers (`quantile_score`)
    cost   sum over the cells of (largest change of a score - smallest change), for the
           worst neighbour

Between neighbours ln P changes by -theta * change(i) and a constant within the range of
theta * change, so the loss is at most theta * cost = epsilon, and the mechanism is
bounded-range with that number. The least score is 0 for every data set, so a rank can
be promised before there are data.
Source: MATH-statistics 1.2 (loss), 1.3 (draw), 1.4 (accuracy).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import read_fraction, round_up_to_digits
from dpql.mechanisms.concentrated import range_rho_up
from dpql.mechanisms.mechanism import (
    EPSILON_CEILING,
    agreed,
    require_level,
    require_spend,
)
from dpql.mechanisms.quantile_draw import Kit, choose, choose_many, width
from dpql.mechanisms.quantile_law import (
    accuracy,
    drift,
    probability,
    rows_within,
    theta_for,
)
from dpql.model.limits import FINEST_QUANTILE

__all__ = [
    "NAME",
    "PARAMETERS",
    "QuantileNoise",
    "RankQuery",
    "accuracy",
    "calibrate",
    "choose",
    "choose_many",
    "drift",
    "epsilon_for",
    "loss",
    "miniatures",
    "parameters",
    "probability",
    "restore",
    "rho",
    "width",
]

NAME = "exponential"

PARAMETERS: Mapping[str, str] = {
    "at": "the quantile, a fraction of the rows",
    "candidates": "how many values can be chosen",
    "cost": "the most that scores change between neighbours, over all cells",
    "epsilon": "privacy loss that the choice was calibrated for",
    "theta": "privacy loss per unit of score: epsilon / cost",
}

LEAST_EPSILON = Fraction(1, 10**12)
"""What is spent where any epsilon keeps the promise."""

_DIGITS = 15
"""Significant decimal digits of an epsilon found for an accuracy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankQuery:
    """A quantile to be chosen, and how far a neighbour moves its scores.

    Attributes:
        at: the quantile, strictly between 0 and 1.
        cost: the sum over cells of the range of score changes; a whole number.
        candidates: how many values can be chosen, known without the data.
    """

    at: Fraction
    cost: int
    candidates: int

    def __post_init__(self) -> None:
        if not 0 < self.at < 1:
            raise PlanFault.of(
                "DPQL413",
                "a quantile must lie strictly between 0 and 1",
                hint="the smallest and the largest value are not private statistics",
            )
        if self.at.denominator > FINEST_QUANTILE:
            raise PlanFault.of(
                "DPQL413", "a quantile's denominator must be at most 2^20"
            )
        if self.cost < 1 or self.candidates < 1:
            raise PlanFault.of(
                "DPQL413", "a quantile needs a cost and a candidate, at least 1 of each"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileNoise:
    """Every parameter of one choice, exact.

    ``digits`` of U are read at first and ``more`` whenever they leave the choice open;
    weights are known to ``precision`` bits. Only miniatures have other numbers.
    """

    at: Fraction
    candidates: int
    cost: int
    epsilon: Fraction
    digits: int = 128
    precision: int = 90
    more: int = 64
    kit: Kit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "kit", Kit(self.theta, self.precision, self.candidates)
        )

    @property
    def theta(self) -> Fraction:
        """Loss per unit of score."""
        return self.epsilon / self.cost


def calibrate(query: RankQuery, epsilon: Fraction) -> QuantileNoise:
    """Return the choice that costs exactly ``epsilon``."""
    require_spend(epsilon, Fraction(1))
    return QuantileNoise(
        at=query.at, candidates=query.candidates, cost=query.cost, epsilon=epsilon
    )


def parameters(noise: QuantileNoise) -> dict[str, str]:
    """Return every parameter as exact text."""
    return {name: str(Fraction(getattr(noise, name))) for name in PARAMETERS}


def restore(given: Mapping[str, str]) -> QuantileNoise:
    """Return the choice that has these parameters; refuse any that disagree."""
    try:
        exact = {name: read_fraction(given[name]) for name in PARAMETERS}
        if exact["cost"].denominator != 1 or exact["candidates"].denominator != 1:
            return agreed(NAME, None, {}, given)
        query = RankQuery(
            at=exact["at"],
            cost=int(exact["cost"]),
            candidates=int(exact["candidates"]),
        )
        noise = calibrate(query, exact["epsilon"])
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: QuantileNoise) -> Fraction:
    """Return theta times the cost: a bound on the loss, and on its range."""
    return noise.theta * noise.cost


def rho(noise: QuantileNoise) -> Fraction:
    """Return the cost under zero-concentrated privacy of a choice in that range.

    It is no less than what the cells cost one by one: squares add up to less.
    """
    return range_rho_up(loss(noise))


def epsilon_for(query: RankQuery, rows: Fraction, alpha: Fraction) -> Fraction:
    """Return the least epsilon, up to 15 digits, whose accuracy is ``rows``.

        epsilon = cost ln((m - 1)(1 - alpha)/alpha) / (floor(b rows) + 1)

    Where any epsilon will do (one candidate, or a large alpha), it is
    `LEAST_EPSILON`.
    Source: MATH-statistics 1.4.
    """
    require_level(alpha)
    if rows < 0:
        raise PlanFault.of("DPQL410", "a rank distance must be at least 0 rows")
    theta = theta_for(rows, query.at, query.candidates, alpha)
    if theta <= 0:
        return LEAST_EPSILON
    epsilon = round_up_to_digits(query.cost * theta, _DIGITS)
    if epsilon > EPSILON_CEILING:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )
    reached = rows_within(epsilon / query.cost, query.at, query.candidates, alpha)
    assert reached <= rows, "MATH-statistics 1.4"
    return epsilon


def miniatures() -> list[QuantileNoise]:
    """Return choices that read few digits at a time, to enumerate every lane."""
    shapes = [
        (Fraction(1, 2), 3, 2, Fraction(1)),
        (Fraction(1, 3), 4, 4, Fraction(2)),
        (Fraction(9, 10), 3, 18, Fraction(3, 2)),
        (Fraction(1, 2), 2, 4, Fraction(8)),
        (Fraction(1, 2), 1, 2, Fraction(1)),
    ]
    return [
        QuantileNoise(
            at=at,
            candidates=candidates,
            cost=cost,
            epsilon=epsilon,
            digits=8,
            precision=7,
            more=4,
        )
        for at, candidates, cost, epsilon in shapes
    ]
