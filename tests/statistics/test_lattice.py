"""The lattice of parts: refined where it is coarse, rounded where it is too fine."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from exact_parts import lattice_steps

from dpql.mechanisms import geometric
from dpql.statistics.contribution import Contribution
from dpql.statistics.lattice import FINEST, lattice
from dpql.statistics.parts import mean_parts, variance_parts
from dpql.statistics.setting import Setting

ROW = Contribution(replace=False, rows_each=1, cells_each=1, cells=1)
UNIT = Contribution(replace=True, rows_each=3, cells_each=4, cells=10)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/64", "1/63", "1", "17"])
@pytest.mark.parametrize("steps", [1, 3, 1000])
def test_the_least_doubling_that_makes_theta_small(steps: int, epsilon: str) -> None:
    """Theta is at most 1/64, and above 1/128 where anything was refined."""
    found = lattice(mean_parts(steps), ROW, rows=10, epsilon=Fraction(epsilon))
    assert found.theta <= Fraction(1, 64)
    if found.factor > 1:
        assert found.theta > Fraction(1, 128)
    assert not found.rounded
    assert found.factor * steps == found.per_row == found.change
    assert 10 * found.per_row == found.most
    assert (0, found.most) == lattice_steps(found, (-1, 11 * steps))
    assert Fraction(epsilon) == found.theta * found.change


def test_refinement_ends_at_the_finest_lattice() -> None:
    """A huge epsilon does not refine beyond 2**32 steps of a unit."""
    found = lattice(mean_parts(3), ROW, rows=10, epsilon=Fraction(10**9))
    assert FINEST // 2 < found.per_row <= FINEST
    full = lattice(mean_parts(1 << 32), ROW, rows=1, epsilon=Fraction(1))
    assert (1, False) == (full.factor, full.rounded)


@pytest.mark.parametrize(
    ("bound", "change"),
    [(ROW, (1 << 32) + 3 - 1), (UNIT, (1 << 33) + 3 * 8 - 1)],
)
def test_squares_of_floats_are_rounded(bound: Contribution, change: int) -> None:
    """Rounding costs one step for each number touched but one."""
    steps = 1 << 31
    found = lattice(variance_parts(steps), bound, rows=7, epsilon=Fraction(1))
    assert found.rounded
    assert change == found.change
    assert Fraction(1, change) == found.theta
    assert Fraction(1 << 32, bound.rows) == found.per_row
    assert -(-7 * (1 << 32) // bound.rows) == found.most
    half = Fraction(steps**2 * bound.rows, 1 << 33)
    assert (1, 0, 0) == lattice_steps(found, (half.__ceil__(), half.__ceil__() - 1, 0))


@pytest.mark.parametrize("bound", [ROW, UNIT])
def test_noise_of_a_lattice_costs_epsilon_once(bound: Contribution) -> None:
    """The geometric noise of the joint change has the lattice's theta, and restores."""
    for parts in (mean_parts(100), variance_parts(1 << 31)):
        found = lattice(parts, bound, rows=7, epsilon=Fraction(1, 3))
        noise = geometric.calibrate_joint(found.change, found.epsilon)
        assert found.theta == noise.theta
        assert Fraction(1, 3) == geometric.loss(noise)
        assert noise == geometric.restore(geometric.parameters(noise))


def test_a_setting_says_what_a_unit_brings() -> None:
    """The contribution follows from the statistic's setting, and its total."""
    setting = Setting(
        replace=True, known=False, rows=9, rows_each=3, cells_each=4, cells=10
    )
    assert UNIT == Contribution.of(setting)
    assert 5 == Contribution.of(replace(setting, total=5)).rows
