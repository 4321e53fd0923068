"""The fit tests: their p-values a second way, and planted faults."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, chdtrc, chdtri

from dpql.testing import chi_square, dkw, relative_entropy

FALSE_ALARM = 1e-9
DRAWS = 10**6
THETA = 0.1


def law(theta: float, reach: int = 400) -> dict[int, Fraction]:
    """Return the two-sided geometric law, far tails left out."""
    q = Fraction(math.exp(-theta))
    return {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-reach, reach + 1)}


def draws(theta: float, seed: int) -> Counter[int]:
    """Return counts of two-sided geometric draws by numpy."""
    generator = np.random.default_rng(seed)
    p = -math.expm1(-theta)
    one, other = generator.geometric(p, (2, DRAWS))
    return Counter((one - other).tolist())


@pytest.fixture(scope="module")
def exact() -> dict[int, Fraction]:
    """Return the law at the right scale, to 60 digits."""
    return {x: p.limit_denominator(10**30) for x, p in law(THETA, 150).items()}


def test_chi_square_p_value_is_that_of_scipy() -> None:
    """Statistic, freedom and p-value agree with the textbook computation."""
    observed = {0: 40, 1: 33, 2: 27}
    uniform = dict.fromkeys(range(3), Fraction(1, 3))
    fit = chi_square(observed, uniform, false_alarm=0.01, least=5)
    statistic = sum((count - 100 / 3) ** 2 / (100 / 3) for count in (40, 33, 27))
    assert fit.statistic == pytest.approx(statistic, rel=1e-14)
    assert fit.cells == 3
    assert fit.p_value == pytest.approx(chdtrc(2, statistic), rel=1e-12)
    assert fit.passed


@pytest.mark.parametrize("freedom", [1, 2, 7, 80, 999])
def test_chi_square_tail_far_out(freedom: int) -> None:
    """The incomplete gamma function agrees with scipy down to 1e-50."""
    cells = freedom + 1
    law_ = dict.fromkeys(range(cells), Fraction(1, cells))
    observed = dict.fromkeys(range(cells), 10_000)
    observed[0] += 1500
    fit = chi_square(observed, law_, false_alarm=0.01)
    assert fit.cells == cells
    assert fit.p_value == pytest.approx(chdtrc(freedom, fit.statistic), rel=1e-9)


def test_chi_square_pools_thin_cells() -> None:
    """Thin cells and unnamed outcomes are one cell, joined on if still too thin."""
    probabilities = {0: Fraction(6, 10), 1: Fraction(39, 100), 2: Fraction(1, 200)}
    observed = {0: 600, 1: 390, 2: 5, 77: 5}
    assert chi_square(observed, probabilities, false_alarm=0.01, least=10).cells == 3
    fit = chi_square(observed, probabilities, false_alarm=0.01, least=11)
    assert fit.cells == 2
    assert fit.statistic == 0
    assert fit.passed


@pytest.mark.parametrize("test", [chi_square, relative_entropy])
def test_impossible_outcome_is_rejected(test) -> None:  # noqa: ANN001  three signatures
    """One draw outside a complete law refutes it."""
    fit = test(
        {0: 5000, 1: 5000, 2: 1},
        {0: Fraction(1, 2), 1: Fraction(1, 2)},
        false_alarm=FALSE_ALARM,
    )
    assert fit.p_value == 0
    assert not fit.passed


def test_chi_square_rate_is_what_its_docstring_says() -> None:
    """With two cells the true rate is a binomial sum: near 4e-9 and 3e-8 for 1e-9."""
    limit = chdtri(1, FALSE_ALARM)
    rates = {}
    for expected in (50, 1000):
        trials, p = 10**6, expected / 10**6
        reach = math.sqrt(limit * expected * (1 - p))
        rates[expected] = bdtrc(math.ceil(expected + reach) - 1, trials, p) + bdtr(
            math.floor(expected - reach), trials, p
        )
    assert 1e-8 < rates[50] < 4e-8
    assert 1e-9 < rates[1000] < 5e-9


@pytest.mark.parametrize(
    ("trials", "weights"), [(12, (1, 2)), (9, (1, 1, 2)), (7, (1, 2, 3, 6))]
)
def test_relative_entropy_never_rejects_more_often_than_stated(
    trials: int, weights: tuple[int, ...]
) -> None:
    """Summed over all samples, P(p_value <= a) <= a for every a."""
    total = sum(weights)
    probabilities = {i: Fraction(w, total) for i, w in enumerate(weights)}
    found = []
    for counts in itertools.product(range(trials + 1), repeat=len(weights)):
        if sum(counts) == trials:
            chance = Fraction(math.factorial(trials))
            for count, probability in zip(counts, probabilities.values(), strict=True):
                chance *= probability**count / math.factorial(count)
            fit = relative_entropy(
                dict(enumerate(counts)), probabilities, false_alarm=0.1, least=0
            )
            found.append((fit.p_value, chance))
    rate = Fraction(0)
    for p_value, chance in sorted(found):
        rate += chance
        assert rate <= p_value * (1 + 1e-12)
    assert rate == 1


def test_relative_entropy_statistic() -> None:
    """The statistic is sum O ln(O/E) and the bound e**-g (e g / d)**d."""
    observed, uniform = {0: 70, 1: 30}, dict.fromkeys(range(2), Fraction(1, 2))
    fit = relative_entropy(observed, uniform, false_alarm=0.01, least=5)
    g = 70 * math.log(1.4) + 30 * math.log(0.6)
    assert fit.statistic == pytest.approx(g, rel=1e-14)
    assert fit.p_value == pytest.approx(math.exp(1 - g) * g, rel=1e-12)


def test_dkw_distance_and_bound() -> None:
    """The distance is that of the distribution functions, the bound Massart's."""
    observed, law_ = {0: 30, 1: 50, 2: 20}, {0: Fraction(1, 2), 1: Fraction(1, 2)}
    fit = dkw(observed, law_, false_alarm=0.01)
    assert fit.statistic == 0.2
    assert fit.p_value == pytest.approx(2 * math.exp(-2 * 100 * 0.2**2), rel=1e-12)
    short = {0: Fraction(1, 2), 1: Fraction(2, 5)}
    assert dkw(observed, short, false_alarm=0.01).statistic == 0.2
    assert dkw({0: 60, 1: 40}, short, false_alarm=0.01).statistic == 0


@pytest.mark.stats
@pytest.mark.parametrize("test", [chi_square, relative_entropy, dkw])
def test_right_scale_passes(test, exact: dict[int, Fraction]) -> None:  # noqa: ANN001
    """A million draws of the stated law pass; false alarm 1e-9 (seed fixed)."""
    assert test(draws(THETA, 1), exact, false_alarm=FALSE_ALARM).passed


@pytest.mark.stats
@pytest.mark.parametrize("test", [chi_square, relative_entropy])
@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_scale_two_per_cent_off_is_rejected(
    test,  # noqa: ANN001
    factor: float,
    exact: dict[int, Fraction],
) -> None:
    """A million draws of a scale 2% too small or too large are rejected at 1e-9."""
    assert not test(draws(THETA / factor, 2), exact, false_alarm=FALSE_ALARM).passed


@pytest.mark.stats
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_dkw_rejects_five_per_cent(factor: float, exact: dict[int, Fraction]) -> None:
    """The distance of distribution functions sees 5% in a million draws at 1e-9."""
    assert not dkw(draws(THETA / factor, 3), exact, false_alarm=FALSE_ALARM).passed


def test_bad_input_is_refused() -> None:
    """No draws, and masses that are no law, are refused."""
    with pytest.raises(ValueError, match="at least one draw"):
        chi_square({}, {0: Fraction(1)}, false_alarm=0.1)
    with pytest.raises(ValueError, match="at most 1"):
        chi_square({0: 1}, {0: Fraction(3, 2)}, false_alarm=0.1)
    with pytest.raises(ValueError, match="at least 0"):
        relative_entropy({0: 1}, {0: Fraction(-1, 2)}, false_alarm=0.1)
    fair = dict.fromkeys(range(2), Fraction(1, 2))
    for test in (chi_square, relative_entropy):
        with pytest.raises(ValueError, match="fewer than two cells"):
            test({0: 50, 1: 50}, fair, false_alarm=0.1)
