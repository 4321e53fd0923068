"""Thresholds, zCDP and composition: golden vectors, and each formula a second way."""

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from golden import cases, close, label

from dpql.errors import PlanFault
from dpql.mechanisms.accounting import (
    gaussian_threshold,
    optimal_delta_up,
    threshold,
    zcdp_delta_up,
)
from dpql.mechanisms.gaussian_tail import tail_of

mpmath.mp.dps = 60

Case = dict[str, Any]


def of_kind(kind: str) -> list[Case]:
    """Return the vectors of one kind."""
    return [case for case in cases("accounting") if case["kind"] == kind]


def real(x: Fraction) -> mpmath.mpf:
    """Return a rational as an mpmath number."""
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("tau"), ids=label)
def test_threshold_vectors(case: Case) -> None:
    """The least threshold, exactly."""
    given = case["input"]
    tau = threshold(
        Fraction(given["theta"]),
        Fraction(given["delta"]),
        given["l0"],
        given["max_contribution"],
    )
    assert case["expect"]["tau"] == tau


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("zcdp_delta"), ids=label)
def test_zcdp_vectors(case: Case) -> None:
    """Equal to all 30 digits that the vectors have."""
    given = case["input"]
    delta = zcdp_delta_up(Fraction(given["rho"]), Fraction(given["epsilon"]))
    assert close(case["expect"]["delta"], delta, Fraction(1, 10**29))


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("compose_pure"), ids=label)
def test_composition_vectors(case: Case) -> None:
    """Equal to all 40 digits that the vectors have."""
    given = case["input"]
    delta = optimal_delta_up(
        Fraction(given["epsilon"]), given["k"], Fraction(given["epsilon_total"])
    )
    assert close(case["expect"]["delta"], delta, Fraction(1, 10**39))


def leak(theta: str, tau: int, l0: int, contribution: int) -> mpmath.mpf:
    """Return the chance that any of l0 lone keys is released, by summing the law."""
    q = mpmath.exp(-mpmath.mpf(theta))
    steps = range(tau - contribution, tau - contribution + 3000)
    released = mpmath.fsum((1 - q) / (1 + q) * q ** abs(x) for x in steps)
    return -mpmath.expm1(l0 * mpmath.log1p(-released))


@pytest.mark.heavy
@pytest.mark.parametrize("theta", ["0.1", "0.7", "3"])
@pytest.mark.parametrize("delta", ["0.2", "1e-4", "1e-12"])
@pytest.mark.parametrize(("l0", "contribution"), [(1, 1), (5, 2)])
def test_threshold_is_least(theta: str, delta: str, l0: int, contribution: int) -> None:
    """The leak at the threshold is within delta; one lower it is not, or m is 1."""
    tau = threshold(Fraction(theta), Fraction(delta), l0, contribution)
    assert leak(theta, tau, l0, contribution) <= mpmath.mpf(delta)
    assert tau == contribution + 1 or (
        leak(theta, tau - 1, l0, contribution) > mpmath.mpf(delta)
    )


def test_threshold_example_of_the_notes() -> None:
    """At theta 0.7, delta 1e-4: tau is 14, spending 7.5e-5 (MATH 10)."""
    assert threshold(Fraction(7, 10), Fraction(1, 10**4), 1, 1) == 14
    assert leak("0.7", 14, 1, 1) == pytest.approx(7.5e-5, rel=0.01)


def test_threshold_at_a_far_corner() -> None:
    """Tiny theta and delta and many keys are settled, and quickly."""
    tau = threshold(Fraction(1, 10**6), Fraction(1, 10**300), 10**6, 7)
    wanted = (mpmath.log(mpmath.mpf(10) ** 306) - mpmath.log(2)) * 10**6
    assert abs(tau - wanted) < 10


@pytest.mark.parametrize("rho", ["1e-6", "0.03", "0.5", "4"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "3", "40"])
def test_zcdp_delta_is_the_infimum(rho: str, epsilon: str) -> None:
    """No order on a grid beats it, a good one is near; at most 1, least 2**-16384."""
    r, e = mpmath.mpf(rho), mpmath.mpf(epsilon)
    delta = real(zcdp_delta_up(Fraction(rho), Fraction(epsilon)))

    def at(a: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp((a - 1) * (a * r - e)) / (a - 1) * (1 - 1 / a) ** a

    grid = [1 + mpmath.mpf(10) ** (mpmath.mpf(i) / 20) for i in range(-200, 200)]
    least = max(min(at(a) for a in grid), mpmath.mpf(2) ** -16384)
    assert delta <= min(least, 1)
    assert delta > 0
    if delta > mpmath.mpf("1e-100"):
        assert delta >= min(least, 1) * mpmath.mpf("0.8")


def test_zcdp_bound_covers_a_real_mechanism() -> None:
    """The exact delta of discrete Gaussian noise, sigma 5, is below its zCDP bound."""
    sigma, e = mpmath.mpf(5), mpmath.mpf(1)
    law = {
        x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma**2)) for x in range(-150, 151)
    }
    total = mpmath.fsum(law.values())
    true = mpmath.fsum(
        max(0, law[x] - mpmath.exp(e) * law[x - 1]) for x in range(-149, 151)
    )
    bound = real(zcdp_delta_up(Fraction(1, 50), Fraction(1)))
    assert true / total == pytest.approx(1.829e-8, rel=1e-3)
    assert true / total <= bound


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("total", ["0", "0.15", "1.7", "9"])
def test_composition_of_randomised_response(k: int, epsilon: str, total: str) -> None:
    """The sum over all 2**k answers of k randomised responses is the formula."""
    e, g = mpmath.mpf(epsilon), mpmath.mpf(total)
    truth, lie = mpmath.exp(e) / (1 + mpmath.exp(e)), 1 / (1 + mpmath.exp(e))
    divergence = mpmath.mpf(0)
    for answers in product((True, False), repeat=k):
        one = mpmath.fprod(truth if answer else lie for answer in answers)
        other = mpmath.fprod(lie if answer else truth for answer in answers)
        divergence += max(0, one - mpmath.exp(g) * other)
    delta = optimal_delta_up(Fraction(epsilon), k, Fraction(total))
    assert divergence - mpmath.mpf("1e-55") <= real(delta)
    assert real(delta) <= divergence + mpmath.mpf("1e-50")
    assert (delta == 0) == (Fraction(total) >= k * Fraction(epsilon))


def test_wrong_arguments_are_refused() -> None:
    """Every argument out of range is a fault with its code."""
    one = Fraction(1)
    half = Fraction(1, 2)
    for refused in (
        lambda: threshold(Fraction(0), half, 1, 1),
        lambda: threshold(one, Fraction(0), 1, 1),
        lambda: threshold(one, one, 1, 1),
        lambda: threshold(one, half, 0, 1),
        lambda: threshold(one, half, 1, 0),
        lambda: zcdp_delta_up(Fraction(0), one),
        lambda: zcdp_delta_up(one, -one),
        lambda: optimal_delta_up(Fraction(0), 1, one),
        lambda: optimal_delta_up(one, 0, one),
        lambda: optimal_delta_up(one, 1, -one),
    ):
        with pytest.raises(PlanFault, match="DPQL413"):
            refused()


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/threshold_gaussian"))
def test_gaussian_threshold_vectors(case: Case) -> None:
    """The least threshold under discrete Gaussian noise, exactly."""
    given = case["input"]
    tau = gaussian_threshold(
        Fraction(given["sigma2"]),
        Fraction(given["delta"]),
        given["l0"],
        given["max_contribution"],
    )
    assert case["expect"]["tau"] == tau


@pytest.mark.parametrize("sigma2", ["1/2", "25", "10000"])
@pytest.mark.parametrize("l0", [1, 7])
@pytest.mark.parametrize("contribution", [1, 3])
def test_gaussian_threshold_is_the_least(
    sigma2: str, l0: int, contribution: int
) -> None:
    """A key of one unit is shown with delta at most, and one below shows more."""
    square, delta = Fraction(sigma2), Fraction(1, 10**6)
    tau = gaussian_threshold(square, delta, l0, contribution)

    def shown(least: int) -> Fraction:
        """Return the chance that one of l0 keys with c rows of one unit shows."""
        low, _ = tail_of(square).bounds(least - contribution, 300)
        return 1 - (1 - Fraction(low, 2 << 300)) ** l0

    assert shown(tau) <= delta
    assert tau == contribution + 1 or shown(tau - 1) > delta


@pytest.mark.parametrize("delta", ["0", "1", "1e-301"])
def test_gaussian_threshold_refuses(delta: str) -> None:
    """No delta, certainty, no noise, no keys and no contribution are refused."""
    with pytest.raises(PlanFault, match="DPQL413"):
        gaussian_threshold(Fraction(1), Fraction(delta), 1, 1)
    for sigma2, l0, c in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        with pytest.raises(PlanFault, match="DPQL413"):
            gaussian_threshold(Fraction(sigma2), Fraction(1, 9), l0, c)
