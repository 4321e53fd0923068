"""The whole numbers that take the noise of parts of one: refined, or coarsened.

    refined     G_i = 2**r B_i,                       change = 2**r D
    coarsened   G_i = floor(B_i 2**32 / D' + 1/2),    change = 2**32 w + touched - 1

    D         the l1 change of all parts between neighbours, as B_i
    D'        that of adding one unit, and w = D / D': 1, or 2 under replace_one
    r         the least with theta = epsilon / change <= 1/64, but 2**r D' <= 2**32
    touched   parts times cells that differ between neighbours

A finer lattice costs nothing: the noise keeps its size, and its steps become small
beside it, so that intervals are sharp. A coarser one costs: rounding t numbers whose
l1 change is at most D changes it by up to D + t - 1. That is the normal case for floats
(Q >= 2**20), whose squares have far more than 2**32 steps.
Source: MATH-statistics 3.1, 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpql.statistics.contribution import Contribution
from dpql.statistics.parts import Parts
from dpql.statistics.tails import Strays, Tail

FINEST = 1 << 32
"""Most steps of the lattice that the rows of one unit make up."""

_COARSE = Fraction(1, 64)
"""Largest theta for which the lattice is not refined further."""


class AnyLattice(Protocol):
    """How parts become whole numbers that take noise of one law."""

    @property
    def factor(self) -> Fraction:
        """Lattice steps of one unit of a part."""
        ...

    @property
    def per_row(self) -> Fraction:
        """F, what a row adds to all parts together, in lattice steps."""
        ...

    @property
    def most(self) -> int:
        """Upper end of every part, which follows from the ceiling of rows."""
        ...

    @property
    def change(self) -> int:
        """The sensitivity that a part states."""
        ...

    @property
    def squared(self) -> int | None:
        """The sum of squares of what all parts change; None where l1 counts."""
        ...

    @property
    def tail(self) -> Strays:
        """How far the noise of the parts strays."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """How parts become whole numbers, and the loss that a step of them costs.

    Attributes:
        factor: lattice steps of one unit of a part; 2**r, or 2**32 / D' if rounded.
        rounded: whether parts are rounded to the lattice.
        per_row: F, what a row adds to all parts together, in lattice steps.
        most: upper end of every part, which follows from the ceiling of rows.
        change: the l1 change of all parts in all cells between neighbours.
        epsilon: what all parts in all cells spend together.
    """

    factor: Fraction
    rounded: bool
    per_row: Fraction
    most: int
    change: int
    epsilon: Fraction
    squared: None = None

    @property
    def theta(self) -> Fraction:
        """Loss per step: the parameter of the geometric noise of every part."""
        return self.epsilon / self.change

    @property
    def tail(self) -> Tail:
        """How far the noise of the parts strays."""
        return Tail.of(self.theta, rounded=self.rounded)


def lattice(
    parts: Parts, contribution: Contribution, *, rows: int, epsilon: Fraction
) -> Lattice:
    """Return the lattice of parts of one, for a ceiling of ``rows`` in one cell."""
    added = contribution.rows * parts.per_row
    change = contribution.parts_change(parts.per_row)
    if added > FINEST:
        factor = Fraction(FINEST, added)
        touched = len(parts.terms) * contribution.touched
        change = FINEST * (change // added) + touched - 1
    else:
        doublings = 0
        while (
            epsilon / (change << doublings) > _COARSE
            and added << (doublings + 1) <= FINEST
        ):
            doublings += 1
        factor = Fraction(1 << doublings)
        change <<= doublings
    return Lattice(
        factor=factor,
        rounded=added > FINEST,
        per_row=factor * parts.per_row,
        most=-(-rows * factor * parts.per_row // 1),
        change=change,
        epsilon=epsilon,
    )
