"""Clopper-Pearson bounds against scipy, and their coverage by exact sums."""

from math import comb

import pytest
from scipy.special import betainc, betaincinv

from dpql.testing import probability_down, probability_up

CASES = [
    (1, 10, 0.01),
    (10, 10, 0.01),
    (5, 10, 0.49),
    (3, 10**6, 1e-9),
    (999_990, 10**6, 1e-4),
    (50_000, 10**5, 1e-3),
    (500_000, 10**6, 1e-9),
]


@pytest.mark.parametrize(("successes", "trials", "level"), CASES)
def test_bounds_are_quantiles_of_beta(
    successes: int, trials: int, level: float
) -> None:
    """The lower bound is the Beta quantile, never above it; the upper one mirrors."""
    quantile = betaincinv(successes, trials - successes + 1, level)
    bound = probability_down(successes, trials, level)
    assert quantile * (1 - 1e-11) <= bound <= quantile * (1 + 1e-13)
    failures = trials - successes
    assert probability_up(failures, trials, level) == 1 - bound


@pytest.mark.parametrize(("successes", "trials", "level"), CASES)
def test_bound_solves_its_equation(successes: int, trials: int, level: float) -> None:
    """P(Bin(n, p) >= x) at the bound is the level, and not above it."""
    bound = probability_down(successes, trials, level)
    tail = betainc(successes, trials - successes + 1, bound)
    assert level * (1 - 1e-6) <= tail <= level * (1 + 1e-9)


@pytest.mark.parametrize("truth", [0.001, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("level", [0.3, 0.01])
def test_coverage_is_exact(truth: float, level: float) -> None:
    """Summed over all counts of 60 trials, the bound is wrong at most level often."""
    wrong_low = wrong_high = 0.0
    for count in range(61):
        weight = comb(60, count) * truth**count * (1 - truth) ** (60 - count)
        wrong_low += weight * (probability_down(count, 60, level) > truth)
        wrong_high += weight * (probability_up(count, 60, level) < truth)
    assert wrong_low <= level
    assert wrong_high <= level


def test_no_success_proves_nothing() -> None:
    """Zero successes give the lower bound 0, and only successes the upper bound 1."""
    assert probability_down(0, 5, 0.1) == 0
    assert probability_up(5, 5, 0.1) == 1


def test_wrong_arguments_are_refused() -> None:
    """Counts out of range and levels of a half or more are refused."""
    for successes, trials in ((-1, 5), (6, 5), (0, 0)):
        with pytest.raises(ValueError, match="successes"):
            probability_down(successes, trials, 0.1)
    for level in (0.0, 0.5, 1.0):
        with pytest.raises(ValueError, match="level"):
            probability_down(1, 5, level)
