"""A shape knows its bounds and how many steps lie between them."""

from __future__ import annotations

from fractions import Fraction

from dpql.model.lattice_nodes import Kind, Shape


def test_bounds_are_multiples_of_the_step() -> None:
    """Lower = step * low, upper = step * high, Q = high - low."""
    shape = Shape(
        kind=Kind.NUMBER, step=Fraction(1, 10), low=-5, high=25, nullable=True
    )
    assert (Fraction(-1, 2), Fraction(5, 2), 30) == (
        shape.lower,
        shape.upper,
        shape.steps,
    )
