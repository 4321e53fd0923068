"""Several quantiles of one column, each chosen on its own and all promised together.

    epsilon_j = epsilon share_j,   share_j ~ cost_j / b_j

makes all rank distances equal up to rounding. With J quantiles each is accurate at the
level 1 - (1 - alpha)^(1/J), and together at alpha; the promise is the largest distance.
Sorting what was chosen keeps it: the first j answers all have at most the rows below
them that the j-th quantile may have. It keeps only this joint promise; one particular
quantile may get farther from its rank.
Source: MATH-statistics 1.5. Recursive halving is wrong under ties and not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import round_up_to_digits, sidak_down
from dpql.mechanisms.mechanism import EPSILON_CEILING
from dpql.mechanisms.quantile import LEAST_EPSILON, QuantileNoise, RankQuery, calibrate
from dpql.mechanisms.quantile_law import accuracy, theta_for
from dpql.model.limits import MOST_QUANTILES as MOST

_DIGITS = 15


def shares(queries: Sequence[RankQuery]) -> tuple[Fraction, ...]:
    """Return what part of epsilon each quantile gets; they add to 1."""
    if not 1 <= len(queries) <= MOST:
        raise PlanFault.of(
            "DPQL413",
            f"a statistic can have 1 to {MOST} quantiles",
            hint="a histogram shows more of a column",
        )
    weights = [Fraction(query.cost, query.at.denominator) for query in queries]
    return tuple(weight / sum(weights) for weight in weights)


def calibrate_all(
    queries: Sequence[RankQuery], epsilon: Fraction
) -> tuple[QuantileNoise, ...]:
    """Return the noise of each quantile; their losses add to exactly ``epsilon``."""
    return tuple(
        calibrate(query, epsilon * share)
        for query, share in zip(queries, shares(queries), strict=True)
    )


def joint_accuracy(noises: Sequence[QuantileNoise], alpha: Fraction) -> Fraction:
    """Return r: no rank is more than r rows off, but with probability alpha.

    It holds for the choices as they are, and for the same values in rising order.
    """
    level = sidak_down(alpha, len(noises))
    return max(accuracy(noise, level) for noise in noises)


def epsilon_for_all(
    queries: Sequence[RankQuery], rows: Fraction, alpha: Fraction
) -> Fraction:
    """Return the least epsilon, up to 15 digits, with that joint accuracy."""
    level = sidak_down(alpha, len(queries))
    needed = max(
        query.cost * theta_for(rows, query.at, query.candidates, level) / share
        for query, share in zip(queries, shares(queries), strict=True)
    )
    if needed <= 0:
        return LEAST_EPSILON
    epsilon = round_up_to_digits(needed, _DIGITS)
    if epsilon > EPSILON_CEILING:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for fewer quantiles",
        )
    assert joint_accuracy(calibrate_all(queries, epsilon), alpha) <= rows
    return epsilon
