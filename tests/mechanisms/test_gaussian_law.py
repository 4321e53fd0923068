"""Accuracy, probabilities and targets of discrete Gaussian noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from gaussian_noises import noise_of
from golden import cases, close

from dpql.errors import PlanFault
from dpql.exact import fraction, sidak_down
from dpql.mechanisms.gaussian_law import (
    _excess,
    accuracy,
    drift,
    normaliser,
    probability,
    rho_for,
    sigma2_for,
    simultaneous_accuracy,
    steps_within,
    variance,
)

TOLERANCE = Fraction(1, 10**28)
Case = dict[str, Any]


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_law"))
def test_law_vectors(case: Case) -> None:
    """Normaliser, variance and probabilities, to all digits given."""
    given, expected = case["input"], case["expect"]
    square = Fraction(given["sigma2"])
    assert close(expected["normaliser"], fraction(normaliser(square)), TOLERANCE)
    assert close(expected["variance"], variance(square), TOLERANCE)
    mass = probability(noise_of(square), Fraction(0), given["x"])
    assert close(expected["probability"], mass, TOLERANCE)


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_accuracy"))
def test_accuracy_vectors(case: Case) -> None:
    """The least accuracy, exactly."""
    given = case["input"]
    noise, alpha = noise_of(given["sigma2"]), Fraction(given["alpha"])
    found = simultaneous_accuracy(noise, alpha, given["cells"])
    assert case["expect"]["steps"] == found
    assert found == accuracy(noise, sidak_down(alpha, given["cells"]))


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_target"))
def test_target_vectors(case: Case) -> None:
    """The largest sigma2 and the least rho; the one published is exact."""
    given, expected = case["input"], case["expect"]
    alpha = Fraction(given["alpha"])
    squared = Fraction(given["sensitivity_l2_squared"])
    square = sigma2_for(given["steps"], alpha)
    assert close(expected["sigma2_largest"], square, TOLERANCE)
    assert close(expected["rho_least"], squared / (2 * square), TOLERANCE)
    published = rho_for(squared, given["steps"], alpha)
    assert Fraction(expected["rho_published"]) == published


@pytest.mark.heavy
@pytest.mark.parametrize("sigma2", ["1/100", "3/10", "1", "7/3", "40", "12345/7"])
@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1e-9", "1e-30"])
def test_accuracy_is_the_least_by_plain_sums(sigma2: str, alpha: str) -> None:
    """P(|X| > a) <= alpha at a and not one below, by sums over whole numbers."""
    mpmath.mp.dps = 80
    square = Fraction(sigma2)
    s2 = mpmath.mpf(square.numerator) / square.denominator
    reach = int(30 * float(square) ** 0.5) + 40
    terms = [mpmath.exp(-mpmath.mpf(y * y) / (2 * s2)) for y in range(reach)]
    whole = 1 + 2 * sum(terms[1:])
    level = mpmath.mpf(Fraction(alpha).numerator) / Fraction(alpha).denominator
    expected = next(a for a in range(reach) if 2 * sum(terms[a + 1 :]) / whole <= level)
    assert expected == steps_within(square, Fraction(alpha))


def test_rounding_adds_half_a_step() -> None:
    """A value rounded to the lattice may be half a step off before the noise."""
    import dataclasses

    noise = dataclasses.replace(noise_of(25), lattice=Fraction(1, 4))
    rounded = dataclasses.replace(noise, rounded=True)
    alpha = Fraction(1, 20)
    assert Fraction(10, 4) == accuracy(noise, alpha)
    assert Fraction(21, 8) == accuracy(rounded, alpha)


@pytest.mark.parametrize("steps", [0, 1, 5, 200, 10**9])
@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1e-12"])
def test_a_target_is_met_and_not_by_less(steps: int, alpha: str) -> None:
    """The rho found keeps the target, and one 1e-12 smaller does not."""
    level = Fraction(alpha)
    rho = rho_for(Fraction(7), steps, level)
    assert steps_within(Fraction(7) / (2 * rho), level) <= steps
    less = rho * (1 - Fraction(1, 10**12))
    assert steps_within(Fraction(7) / (2 * less), level) > steps


def test_misses_rise_with_sigma2() -> None:
    """P(|X| > a) rises strictly, so that the search has one root."""
    squares = [Fraction(k, 20) for k in range(1, 80)]
    for steps in (0, 1, 3):
        found = [_excess(s, steps, Fraction(1, 2)) for s in squares]
        assert sorted(set(found)) == found


def test_levels_that_are_none() -> None:
    """An alpha of 0 or above 1 is refused; 1 asks for nothing."""
    assert steps_within(Fraction(25), Fraction(1)) == 0
    for alpha in (Fraction(0), Fraction(2), Fraction(-1, 2)):
        with pytest.raises(PlanFault, match="DPQL413"):
            steps_within(Fraction(25), alpha)


def test_variance_is_below_sigma2() -> None:
    """Var X <= sigma2, and equal to 30 digits from sigma = 2 on."""
    assert variance(Fraction(3, 10)) < Fraction(3, 10)
    assert abs(variance(Fraction(4)) - 4) < Fraction(1, 10**29)
    assert drift(noise_of(4)) == 0
