"""Intervals under Gaussian noise: they cover, and are decided exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from gmpy2 import mpq

from dpql.statistics.inversion import END
from dpql.statistics.normal_inversion import NORMAL, NormalInversion
from dpql.statistics.normal_tails import NormalTail
from dpql.statistics.parts_reading import SHARE
from dpql.statistics.spread_reading import Spread

ALPHA = Fraction(1, 20)
TAIL = NormalTail.of(Fraction(4096))


def _fires(noisy: tuple[int, int], x: Fraction, alpha: Fraction) -> bool:
    """Tell whether parts contradict a share, by the width alone."""
    total = noisy[0] - x * sum(noisy)
    return abs(total) > TAIL.width([1 - x, -x], alpha)


@pytest.mark.parametrize(
    "noisy", [(5000, 5000), (300, 20_000), (9000, 12), (700, 700), (150, 160)]
)
def test_ends_are_where_the_width_says(noisy: tuple[int, int]) -> None:
    """Just outside the interval the test fires, and inside it does not."""
    lower, upper = NormalInversion(SHARE, TAIL, ALPHA).kept(noisy)
    assert 0 <= lower <= upper <= 1
    step = Fraction(1, 10**9)
    for end, way in ((lower, -1), (upper, 1)):
        inside = Fraction(int(end.numerator), int(end.denominator))
        if 0 < inside < 1:
            assert not _fires(noisy, inside - way * step, ALPHA)
            assert _fires(noisy, inside + way * step, ALPHA)


def test_odd_parts_leave_an_interval() -> None:
    """Whatever the noise was, the interval is not empty and lies in the range."""
    inversion = NormalInversion(SHARE, TAIL, ALPHA)
    for noisy in ((0, 0), (-900, -900), (900, -900), (-900, 900), (191, -191)):
        lower, upper = inversion.kept(noisy)
        assert 0 <= lower <= upper <= 1
    assert inversion.kept((0, 0)) == (0, 1)
    assert inversion.kept((-5000, 5000)) == (0, 0)
    assert END == 1 << 64


@pytest.mark.stats
@pytest.mark.parametrize("share", ["0", "1/10", "1/2", "1"])
def test_shares_are_covered(share: str) -> None:
    """Of 4,000 intervals at most alpha miss, but for six standard deviations."""
    generator = np.random.default_rng(23)
    rows, true = 6400, Fraction(share)
    inversion = NormalInversion(SHARE, TAIL, ALPHA)
    missed = 0
    for first, second in generator.normal(0, 64, (4000, 2)).round().astype(int):
        parts = (int(true * rows) + int(first), rows - int(true * rows) + int(second))
        lower, upper = inversion.kept(parts)
        missed += not lower <= mpq(true) <= upper
    assert missed < 200 + 6 * 14


@pytest.mark.stats
def test_variances_and_covariances_are_covered() -> None:
    """Alike for the spread of a half and a half, and of two columns that agree."""
    generator = np.random.default_rng(5)
    rows = 20_000
    spread = Spread(TAIL, ALPHA, NORMAL)
    missed = [0, 0]
    for noise in generator.normal(0, 64, (800, 4)).round().astype(int).tolist():
        # Half of the rows at either end: variance 1/4, of its square's width.
        noisy = [rows // 2 + noise[0], noise[1], rows // 2 + noise[2]]
        lower, upper = spread.variance(noisy)
        missed[0] += not lower <= Fraction(1, 4) <= upper
        both = [rows // 2 + noise[0], noise[1], noise[2], rows // 2 + noise[3]]
        lower, upper = spread.covariance(both)
        missed[1] += not lower <= Fraction(1, 4) <= upper
    assert max(missed) < 40 + 6 * 7
