"""The whole numbers that take Gaussian noise of parts of one: refined, or coarsened.

    refined     G_i = 2**r B_i,              squared = w 4**r F**2 (squares of rows)
    coarsened   G_i = floor(B_i 2**20 / D + 1/2),      squared = w l (2**20 + 2)**2

    F         what a row adds to all parts;  D = k F, k rows of a unit in a cell
    l         cells of a unit;  w = 1, or 2 under replace_one
    r         the least with sigma2 = squared / (2 rho) >= 4096, but 2**r D <= 2**20

Adding a unit changes the parts of a cell, all at least 0, by D in all at most, so as a
vector by no more than D; replacing one by a difference of two such vectors, whose
square is at most the sum of theirs. Rounding at most 4 parts adds less than 2 to the
length of a vector.

Refinement costs nothing. It makes sigma at least 64 at every rho of a release, which
`normal_tails` needs.
Source: MATH-delta 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.statistics.contribution import Contribution
from dpql.statistics.normal_tails import LEAST, NormalTail
from dpql.statistics.parts import Parts

FINEST = 1 << 20
"""Most steps of the lattice that the rows of one unit make up in a cell."""

_LONGER = 2
"""What rounding adds to the length of a change, in steps, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalLattice:
    """How parts become whole numbers, and the sigma2 of their noise.

    Attributes:
        factor: lattice steps of one unit of a part; 2**r, or 2**20 / D if rounded.
        rounded: whether parts are rounded to the lattice.
        per_row: F, what a row adds to all parts together, in lattice steps.
        most: upper end of every part, which follows from the ceiling of rows.
        change: the most that one part of a cell changes between neighbours.
        squared: the most that all parts in all cells change, as a sum of squares.
        rho: what all parts in all cells cost together.
    """

    factor: Fraction
    rounded: bool
    per_row: Fraction
    most: int
    change: int
    squared: int
    rho: Fraction

    @property
    def tail(self) -> NormalTail:
        """How far the noise of the parts strays."""
        return NormalTail.of(self.squared / (2 * self.rho), rounded=self.rounded)


def normal_lattice(
    parts: Parts, contribution: Contribution, *, rows: int, rho: Fraction
) -> NormalLattice:
    """Return the lattice of parts of one, for a ceiling of ``rows`` in one cell."""
    each = contribution.rows_each * parts.per_row
    twice = 2 if contribution.replace else 1
    if each > FINEST:
        factor = Fraction(FINEST, each)
        change, longest = FINEST, FINEST + _LONGER
        squared = twice * contribution.entered * longest**2
    else:
        factor, change = Fraction(1), each
        squared = twice * contribution.rows_squared * parts.per_row**2
        while squared < 2 * rho * LEAST and 2 * change <= FINEST:
            factor, change, squared = 2 * factor, 2 * change, 4 * squared
    return NormalLattice(
        factor=factor,
        rounded=each > FINEST,
        per_row=factor * parts.per_row,
        most=-(-rows * factor * parts.per_row // 1),
        change=change,
        squared=squared,
        rho=rho,
    )
