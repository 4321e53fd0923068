"""The exact delta of Gaussian releases: vectors, enumeration, and what is not true."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from golden import cases, close

from dpql.mechanisms.accounting import zcdp_delta_up
from dpql.mechanisms.concentrated import epsilon_up
from dpql.mechanisms.gaussian_loss import delta_up, least_epsilon_up

mpmath.mp.dps = 60
TOLERANCE = Fraction(1, 10**28)
Case = dict[str, Any]


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_delta"))
def test_delta_vectors(case: Case) -> None:
    """The exact delta, to all digits given, and at most that of its rho."""
    given = case["input"]
    square, epsilon = Fraction(given["sigma2"]), Fraction(given["epsilon"])
    found = delta_up(
        square, distance=given["distance"], cells=given["l0"], epsilon=epsilon
    )
    assert found is not None
    assert close(case["expect"]["delta"], found, TOLERANCE)
    rho = given["l0"] * Fraction(given["distance"]) ** 2 / (2 * square)
    assert found <= zcdp_delta_up(rho, epsilon)


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_epsilon"))
def test_epsilon_vectors(case: Case) -> None:
    """The least epsilon of one cell, to all digits given."""
    given = case["input"]
    found = least_epsilon_up(
        Fraction(given["sigma2"]),
        distance=given["distance"],
        cells=1,
        delta=Fraction(given["delta"]),
    )
    assert found is not None
    assert close(case["expect"]["epsilon"], found, TOLERANCE)


@pytest.mark.heavy
@pytest.mark.parametrize("sigma2", ["1/2", "2", "5"])
@pytest.mark.parametrize("cells", [1, 2])
def test_no_neighbour_is_worse(sigma2: str, cells: int) -> None:
    """The hockey stick of every move of at most D per cell, by all outcomes."""
    square, distance, epsilon = Fraction(sigma2), 2, Fraction(3, 4)
    s2 = mpmath.mpf(square.numerator) / square.denominator
    reach = 22
    weight = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * s2)) for x in range(-40, 41)}
    whole = sum(weight.values())
    factor = mpmath.exp(mpmath.mpf(3) / 4)
    worst = mpmath.mpf(0)
    for move in product(range(-distance, distance + 1), repeat=cells):
        found = mpmath.mpf(0)
        for outcome in product(range(-reach, reach + 1), repeat=cells):
            p = q = mpmath.mpf(1)
            for x, d in zip(outcome, move, strict=True):
                p *= weight[x - d]
                q *= weight[x]
            found += max(mpmath.mpf(0), p - factor * q)
        worst = max(worst, found / whole**cells)
    claimed = delta_up(square, distance=distance, cells=cells, epsilon=epsilon)
    assert claimed is not None
    exact = mpmath.mpf(claimed.numerator) / claimed.denominator
    assert abs(worst - exact) < mpmath.mpf(10) ** -12


def test_delta_is_not_monotone_in_sigma2() -> None:
    """More noise may have more delta at one epsilon, so nothing is calibrated by it."""

    def at(sigma2: str, epsilon: int) -> Fraction:
        found = delta_up(
            Fraction(sigma2), distance=1, cells=1, epsilon=Fraction(epsilon)
        )
        assert found is not None
        return found

    assert at("19.80", 2) < at("19.85", 2)
    assert close("1.49572e-20", at("19.80", 2), Fraction(1, 10**5))
    assert close("1.49766e-20", at("19.85", 2), Fraction(1, 10**5))


def test_delta_is_no_function_of_the_sum_of_squares() -> None:
    """One cell moved by 2 and four moved by 1 differ, and in both directions."""

    def pair(epsilon: str) -> tuple[Fraction, Fraction]:
        one = delta_up(Fraction(50), distance=2, cells=1, epsilon=Fraction(epsilon))
        four = delta_up(Fraction(50), distance=1, cells=4, epsilon=Fraction(epsilon))
        assert one is not None
        assert four is not None
        return one, four

    one, four = pair("0.5")
    assert close("5.603e-3", one, Fraction(1, 10**3))
    assert close("5.565e-3", four, Fraction(1, 10**3))
    one, four = pair("2")
    assert one < four


def test_what_is_not_cheap_is_not_printed() -> None:
    """A sum of many large noises is left out; a single one never is."""
    large = Fraction(10**12)
    assert delta_up(large, distance=1, cells=40, epsilon=Fraction(1)) is None
    assert least_epsilon_up(large, distance=9, cells=40, delta=Fraction(1, 9)) is None
    assert delta_up(large, distance=1, cells=1, epsilon=Fraction(1)) is not None


@pytest.mark.heavy
def test_several_cells_have_a_least_epsilon() -> None:
    """It keeps the delta, is below that of rho, and a little less does not keep it."""
    square, delta = Fraction(30), Fraction(1, 10**6)
    found = least_epsilon_up(square, distance=1, cells=3, delta=delta)
    assert found is not None
    assert found < epsilon_up(Fraction(3) / 60, delta)
    for factor, kept in ((1, True), (Fraction(999, 1000), False)):
        at = delta_up(square, distance=1, cells=3, epsilon=found * factor)
        assert at is not None
        assert kept == (at <= delta)
