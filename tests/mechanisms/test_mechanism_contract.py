"""Every mechanism of the table, by brute force: all lanes of its miniatures.

The law of the code is found exactly, so the checks have no false alarms. Planted faults
show that the same checks catch what is known to go wrong elsewhere.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import gmpy2
import pytest

from dpql.errors import PlanFault
from dpql.exact import exp_up, fraction
from dpql.mechanisms import CONCENTRATED, MECHANISMS, PURE, Query, snapping
from dpql.mechanisms.accounting import zcdp_delta_up
from dpql.mechanisms.bits import flips
from dpql.mechanisms.gaussian_loss import delta_up
from dpql.mechanisms.snapping import SnappingNoise
from dpql.testing import Outcomes, enumerate_outcomes
from tests.mechanisms.noises import calibrated

pytestmark = pytest.mark.contract

MINIATURES = [
    pytest.param(mechanism, noise, distance, id=f"{name}-{index}")
    for name, mechanism in MECHANISMS.items()
    for index, (noise, distance) in enumerate(mechanism.miniatures())
]
LOSING = [case for case in MINIATURES if case.values[0].NAME in PURE]
CONCENTRATING = [case for case in MINIATURES if case.values[0].NAME in CONCENTRATED]
NARROW = 7
SHIFTS = [Fraction(0), Fraction(1, 3), Fraction(-3, 4)]
MOVES = [Fraction(1, 2), Fraction(1)]


def _excess(first: Outcomes, second: Outcomes, claimed: Fraction) -> Fraction:
    """Return how far P exceeds exp(claimed) Q anywhere, both ways; <= 0 is private.

    Mass of lanes cut off is counted against the code where it could be, so a positive
    answer is proof.
    """
    factor = exp_up(claimed)
    worst = Fraction(-1)
    for one, other in ((first, second), (second, first)):
        for step, mass in one.masses.items():
            most = other.masses.get(step, Fraction(0)) + other.unresolved
            worst = max(worst, mass - factor * most)
    return worst


def _depth(width: int) -> int:
    """Return how many bits of a lane to try: three requests of a narrow one."""
    return 3 * width if width <= NARROW else width + 9


@pytest.mark.parametrize(("mechanism", "noise", "distance"), LOSING)
def test_loss_and_law_of_all_lanes(
    mechanism: Any, noise: Any, distance: Fraction
) -> None:
    """Neighbours are no farther apart than claimed, and the law is the stated one."""
    claimed = mechanism.loss(noise)
    depth = _depth(mechanism.width(noise))
    stretch = exp_up(mechanism.drift(noise))
    for shift in SHIFTS:
        laws = {
            move: enumerate_outcomes(mechanism, noise, shift + move * distance, depth)
            for move in (Fraction(0), *MOVES)
        }
        for move in MOVES:
            assert _excess(laws[Fraction(0)], laws[move], claimed) <= 0
        masses, unresolved = laws[Fraction(0)]
        assert unresolved <= Fraction(1, 100)
        for step, mass in masses.items():
            ideal = mechanism.probability(noise, shift, step)
            assert mass <= stretch * ideal + Fraction(1, 10**50)
            assert ideal <= stretch * (mass + unresolved) + Fraction(1, 10**50)


def _hockey_stick(first: Outcomes, second: Outcomes, epsilon: Fraction) -> Fraction:
    """Return at most the delta of two laws at an epsilon, the larger of both ways."""
    factor = exp_up(epsilon)
    worst = Fraction(0)
    for one, other in ((first, second), (second, first)):
        excess = (
            mass - factor * (other.masses.get(step, Fraction(0)) + other.unresolved)
            for step, mass in one.masses.items()
        )
        worst = max(worst, sum((e for e in excess if e > 0), Fraction(0)))
    return worst


@pytest.mark.parametrize(("mechanism", "noise", "distance"), CONCENTRATING)
def test_concentrated_loss_and_law_of_all_lanes(
    mechanism: Any, noise: Any, distance: Fraction
) -> None:
    """The delta of neighbours is at most that of rho, and of sigma2 when it is known.

    Noise whose sigma2 is a fifth too small breaks the second claim.
    """
    depth = _depth(mechanism.width(noise))
    stretch = exp_up(mechanism.drift(noise))
    steps = int(distance / noise.lattice)
    laws = {
        move: enumerate_outcomes(mechanism, noise, move * distance, depth)
        for move in (Fraction(0), Fraction(1, 2), Fraction(1))
    }
    rho = Fraction(steps**2) / (2 * noise.sigma2)
    assert rho <= mechanism.rho(noise)
    for epsilon in (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3)):
        exact = delta_up(noise.sigma2, distance=steps, cells=1, epsilon=epsilon)
        assert exact is not None
        assert exact <= zcdp_delta_up(rho, epsilon)
        for move in (Fraction(1, 2), Fraction(1)):
            assert _hockey_stick(laws[Fraction(0)], laws[move], epsilon) <= exact
    masses, unresolved = laws[Fraction(0)]
    assert unresolved <= Fraction(1, 100)
    for step, mass in masses.items():
        ideal = mechanism.probability(noise, Fraction(0), step)
        assert mass <= stretch * ideal + Fraction(1, 10**50)
        assert ideal <= stretch * (mass + unresolved) + Fraction(1, 10**50)
    small = replace(noise, rho=noise.rho * Fraction(5, 4))
    planted = [
        enumerate_outcomes(mechanism, small, move * distance, depth) for move in (0, 1)
    ]
    honest = delta_up(noise.sigma2, distance=steps, cells=1, epsilon=Fraction(1, 4))
    assert honest is not None
    assert _hockey_stick(planted[0], planted[1], Fraction(1, 4)) > honest


@pytest.mark.parametrize(("mechanism", "noise", "distance"), MINIATURES)
def test_accuracy_of_all_lanes(mechanism: Any, noise: Any, distance: Fraction) -> None:
    """The stated accuracy fails no oftener than stated, for the law of the code."""
    for value in (Fraction(0), distance):
        masses, unresolved = enumerate_outcomes(
            mechanism, noise, value, _depth(mechanism.width(noise))
        )
        for alpha in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 50)):
            reach = mechanism.accuracy(noise, alpha)
            missed = sum(
                (
                    mass
                    for step, mass in masses.items()
                    if abs(mechanism.outcome(noise, step) - value) > reach
                ),
                Fraction(0),
            )
            assert missed <= alpha + unresolved


@pytest.mark.parametrize("name", MECHANISMS)
def test_parameters_restore_the_noise(name: str) -> None:
    """A noise survives its own text, and no parameter can be edited alone."""
    mechanism = MECHANISMS[name]
    query = Query(
        sensitivity=Fraction(7),
        lower=Fraction(-3),
        upper=Fraction(1000),
        lattice=Fraction(1),
    )
    noise = calibrated(name, query, Fraction(3, 10), gamma=Fraction(1, 10**6))
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
            _edited(mechanism, {**text, key: other})
    with pytest.raises(PlanFault, match="DPQL414"):
        mechanism.restore({**text, "more": "1"})


def _edited(mechanism: Any, text: dict[str, str]) -> None:
    """Show that an edit is refused, or is another noise that says so all through.

    A parameter on which no other depends can be edited alone; the loss stays the
    stated one, the spelling changes, and the digest of the plan with it.
    """
    with contextlib.suppress(PlanFault):
        noise = mechanism.restore(text)
        assert text == mechanism.parameters(noise)
        stated = noise.rho if mechanism.NAME in CONCENTRATED else noise.epsilon
        assert stated == mechanism.loss(noise)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", ["1e-12", "1e-6", "0.3", "1", "17", "1000"])
@pytest.mark.parametrize("width", ["1e-12", "1", "1e12"])
def test_calibration_across_scales(name: str, epsilon: str, width: str) -> None:
    """Loss is exactly epsilon and accuracy is sane from the smallest to the largest."""
    mechanism, exact = MECHANISMS[name], Fraction(epsilon)
    for rows in (1, 10**9):
        query = Query(
            sensitivity=Fraction(width),
            lower=Fraction(0),
            upper=rows * Fraction(width),
        )
        noise = calibrated(name, query, exact)
        assert exact == mechanism.loss(noise)
        tight = mechanism.accuracy(noise, Fraction(1, 20))
        assert 0 < tight
        assert noise == mechanism.restore(mechanism.parameters(noise))


@pytest.mark.parametrize("epsilon", ["0", "-1", "1001"])
def test_senseless_epsilon_is_refused(epsilon: str) -> None:
    """Epsilon outside (0, 1000] is a fault, for every mechanism."""
    query = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(1))
    for name in MECHANISMS:
        with pytest.raises(PlanFault, match="DPQL413"):
            calibrated(name, query, Fraction(epsilon), gamma=Fraction(1))


def _precise(scale: int, uniform_bits: int) -> SnappingNoise:
    """Return a noise with 20-bit logarithms whose U carries ``uniform_bits``.

    A planted fault: the proof wants 21. Everything else is the code that ships.
    """
    noise = SnappingNoise(
        sensitivity=Fraction(1),
        shift=Fraction(0),
        B_prime=Fraction(4 * scale),
        B=Fraction(4 * scale),
        gamma=Fraction(1),
        epsilon=Fraction(1),
        precision=20,
        lambda_prime=Fraction(scale),
        run=4,
    )
    noise.kit.needed = uniform_bits + 1
    noise.kit.width = 1 + noise.run + noise.kit.needed
    noise.kit.mask = (1 << (noise.kit.width - 1)) - 1
    noise.kit.flips = flips(noise.kit.width)
    return noise


@pytest.mark.parametrize("scale", [64, 1024])
def test_a_uniform_of_few_bits_is_caught(scale: int) -> None:
    """20-bit logarithms of a 6-bit U lose more than claimed, visibly (MATH 1.4)."""
    noise = _precise(scale, 6)
    claimed = snapping.loss(noise)
    values = [Fraction(k * scale, 8) for k in range(9)]
    worst = max(
        _excess(
            enumerate_outcomes(snapping, noise, value, 24),
            enumerate_outcomes(snapping, noise, value + 1, 24),
            claimed,
        )
        for value in values
    )
    assert worst > 0


def test_ties_towards_minus_infinity_are_caught() -> None:
    """The mass of a lane that lands on the tie at -1/2 goes to 0, not to -1."""
    noise, _ = snapping.miniatures()[0]
    assert noise.lambda_prime == noise.Lambda_prime == 1
    context = gmpy2.context(precision=noise.precision)
    logarithm = fraction(context.log(gmpy2.mpq(3, 4)))
    value = -Fraction(1, 2) - logarithm
    downward = SimpleNamespace(
        perturb=lambda noise, value, bits: -snapping.perturb(noise, -value, bits)
    )
    depth = snapping.width(noise) + 9
    honest = enumerate_outcomes(snapping, noise, value, depth).masses
    planted = enumerate_outcomes(downward, noise, value, depth).masses
    tie = Fraction(1, 2) * Fraction(1, 2) * Fraction(1, 2 ** (noise.precision + 1))
    assert planted[-1] - honest[-1] >= tie
