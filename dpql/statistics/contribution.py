"""How far one unit moves everything that a statistic releases, over all cells.

    k   rows of a unit in one cell, at most       l   cells of a unit, at most
    C   cells; l stands for min(l, C)             N   rows of a unit in all, if bounded

                     add_remove           replace_one
    parts of one     min(kl, N) F         twice that
    units            min(l, N)            min(2l, C), at most twice add_remove
    distinct         min(l min(k, v), N)  min(2l, C) min(k, v), the same
    a quantile       2 min(kl, N) M       2k (o b + (2l - 2o) M), the same

    F   what one row adds to all parts          v   declared values
    at = a/b, M = max(a, b - a)                 o = max(0, 2l - C), cells surely shared

With a public n (replace_one, a row is a unit, no filter, no groups) a quantile costs
2kb. Under `total` the unit's groups are chosen first, then its rows in each, then N of
those rows by a fair lottery.
Source: MATH-statistics 1.2, 2, 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.statistics.setting import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one unit may bring into a statistic, and how neighbours differ.

    Attributes:
        replace: neighbours differ by replacing one unit; else by adding or removing.
        rows_public: n is public: replace_one, a row is a unit, no filter, no groups.
        rows_each: k, the most rows of a unit in one cell.
        cells_each: the most cells that one unit's rows fall into.
        cells: the number of disjoint cells.
        total: N, the most rows of a unit in all cells together; None for no bound.
    """

    replace: bool
    rows_each: int
    cells_each: int
    cells: int
    total: int | None = None
    rows_public: bool = False

    @classmethod
    def of(cls, setting: Setting) -> Contribution:
        """Return what a statistic's setting says of one unit."""
        return cls(
            replace=setting.replace,
            rows_public=setting.known,
            rows_each=setting.rows_each,
            cells_each=setting.cells_each,
            cells=setting.cells,
            total=setting.total,
        )

    @property
    def reached(self) -> int:
        """Cells that one unit reaches, at most."""
        return min(self.cells_each, self.cells)

    @property
    def rows(self) -> int:
        """Rows of one unit, at most, over all cells."""
        return self._within(self.rows_each * self.reached)

    @property
    def entered(self) -> int:
        """Cells that hold a row of one unit, at most."""
        return self._within(self.reached)

    @property
    def rows_squared(self) -> int:
        """The sum over cells of the square of a unit's rows there, at most."""
        full, rest = divmod(self.rows, self.rows_each)
        return full * self.rows_each**2 + rest**2

    @property
    def touched(self) -> int:
        """Cells, at most, that differ between neighbours."""
        reached = self._within(self.reached)
        return min(2 * reached, self.cells) if self.replace else reached

    def parts_change(self, per_row: int) -> int:
        """Return the l1 change of parts to which a row adds ``per_row`` in all."""
        return self._doubled(self.rows * per_row)

    def units_change(self) -> int:
        """Return the l1 change of the numbers of units in all cells."""
        return self.touched

    def distinct_change(self, values: int) -> int:
        """Return the l1 change of the numbers of distinct values in all cells.

        With the other rows Y and the old and new unit V, V', the numbers of values of
        Y + V and of Y + V' both lie from D(Y) to D(Y) + k: k a cell, not 2k.
        """
        each = min(self.rows_each, values)
        added = self._within(self.reached * each)
        if not self.replace:
            return added
        return min(min(2 * self.reached, self.cells) * each, 2 * added)

    def rank_change(self, at: Fraction) -> int:
        """Return the cost of a quantile: the range of its score changes, summed."""
        k, b = self.rows_each, at.denominator
        most = _farthest(at)
        if self.replace and self.rows_public:
            return 2 * k * b
        added = 2 * self.rows * most
        if not self.replace:
            return added
        shared = self._shared
        return min(2 * k * (shared * b + 2 * (self.reached - shared) * most), 2 * added)

    def rank_rho(self, at: Fraction, epsilon: Fraction) -> Fraction:
        """Return the zCDP of a quantile chosen at ``epsilon``; at most epsilon^2/8.

        A range of eta costs eta^2/8. Squares may prefer shared cells where the cost
        does not, so both are tried.
        """
        theta = epsilon / self.rank_change(at)
        k, b, most = self.rows_each, at.denominator, _farthest(at)
        if not self.replace:
            rho = self.reached * (2 * k * most * theta) ** 2 / 8
        elif self.rows_public or self.cells == 1:
            rho = (2 * k * b * theta) ** 2 / 8
        else:
            shared, reached = self._shared, self.reached
            apart = shared * b**2 + 2 * (reached - shared) * most**2
            rho = (k * theta) ** 2 / 2 * max(apart, reached * b**2)
        return min(rho, epsilon**2 / 8)

    @property
    def _shared(self) -> int:
        return max(0, 2 * self.reached - self.cells)

    def _within(self, count: int) -> int:
        return count if self.total is None else min(count, self.total)

    def _doubled(self, change: int) -> int:
        return 2 * change if self.replace else change


def _farthest(at: Fraction) -> int:
    """Return M, the most that one row moves a score's two sides apart, halved."""
    return max(at.numerator, at.denominator - at.numerator)
