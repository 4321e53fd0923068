"""Intervals of format 3: as they were, digit by digit, and hardly any others now."""

from __future__ import annotations

from fractions import Fraction

import pytest
from gmpy2 import mpq

from dpql.statistics.format3 import FORMAT3
from dpql.statistics.inversion import NOW
from dpql.statistics.parts_reading import SHARE
from dpql.statistics.spread_reading import Spread
from dpql.statistics.tails import Tail

ALPHA = Fraction(1, 20)
FINE = Tail.of(Fraction(1, 64))
SHARES = [(4000, 900), (65_000, 12), (10**12, 10**11), (191, -191), (-900, 0)]
SPREADS = [(50_000, 30_000, 20_000), (10**9, 10**6, 10**8), (900, 800, 2), (5, 5, 5)]


def test_ends_are_those_that_0_4_signed() -> None:
    """A variance of format 3 has the ends that dpql 0.4 gave it."""
    lower, upper = Spread(FINE, ALPHA, FORMAT3).variance((50_000, 30_000, 20_000))
    assert mpq(1413048399448781451, 1 << 64) == lower
    assert mpq(1446301410355980591, 1 << 64) == upper


@pytest.mark.parametrize("noisy", SHARES)
def test_shares_are_the_same_but_for_the_last_bits(noisy: tuple[int, int]) -> None:
    """Ends differ by less than 2**-30 of the interval."""
    old, new = (
        method.inversion(SHARE, FINE, ALPHA).kept(noisy) for method in (FORMAT3, NOW)
    )
    for one, other in zip(old, new, strict=True):
        assert abs(one - other) * (1 << 30) <= old[1] - old[0]


@pytest.mark.parametrize("noisy", SPREADS)
def test_spreads_are_hardly_wider(noisy: tuple[int, int, int]) -> None:
    """Rounds that end sooner, and widths of 36 bits, cost less than 2**-30."""
    cells = (noisy, (*noisy, sum(noisy)))
    for cell in cells:
        old, new = (
            (spread.variance if len(cell) == 3 else spread.covariance)(cell)
            for spread in (Spread(FINE, ALPHA, FORMAT3), Spread(FINE, ALPHA, NOW))
        )
        assert new[1] - new[0] <= (1 + mpq(1, 1 << 30)) * (old[1] - old[0])
        assert old[1] - old[0] <= (1 + mpq(1, 1 << 30)) * (new[1] - new[0])
