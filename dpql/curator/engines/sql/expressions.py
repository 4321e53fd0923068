"""A program's tests, steps, axes and values as SQL over canonical cells.

A test is true, false or null, as SQL's AND, OR and NOT have it, which follow Kleene.
"""

from __future__ import annotations

from typing import assert_never

from dpql.curator.conditions import (
    Conjunction,
    Disjunction,
    Known,
    Negation,
    OneOf,
    Present,
    Test,
    Within,
)
from dpql.curator.engines.sql.cells import Cells
from dpql.curator.engines.sql.dialect import WIDEST, as_integer, clamped
from dpql.curator.engines.sql.nodes import Nodes
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import (
    FARTHEST,
    HALF,
    Bins,
    Quantiser,
    RealQuantiser,
    WholeQuantiser,
)
from dpql.curator.program import Axis, Distinct, KeyAxis, Program, Ranking


class Expressions:
    """What a statement computes of a row."""

    def __init__(self, program: Program, cells: Cells) -> None:
        self._cells = cells
        self._sql = cells.sql
        self._nodes = Nodes(cells, self.steps, self.bin)
        self._derived = {one.column.name: one for one in program.derived}

    def cell(self, name: str) -> str:
        """Return the canonical cell of a column, declared or derived."""
        one = self._derived.get(name)
        if one is None:
            return self._cells.cell(name)
        return self._nodes.derived(one, self._derived)

    def _is_real(self, name: str) -> bool:
        return name not in self._derived and self._cells.is_real(name)

    # Tests.

    def test(self, test: Test) -> str:  # noqa: PLR0911  one per kind
        """Return what a test is of a row."""
        match test:
            case Negation(operand=operand):
                return f"(NOT {self.test(operand)})"
            case Conjunction(operands=operands):
                return f"({' AND '.join(map(self.test, operands))})"
            case Disjunction(operands=operands):
                return f"({' OR '.join(map(self.test, operands))})"
            case Known(operand=operand):
                return f"({self.test(operand)} IS NOT NULL)"
            case Present(column=name):
                return f"({self.cell(name)} IS NOT NULL)"
            case OneOf(column=name, codes=codes):
                return f"({self.cell(name)} IN ({', '.join(map(str, codes))}))"
            case Within(column=name, lower=lower, upper=upper):
                return self._within(name, lower, upper)
            case _:
                assert_never(test)

    def _within(self, name: str, lower: float | None, upper: float | None) -> str:
        cell, always = self.cell(name), None
        if not self._is_real(name):
            # No canonical integer is beyond the farthest; a stored one may be.
            always = (
                lower is None or lower <= -FARTHEST,
                upper is None or upper >= FARTHEST,
            )
            if (lower or 0) > FARTHEST or (upper or 0) < -FARTHEST:
                return f"({cell} <> {cell})"
        ends = []
        if lower is not None and not (always and always[0]):
            ends.append(f"{cell} >= {self._sql.number(lower)}")
        if upper is not None and not (always and always[1]):
            ends.append(f"{cell} <= {self._sql.number(upper)}")
        return f"({' AND '.join(ends) or f'{cell} = {cell}'})"

    # Numbers.

    def factor(self, factor: Factor | Flag) -> str:
        """Return the whole number that a row has for a factor."""
        if isinstance(factor, Flag):
            return as_integer(f"CASE WHEN {self.test(factor.test)} THEN 1 ELSE 0 END")
        return self.steps(factor.column, factor.quantiser)

    def steps(self, name: str, quantiser: Quantiser) -> str:
        """Return the steps of a cell; of a null those of the fill, or null."""
        if isinstance(quantiser, WholeQuantiser):
            found = self._whole_steps(name, quantiser)
        else:
            fill = _stand_in(quantiser)
            found = self._real_steps(name, quantiser, fill)
            if fill is not None:
                return found
        fill_ = quantiser.fill
        return found if fill_ is None else f"COALESCE({found}, {fill_})"

    def _whole_steps(self, name: str, quantiser: WholeQuantiser) -> str:
        inside = clamped(self.cell(name), str(quantiser.lower), str(quantiser.upper))
        above = f"({inside} - ({quantiser.lower}))"
        divide, step = self._sql.divide, quantiser.step
        if step == 1:
            return above
        if quantiser.floors:
            return f"({above} {divide} {step})"
        return f"((2 * {above} + {step}) {divide} {2 * step})"

    def _real_steps(
        self, name: str, quantiser: RealQuantiser, fill: float | None
    ) -> str:
        lower = quantiser.lower
        above = self._number_inside(name, lower, quantiser.upper, fill)
        if lower:
            above = f"({above} - {self._sql.double(lower)})"
        scaled = self._sql.product(above, quantiser.scale)
        number = f"({scaled}) + {self._sql.double(HALF)}"
        if quantiser.overshoots:
            most = self._sql.double(float(min(quantiser.steps + 1, WIDEST)))
            number = clamped(f"({number})", self._sql.double(0.0), most)
        found = self._sql.floor(number)
        if quantiser.overshoots:
            most = str(quantiser.steps)
            found = f"(CASE WHEN {found} > {most} THEN {most} ELSE {found} END)"
        return found

    def _number_inside(
        self, name: str, lower: float, upper: float, fill: float | None
    ) -> str:
        """Return the cell as a double within bounds; null is the fill, if there is."""
        if self._is_real(name):
            return self._cells.inside(name, lower, upper, fill)
        number = f"CAST({self.cell(name)} AS {self._sql.real})"
        found = clamped(number, self._sql.double(lower), self._sql.double(upper))
        return found if fill is None else f"COALESCE({found}, {self._sql.double(fill)})"

    # Cells and values.

    def position(self, axis: Axis) -> str:
        """Return the position of a row along an axis; null where it has none."""
        if isinstance(axis, KeyAxis):
            code = self.cell(axis.column)
            return code if axis.fill is None else f"COALESCE({code}, {axis.fill})"
        return self.bin(axis.column, axis.bins)

    def bin(self, name: str, bins: Bins) -> str:
        """Return the index of the bin that a number is in; null outside of all."""
        if isinstance(bins.quantiser, WholeQuantiser):
            return self._whole_bin(self.cell(name), bins, bins.quantiser)
        if bins.quantiser is not None:
            low, high = 0.0, float(bins.quantiser.steps)
            number = self._cells.made(self.steps(name, bins.quantiser))
        else:
            low, high = bins.lower, bins.upper
            number = self._number_inside(name, low, high, bins.fill)
            if not self._is_real(name):
                number = self._cells.made(number)
        written, starts = self._sql.number, bins.starts
        tests = [f"{number} >= {written(starts[0])}"] if starts[0] > low else []
        tests += [f"{number} <= {written(bins.end)}"] if bins.end < high else []
        tests = tests or [f"{number} IS NOT NULL"]
        found = self._sql.reached(number, starts)
        return f"CASE WHEN {' AND '.join(tests)} THEN {found} END"

    def _whole_bin(self, cell: str, bins: Bins, quantiser: WholeQuantiser) -> str:
        """Return the bin of a whole number: steps never fall as numbers grow.

        So a bin begins at a number, and nothing is clamped or divided.
        """
        least = [_least_number(int(one), quantiser) for one in bins.starts]
        end = _least_number(int(bins.end) + 1, quantiser)
        tests = [f"{cell} >= {least[0]}"] if bins.starts[0] > 0 else []
        tests += [f"{cell} < {end}"] if bins.end < quantiser.steps else []
        tests = tests or [f"{cell} IS NOT NULL"]
        found = self._sql.reached(cell, least)
        found = f"CASE WHEN {' AND '.join(tests)} THEN {found} END"
        fill = quantiser.fill
        if fill is None or not bins.starts[0] <= fill <= bins.end:
            return found
        index = sum(one <= fill for one in bins.starts) - 1
        return f"CASE WHEN {cell} IS NULL THEN {index} ELSE {found} END"

    def candidate(self, ranking: Ranking) -> str:
        """Return the candidate that a row is counted at."""
        steps, stride = self.factor(ranking.factor), ranking.stride
        if stride == 1:
            return steps
        return f"((2 * {steps} + {stride}) {self._sql.divide} {2 * stride})"

    def value(self, distinct: Distinct) -> str:
        """Return the values that are counted once each."""
        if distinct.factor is not None:
            return self.factor(distinct.factor)
        return self.cell(distinct.column)


def _least_number(step: int, quantiser: WholeQuantiser) -> int:
    """Return the least number that counts as so many steps."""
    if quantiser.floors:
        return quantiser.lower + step * quantiser.step
    return -(-(2 * quantiser.lower + (2 * step - 1) * quantiser.step) // 2)


def _stand_in(quantiser: RealQuantiser) -> float | None:
    """Return a number whose step is the fill, if doubles take one there."""
    if quantiser.fill is None or quantiser.overshoots:
        return None
    number = quantiser.lower + quantiser.fill / quantiser.scale
    inside = min(max(number, quantiser.lower), quantiser.upper)
    step = ((inside - quantiser.lower) * quantiser.scale + HALF) // 1
    return inside if step == quantiser.fill else None
