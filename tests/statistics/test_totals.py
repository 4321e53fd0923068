"""Totals that agree with their parts, and how far they may err."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpql.statistics.tails import Tail
from dpql.statistics.totals import half_width, share_of

ALPHA = Fraction(1, 20)
FINE = Tail(theta=Fraction(1), shift=Fraction(0))
"""Laplace noise of scale 1."""


@pytest.mark.parametrize("parts", [(5,), (3, -2), (10, 20, 31, 40, 0)])
def test_results_add_up(parts: tuple[int, ...]) -> None:
    """The total is the sum of its parts, and what agreed before stays as it was."""
    added, size = Fraction(sum(parts)), len(parts)
    share = share_of(Fraction(57), added, size)
    assert 57 - share == sum(part + share for part in parts)
    assert (size * Fraction(57) + added) / (size + 1) == 57 - share
    assert share_of(added, added, size) == 0


def test_the_width_of_the_note() -> None:
    """A thousand parts at alpha .05 err by at most 2.99374 scales."""
    assert pytest.approx(2.99374, abs=1e-5) == float(half_width(FINE, 1000, ALPHA))


@pytest.mark.heavy
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 10, 40])
def test_misses_of_totals_and_parts(parts: int) -> None:
    """Total and parts miss by more than the width with probability alpha, at most."""
    generator = np.random.default_rng(parts)
    runs = 200_000
    noises = generator.laplace(size=(runs, parts + 1)).astype(np.float64)
    total, own = noises[:, 0], noises[:, 1:]
    apart = (total - own.sum(axis=1)) / (parts + 1)
    width = float(half_width(FINE, parts, ALPHA))
    allowed = 0.05 + 3.3 * (0.05 * 0.95 / runs) ** 0.5
    for error in (total - apart, own[:, 0] + apart):
        missed = float(np.mean(np.abs(error) > width))
        assert missed <= allowed
        assert missed >= 0.047


def test_widths_do_not_jump_where_the_formula_changes() -> None:
    """The bound for many parts goes on where the exact tail ends."""
    widths = [half_width(FINE, parts, ALPHA) for parts in range(1, 8)]
    steps = [later - earlier for earlier, later in pairwise(widths)]
    assert all(0 < step < Fraction(1, 2) for step in steps)
    fine = Tail.of(Fraction(1, 64))
    grown = half_width(fine, 5, ALPHA) - 64 * half_width(FINE, 5, ALPHA)
    assert abs(grown - Fraction(10, 6) * fine.shift) < Fraction(1, 10**9)
