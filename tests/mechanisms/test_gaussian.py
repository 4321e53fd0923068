"""Discrete Gaussian noise as a mechanism: all lanes of small noises, and its text.

The law of the code is found exactly, so the checks have no false alarms. Planted faults
show that the same checks catch what they are for.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction

import gmpy2
import pytest

from dpql.errors import PlanFault
from dpql.exact import fraction
from dpql.mechanisms import CONCENTRATED, Query, gaussian
from dpql.mechanisms.accounting import zcdp_delta_up
from dpql.mechanisms.gaussian import GaussianNoise, calibrate, calibrate_joint
from dpql.testing import Outcomes, enumerate_outcomes

pytestmark = pytest.mark.contract

MINIATURES = gaussian.miniatures()
NARROW = 7
QUERY = Query(
    sensitivity=Fraction(7),
    lower=Fraction(-3),
    upper=Fraction(1000),
    lattice=Fraction(1),
)


def _depth(noise: GaussianNoise) -> int:
    width = gaussian.width(noise)
    return 3 * width if width <= NARROW else width + 11


def _stick(first: Outcomes, second: Outcomes, factor: Fraction) -> Fraction:
    """Return the hockey-stick divergence of two laws, at least; both ways."""
    worst = Fraction(0)
    for one, other in ((first, second), (second, first)):
        found = Fraction(0)
        for step, mass in one.masses.items():
            found += max(Fraction(0), mass - factor * other.masses.get(step, 0))
        worst = max(worst, found - factor * other.unresolved)
    return worst


def _factor(epsilon: Fraction) -> Fraction:
    return fraction(gmpy2.exp(gmpy2.mpq(*epsilon.as_integer_ratio())))


@pytest.mark.heavy
@pytest.mark.parametrize(("noise", "distance"), MINIATURES)
def test_loss_and_law_of_all_lanes(noise: GaussianNoise, distance: Fraction) -> None:
    """Neighbours are no farther apart than rho allows, and the law is the stated one.

    One cell costs its share of rho; delta of that rho bounds the hockey stick at
    every epsilon.
    """
    cells = noise.squared / (distance / noise.lattice) ** 2
    rho = gaussian.loss(noise) / cells
    laws = {
        move: enumerate_outcomes(gaussian, noise, Fraction(1, 3) + move, _depth(noise))
        for move in (Fraction(0), distance / 2, distance)
    }
    for move in (distance / 2, distance):
        for epsilon in (Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(3)):
            claimed = zcdp_delta_up(rho, epsilon)
            assert _stick(laws[Fraction(0)], laws[move], _factor(epsilon)) <= claimed
    masses, unresolved = laws[Fraction(0)]
    assert unresolved <= Fraction(1, 100)
    for step, mass in masses.items():
        ideal = gaussian.probability(noise, Fraction(1, 3), step)
        assert mass <= ideal + Fraction(1, 10**50)
        assert ideal <= mass + unresolved + Fraction(1, 10**50)


@pytest.mark.heavy
@pytest.mark.parametrize(("noise", "distance"), MINIATURES)
def test_accuracy_of_all_lanes(noise: GaussianNoise, distance: Fraction) -> None:
    """The stated accuracy fails no oftener than stated, for the law of the code."""
    for value in (Fraction(0), distance):
        masses, unresolved = enumerate_outcomes(gaussian, noise, value, _depth(noise))
        for alpha in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 50)):
            reach = gaussian.accuracy(noise, alpha)
            missed = sum(
                (
                    mass
                    for step, mass in masses.items()
                    if abs(gaussian.outcome(noise, step) - value) > reach
                ),
                Fraction(0),
            )
            assert missed <= alpha + unresolved


def test_a_sigma_two_percent_too_small_is_caught() -> None:
    """Noise of sigma2 4% below its rho breaks the Renyi bound of that rho.

    At order 2 the divergence of a whole distance is exactly 2 rho, so any less noise
    shows.
    """
    from dataclasses import replace

    noise = replace(MINIATURES[0][0], digits=63, rounded=False)
    small = replace(noise, rho=noise.rho / Fraction(98, 100) ** 2)
    for each, holds in ((noise, True), (small, False)):
        ratio = sum(
            gaussian.probability(each, Fraction(0), x) ** 2
            / gaussian.probability(each, Fraction(1), x)
            for x in range(-12, 14)
        )
        bound = 2 * gaussian.loss(noise) / 2
        with gmpy2.context(precision=200):
            divergence = fraction(gmpy2.log(gmpy2.mpq(*ratio.as_integer_ratio())))
        assert holds == (divergence <= bound + Fraction(1, 10**20))


def test_parameters_restore_the_noise() -> None:
    """A noise survives its own text, and no parameter can be edited alone."""
    for mechanism in CONCENTRATED.values():
        noise = mechanism.calibrate(QUERY, Fraction(3, 10), cells=4)
        text = mechanism.parameters(noise)
        assert set(mechanism.PARAMETERS) == set(text)
        assert noise == mechanism.restore(text)
        for key in text:
            for wrong in ("", "-0", "1e9", "nan", "7/0", "9" * 5000, 7, None):
                with pytest.raises(PlanFault, match="DPQL414"):
                    mechanism.restore({**text, key: wrong})
            with pytest.raises(PlanFault, match="DPQL414"):
                mechanism.restore({k: v for k, v in text.items() if k != key})
            for other in ("0", "-1", "1/7", "2"):
                with contextlib.suppress(PlanFault):
                    found = mechanism.restore({**text, key: other})
                    assert {**text, key: other} == mechanism.parameters(found)
                    assert found.rho == mechanism.loss(found)
        with pytest.raises(PlanFault, match="DPQL414"):
            mechanism.restore({**text, "more": "1"})


@pytest.mark.parametrize("rho", ["1e-12", "1e-6", "0.3", "17", "1000"])
@pytest.mark.parametrize("width", ["1e-12", "1", "1e12"])
def test_calibration_across_scales(rho: str, width: str) -> None:
    """The cost is exactly rho and accuracy is sane from the smallest to the largest."""
    query = Query(
        sensitivity=Fraction(width), lower=Fraction(0), upper=10**9 * Fraction(width)
    )
    noise = calibrate(query, Fraction(rho), cells=3)
    assert Fraction(rho) == gaussian.loss(noise)
    assert gaussian.accuracy(noise, Fraction(1, 20)) > 0
    assert noise == gaussian.restore(gaussian.parameters(noise))


def test_the_lattice_is_kept_to_a_million_steps() -> None:
    """Beyond 2**20 steps a coarser one is taken, where only the bound by cells counts.

    Up to there it is the query's own.
    """
    own = Query(
        sensitivity=Fraction(1 << 20),
        lower=Fraction(0),
        upper=Fraction(1 << 40),
        lattice=Fraction(1),
    )
    noise = calibrate(own, Fraction(1), cells=5, squared=Fraction((1 << 40) + 1))
    assert (Fraction(1), False, (1 << 40) + 1) == (
        noise.lattice,
        noise.rounded,
        noise.squared,
    )
    fine = Query(
        sensitivity=Fraction((1 << 20) + 1),
        lower=Fraction(0),
        upper=Fraction(1 << 40),
        lattice=Fraction(1),
    )
    noise = calibrate(fine, Fraction(1), cells=5, squared=fine.sensitivity**2)
    assert (fine.sensitivity / (1 << 20), True, 5 << 40) == (
        noise.lattice,
        noise.rounded,
        noise.squared,
    )


@pytest.mark.parametrize("rho", ["0", "-1", "1001"])
def test_senseless_rho_is_refused(rho: str) -> None:
    """A rho outside (0, 1000] is a fault, and so are no cells."""
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate(QUERY, Fraction(rho), cells=1)
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate_joint(1, 1, Fraction(rho))
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate(QUERY, Fraction(1), cells=0)


def test_a_sum_of_squares_that_cannot_be_is_refused() -> None:
    """It is at least that of one cell, and at most that of all."""
    for squared in (48, 99):
        with pytest.raises(PlanFault, match="DPQL413"):
            calibrate(QUERY, Fraction(1), cells=2, squared=Fraction(squared))
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate_joint(5, 24, Fraction(1))


def test_joint_noise_keeps_its_sum_of_squares() -> None:
    """Parts of one: sigma2 = l (k F)**2 / (2 rho), counted once."""
    noise = calibrate_joint(6, 3 * 36, Fraction(1, 4))
    assert Fraction(216) == noise.sigma2
    assert Fraction(1, 4) == gaussian.loss(noise)


@pytest.mark.parametrize("accuracy", ["1", "5/2", "40", "999"])
def test_a_target_is_met(accuracy: str) -> None:
    """The rho found reaches the target."""
    alpha = Fraction(1, 20)
    rho = gaussian.rho_for(QUERY, Fraction(accuracy), alpha, cells=2)
    noise = calibrate(QUERY, rho, cells=2)
    assert gaussian.accuracy(noise, alpha) <= Fraction(accuracy)


def test_a_target_below_the_lattice_is_refused() -> None:
    """Half a step is lost to rounding before any noise, so less cannot be kept."""
    fine = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(9))
    with pytest.raises(PlanFault, match="DPQL410"):
        gaussian.rho_for(fine, Fraction(1, 1 << 30), Fraction(1, 20), cells=1)
    with pytest.raises(PlanFault, match="DPQL412"):
        gaussian.rho_for(QUERY, Fraction(1, 2), Fraction(1, 10**200), cells=900)
