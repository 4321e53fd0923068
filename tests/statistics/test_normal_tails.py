"""How far sums of Gaussian noises stray: against the exact law, and the normal one."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from dpql.mechanisms.gaussian_tail import tail_of
from dpql.statistics.normal_tails import LEAST, NormalTail, quantile_squared

ALPHA = Fraction(1, 20)
ONE = Fraction(1)


@pytest.mark.heavy
@pytest.mark.parametrize("sigma2", [4096, 5000, 300_000, 1 << 40])
@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1e-4", "1e-12", "1e-100", "1e-320"])
def test_one_noise_strays_no_further_than_stated(sigma2: int, alpha: str) -> None:
    """P(|X| > c) of the exact law is at most alpha, and not far below it."""
    level = Fraction(alpha)
    width = NormalTail.of(Fraction(sigma2)).alone(level)
    low, high = tail_of(Fraction(sigma2)).bounds(int(width) + 1, 2400)
    assert Fraction(high, 1 << 2400) <= level
    if level > Fraction(1, 10**300):
        nearer, _ = tail_of(Fraction(sigma2)).bounds(int(width) - 2, 2400)
        assert Fraction(nearer, 1 << 2400) > level * Fraction(9, 10)
    assert low <= high


@pytest.mark.heavy
def test_the_thresholds_of_the_noise_lie_where_the_shift_says() -> None:
    """Noise and normal noise of one uniform number are at most 1/2 + 2**-10 apart.

    The least sigma2 is the worst case; farther out the bound is larger, and so is it
    tried up to 40 sigma.
    """
    tail = tail_of(LEAST)
    scale = 64 / (1 + Fraction(1, 24 * 4096))
    for x in (1, 2, 3, 64, 100, 400, 1600, 2560):
        bits = 1400 if x > 400 else 200
        with gmpy2.context(precision=bits):
            low, _ = tail.bounds(x, bits)
            z = _quantile(gmpy2.mpfr(low) / gmpy2.exp2(bits))
            apart = abs(z * gmpy2.mpq(scale.numerator, scale.denominator) - x + 0.5)
            assert apart < 2**-10


def _quantile(wanted: gmpy2.mpfr) -> gmpy2.mpfr:
    """Return z with erfc(z / sqrt 2) = wanted, by halving."""
    low, high = gmpy2.mpfr(0), gmpy2.mpfr(50)
    root = gmpy2.sqrt(gmpy2.mpfr(2))
    for _ in range(64):
        middle = (low + high) / 2
        if gmpy2.erfc(middle / root) > wanted:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize(
    ("alpha", "z"), [("1/20", "1.959963"), ("1/100", "2.575829"), ("1e-9", "6.10941")]
)
def test_quantiles_of_the_normal_law(alpha: str, z: str) -> None:
    """The tabulated ones, rounded up."""
    found = quantile_squared(Fraction(alpha))
    assert Fraction(z) ** 2 <= found <= (Fraction(z) + Fraction(1, 10**5)) ** 2


def test_tiny_levels_are_bounded_too() -> None:
    """Below 2**-1000 the bound of sub-Gaussian noise is taken, and never a smaller."""
    above, below = (quantile_squared(Fraction(1, 2**k)) for k in (999, 1000))
    assert above < below < above * Fraction(101, 100)


def test_weights_count_as_a_norm() -> None:
    """Widths scale, ignore signs, and fulfil the inequality of the triangle."""
    tail = NormalTail.of(Fraction(10**6))
    width = tail.width([ONE, ONE / 2, -ONE], ALPHA)
    assert width == tail.width([-ONE, ONE / 2, ONE], ALPHA)
    doubled = tail.width([2 * ONE, ONE, 2 * ONE], ALPHA)
    assert abs(doubled - 2 * width) < Fraction(1, 10**15)
    parts = tail.width([ONE, 0 * ONE, -ONE], ALPHA)
    assert width <= parts + tail.width([0 * ONE, ONE / 2, 0 * ONE], ALPHA)
    rounded = NormalTail.of(Fraction(10**6), rounded=True)
    assert rounded.width([ONE], ALPHA) - tail.width([ONE], ALPHA) >= Fraction(499, 1000)


@pytest.mark.stats
def test_sums_of_noise_stray_as_seldom_as_stated() -> None:
    """Of 10**6 weighted sums of three noises at most alpha stray, and nearly so many.

    A misfire has probability below 1e-9: six standard deviations.
    """
    from gaussian_noises import noise_of

    from dpql.curator.entropy import SystemBits
    from dpql.mechanisms import gaussian

    count, sigma2 = 10**6, 4096
    noise = noise_of(sigma2)
    draws = [
        gaussian.perturb_many(noise, [0] * count, SystemBits(), lower=0, upper=0)
        for _ in range(3)
    ]
    weights = [Fraction(1), Fraction(1, 2), Fraction(-1, 4)]
    total = 4 * draws[0] + 2 * draws[1] - draws[2]
    width = NormalTail.of(Fraction(sigma2)).width(weights, ALPHA)
    strayed = int(np.count_nonzero(np.abs(total) > int(4 * width)))
    spread = 6 * int((count * ALPHA * (1 - ALPHA)) ** 0.5)
    assert count * Fraction(48, 1000) - spread < strayed < count * ALPHA + spread


def test_both_parts_of_few_rows_may_be_lost() -> None:
    """The chance that noise hides all rows falls with them, and 1 bounds it."""
    tail = NormalTail.of(Fraction(4096))
    chances = [tail.below(Fraction(rows)) for rows in (1, 100, 500, 1000, 5000)]
    assert chances[0] > Fraction(2, 5)
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] < Fraction(1, 10**300)
    assert tail.below(Fraction(0)) == 1
    for rows in (10**4, 10**9, 10**30):
        assert tail.below(Fraction(rows)) == Fraction(2, 1 << 1100)
