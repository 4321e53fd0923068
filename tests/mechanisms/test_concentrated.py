"""Costs and conversions of zero-concentrated privacy, and each formula a second way."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from golden import cases, close

from dpql.errors import PlanFault
from dpql.mechanisms.accounting import zcdp_delta_up
from dpql.mechanisms.concentrated import (
    best_order,
    cap_down,
    epsilon_at,
    epsilon_up,
    geometric_rho_up,
    pure_rho_up,
    range_renyi_up,
    range_rho_up,
    renyi_up,
    require_order,
    rho_down,
)

TOLERANCE = Fraction(1, 10**28)
Case = dict[str, Any]


def _real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/rho"))
def test_rho_vectors(case: Case) -> None:
    """What parts cost, to all digits given."""
    given = {name: Fraction(value) for name, value in case["input"].items()}
    match case["kind"]:
        case "pure":
            found = pure_rho_up(given["epsilon"])
        case "bounded_range":
            found = range_rho_up(given["epsilon"])
        case _:
            found = geometric_rho_up(given["theta"], case["input"]["distance"])
    assert close(case["expect"]["rho"], found, TOLERANCE)


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/renyi_pure"))
def test_renyi_vectors(case: Case) -> None:
    """The divergence of an epsilon-DP part, to all digits given."""
    epsilon, order = (Fraction(case["input"][name]) for name in ("epsilon", "order"))
    assert close(case["expect"]["renyi"], renyi_up(epsilon, order), TOLERANCE)


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/zcdp"))
def test_conversion_vectors(case: Case) -> None:
    """Conversions in all three directions, to all digits given."""
    given = {name: Fraction(value) for name, value in case["input"].items()}
    match case["kind"]:
        case "delta":
            found = zcdp_delta_up(given["rho"], given["epsilon"])
        case "epsilon":
            found = epsilon_up(given["rho"], given["delta"])
        case _:
            found = rho_down(given["epsilon"], given["delta"])
    assert close(case["expect"][case["kind"]], found, TOLERANCE)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", "1", "8", "20", "400"])
@pytest.mark.parametrize("order", ["17/16", "2", "681/16", "1000"])
def test_renyi_is_that_of_randomised_response(epsilon: str, order: str) -> None:
    """ln(cosh((a - 1/2) e) / cosh(e / 2)) / (a - 1), also where a cosh overflows."""
    e, a = Fraction(epsilon), Fraction(order)
    found = renyi_up(e, a)
    with mpmath.workdps(400):
        x, y = _real(e), _real(a)
        exact = mpmath.log(mpmath.cosh((y - 0.5) * x) / mpmath.cosh(x / 2)) / (y - 1)
        assert exact <= _real(found) <= exact * (1 + mpmath.mpf(10) ** -30)
    assert found <= e
    assert found <= a * pure_rho_up(e)


def test_no_epsilon_costs_nothing() -> None:
    """r_a(0) = 0, for every order."""
    assert renyi_up(Fraction(0), Fraction(5)) == 0


@pytest.mark.parametrize("theta", ["1e-9", "0.01", "1", "30"])
@pytest.mark.parametrize("distance", [1, 2, 7, 1000, 1 << 17])
def test_geometric_rho_is_between_its_limits(theta: str, distance: int) -> None:
    """One step costs theta tanh(theta / 2); all at most that of an epsilon-DP part."""
    t = Fraction(theta)
    found = geometric_rho_up(t, distance)
    if distance == 1:
        assert abs(found - pure_rho_up(t)) <= TOLERANCE * found
    assert 0 < found <= pure_rho_up(t * distance) * (1 + TOLERANCE)


def test_geometric_rho_is_the_divergence() -> None:
    """The sum over outcomes of P ln(P / Q), which D_a / a never exceeds."""
    for theta, distance in ((Fraction(1, 2), 3), (Fraction(2), 4), (Fraction(1, 8), 8)):
        t = _real(theta)
        loss = [t * (abs(x) - abs(x - distance)) for x in range(-900, 900)]
        mass = [
            mpmath.tanh(t / 2) * mpmath.exp(-t * abs(x - distance))
            for x in range(-900, 900)
        ]
        exact = sum(m * v for m, v in zip(mass, loss, strict=True))
        assert abs(_real(geometric_rho_up(theta, distance)) - exact) < 1e-20


def test_bounded_range_above_eight() -> None:
    """From epsilon = 8 on the pure bound is smaller than epsilon**2 / 8."""
    assert Fraction(1, 8) == range_rho_up(Fraction(1))
    assert pure_rho_up(Fraction(10)) == range_rho_up(Fraction(10)) < Fraction(100, 8)
    assert range_renyi_up(Fraction(1), Fraction(2)) == Fraction(1, 4)
    assert range_renyi_up(Fraction(50), Fraction(2)) == renyi_up(
        Fraction(50), Fraction(2)
    )


@pytest.mark.parametrize("rho", ["1e-8", "0.02", "1", "40"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.4"])
def test_conversions_are_each_other_undone(rho: str, delta: str) -> None:
    """From rho to epsilon and back loses less than 1e-25, and on the safe side."""
    r, d = Fraction(rho), Fraction(delta)
    epsilon = epsilon_up(r, d)
    if epsilon:
        back = rho_down(epsilon, d)
        assert abs(back - r) <= r / 10**25
        assert zcdp_delta_up(r, epsilon) <= d * (1 + Fraction(1, 10**25))
        least = rho_down(epsilon * Fraction(9, 10), d)
        assert epsilon_up(least, d) <= epsilon


def test_no_order_does_better() -> None:
    """Epsilon at a hundred other orders is larger, and so is a share of the cap."""
    rho, delta = Fraction(1, 50), Fraction(1, 10**6)
    epsilon = epsilon_up(rho, delta)
    for k in range(1, 100):
        order = 1 + Fraction(k * k, 16)
        assert epsilon <= epsilon_at(order, order * rho, delta)
        assert cap_down(order, epsilon, delta) / order <= rho


def test_best_order_of_a_grid() -> None:
    """The multiple of 1/16 that no other one beats."""
    step, delta = Fraction(1, 16), Fraction(1, 2 * 10**6)
    for epsilon, expected in ((1, "93/4"), (Fraction(1, 2), "681/16")):
        assert Fraction(expected) == best_order(Fraction(epsilon), delta, step=step)
    found = best_order(Fraction(200), Fraction(1, 3), step=step)
    shares = {
        k: cap_down(k * step, Fraction(200), Fraction(1, 3)) / (k * step)
        for k in range(17, 200)
    }
    assert found == max(shares, key=lambda k: shares[k]) * step


def test_degenerate_costs() -> None:
    """No rho is no epsilon; no delta, a delta of 1 and an order of 1 are refused."""
    assert epsilon_up(Fraction(0), Fraction(1, 10)) == 0
    for delta in (Fraction(0), Fraction(1), Fraction(2)):
        for call in (epsilon_up, rho_down):
            with pytest.raises(PlanFault, match="DPQL413"):
                call(Fraction(1), delta)
    for order in (Fraction(1), Fraction(1, 2), Fraction(0)):
        with pytest.raises(PlanFault, match="DPQL413"):
            require_order(order)
    with pytest.raises(PlanFault, match="DPQL413"):
        pure_rho_up(Fraction(0))
    with pytest.raises(PlanFault, match="DPQL413"):
        geometric_rho_up(Fraction(1), 0)
