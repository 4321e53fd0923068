"""The formulas in the docstrings of the geometric mechanism, a second way."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms.digits import digit_count, digit_words

from dpql.errors import PlanFault
from dpql.exact import exp_down
from dpql.mechanisms import Query, geometric
from dpql.mechanisms.geometric import GeometricNoise

THETAS = st.fractions(Fraction(1, 200), Fraction(5), max_denominator=1000)
ALPHAS = st.fractions(Fraction(1, 1000), Fraction(99, 100), max_denominator=1000)


def _noise(theta: Fraction, **changes: object) -> GeometricNoise:
    fields = {
        "sensitivity": Fraction(1),
        "lattice": Fraction(1),
        "rounded": False,
        "epsilon": theta,
    }
    return GeometricNoise(**{**fields, **changes})  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(THETAS, ALPHAS)
def test_accuracy_by_adding_up_the_law(theta: Fraction, alpha: Fraction) -> None:
    """The accuracy is the first a at which the mass inside reaches 1 - alpha."""
    noise = _noise(theta)
    inside, a = geometric.probability(noise, Fraction(0), 0), 0
    while inside < 1 - alpha:
        a += 1
        inside += 2 * geometric.probability(noise, Fraction(0), a)
    assert a == geometric.accuracy(noise, alpha)
    assert geometric.nominal_accuracy(noise, alpha) in {a, a + 1}


@settings(max_examples=20, deadline=None)
@given(st.fractions(Fraction(1, 4), Fraction(3), max_denominator=100))
def test_the_law_is_that_of_independent_digits(theta: Fraction) -> None:
    """The difference of two numbers made of independent digits has the same law."""
    count = digit_count(theta)
    coins = [Fraction(w, 1 << 200) for w in digit_words(theta, count, 200)]

    def mass(number: int) -> Fraction:
        product = Fraction(1)
        for i, coin in enumerate(coins):
            product *= coin if number >> i & 1 else 1 - coin
        return product

    masses = [mass(g) for g in range(1 << min(count, 7))]
    noise = _noise(theta)
    for x in (0, 1, 5):
        expected = sum(
            (a * b for a, b in zip(masses, masses[x:], strict=False)), Fraction(0)
        )
        actual = geometric.probability(noise, Fraction(0), x)
        assert abs(expected - actual) <= exp_down(-theta * 100) + Fraction(1, 10**15)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 10**6),
    st.integers(1, 10**4),
    st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000),
)
def test_pricing_is_least(accuracy: int, sensitivity: int, alpha: Fraction) -> None:
    """The priced epsilon reaches the target and a billionth less does not."""
    query = Query(
        sensitivity=Fraction(sensitivity),
        lower=Fraction(0),
        upper=Fraction(10**12),
        lattice=Fraction(1),
    )
    exact = geometric.theta_for(accuracy, alpha) * sensitivity
    if exact > 1000:
        return
    epsilon = geometric.epsilon_for(query, Fraction(accuracy), alpha, gamma=Fraction(1))
    steps = geometric.steps_within(epsilon / sensitivity, alpha)
    less = geometric.steps_within(
        epsilon * (1 - Fraction(1, 10**9)) / sensitivity, alpha
    )
    assert steps <= accuracy < less


def test_coarse_lattice_costs_no_privacy() -> None:
    """A value on no lattice is rounded to 2**32 steps a sensitivity; loss stays."""
    query = Query(sensitivity=Fraction(1, 3), lower=Fraction(0), upper=Fraction(9))
    noise = geometric.calibrate(query, Fraction(1, 2), gamma=Fraction(1))
    assert noise.rounded
    assert Fraction(1, 3) / 2**32 == noise.lattice
    assert Fraction(1, 2) == geometric.loss(noise)
    for value in (Fraction(0), Fraction(1, 7), Fraction(22, 7)):
        moved = geometric.nearest(noise, value + Fraction(1, 3)) - geometric.nearest(
            noise, value
        )
        assert 2**32 == moved
    half = noise.lattice / 2
    steps = geometric.steps_within(noise.theta, Fraction(1, 20)) * noise.lattice
    assert steps + half == geometric.accuracy(noise, Fraction(1, 20))


def test_simultaneous_accuracy_of_ten_bins() -> None:
    """MATH 7: at theta 1 and alpha 0.05, 3 for one bin, 5 for ten together."""
    noise = _noise(Fraction(1))
    alpha = Fraction(1, 20)
    assert geometric.accuracy(noise, alpha) == 3
    assert geometric.simultaneous_accuracy(noise, alpha, 10) == 5


@pytest.mark.parametrize("bad", [Fraction(0), Fraction(-1), Fraction(3, 2)])
def test_senseless_alpha_is_refused(bad: Fraction) -> None:
    """Alpha must be a probability above 0."""
    with pytest.raises(Exception, match="DPQL413"):
        geometric.accuracy(_noise(Fraction(1)), bad)


@pytest.mark.parametrize("theta", [Fraction(1, 10**80), Fraction(1, 10**300)])
def test_accuracy_of_vanishing_theta(theta: Fraction) -> None:
    """However small theta is, the bounds meet and the accuracy is ln(1/alpha)/theta."""
    steps = geometric.steps_within(theta, Fraction(1, 20))
    assert Fraction(2995, 1000) < steps * theta < Fraction(2996, 1000)


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(Fraction(1, 100), Fraction(10**3), max_denominator=10**4),
    st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6)]),
)
def test_pricing_counts_the_rounding(accuracy: Fraction, alpha: Fraction) -> None:
    """On a rounded lattice the priced noise keeps the target, half step included."""
    query = Query(sensitivity=Fraction(1, 3), lower=Fraction(0), upper=Fraction(10**6))
    epsilon = geometric.epsilon_for(query, accuracy, alpha, gamma=Fraction(1))
    noise = geometric.calibrate(query, epsilon, gamma=Fraction(1))
    assert noise.rounded
    assert geometric.accuracy(noise, alpha) <= accuracy
    less = geometric.calibrate(
        query, epsilon * (1 - Fraction(1, 10**7)), gamma=Fraction(1)
    )
    assert geometric.accuracy(less, alpha) > accuracy


def test_finest_target_of_a_lattice() -> None:
    """Below half a step of a rounded lattice no epsilon helps, and it is said."""
    query = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(9))
    with pytest.raises(PlanFault, match="DPQL410"):
        geometric.epsilon_for(
            query, Fraction(1, 2**34), Fraction(1, 20), gamma=Fraction(1)
        )


@pytest.mark.parametrize("scale", [1, 20, 1000, 10**6, 10**9, 2**40, 10**18])
def test_digits_read_at_once(scale: int) -> None:
    """A request is whole bytes: a sign and at least 72 digits beyond the scale.

    The digits fill Python's last digit, of 30 bits, by 20 at least, so that the size
    of the number does not tell how small it is.
    """
    width = geometric.width(_noise(Fraction(1, scale)))
    assert width % 8 == 0
    assert width - 1 >= 72 + (scale - 1).bit_length()
    assert (width - 1) % 30 >= 20


@pytest.mark.parametrize(
    ("sensitivity", "lattice"),
    [
        ("3", "2"),
        ("1", "2"),
        ("7", "3/2"),
        ("1", "1/137438953472"),
        ("1", "-1"),
        ("-1", "1"),
        ("0", "1"),
        ("1", "0"),
    ],
)
@pytest.mark.parametrize("rounded", ["0", "1"])
def test_a_lattice_that_does_not_divide_the_sensitivity_is_refused(
    sensitivity: str, lattice: str, rounded: str
) -> None:
    """Parameters that agree with one another, on a lattice that the proof excludes.

    Neighbours 3 apart lie up to 2 steps of 2 apart after rounding, and not 3/2: the
    loss would be a third more than stated. Below 2**-36 of it no lattice is planned.
    """
    step, change = Fraction(lattice), Fraction(sensitivity)
    theta = step / change if change else Fraction(1)
    text = {
        "sensitivity": sensitivity,
        "lattice": lattice,
        "rounded": rounded,
        "epsilon": "1",
        "theta": str(theta),
    }
    with pytest.raises(PlanFault, match="DPQL414"):
        geometric.restore(text)


def test_the_finest_lattice_is_restored() -> None:
    """The lattices at both ends of what is planned are taken."""
    for lattice in ("5", "1", "5/4294967296"):
        theta = Fraction(lattice) / 5
        text = {
            "sensitivity": "5",
            "lattice": lattice,
            "rounded": "1",
            "epsilon": "1",
            "theta": str(theta),
        }
        assert text == geometric.parameters(geometric.restore(text))
