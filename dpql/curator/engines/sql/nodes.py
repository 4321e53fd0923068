"""Derived columns in SQL: integers of 64 bits, booleans, and null where not known.

The planner has refused all that might meet 2^62, so nothing overflows. What an
expression needs several times is computed once, under an alias of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from dpql.curator.derived import (
    Derived,
    cells_for,
    column_bins,
    column_grid,
    fill_of,
)
from dpql.curator.engines.sql.cells import Cells, floor_divided
from dpql.curator.engines.sql.dialect import as_integer, choice, clamped
from dpql.curator.grid import FARTHEST, Bins, Interval, Quantiser, double
from dpql.model import lattice_nodes as nodes
from dpql.model.calendar import DAY
from dpql.model.expression import CalendarPart, Operator
from dpql.model.lattice_nodes import Kind, Node
from dpql.model.spec import DateColumn, TimeColumn

_OPERATORS: Mapping[Operator, str] = {
    Operator.EQUAL: "=",
    Operator.UNEQUAL: "<>",
    Operator.LESS: "<",
    Operator.AT_MOST: "<=",
    Operator.GREATER: ">",
    Operator.AT_LEAST: ">=",
}
_HOUR = 3_600
_WEEK, _MONDAY = 7, 3
_YEAR, _QUARTER = 12, 3


class Nodes:
    """Compiles the nodes of derived columns."""

    def __init__(
        self,
        cells: Cells,
        steps: Callable[[str, Quantiser], str],
        bin_: Callable[[str, Bins], str],
    ) -> None:
        self._cells = cells
        self._data = cells.data
        self._sql = cells.sql
        self._steps = steps
        self._bin = bin_
        self._derived: Mapping[str, Derived] = {}

    def derived(self, one: Derived, known: Mapping[str, Derived]) -> str:
        """Return the canonical cell of a derived column; a truth is 1 or 0."""
        self._derived = known
        if one.node.shape.kind is Kind.BOOLEAN:
            true = self._cells.made(self._truth(one.node))
            return self._cells.made(
                as_integer(f"CASE WHEN {true} THEN 1 WHEN NOT {true} THEN 0 END")
            )
        return self._cells.made(as_integer(self._number(one.node)))

    def _once(self, node: Node) -> str:
        """Return the number of a node under an alias, for several uses."""
        return self._cells.made(as_integer(self._number(node)))

    def _once_truth(self, node: Node) -> str:
        return self._cells.made(self._truth(node))

    def _missing(self, node: Node) -> str:
        truth = node.shape.kind is Kind.BOOLEAN
        return f"({self._truth(node) if truth else self._number(node)} IS NULL)"

    # Numbers and keys.

    def _number(self, node: Node) -> str:  # noqa: PLR0911, PLR0912, C901  one per kind
        match node:
            case nodes.NumberCell(column=name, steps=steps):
                found = self._steps(name, column_grid(self._data, name, steps))
                return _affine(found, node.factor, node.base)
            case nodes.KeyCell(column=name):
                return as_integer(self._cells.cell(name))
            case nodes.DerivedCell(column=name):
                return self.derived(self._derived[name], self._derived)
            case nodes.Whole(z=z):
                return as_integer(z)
            case nodes.KeyNumber(operand=operand, first=first):
                return _affine(self._number(operand), 1, first)
            case nodes.Sum():
                left = _affine(self._number(node.left), node.left_by, 0)
                right = _affine(self._number(node.right), node.right_by, 0)
                return f"({left} + {right})"
            case nodes.Product():
                left, right = self._number(node.left), self._number(node.right)
                return f"({as_integer(left)} * {as_integer(right)})"
            case nodes.Extreme():
                return self._extreme(node)
            case nodes.Absolute(operand=operand):
                return f"ABS({self._once(operand)})"
            case nodes.Floor(operand=operand):
                scaled = _affine(self._number(operand), node.times, node.plus)
                if node.over == 1:
                    return scaled
                once = self._cells.made(as_integer(scaled))
                return floor_divided(once, node.over, self._sql.divide)
            case nodes.Quotient():
                return self._quotient(node)
            case nodes.Choice():
                yes = _affine(self._number(node.yes), node.yes_by, 0)
                no = _affine(self._number(node.no), node.no_by, 0)
                return (
                    f"CASE WHEN {self._truth(node.condition)} THEN {yes} ELSE {no} END"
                )
            case nodes.Filled(operand=operand, by=by, fill=fill):
                return f"COALESCE({_affine(self._number(operand), by, 0)}, {fill})"
            case nodes.CellBand(column=name, edges=edges):
                return self._bin(name, column_bins(self._data, name, edges))
            case nodes.Band(operand=operand, starts=starts, end=end):
                number = self._once(operand)
                found = self._sql.reached(number, starts)
                inside = f"{number} BETWEEN {starts[0]} AND {end}"
                return f"CASE WHEN {inside} THEN {found} END"
            case nodes.Mapped():
                return self._mapped(node)
            case nodes.PartKey():
                return self._part(node)
        true = self._once_truth(node)
        return f"CASE WHEN {true} THEN 1 WHEN NOT {true} THEN 0 END"

    def _extreme(self, node: nodes.Extreme) -> str:
        left = self._cells.made(
            as_integer(_affine(self._number(node.left), node.left_by, 0))
        )
        right = self._cells.made(
            as_integer(_affine(self._number(node.right), node.right_by, 0))
        )
        sign = ">=" if node.largest else "<="
        # Neither GREATEST nor LEAST: they skip nulls.
        return (
            f"CASE WHEN {left} {sign} {right} THEN {left} "
            f"WHEN {right} {sign} {left} THEN {right} END"
        )

    def _quotient(self, node: nodes.Quotient) -> str:
        x, y = self._once(node.x), self._once(node.y)
        sign = f"CASE WHEN {y} < 0 THEN -1 ELSE 1 END"
        if node.c_s < 0:
            sign = f"CASE WHEN {y} > 0 THEN -1 ELSE 1 END"
        scaled = f"({node.c_s}) * {y}"
        top = self._cells.made(
            as_integer(
                f"(2 * (({node.c_x}) * {x} - ({node.c_y}) * {y}) + {scaled}) * {sign}"
            )
        )
        bottom = self._cells.made(as_integer(f"2 * {scaled} * {sign}"))
        # A quotient below 0 is clamped to 0, so cutting it off towards 0 is its floor.
        whole = self._cells.made(
            as_integer(
                f"CASE WHEN {top} < 0 THEN 0 WHEN {bottom} > 0 "
                f"THEN {top} {self._sql.divide} "
                f"CASE WHEN {bottom} > 0 THEN {bottom} ELSE 1 END END"
            )
        )
        inside = clamped(whole, "0", str(node.steps))
        found = _affine(inside, node.factor, node.base)
        return f"CASE WHEN {y} <> 0 THEN {found} END"

    def _mapped(self, node: nodes.Mapped) -> str:
        entries = [(at, c) for at, c in enumerate(node.codes) if c is not None]
        code = self._once(node.operand)
        found = as_integer(choice(code, entries))
        if node.missing is None:
            return found
        return f"CASE WHEN {code} IS NULL THEN {node.missing} ELSE {found} END"

    def _part(self, node: nodes.PartKey) -> str:
        column = self._data.column(node.column)
        cell, fill = self._cells.cell(node.column), fill_of(self._data, node.column)
        if fill is not None:
            cell = self._cells.made(f"COALESCE({cell}, {fill})")
        assert isinstance(column, DateColumn | TimeColumn), "others have no parts"
        last, days = column.last, cell
        if isinstance(column, TimeColumn):
            all_steps = (column.last - column.first) // column.step + 1
            last = column.first + all_steps * column.step - 1
            days = self._cells.made(floor_divided(cell, DAY, self._sql.divide))
        inside = f"{cell} BETWEEN {column.first} AND {last}"
        found = self._part_index(node.part, cell, days)
        code = self._cells.made(
            as_integer(f"CASE WHEN {inside} THEN {_affine(found, 1, -node.offset)} END")
        )
        return (
            f"CASE WHEN {code} BETWEEN 0 AND {len(node.shape.keys) - 1} THEN {code} END"
        )

    def _part_index(  # noqa: PLR0911  one per part
        self, part: CalendarPart, cell: str, days: str
    ) -> str:
        """Return the index of a part, as `dpql.curator.engines.day_parts` counts."""
        divide = self._sql.divide
        match part:
            case CalendarPart.HOUR:
                return f"(({cell} - {days} * {DAY}) {divide} {_HOUR})"
            case CalendarPart.DAY:
                return days
            case CalendarPart.WEEK | CalendarPart.WEEKDAY:
                since = self._cells.made(f"{days} + {_MONDAY}")
                week = floor_divided(since, _WEEK, divide)
                return (
                    week
                    if part is CalendarPart.WEEK
                    else f"({since} - {_WEEK} * {week})"
                )
        # Beyond the years 1 to 9999 there is no canonical day.
        months = self._cells.made(self._sql.months(days))
        match part:
            case CalendarPart.MONTH:
                return months
            case CalendarPart.QUARTER:
                return f"({months} {divide} {_QUARTER})"
            case CalendarPart.MONTH_OF_YEAR:
                return f"({months} - {_YEAR} * ({months} {divide} {_YEAR}))"
            case _:
                return f"({months} {divide} {_YEAR})"

    # Tests.

    def _truth(  # noqa: PLR0911, PLR0912, C901  one per kind
        self, node: Node
    ) -> str:
        match node:
            case nodes.CellCompare(column=name, operator=operator, value=value):
                unequal = operator is Operator.UNEQUAL
                same = Operator.EQUAL if unequal else operator
                found = self._cell_within(
                    name, [cells_for(self._data, name, same, value)]
                )
                return self._or_missing(
                    f"(NOT {found})" if unequal else found, missing=node.missing
                )
            case nodes.CellAmong(column=name, values=values):
                some = [cells_for(self._data, name, Operator.EQUAL, x) for x in values]
                return self._or_missing(
                    self._cell_within(name, some), missing=node.missing
                )
            case nodes.CellBetween(column=name):
                first = cells_for(self._data, name, Operator.AT_LEAST, node.lower)
                last = cells_for(self._data, name, Operator.AT_MOST, node.upper)
                both = Interval(lower=first.lower, upper=last.upper)
                return self._or_missing(
                    self._cell_within(name, [both]), missing=node.missing
                )
            case nodes.CellPair(left=left, operator=operator, right=right):
                one = self._filled_cell(left, node.left_fill)
                other = self._filled_cell(right, node.right_fill)
                return self._compared(one, operator, other, (left, right))
            case nodes.CellMissing(column=name):
                return f"({self._cells.cell(name)} IS NULL)"
            case nodes.Compare(operator=operator):
                one = _affine(self._number(node.left), node.left_by, 0)
                other = _affine(self._number(node.right), node.right_by, 0)
                return f"({one} {_OPERATORS[operator]} {other})"
            case nodes.Among(operand=operand, values=values):
                return self._among(self._number(operand), values)
            case nodes.Within(operand=operand, lowest=lowest, highest=highest):
                return f"({self._number(operand)} BETWEEN ({lowest}) AND ({highest}))"
            case nodes.KeyAmong(operand=operand, codes=codes):
                return self._among(self._number(operand), codes)
            case nodes.KeyPair(negated=negated):
                code = choice(self._once(node.left), list(enumerate(node.codes)))
                sign = "<>" if negated else "="
                return f"(({code}) {sign} {self._number(node.right)})"
            case nodes.Missing(operand=operand):
                return self._missing(operand)
            case nodes.Negation(operand=operand):
                return f"(NOT {self._truth(operand)})"
            case nodes.Conjunction(operands=operands):
                return f"({' AND '.join(map(self._truth, operands))})"
            case nodes.Disjunction(operands=operands):
                return f"({' OR '.join(map(self._truth, operands))})"
        return f"({self._number(node)} = 1)"

    def _among(self, number: str, values: Sequence[int]) -> str:
        if not values:
            once = self._cells.made(as_integer(number))
            return f"({once} <> {once})"
        return f"({number} IN ({', '.join(map(str, values))}))"

    def _cell_within(self, name: str, some: Sequence[Interval]) -> str:
        """Return where a stored cell lies in one of some intervals."""
        cell = self._far(name)
        tests = []
        for ends in some:
            low = (
                []
                if ends.lower is None
                else [f"{cell} >= {self._sql.number(ends.lower)}"]
            )
            high = (
                []
                if ends.upper is None
                else [f"{cell} <= {self._sql.number(ends.upper)}"]
            )
            tests.append(f"({' AND '.join(low + high)})")
        return f"({' OR '.join(tests) or f'{cell} <> {cell}'})"

    def _far(self, name: str) -> str:
        """Return a stored cell, none of the integers beyond the farthest."""
        cell = self._cells.cell(name)
        if self._cells.is_real(name):
            return cell
        return self._cells.made(clamped(cell, str(-FARTHEST), str(FARTHEST)))

    def _filled_cell(self, name: str, fill: Fraction | None) -> str:
        cell = self._far(name)
        if fill is None:
            return cell
        value = double(fill) if self._cells.is_real(name) else int(fill)
        return f"COALESCE({cell}, {self._sql.number(value)})"

    def _compared(
        self, one: str, operator: Operator, other: str, names: tuple[str, str]
    ) -> str:
        """Return how cells compare; an integer and a double exactly."""
        real = [self._cells.is_real(name) for name in names]
        if real[0] == real[1]:
            return f"({one} {_OPERATORS[operator]} {other})"
        if real[0]:
            one, other, operator = other, one, _MIRRORED[operator]
        number = self._cells.made(other)
        ends = [self._sql.double(sign * float(FARTHEST) * 1.5) for sign in (-1, 1)]
        inside = self._cells.made(clamped(number, *ends))
        floor = self._cells.made(self._sql.floor(inside))
        ceiling = f"({floor} + CASE WHEN FLOOR({inside}) < {inside} THEN 1 ELSE 0 END)"
        match operator:
            case Operator.AT_MOST | Operator.GREATER:
                return f"({one} {_OPERATORS[operator]} {floor})"
            case Operator.LESS | Operator.AT_LEAST:
                return f"({one} {_OPERATORS[operator]} {ceiling})"
        # Both sides name the integer, so that its null makes the whole null.
        same = f"({one} = {floor} AND {one} = {ceiling})"
        return same if operator is Operator.EQUAL else f"(NOT {same})"

    @staticmethod
    def _or_missing(test: str, *, missing: bool | None) -> str:
        if missing is None:
            return test
        return f"COALESCE({test}, {'TRUE' if missing else 'FALSE'})"


_MIRRORED: Mapping[Operator, Operator] = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.UNEQUAL: Operator.UNEQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}


def _affine(number: str, factor: int, base: int) -> str:
    found = number if factor == 1 else f"({factor}) * {number}"
    return f"({found})" if base == 0 else f"({found} + ({base}))"
