"""Tolerances against the golden vectors and against the laws themselves."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from golden import TOLERANCE, cases, close, label

from dpql.mechanisms import MECHANISMS, PURE, Query, geometric, snapping
from dpql.testing import (
    geometric_tolerance,
    integer_tolerance,
    laplace_complement,
    laplace_tolerance,
    mechanism_tolerance,
    overall_flakiness,
    snapping_tolerance,
    split_flakiness,
)

mpmath.mp.dps = 60

Case = dict[str, Any]


def of_kind(kind: str) -> list[Case]:
    """Return the vectors of one kind."""
    return [case for case in cases("tolerances") if case["kind"] == kind]


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("laplace"), ids=label)
def test_laplace_vectors(case: Case) -> None:
    """Tolerance, integer tolerance and complement; each on its safe side."""
    given, expect = case["input"], case["expect"]
    scale = {"epsilon": given["epsilon"], "l1": given["l1"]}
    tolerance = laplace_tolerance(given["k"], **scale)
    complement = laplace_complement(given["k"], **scale)
    assert close(expect["tolerance"], Fraction(tolerance), TOLERANCE)
    assert close(expect["complementary"], Fraction(complement), TOLERANCE)
    assert expect["tolerance_int"] == integer_tolerance(tolerance)
    assert mpmath.mpf(expect["tolerance"]) <= tolerance
    assert mpmath.mpf(expect["complementary"]) >= complement


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("integer"), ids=label)
def test_integer_vectors(case: Case) -> None:
    """Halves go down: noise of 2.5 at most rounds to 2 at most, but with 10**-k."""
    tolerance = integer_tolerance(case["input"]["tolerance"])
    assert case["expect"]["tolerance_int"] == tolerance


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("split"), ids=label)
def test_split_vectors(case: Case) -> None:
    """The share of a part, rounded up, and what unsplit parts risk, rounded up."""
    given, expect = case["input"], case["expect"]
    share = split_flakiness(given["k"], given["parts"])
    overall = overall_flakiness(given["k"], given["parts"])
    assert close(expect["per_part_k"], Fraction(share), TOLERANCE)
    assert close(expect["overall_flakiness_if_unsplit"], Fraction(overall), TOLERANCE)
    assert mpmath.mpf(expect["per_part_k"]) <= share
    assert mpmath.mpf(expect["overall_flakiness_if_unsplit"]) <= overall


@pytest.mark.parametrize("k", ["0.3", 1, "7.25", 16, 23, 100])
@pytest.mark.parametrize("scale", ["0.1", 1, "1234.5"])
def test_laplace_law(k: str | int, scale: str | int) -> None:
    """P(|X| > t) <= 10**-k < P(|X| > t (1 - 1e-15)), and likewise the complement."""
    flakiness = mpmath.mpf(10) ** -mpmath.mpf(k)
    width = mpmath.mpf(scale)
    tolerance = mpmath.mpf(laplace_tolerance(k, epsilon=1, l1=scale))
    assert mpmath.exp(-tolerance / width) <= flakiness
    assert mpmath.exp(-tolerance * (1 - mpmath.mpf("1e-15")) / width) > flakiness
    complement = mpmath.mpf(laplace_complement(k, epsilon=1, l1=scale))
    assert -mpmath.expm1(-complement / width) <= flakiness
    wider = complement * (1 + mpmath.mpf("1e-15"))
    assert -mpmath.expm1(-wider / width) > flakiness


@pytest.mark.parametrize("k", [1, "2.5", 9, 23, 60])
@pytest.mark.parametrize("theta", ["1e-6", "0.1", "0.7", 1, 5, 200])
def test_geometric_law(k: str | int, theta: str | int) -> None:
    """The tolerance is the least whole number whose tail, summed, is within 10**-k."""
    flakiness = mpmath.mpf(10) ** -mpmath.mpf(k)
    q = mpmath.exp(-mpmath.mpf(theta))
    steps = geometric_tolerance(k, theta=theta)

    def tail(a: int) -> mpmath.mpf:
        return 2 * (1 - q) / (1 + q) * q ** (a + 1) / (1 - q)

    assert tail(steps) <= flakiness
    assert steps == 0 or tail(steps - 1) > flakiness


def test_geometric_example_of_the_notes() -> None:
    """At theta 1 and alpha 0.05, so k = log10(20), the tolerance is 3 steps."""
    assert geometric_tolerance("1.30102999", theta=1) == 3


@pytest.mark.parametrize("epsilon", ["0.1", "1", "1.000001", "7"])
@pytest.mark.parametrize("k", [3, 23])
def test_snapping_tolerance(epsilon: str, k: int) -> None:
    """It is the plain accuracy without the clamp, and above the tight one."""
    query = Query(sensitivity=Fraction(3), lower=Fraction(-50), upper=Fraction(10**6))
    noise = snapping.calibrate(query, Fraction(epsilon), gamma=Fraction(1, 10**9))
    tolerance = snapping_tolerance(k, noise)
    scale, grid = (
        mpmath.mpf(x.numerator) / x.denominator
        for x in (noise.lambda_prime, noise.Lambda_prime)
    )
    wanted = 3 * (scale * k * mpmath.log(10) + grid / 2)
    assert wanted <= tolerance <= wanted * (1 + mpmath.mpf("1e-15"))
    tight = mechanism_tolerance(k, snapping, noise)
    assert tight <= tolerance


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_every_mechanism_has_a_tolerance(name: str) -> None:
    """The accuracy at 10**-k of any mechanism in the table, rounded up."""
    mechanism: Any = MECHANISMS[name]
    query = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(10**6))
    options = {"gamma": Fraction(1, 10**6)} if name in PURE else {"cells": 1}
    noise = mechanism.calibrate(query, Fraction(1, 2), **options)
    tolerance = mechanism_tolerance(9, mechanism, noise)
    accuracy = mechanism.accuracy(noise, Fraction(1, 10**9))
    assert accuracy <= Fraction(tolerance) <= accuracy * (1 + TOLERANCE)


def test_geometric_tolerance_is_that_of_the_mechanism() -> None:
    """On a lattice of ones the two ways agree."""
    query = Query(
        sensitivity=Fraction(1),
        lower=Fraction(0),
        upper=Fraction(100),
        lattice=Fraction(1),
    )
    noise = geometric.calibrate(query, Fraction(1, 3), gamma=Fraction(1))
    tolerance = mechanism_tolerance(23, geometric, noise)
    assert geometric_tolerance(23, theta=Fraction(1, 3)) == tolerance


@pytest.mark.parametrize(("k", "parts"), [(1, 1), (2, 7), (23, 10), ("0.5", 3)])
def test_split_then_join(k: int | str, parts: int) -> None:
    """Parts at the split flakiness together risk 10**-k and no more."""
    share = mpmath.mpf(split_flakiness(k, parts))
    together = -mpmath.expm1(parts * mpmath.log1p(-(mpmath.mpf(10) ** -share)))
    wanted = mpmath.mpf(10) ** -mpmath.mpf(k)
    assert wanted * (1 - mpmath.mpf("1e-13")) <= together <= wanted
    assert share <= mpmath.mpf(k) + mpmath.log10(parts) + mpmath.mpf("1e-14")


def test_integer_tolerance_by_counting() -> None:
    """T is the least integer with P(|round X| > T) <= P(|X| >= t), t in quarters."""
    for quarters in range(60):
        tolerance = Fraction(quarters, 4)
        # |round X| > T means |X| >= T + 1/2, which must not start before t.
        least = next(t for t in range(99) if t + Fraction(1, 2) >= tolerance)
        assert least == integer_tolerance(tolerance)


def test_parts_start_at_one() -> None:
    """No parts, and negative tolerances, are refused."""
    for function in (split_flakiness, overall_flakiness):
        with pytest.raises(ValueError, match="at least one part"):
            function(23, 0)
    with pytest.raises(ValueError, match="tolerance must be at least 0"):
        integer_tolerance(-1)
