"""Quantiles against the golden vectors: scores, costs, laws, draws, accuracies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from golden import TOLERANCE, cases, close, label

from dpql.mechanisms import quantile
from dpql.mechanisms.quantile import QuantileNoise, RankQuery
from dpql.mechanisms.quantile_law import rows_within, score_within, theta_for
from dpql.mechanisms.quantile_score import scores
from dpql.testing import Tape

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def _noise(given: Case) -> QuantileNoise:
    theta = Fraction(given["theta"])
    return QuantileNoise(
        at=Fraction(given["at"]),
        candidates=len(given["rows"]),
        cost=7,
        epsilon=7 * theta,
    )


@pytest.mark.parametrize("case", cases("questions/quantile_score"), ids=label)
def test_scores(case: Case) -> None:
    """Every candidate's score is the golden one."""
    given = case["input"]
    found = scores(given["rows"], Fraction(given["at"])).tolist()
    assert case["expect"]["scores"] == found


@pytest.mark.parametrize("case", cases("questions/quantile_law"), ids=label)
def test_law(case: Case) -> None:
    """Every candidate's probability is the golden one."""
    noise, rows = _noise(case["input"]), case["input"]["rows"]
    for index, expected in enumerate(case["expect"]["probabilities"]):
        found = quantile.probability(noise, rows, index)
        assert close(expected, found, TOLERANCE)


@pytest.mark.heavy
@pytest.mark.parametrize("case", cases("questions/quantile_draw"), ids=label)
def test_draw(case: Case) -> None:
    """The lane chooses the golden candidate; most lanes lie next to a cut."""
    noise, rows = _noise(case["input"]), case["input"]["rows"]
    tape = Tape([bytes.fromhex(case["input"]["lane"])])
    assert case["expect"]["candidate"] == quantile.choose(noise, rows, tape)
    if case["expect"]["settled_by_128_bits"]:
        assert (128,) == tape.consumed


@pytest.mark.parametrize("case", cases("questions/quantile_accuracy"), ids=label)
def test_accuracy(case: Case) -> None:
    """The rank distance before data is the golden one."""
    given, expect = case["input"], case["expect"]
    theta, alpha = Fraction(given["theta"]), Fraction(given["alpha"])
    at, m = Fraction(given["at"]), given["candidates"]
    assert expect["steps"] == score_within(theta, m, alpha)
    assert Fraction(expect["rows"]) == rows_within(theta, at, m, alpha)


@pytest.mark.parametrize("case", cases("questions/quantile_epsilon"), ids=label)
def test_priced_epsilon(case: Case) -> None:
    """The epsilon for a rank distance is the golden one, rounded up, and keeps it."""
    given, expect = case["input"], case["expect"]
    rows, alpha = Fraction(given["rows"]), Fraction(given["alpha"])
    query = RankQuery(
        at=Fraction(given["at"]), cost=given["cost"], candidates=given["candidates"]
    )
    theta = theta_for(rows, query.at, query.candidates, alpha)
    assert close(expect["theta"], theta, TOLERANCE)
    epsilon = quantile.epsilon_for(query, rows, alpha)
    assert close(expect["epsilon"], epsilon, TOLERANCE)
    assert theta * query.cost <= epsilon
    assert quantile.accuracy(quantile.calibrate(query, epsilon), alpha) <= rows


def test_a_cut_in_doubles_is_caught() -> None:
    """A draw from weights in doubles misses the golden candidate on some lanes."""
    from math import exp

    def planted(given: Case) -> int:
        found = scores(given["rows"], Fraction(given["at"])).tolist()
        weights = [exp(-float(Fraction(given["theta"])) * score) for score in found]
        lane = int(given["lane"], 16) / 2.0**512
        total, prefix = sum(weights), 0.0
        for index, weight in enumerate(weights):
            prefix += weight
            if lane * total < prefix:
                return index
        return len(weights) - 1

    wrong = [
        case["id"]
        for case in cases("questions/quantile_draw")
        if planted(case["input"]) != case["expect"]["candidate"]
    ]
    assert wrong
