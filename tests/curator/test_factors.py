"""What sums multiply."""

from __future__ import annotations

from dpql.curator.conditions import Within
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import WholeQuantiser


def test_a_factor_is_known_by_its_column() -> None:
    """Its largest number is that of its grid."""
    grid = WholeQuantiser(lower=0, upper=9, step=3, steps=3, fill=None)
    assert ("x", 3) == (Factor("x", grid).name, Factor("x", grid).steps)


def test_a_flag_is_one_or_nought() -> None:
    """Flags of equal tests are equal."""
    flag = Flag(Within("x", None, 5))
    assert ("1 where x <= 5, else 0", 1) == (flag.name, flag.steps)
    assert Flag(Within("x", None, 5)) == flag
