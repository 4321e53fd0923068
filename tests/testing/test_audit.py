"""The audit convicts mechanisms that lose more than they claim, and no others."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpql.testing import epsilon_lower_bound, probability_down, probability_up

CONFIDENCE = 1 - 1e-6
DRAWS = 200_000


def geometric(theta: float, seed: int) -> NDArray[np.int64]:
    """Return two-sided geometric draws by numpy."""
    p = -math.expm1(-theta)
    one, other = np.random.default_rng(seed).geometric(p, (2, DRAWS))
    return one - other


@pytest.mark.stats
@pytest.mark.parametrize("theta", [0.2, 1.0, 2.0])
def test_honest_mechanism_is_not_convicted(theta: float) -> None:
    """The bound stays below the true epsilon, and near it; false alarm 1e-6."""
    bound = epsilon_lower_bound(
        geometric(theta, 1), geometric(theta, 2) + 1, confidence=CONFIDENCE
    )
    assert theta - 0.1 < bound.epsilon <= theta
    assert bound.confidence == CONFIDENCE


@pytest.mark.stats
@pytest.mark.parametrize("claimed", [0.2, 1.0, 2.0])
def test_half_the_noise_is_convicted(claimed: float) -> None:
    """A mechanism with half the noise it needs loses visibly more than it claims."""
    bound = epsilon_lower_bound(
        geometric(2 * claimed, 3), geometric(2 * claimed, 4) + 1, confidence=CONFIDENCE
    )
    assert bound.epsilon > 1.5 * claimed


@pytest.mark.stats
def test_leak_in_time_is_convicted() -> None:
    """A release whose time tells the noise is convicted by the pair, not by either."""
    claimed = 0.1
    one, other = geometric(claimed, 5), geometric(claimed, 6)
    jitter = np.random.default_rng(7).normal(size=(2, DRAWS))
    first = np.stack([one, np.abs(one) + jitter[0]], axis=1)
    second = np.stack([other + 20, np.abs(other) + jitter[1]], axis=1)
    both = epsilon_lower_bound(first, second, confidence=CONFIDENCE)
    release = epsilon_lower_bound(first[:, 0], second[:, 0], confidence=CONFIDENCE)
    when = epsilon_lower_bound(first[:, 1], second[:, 1], confidence=CONFIDENCE)
    assert both.epsilon > 2 * 20 * claimed
    assert release.epsilon <= 20 * claimed
    assert when.epsilon < claimed


@pytest.mark.stats
def test_equal_laws_prove_nothing_often() -> None:
    """Of 80 audits of equal laws at confidence 0.9, at most 24 exceed 0.

    8 are expected at most; above 24 lies less than 1e-6 of Binomial(80, 0.1).
    """
    generator = np.random.default_rng(8)
    wrong = 0
    for _ in range(80):
        one, other = generator.integers(0, 20, (2, 1000))
        wrong += epsilon_lower_bound(one, other, confidence=0.9).epsilon > 0
    assert wrong <= 24


def test_bound_is_the_formula_on_the_odd_draws() -> None:
    """With one event the bound is ln of the two Clopper-Pearson bounds' quotient."""
    first, second = np.repeat([0, 1], [300, 100]), np.repeat([0, 1], [100, 300])
    bound = epsilon_lower_bound(first, second, confidence=0.9, events=1)
    level = 0.1 / 4
    low, high = probability_down(150, 200, level), probability_up(50, 200, level)
    assert (bound.likely, bound.unlikely) == (low, high)
    assert bound.epsilon == pytest.approx(math.log(low / high), rel=1e-12)
    assert (bound.swapped, bound.cells) == (False, ((0,),))
    private = epsilon_lower_bound(first, second, confidence=0.9, events=1, delta=0.1)
    assert private.epsilon == pytest.approx(math.log((low - 0.1) / high), rel=1e-12)


def test_delta_excuses() -> None:
    """An event that only delta explains is not held against the mechanism."""
    first = np.zeros(20_000, int)
    first[::50] = 1
    first[1::50] = 1
    second = np.zeros(20_000, int)
    assert epsilon_lower_bound(first, second, confidence=0.99).epsilon > 1
    excused = epsilon_lower_bound(first, second, confidence=0.99, delta=0.05)
    assert excused.epsilon == 0


def test_many_values_are_binned() -> None:
    """Real-valued draws are cut into bins of equal weight."""
    generator = np.random.default_rng(9)
    first, second = generator.laplace(0, 1, DRAWS), generator.laplace(1, 1, DRAWS)
    bound = epsilon_lower_bound(first, second, confidence=CONFIDENCE)
    assert 0.8 < bound.epsilon <= 1


def test_wrong_arguments_are_refused() -> None:
    """Confidence out of range, unequal columns and too few draws are refused."""
    with pytest.raises(ValueError, match="confidence"):
        epsilon_lower_bound([0, 1], [0, 1], confidence=1.0)
    with pytest.raises(ValueError, match="same columns"):
        epsilon_lower_bound([[0, 1], [1, 1]], [0, 1], confidence=0.9)
    with pytest.raises(ValueError, match="two draws"):
        epsilon_lower_bound([0], [0, 1], confidence=0.9)
