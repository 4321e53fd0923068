"""The values that a quantile may take: the column's grid, thinned where it is fine.

    u' = floor((2u + stride) / (2 stride)),   value = lower + s min(stride u', Q)
    m  = floor((2Q + stride) / (2 stride)) + 1 candidates,   u' = 0 .. m - 1

The stride is 1 up to 65,536 steps, so that every value is a candidate; then it is
ceil(Q / 65536), doubled until as many candidates for every cell of all statistics that
choose are at most 2**27 (in plans up to format 3, for the cells of each statistic).
Source: MATH-statistics 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Grid

_MOST_STEPS = 1 << 16
_MOST_IN_ALL = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The candidates of one column, for every cell alike."""

    grid: Grid
    stride: int

    @property
    def count(self) -> int:
        """How many candidates there are."""
        return (2 * self.grid.steps + self.stride) // (2 * self.stride) + 1

    def index(self, u: int) -> int:
        """Return the candidate that stands for the grid's whole number u."""
        return (2 * u + self.stride) // (2 * self.stride)

    def value(self, index: int) -> Fraction:
        """Return the value of a candidate, in the user's units."""
        u = min(self.stride * index, self.grid.steps)
        return self.grid.lower + self.grid.step * u

    @property
    def error(self) -> Fraction:
        """Return h: how far a row's value may be from that of its candidate."""
        thinned = Fraction(self.stride // 2)
        return (thinned + self.grid.error) * self.grid.step


def candidates(grid: Grid, cells: int) -> Candidates:
    """Return the candidates of a column, where so many cells have as many."""
    found = Candidates(grid=grid, stride=max(1, -(-grid.steps // _MOST_STEPS)))
    while found.stride < 2 * grid.steps and cells * found.count > _MOST_IN_ALL:
        found = Candidates(grid=grid, stride=2 * found.stride)
    return found
