"""Gaussian scales and tolerances against the golden vectors and against mpmath."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from golden import TOLERANCE, cases, close, label
from scipy.special import ndtri

from dpql.testing import (
    classic_gaussian,
    gaussian_complement,
    gaussian_delta,
    gaussian_sigma,
    gaussian_tolerance,
    integer_tolerance,
)

mpmath.mp.dps = 60

Case = dict[str, Any]


def delta_by_integration(sigma: float, epsilon: str, l2: str) -> mpmath.mpf:
    """Return the hockey stick divergence of two normal densities, by quadrature."""
    s, e, shift = mpmath.mpf(sigma), mpmath.mpf(epsilon), mpmath.mpf(l2)
    cut = e * s**2 / shift + shift / 2

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        near = mpmath.exp(-((x - shift) ** 2) / (2 * s**2))
        return near - mpmath.exp(e - x**2 / (2 * s**2))

    area = mpmath.quad(excess, [cut + i * s for i in (0, 1, 2, 4, 8, 16, 30)])
    return area / (s * mpmath.sqrt(2 * mpmath.pi))


@pytest.mark.golden
@pytest.mark.parametrize(
    "case",
    [case for case in cases("tolerances") if case["kind"] == "gaussian"],
    ids=label,
)
def test_vectors(case: Case) -> None:
    """Both scales, the true delta of the classic one, and all tolerances."""
    given, expect = case["input"], case["expect"]
    sigma = gaussian_sigma(given["epsilon"], given["delta"], l2=given["l2"])
    classic = classic_gaussian(given["epsilon"], given["delta"], l2=given["l2"])
    tolerance = gaussian_tolerance(given["k"], sigma=sigma)
    complement = gaussian_complement(given["k"], sigma=sigma)
    for name, value in (
        ("sigma_analytic", sigma),
        ("sigma_classic", classic.sigma),
        ("delta_of_classic", classic.true_delta),
        ("tolerance", tolerance),
        ("complementary", complement),
    ):
        assert close(expect[name], Fraction(value), TOLERANCE), name
    assert expect["tolerance_int"] == integer_tolerance(tolerance)
    assert mpmath.mpf(expect["sigma_analytic"]) <= sigma
    assert mpmath.mpf(expect["tolerance"]) <= tolerance
    assert classic.private == (
        Fraction(expect["delta_of_classic"]) <= Fraction(given["delta"])
    )


@pytest.mark.parametrize(
    ("sigma", "epsilon", "l2"), [(1.0, "0.5", "1"), (3.5, "2", "3"), (0.5, "10", "1")]
)
def test_delta_is_the_divergence(sigma: float, epsilon: str, l2: str) -> None:
    """The closed form equals the integral of the positive part."""
    integral = delta_by_integration(sigma, epsilon, l2)
    delta = gaussian_delta(sigma, epsilon, l2=l2)
    assert abs(delta / integral - 1) < mpmath.mpf("1e-14")


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", ["1e-4", "0.1", "1", "20", "500"])
@pytest.mark.parametrize("delta", ["0.3", "1e-5", "1e-30"])
def test_sigma_is_least(epsilon: str, delta: str) -> None:
    """The delta at sigma is within the target, and just below sigma it is not."""
    sigma = gaussian_sigma(epsilon, delta, l2=2)
    wanted = Fraction(delta)
    assert Fraction(gaussian_delta(sigma, epsilon, l2=2)) <= wanted * (1 + TOLERANCE)
    smaller = Fraction(sigma) * (1 - TOLERANCE / 100)
    assert Fraction(gaussian_delta(smaller, epsilon, l2=2)) > wanted


@pytest.mark.parametrize(("epsilon", "true_delta"), [("10", 1.9e-6), ("20", 1.6e-4)])
def test_classic_scale_is_not_private_for_large_epsilon(
    epsilon: str, true_delta: float
) -> None:
    """At delta 1e-6 the classic scale really gives the deltas that MATH 9 names."""
    classic = classic_gaussian(epsilon, "1e-6")
    assert not classic.private
    assert classic.true_delta == pytest.approx(true_delta, rel=0.02)
    assert classic_gaussian("0.5", "1e-6").private


@pytest.mark.heavy
@pytest.mark.parametrize("k", ["0.3", 1, 5, 16, 23, 100, 300])
def test_tolerance_law(k: str | int) -> None:
    """P(|X| > t) is within 10**-k, and beyond it just inside; so the complement."""
    flakiness = mpmath.mpf(10) ** -mpmath.mpf(k)
    root, hair = mpmath.sqrt(2), mpmath.mpf("1e-15")
    z = mpmath.mpf(gaussian_tolerance(k, sigma=1))
    with mpmath.workdps(400):
        assert mpmath.erfc(z / root) <= flakiness
        assert mpmath.erfc(z * (1 - hair) / root) > flakiness
    z = mpmath.mpf(gaussian_complement(k, sigma=1))
    assert mpmath.erf(z / root) <= flakiness
    assert mpmath.erf(z * (1 + hair) / root) > flakiness


def test_tolerance_at_23_is_not_that_of_doubles() -> None:
    """The notes' 10.04164 sigma, not the 8.29 that 1 - 10**-23 in doubles gives."""
    assert gaussian_tolerance(23, sigma=1) == pytest.approx(10.04164, abs=1e-5)
    assert gaussian_tolerance(23, sigma=1) == pytest.approx(-ndtri(5e-24), rel=1e-12)


def test_wrong_arguments_are_refused() -> None:
    """Epsilon and delta out of range are refused."""
    with pytest.raises(ValueError, match="epsilon must be at most 1000"):
        gaussian_sigma(1001, "0.1")
    with pytest.raises(ValueError, match="delta must lie strictly"):
        gaussian_sigma(1, 1)
    with pytest.raises(ValueError, match="sigma must be above 0"):
        gaussian_delta(0, 1)
