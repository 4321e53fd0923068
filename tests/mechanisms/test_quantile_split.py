"""Several quantiles of one column: shares, joint promise, rising order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpql.errors import PlanFault
from dpql.mechanisms import quantile
from dpql.mechanisms.quantile import RankQuery
from dpql.mechanisms.quantile_law import rows_within
from dpql.mechanisms.quantile_split import (
    calibrate_all,
    epsilon_for_all,
    joint_accuracy,
    shares,
)
from dpql.testing import SeededBits

ALPHA = Fraction(1, 20)


def _queries(count: int, candidates: int = 1025) -> list[RankQuery]:
    ats = [Fraction(j, count + 1) for j in range(1, count + 1)]
    return [
        RankQuery(
            at=at,
            cost=2 * max(at.numerator, at.denominator - at.numerator),
            candidates=candidates,
        )
        for at in ats
    ]


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 9.9), (3, 44), (7, 118), (15, 277)]
)
def test_rank_distance_of_several(count: int, expected: float) -> None:
    """R * epsilon is what the note tabulates, for many rows of score to a unit."""
    noises = calibrate_all(_queries(count), Fraction(1, 1000))
    assert Fraction(1, 1000) == sum(map(quantile.loss, noises))
    assert pytest.approx(expected, rel=0.01) == float(
        joint_accuracy(noises, ALPHA) / 1000
    )


def test_shares_follow_the_distances() -> None:
    """Shares are as max(at, 1 - at) under add_remove, and add to 1."""
    found = shares(_queries(3))
    assert (Fraction(3, 8), Fraction(1, 4), Fraction(3, 8)) == found


def test_epsilon_for_several_keeps_the_promise() -> None:
    """The epsilon for a joint rank distance keeps it, and hardly less would do."""
    queries = _queries(3)
    epsilon = epsilon_for_all(queries, Fraction(40), ALPHA)
    assert joint_accuracy(calibrate_all(queries, epsilon), ALPHA) <= 40
    less = epsilon * Fraction(999, 1000)
    assert joint_accuracy(calibrate_all(queries, less), ALPHA) > 40


def test_one_candidate_needs_no_epsilon() -> None:
    """With one candidate, or a large alpha, every rank is right; ln 0 is not taken."""
    query = RankQuery(at=Fraction(1, 2), cost=2, candidates=1)
    assert 0 == rows_within(Fraction(1), Fraction(1, 2), 1, ALPHA)
    assert quantile.LEAST_EPSILON == quantile.epsilon_for(query, Fraction(0), ALPHA)
    assert quantile.LEAST_EPSILON == epsilon_for_all([query], Fraction(0), ALPHA)
    assert 0 == rows_within(Fraction(1), Fraction(1, 2), 2, Fraction(1, 2))


def test_targets_beyond_reason_are_refused() -> None:
    """A negative distance, or one that needs an epsilon above 1000, is a fault."""
    query = RankQuery(at=Fraction(1, 2), cost=10**6, candidates=1025)
    with pytest.raises(PlanFault, match="DPQL410"):
        quantile.epsilon_for(query, Fraction(-1), ALPHA)
    with pytest.raises(PlanFault, match="DPQL412"):
        quantile.epsilon_for(query, Fraction(0), ALPHA)
    with pytest.raises(PlanFault, match="DPQL412"):
        epsilon_for_all([query, query], Fraction(0), ALPHA)
    with pytest.raises(PlanFault, match="DPQL413"):
        shares(_queries(16))
    with pytest.raises(PlanFault, match="DPQL413"):
        RankQuery(at=Fraction(1, 2), cost=0, candidates=2)


def test_sorting_keeps_the_largest_distance() -> None:
    """Released in rising order, the worst rank is no worse than as drawn."""

    def worst(counts: list[int], chosen: list[int]) -> Fraction:
        upto = np.cumsum(counts)
        return max(
            max(
                (upto[i - 1] if i else 0) - query.at * int(upto[-1]),
                query.at * int(upto[-1]) - upto[i],
            )
            for query, i in zip(queries, chosen, strict=True)
        )

    generator = np.random.default_rng(3)
    queries = _queries(3, 12)
    noises = calibrate_all(queries, Fraction(1, 2))
    bits = SeededBits("sorting")
    for _ in range(200):
        counts = generator.integers(0, 5, 12).tolist()
        drawn = [quantile.choose(noise, counts, bits) for noise in noises]
        assert worst(counts, sorted(drawn)) <= worst(counts, drawn)
