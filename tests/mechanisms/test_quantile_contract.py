"""Choosing mechanisms by brute force: every lane of a miniature, every tiny data set.

The law of the code is found exactly, so the checks have no false alarms. Planted faults
show that the same checks catch what is known to go wrong elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from dpql.errors import PlanFault
from dpql.exact import exp_up
from dpql.mechanisms import CHOOSERS, quantile
from dpql.mechanisms.quantile import QuantileNoise, RankQuery
from dpql.mechanisms.quantile_score import scores
from dpql.testing import Outcomes, enumerate_outcomes

pytestmark = pytest.mark.contract

MINIATURES = [
    pytest.param(chooser, noise, id=f"{name}-{index}")
    for name, chooser in CHOOSERS.items()
    for index, noise in enumerate(chooser.miniatures())
]
DEPTH = 16


def _tables(candidates: int) -> list[tuple[int, ...]]:
    """Return the row counts of all data sets of at most two rows, and some of more."""
    few = [
        counts for counts in product(range(3), repeat=candidates) if sum(counts) <= 2
    ]
    return [*few, (3,) + (0,) * (candidates - 1), (2,) * candidates]


def _law(chooser: Any, noise: Any, counts: tuple[int, ...]) -> Outcomes:
    adapter = SimpleNamespace(perturb=chooser.choose)
    return enumerate_outcomes(adapter, noise, counts, DEPTH)


def _added(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return tuple(count + (i == index) for i, count in enumerate(counts))


@pytest.mark.parametrize(("chooser", "noise"), MINIATURES)
def test_law_and_loss_of_all_lanes(chooser: Any, noise: Any) -> None:
    """The code has the stated law, and a row changes it by no more than claimed."""
    factor = exp_up(chooser.loss(noise))
    stretch = exp_up(chooser.drift(noise))
    for counts in _tables(noise.candidates)[:4]:
        here, unresolved = _law(chooser, noise, counts)
        assert unresolved <= Fraction(1, 20)
        for index in range(noise.candidates):
            mass = here.get(index, Fraction(0))
            ideal = chooser.probability(noise, counts, index)
            assert mass <= stretch * ideal + Fraction(1, 10**50)
            assert ideal <= stretch * (mass + unresolved) + Fraction(1, 10**50)
        for added in range(noise.candidates):
            there, left = _law(chooser, noise, _added(counts, added))
            for index in range(noise.candidates):
                one, other = (law.get(index, Fraction(0)) for law in (here, there))
                assert one <= factor * (other + left)
                assert other <= factor * (one + unresolved)


@pytest.mark.parametrize(("chooser", "noise"), MINIATURES)
def test_accuracy_of_all_lanes(chooser: Any, noise: Any) -> None:
    """The wanted rank is missed no oftener than stated, for the law of the code."""
    for counts in _tables(noise.candidates)[::2]:
        masses, unresolved = _law(chooser, noise, counts)
        for alpha in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 50)):
            reach = chooser.accuracy(noise, alpha)
            missed = sum(
                (
                    mass
                    for index, mass in masses.items()
                    if _distance(counts, noise.at, index) > reach
                ),
                Fraction(0),
            )
            assert missed <= alpha + unresolved


def _distance(counts: Any, at: Fraction, index: int) -> Fraction:
    """Return how far rank at * n is from the ranks of a candidate, by their meaning."""
    below, upto = sum(counts[:index]), sum(counts[: index + 1])
    wanted = at * sum(counts)
    return max(below - wanted, wanted - upto, Fraction(0))


@pytest.mark.parametrize("name", CHOOSERS)
def test_parameters_restore_the_noise(name: str) -> None:
    """A noise survives its own text, and no parameter can be edited alone."""
    chooser = CHOOSERS[name]
    query = RankQuery(at=Fraction(9, 10), cost=36, candidates=1001)
    noise = quantile.calibrate(query, Fraction(3, 10))
    text = chooser.parameters(noise)
    assert set(chooser.PARAMETERS) == set(text)
    assert noise == chooser.restore(text)
    assert Fraction(3, 10) == chooser.loss(noise)
    for key in text:
        for wrong in ("", "-0", "1e9", "nan", "7/0", "9" * 5000, 7, None, "0", "1/7"):
            if (key, wrong) != ("at", "1/7"):
                with pytest.raises(PlanFault, match="DPQL414"):
                    chooser.restore({**text, key: wrong})
        with pytest.raises(PlanFault, match="DPQL414"):
            chooser.restore({k: v for k, v in text.items() if k != key})
    with pytest.raises(PlanFault, match="DPQL414"):
        chooser.restore({**text, "more": "1"})


def _usual(counts: Any, at: Fraction) -> list[int]:
    """Return the usual scores: |(b - a) below - a above|."""
    a, b = at.numerator, at.denominator
    total = sum(counts)
    return [
        abs((b - a) * sum(counts[:i]) - a * (total - sum(counts[: i + 1])))
        for i in range(len(counts))
    ]


def test_the_usual_score_fails_under_ties() -> None:
    """Six rows at 1 and four at 3: the usual score settles on 2, whatever epsilon."""
    counts, at = (0, 6, 0, 4), Fraction(1, 2)
    noise = QuantileNoise(at=at, candidates=4, cost=2, epsilon=Fraction(20))
    ours, usual = scores(counts, at).tolist(), _usual(counts, at)
    assert [10, 0, 2, 2] == ours
    assert [10, 4, 2, 6] == usual
    reach = quantile.accuracy(noise, Fraction(1, 20))
    assert _distance(counts, at, ours.index(0)) <= reach
    assert _distance(counts, at, usual.index(min(usual))) > reach


def test_scores_are_scaled_distances_of_ranks() -> None:
    """Scores are b times the distance of ranks, and one of them is always 0."""
    for at in (Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)):
        for counts in product(range(3), repeat=4):
            found = scores(counts, at).tolist()
            expected = [at.denominator * _distance(counts, at, i) for i in range(4)]
            assert expected == found
            assert 0 == min(found)


@pytest.mark.parametrize("at", ["0", "1", "-1/2", "3/2", f"1/{(1 << 20) + 1}"])
def test_senseless_quantiles_are_refused(at: str) -> None:
    """Extremes and denominators above 2**20 are no quantiles."""
    with pytest.raises(PlanFault, match="DPQL413"):
        RankQuery(at=Fraction(at), cost=1, candidates=2)
