"""Widths of weighted sums of noises against integrals, simulations and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from dpql.exact import exp_up
from dpql.statistics.tails import Tail, laplace_width, sigma_up

ALPHA = Fraction(1, 20)


def _laplace_tail(weights: list[float], c: float) -> float:
    """Return P(|sum w L| > c), whose Fourier transform is prod 1/(1 + w^2 t^2)."""
    t = (np.arange(800_000) + 0.5) / 2000
    integrand = np.sin(c * t) / t / np.prod([1 + (w * t) ** 2 for w in weights], axis=0)
    return float(1 - 2 / np.pi * integrand.sum() / 2000)


@pytest.mark.parametrize(
    "weights",
    [(1,), (1, 0), (1, 1), (3, 1), (1, 1, 1), (3, 2, 1), (4, 4, 1, 1), (9, 5, 3, 1)],
)
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 100)])
def test_critical_points(weights: tuple[int, ...], alpha: Fraction) -> None:
    """The tail at K is alpha: an integral agrees for up to four weights."""
    given = [Fraction(w, max(weights)) for w in weights]
    found = laplace_width(given, alpha)
    tail = _laplace_tail([float(w) for w in given if w], float(found))
    assert tail == pytest.approx(float(alpha), rel=2e-3)


def test_equal_weights_hardly_widen() -> None:
    """Three equal weights, moved apart, are wider by less than one in 10^5."""
    equal = laplace_width([Fraction(1)] * 3, ALPHA)
    # P = (1 + 5c/8 + c^2/8) e^-c for three Laplace noises of scale 1.
    c = float(equal)
    assert (1 + 5 * c / 8 + c * c / 8) * exp(-c) == pytest.approx(0.05, rel=2e-5)
    assert (1 + 5 * c / 8 + c * c / 8) * exp(-c) <= 0.05
    near = laplace_width([Fraction(1), 1 - Fraction(1, 10**30)], ALPHA)
    assert near == pytest.approx(laplace_width([Fraction(1)] * 2, ALPHA), rel=1e-12)


@pytest.mark.parametrize("theta", ["1/64", "1/2", "3"])
@pytest.mark.parametrize(
    "weights", [("1",), ("3/5", "2/5"), ("1/2", "1/2"), ("1", "1/2", "1/4")]
)
def test_geometric_tails_by_brute_force(theta: str, weights: tuple[str, ...]) -> None:
    """P(|sum w X| > c) <= alpha for the law itself, summed over many outcomes."""
    given = [Fraction(w) for w in weights]
    exact = Fraction(theta)
    width = Tail.of(exact).width(given, ALPHA)
    q = float(exp_up(-exact))
    reach = min(int(30 / float(exact)), 90 if len(given) > 2 else 400) + 1
    steps = np.arange(-reach, reach + 1)
    masses = (1 - q) / (1 + q) * q ** np.abs(steps).astype(float)
    if masses.sum() < 0.999:
        steps, masses = steps[::1], masses / masses.sum()
    missed = 0.0
    if len(given) == 3:
        pair = np.add.outer(float(given[0]) * steps, float(given[1]) * steps)
        mass = np.multiply.outer(masses, masses)
        for step, weight in zip(steps, masses, strict=True):
            far = np.abs(pair + float(given[2]) * step) > float(width)
            missed += weight * mass[far].sum()
    elif len(given) == 2:
        pair = np.add.outer(float(given[0]) * steps, float(given[1]) * steps)
        missed = np.multiply.outer(masses, masses)[np.abs(pair) > float(width)].sum()
    else:
        missed = masses[np.abs(steps) > float(width)].sum()
    assert missed <= 0.05


def test_the_shift_couples_both_noises() -> None:
    """|floor(e/theta + mu) - e/theta| is at most sigma, for all e."""
    for theta in (Fraction(1, 64), Fraction(1), Fraction(7, 2)):
        sigma = float(sigma_up(theta))
        mu = float(np.log(2 / (1 + np.exp(-float(theta)))) / float(theta))
        scaled = np.linspace(0, 20, 100_001)
        assert np.abs(np.floor(scaled + mu) - scaled).max() <= sigma * (1 + 1e-12)
        assert sigma <= 1
    rounded = Tail.of(Fraction(1, 64), rounded=True).shift
    assert rounded - Tail.of(Fraction(1, 64)).shift == Fraction(1, 2)


def test_widths_grow_with_every_weight() -> None:
    """No weight can be made smaller to make a width larger."""
    for first, second, third in product((1, 2, 3), repeat=3):
        given = [Fraction(first), Fraction(second), Fraction(third)]
        less = [Fraction(first), Fraction(second), Fraction(third) - Fraction(1, 2)]
        assert laplace_width(less, ALPHA) <= laplace_width(given, ALPHA)
