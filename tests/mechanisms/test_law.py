"""Draws from the operating system's coins follow the stated law, and no other.

False-alarm rate of each test: 1e-9 (nominal for chi-square, about 4e-9 in truth at
1000 expected per cell; proved for the relative entropy). Every test also rejects a
scale that is 2% off, in each direction, on the same draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpql.curator.entropy import SystemBits
from dpql.exact import exp_down
from dpql.mechanisms import MECHANISMS, Query
from dpql.testing import chi_square, relative_entropy
from tests.mechanisms.noises import calibrated

pytestmark = pytest.mark.stats

DRAWS = 1_000_000
RATE = 1e-9
VALUE = 300
RANGE = {"lower": 0, "upper": 1000}
FAR = 1 << 69


def _one_by_one(mechanism: Any, noise: Any) -> Counter[int]:
    bits = SystemBits()
    return Counter(mechanism.perturb(noise, VALUE, bits) for _ in range(DRAWS))


def _at_once(mechanism: Any, noise: Any) -> Counter[int]:
    values = np.full(DRAWS, VALUE)
    steps = mechanism.perturb_many(noise, values, SystemBits(), **RANGE)
    return Counter(
        dict(
            zip(
                *map(np.ndarray.tolist, np.unique(steps, return_counts=True)),
                strict=True,
            )
        )
    )


def _at_once_and_far(mechanism: Any, noise: Any) -> Counter[int]:
    """Draw where the range leaves machine integers; take the distance off again."""
    noise = _noise(mechanism.NAME, mechanism.loss(noise), upper=2 * FAR)
    steps = mechanism.perturb_many(
        noise, [FAR - 500 + VALUE] * DRAWS, SystemBits(), lower=0, upper=2 * FAR
    ).tolist()
    # Steps of snapping count from the middle of the range: 500, and FAR here.
    away = 0 if mechanism.NAME == "snapping" else FAR - 500
    return Counter(step - away for step in steps)


def _noise(name: str, amount: Fraction, upper: int = 1000) -> Any:
    query = Query(
        sensitivity=Fraction(1),
        lower=Fraction(0),
        upper=Fraction(upper),
        lattice=Fraction(1),
    )
    return calibrated(name, query, amount)


@pytest.mark.parametrize("draw", [_one_by_one, _at_once, _at_once_and_far])
@pytest.mark.parametrize("epsilon", [Fraction(3, 10), Fraction(9, 10)])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_million_draws(
    name: str, epsilon: Fraction, draw: Callable[[Any, Any], Counter[int]]
) -> None:
    """The right law is accepted; 2% more or less noise is not."""
    mechanism = MECHANISMS[name]
    noise = _noise(name, epsilon)
    observed = draw(mechanism, noise)
    assert DRAWS == sum(observed.values())
    for factor in (Fraction(1), Fraction(98, 100), Fraction(102, 100)):
        stated = _noise(name, epsilon * factor)
        law = {
            step: mechanism.probability(stated, Fraction(VALUE), step)
            for step in observed
        }
        right = factor == 1
        if name == "snapping":
            assert stated.Lambda_prime == noise.Lambda_prime
        assert right == chi_square(observed, law, false_alarm=RATE).passed
        assert right == relative_entropy(observed, law, false_alarm=RATE).passed


@pytest.mark.parametrize("inverse", [10**3, 10**6, 10**9])
def test_wide_geometric_noise(inverse: int) -> None:
    """At large scales the law is compared in cells of equal probability."""
    mechanism = MECHANISMS["geometric"]
    noise = _noise("geometric", Fraction(1, inverse))
    values = np.full(DRAWS, VALUE)
    steps = mechanism.perturb_many(noise, values, SystemBits(), **RANGE) - VALUE
    edges = np.array([inverse * k // 20 for k in range(-120, 121)])
    cells = np.searchsorted(edges, steps, side="right")
    observed = dict(
        zip(*map(np.ndarray.tolist, np.unique(cells, return_counts=True)), strict=True)
    )
    for factor in (Fraction(1), Fraction(98, 100), Fraction(102, 100)):
        below = [_below(int(edge), factor / inverse) for edge in edges]
        bounds = [Fraction(0), *below, Fraction(1)]
        law = {i: bounds[i + 1] - bounds[i] for i in range(len(edges) + 1)}
        assert (factor == 1) == chi_square(observed, law, false_alarm=RATE).passed


def _below(edge: int, theta: Fraction) -> Fraction:
    """Return P(X < edge) of the geometric law: q**(1-edge)/(1+q) or its complement."""
    q = exp_down(-theta)
    if edge <= 0:
        return exp_down(-theta * (1 - edge)) / (1 + q)
    return 1 - exp_down(-theta * edge) / (1 + q)
