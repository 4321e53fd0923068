"""What is public around a statistic: rows, units, cells, grids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.errors import PlanFault
from dpql.model.plan import Grid, Measure, Readout, Term

if TYPE_CHECKING:
    from dpql.statistics.joint import Joint
    from dpql.statistics.ranks import Ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Squares:
    """How far one unit moves a number in all cells, measured in squares.

    Attributes:
        most: the most that it changes in one cell.
        cells: cells that would change by so much, at most: all changes together have a
            sum of squares of at most ``cells`` times that of ``most``, also when every
            one of them is rounded to a lattice of which ``most`` is a multiple.
        squared: the most that changes add up to as squares; none is rounded.
        ranges: how many ranges of a cell ``most`` stands for: 2 where it is a change
            of two cells that may also meet in one.
    """

    most: int
    cells: int
    squared: int
    ranges: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a statistic that finds keys may spend, and what it shows.

    Attributes:
        keys: how many keys differ between neighbours, by one unit each.
        counts: whether noisy counts are released with the keys.
        delta: what all of them may spend.
        shown_from: keys of fewer units are never shown.
    """

    keys: int
    counts: bool
    delta: Fraction
    shown_from: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """All that a statistic may depend on before there are data.

    Attributes:
        replace: neighbours differ by replacing one unit; else by adding or removing.
        known: the set is the whole source, each row a unit of its own, and its number
            of rows is public. (Plans of format 1 had it beside larger units too.)
        rows: that number when known, else a public ceiling.
        rows_each: the most rows of a unit in one cell.
        cells_each: the most cells that one unit's rows fall into.
        cells: the number of disjoint cells; 1 without groups and bins.
        total: the most rows of a unit in all cells; None if that follows from the
            bounds above.
        whole: the set is the whole source, without filter and groups.
        keys: how many keys the category has whose values are counted.
        grids: one per column that is summed.
        unit_names: the user's unit of each of these columns.
        at: the quantiles that are asked for.
        ranked: the cells whose rows are counted by candidate, where one is chosen.
        beside: the cells of the other statistics that choose among candidates.
        added_up: all cells are added up, and their sum is what is released.
        accounted: losses are added up as squares, for there is a delta.
        sought: of a statistic that finds keys, what it may spend on them.
    """

    replace: bool
    known: bool
    rows: int
    rows_each: int
    cells_each: int
    cells: int
    total: int | None = None
    whole: bool = False
    keys: int | None = None
    grids: tuple[Grid, ...] = ()
    unit_names: tuple[str | None, ...] = ()
    at: tuple[Fraction, ...] = ()
    ranked: int | None = None
    beside: int = 0
    added_up: bool = False
    accounted: bool = False
    sought: Sought | None = None

    def l0(self, *, signed: bool) -> int:
        """Return how many changes of at most the sensitivity one unit makes.

        Adding or removing a unit touches ``cells_each`` cells. Replacing one removes
        from so many and adds to so many. Where both fall into the same cell, terms of
        one sign change it by no more than adding does, while terms of either sign
        (``signed``) may change it by twice that.
        Source: MATH, rules for filters and groups under replace_one; sharper for terms
        of one sign, as MATH 4 has it for counts.
        """
        reached = min(self.cells_each, self.cells)
        if not self.replace:
            return reached
        return 2 * reached if signed else min(2 * reached, self.cells)

    def changes(
        self, each: int | None = None, *, signed: bool = False
    ) -> tuple[int, int]:
        """Return by how much one unit moves a cell, and how often it does, at most.

        It moves a cell by ``each``, the rows of a unit in a cell if it is not given,
        as often as `l0` says. A total of N rows moves cells by 1, N times in all, or
        2N times where a unit is replaced; that is taken where it is less. Where cells
        are added up, all this falls into one number.

        Losses of N moves by 1 add up to no more than that of the same cell moved by N,
        so they bound the loss wherever the moves fall. Squares of losses do not: N
        moves of one cell cost N**2, not N. Where these are accounted for, a total says
        nothing, unless there is one number only; and terms of either sign, which meet
        in a cell where a unit is replaced, are half as many moves of twice the size.
        Source: MATH-statistics 2, MATH-delta 1.2.
        """
        each = self.rows_each if each is None else each
        often = self.l0(signed=signed)
        if self.accounted and self.replace and signed:
            each, often = 2 * each, often // 2
        if self.total is not None and (self.added_up or not self.accounted):
            in_all = 2 * self.total if self.replace else self.total
            if in_all < each * often:
                each, often = 1, in_all
        return (each * often, 1) if self.added_up else (each, often)

    def ranges(self, *, signed: bool) -> int:
        """Return how many ranges of a cell a move of `changes` stands for.

        It is 2 where it stands for one in each of two cells, which may be in two.
        """
        meet = self.accounted and self.replace and signed and not self.added_up
        return 2 if meet and self.cells_each < self.cells else 1

    def squares(
        self, each: int | None = None, *, per_row: int = 1, signed: bool = False
    ) -> Squares:
        """Return how far one unit moves a number of at most ``per_row`` times ``each``.

        ``each`` is the rows of a unit in a cell if it is not given. With k of them in
        each of l cells the squares add up to l k**2; with N rows in all to
        g k**2 + j**2, N = g k + j. Where a unit is replaced, terms of one sign have
        (x - y)**2 <= x**2 + y**2, twice that; terms of either sign may meet in a cell,
        four times that.
        Source: MATH-delta 1.2.
        """
        each = self.rows_each if each is None else each
        reached = min(self.cells_each, self.cells)
        if self.added_up:
            rows = reached * each
            rows = rows if self.total is None else min(rows, self.total)
            most = rows * per_row * (2 if self.replace else 1)
            return Squares(most=most, cells=1, squared=most**2)
        in_all = reached * each**2
        if self.total is not None and self.total < reached * each:
            full, rest = divmod(self.total, each)
            in_all = full * each**2 + rest**2
        if self.total is not None:
            reached = min(reached, self.total)
        most, squared = each * per_row, in_all * per_row**2
        if not self.replace:
            return Squares(most=most, cells=reached, squared=squared)
        if signed:
            ranges = 2 if reached < self.cells else 1
            return Squares(
                most=2 * most, cells=reached, squared=4 * squared, ranges=ranges
            )
        cells = min(2 * reached, self.cells)
        return Squares(
            most=most, cells=cells, squared=min(2 * squared, cells * most**2)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a statistic needs from the engine and makes of it.

    Attributes:
        measures: the noisy whole numbers, in the order the readout takes them.
        readout: from noisy numbers to the value; None with joint parts.
        lower: the least value possible, in the user's units.
        upper: the largest value possible.
        quantisation: the error that the grid makes, in the user's units.
        sensitivity: of the value, when it is one noisy number.
        unit: of the value.
        joint: the parts of one that it is made of instead of measures; these follow
            from the epsilon that it spends.
        ranks: the quantiles that are chosen instead of measures.
        squares: how far one unit moves the only measure, in squares; if absent, it is
            bounded by the sensitivity.
        sought: how keys are found, instead of measures.
    """

    measures: tuple[Measure, ...]
    readout: Readout | None
    lower: Fraction
    upper: Fraction
    quantisation: Fraction
    sensitivity: Fraction | None
    unit: str | None
    joint: Joint | None = None
    ranks: Ranks | None = None
    squares: Squares | None = None
    sought: Sought | None = None

    def concentrated(self) -> Description:
        """Return the same for noise that hides a change measured in squares."""
        if self.sought is not None:
            return self
        if self.joint is not None:
            return replace(self, joint=replace(self.joint, concentrated=True))
        (only,) = self.measures
        squares = self.squares or _plain_squares(only)
        most = min(squares.most, squares.ranges * (only.upper - only.lower))
        cells = squares.cells
        measured = replace(
            only,
            sensitivity=most,
            l0=cells,
            squared=min(squares.squared, cells * most**2),
        )
        return replace(
            self,
            measures=(measured,),
            sensitivity=self.sensitivity
            and self.sensitivity / only.sensitivity * measured.sensitivity,
        )


def _plain_squares(only: Measure) -> Squares:
    """Return what follows from the sensitivity alone: all may change in one cell."""
    most = only.l0 * only.sensitivity
    return Squares(most=most, cells=only.l0, squared=most**2)


def measure(
    name: str,
    terms: tuple[Term, ...],
    *,
    change: int,
    lower: int,
    upper: int,
    l0: int,
    ranges: int = 1,
) -> Measure:
    """Return the measure; the clamp to its range bounds every change as well.

    A change stands for moves of so many cells as there are ``ranges``.
    """
    return Measure(
        name=name,
        terms=terms,
        scale=Fraction(1),
        sensitivity=min(change, ranges * (upper - lower)),
        lower=lower,
        upper=upper,
        l0=l0,
    )


def alone(only: Measure) -> Squares:
    """Return the squares of a number that is public but for its own change."""
    return Squares(most=only.sensitivity, cells=1, squared=only.sensitivity**2)


def only_joint(name: str) -> Callable[[Setting], Description]:
    """Return what describes a statistic that has no form but that of parts of one."""

    def describe(_: Setting) -> Description:
        raise PlanFault.of(
            "DPQL422",
            f"a {name} is made of parts that share one sensitivity, which this "
            "mechanism does not let them",
            hint="write `mechanism: geometric`",
        )

    return describe


def grouped(unit: str) -> str:
    """Return a unit that can be multiplied: in parentheses unless it is one word."""
    return unit if unit.isalpha() else f"({unit})"
