"""The formulas in the docstrings of snapping, evaluated a second way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.mechanisms import Query, snapping
from dpql.mechanisms.snapping import SnappingNoise

EPSILONS = st.fractions(Fraction(1, 50), Fraction(8), max_denominator=1000)
ALPHAS = st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)])


def _noise(epsilon: Fraction, upper: int = 40) -> SnappingNoise:
    query = Query(sensitivity=Fraction(2), lower=Fraction(-4), upper=Fraction(upper))
    return snapping.calibrate(query, epsilon, gamma=Fraction(1, 100))


def _law(noise: SnappingNoise, value: Fraction) -> dict[int, Fraction]:
    return {
        step: snapping.probability(noise, value, step)
        for step in range(-noise.edge, noise.edge + 1)
    }


@settings(max_examples=40, deadline=None)
@given(EPSILONS, st.fractions(-4, 40, max_denominator=97))
def test_probabilities_and_bias(epsilon: Fraction, value: Fraction) -> None:
    """Probabilities add to 1, and the bias is the mean of the law less the value."""
    noise = _noise(epsilon)
    law = _law(noise, value)
    assert all(probability >= 0 for probability in law.values())
    assert abs(sum(law.values()) - 1) < Fraction(1, 10**60)
    mean = sum(p * snapping.outcome(noise, step) for step, p in law.items())
    assert abs(mean - value - snapping.bias(noise, value)) < Fraction(1, 10**55)


@settings(max_examples=40, deadline=None)
@given(EPSILONS, st.fractions(-4, 40, max_denominator=97))
def test_probability_against_laplace(epsilon: Fraction, value: Fraction) -> None:
    """A step's probability is that of a Laplace variable between two half steps."""
    noise = _noise(epsilon)
    f = mpmath.mpf(value.numerator) / value.denominator
    f = (f - mpmath.mpf(18)) / 2
    grid = mpmath.mpf(2) ** noise.grid_exponent
    scale = mpmath.mpf(noise.lambda_prime.numerator) / noise.lambda_prime.denominator

    def below(y: mpmath.mpf) -> mpmath.mpf:
        x = (y - f) / scale
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    for step in (-1, 0, 1):
        expected = below((step + 0.5) * grid) - below((step - 0.5) * grid)
        actual = snapping.probability(noise, value, step)
        assert abs(expected - mpmath.mpf(actual.numerator) / actual.denominator) < 1e-13


@settings(max_examples=30, deadline=None)
@given(EPSILONS, ALPHAS)
def test_tight_accuracy(epsilon: Fraction, alpha: Fraction) -> None:
    """Below the plain form; missed with alpha at most; and tight: less would not do."""
    noise = _noise(epsilon)
    tight = snapping.accuracy(noise, alpha)
    assert 0 < tight <= snapping.plain_accuracy(noise, alpha)
    grid = noise.sensitivity * noise.Lambda_prime
    values = [noise.shift + grid * Fraction(k, 64) for k in range(-32, 33)]
    values.append(noise.shift + (tight % grid) - Fraction(1, 10**9))
    values.append(noise.shift - (tight % grid) + Fraction(1, 10**9))

    def missed(value: Fraction, reach: Fraction) -> Fraction:
        return sum(
            (
                p
                for step, p in _law(noise, value).items()
                if abs(snapping.outcome(noise, step) - value) > reach
            ),
            Fraction(0),
        )

    assert all(missed(value, tight) <= alpha for value in values)
    if tight < noise.sensitivity * noise.B_prime:
        assert any(
            missed(value, tight * Fraction(97, 100)) > alpha * Fraction(9, 10)
            for value in values
        )


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(Fraction(1, 100), Fraction(10**4), max_denominator=10**6),
    ALPHAS,
)
def test_least_epsilon_is_where_bisection_ends(
    accuracy: Fraction, alpha: Fraction
) -> None:
    """Bisecting the forward map, jumps and all, finds no smaller epsilon."""
    found = snapping.least_epsilon(accuracy, alpha)
    query = Query(
        sensitivity=Fraction(1), lower=Fraction(-(10**6)), upper=Fraction(10**6)
    )

    def reaches(epsilon: Fraction) -> bool:
        noise = snapping.calibrate(query, epsilon, gamma=Fraction(1, 10))
        return snapping.plain_accuracy(noise, alpha) <= accuracy

    if found > 1000:
        return
    assert reaches(found)
    low, high = found / 4, found
    assert not reaches(low)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    assert high <= found <= high * (1 + Fraction(2, 10**14))


@pytest.mark.parametrize("exponent", [-3, 0, 4])
def test_the_grid_doubles_at_powers_of_two(exponent: int) -> None:
    """A millionth above a power of two halves the grid of the power itself."""
    epsilon = Fraction(2) ** exponent
    at = _noise(epsilon).Lambda_prime
    above = _noise(epsilon * (1 + Fraction(1, 10**6))).Lambda_prime
    assert at == 2 * above


@settings(max_examples=40, deadline=None)
@given(EPSILONS)
def test_clamp_probability(epsilon: Fraction) -> None:
    """The outer clamp binds with at most gamma ** (epsilon' Lambda') <= gamma."""
    noise = _noise(epsilon)
    worst = snapping.clamp_probability(noise)
    assert worst <= snapping.clamp_bound(noise) <= noise.gamma
    for guess in (noise.shift, Fraction(40), Fraction(-4)):
        assert snapping.clamp_probability(noise, guess) <= worst


@settings(max_examples=40, deadline=None)
@given(EPSILONS, ALPHAS)
def test_more_epsilon_is_never_less_accurate(
    epsilon: Fraction, alpha: Fraction
) -> None:
    """Both accuracies fall as epsilon grows, across every jump of the grid."""
    ladder = [epsilon * (1 + Fraction(k, 40)) for k in range(8)]
    for law in (snapping.plain_accuracy, snapping.accuracy):
        accuracies = [law(_noise(e), alpha) for e in ladder]
        assert all(more >= less for more, less in pairwise(accuracies))


def _high(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@settings(max_examples=40, deadline=None)
@given(EPSILONS, ALPHAS)
def test_tight_accuracy_is_rounded_up(epsilon: Fraction, alpha: Fraction) -> None:
    """The stated number is not below the closed form, and 2**-51 above it at most."""
    noise = _noise(epsilon)
    with mpmath.workdps(60):
        scale, half = _high(noise.lambda_prime), _high(noise.Lambda_prime) / 2
        level = _high(alpha)
        steps = mpmath.floor(scale * mpmath.log(1 / level) / half) + 1
        cosine = level * mpmath.exp(steps * half / scale)
        inside = (steps + 1) * half - scale * mpmath.acosh(cosine)
        exact = min(max(steps * half, inside), _high(noise.B + noise.B_prime)) * 2
        stated = _high(snapping.accuracy(noise, alpha))
        assert exact <= stated <= exact * (1 + mpmath.mpf(2) ** -51)


def test_accuracy_allows_for_the_law_of_the_code() -> None:
    """At few bits the level is lowered visibly: the tail is not the ideal one."""
    rough = snapping.miniatures()[0][0]
    fine = replace(rough, precision=118)
    alpha = Fraction(1, 10)
    assert snapping.accuracy(rough, alpha) > snapping.accuracy(fine, alpha)


@pytest.mark.parametrize("index", range(4))
def test_drift_by_its_formula(index: int) -> None:
    """The bound is the larger of the two of MATH 1.3 (b), evaluated by mpmath."""
    noise = snapping.miniatures()[index][0]
    farthest = noise.B + (noise.edge - Fraction(1, 2)) * noise.Lambda_prime
    with mpmath.workdps(60):
        rho = _high(noise.eta * farthest / noise.lambda_prime)
        swell = mpmath.exp(rho + _high(noise.eta) / 2)
        r = mpmath.exp(-_high(noise.Lambda_prime / noise.lambda_prime))
        up = mpmath.log((swell - r * mpmath.exp(-rho)) / (1 - r))
        down = -mpmath.log(1 - (1 + r) / (1 - r) * (swell - 1))
        assert mpmath.almosteq(max(up, down), _high(snapping.drift(noise)), 1e-40)


@pytest.mark.parametrize("exponent", range(60, 80))
def test_least_epsilon_is_feasible_far_down(exponent: int) -> None:
    """Also where the precision steps up, the epsilon found reaches its target."""
    for factor in (Fraction(1), 1 + Fraction(1, 2**50), Fraction(3, 2)):
        accuracy = Fraction(2**exponent) * factor * 4
        alpha = Fraction(1, 20)
        query = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=4 * accuracy)
        for price, reached in (
            (snapping.plain_epsilon_for, snapping.plain_accuracy),
            (snapping.epsilon_for, snapping.accuracy),
        ):
            epsilon = price(query, accuracy, alpha, gamma=Fraction(1, 2))
            noise = snapping.calibrate(query, epsilon, gamma=Fraction(1, 2))
            assert reached(noise, alpha) <= accuracy
