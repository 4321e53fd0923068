"""Nodes of derived columns in plain Python, one row at a time.

A value is an int, or None for null; truth is 1 and 0. Cells are canonical ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import oracle
from oracle_expressions import HOLDS

from dpql.model import lattice_nodes as nodes
from dpql.model.calendar import DAY, part_index
from dpql.model.expression import Operator
from dpql.model.lattice_nodes import Node
from dpql.model.spec import Data, DateColumn, FillNulls, NumberColumn, TimeColumn

Cells = Mapping[str, Any]


def node_value(node: Node, cells: Cells, data: Data) -> int | None:  # noqa: PLR0911, PLR0912, C901
    """Return what a node is of a row of canonical cells, the derived ones included."""

    def of(operand: Node) -> Any:
        return node_value(operand, cells, data)

    match node:
        case nodes.NumberCell():
            return _number_cell(node, cells[node.column], data)
        case nodes.KeyCell(column=name) | nodes.DerivedCell(column=name):
            return None if cells[name] is None else int(cells[name])
        case nodes.PartKey():
            return _part_key(node, cells[node.column], data)
        case nodes.Whole(z=z):
            return z
        case nodes.CellBand():
            return _cell_band(node, cells[node.column], data)
        case nodes.CellMissing(column=name):
            return int(cells[name] is None)
        case nodes.Missing(operand=operand):
            return int(of(operand) is None)
        case nodes.CellCompare() | nodes.CellAmong() | nodes.CellBetween():
            return _cell_test(node, cells[node.column], data)
        case nodes.CellPair():
            sides = [
                fill
                if cells[name] is None
                else Fraction(cells[name])
                if not (isinstance(cells[name], float) and math.isinf(cells[name]))
                else cells[name]
                for name, fill in (
                    (node.left, _stored(data, node.left, node.left_fill)),
                    (node.right, _stored(data, node.right, node.right_fill)),
                )
            ]
            return None if None in sides else int(HOLDS[node.operator](*sides))
        case nodes.Choice():
            if of(node.condition) == 1:
                return _times(of(node.yes), node.yes_by)
            return _times(of(node.no), node.no_by)
        case nodes.Filled(operand=operand):
            found = of(operand)
            return node.fill if found is None else node.by * found
        case nodes.Mapped(operand=operand):
            code = of(operand)
            return node.missing if code is None else node.codes[code]
        case nodes.Negation(operand=operand):
            found = of(operand)
            return None if found is None else 1 - found
        case (
            nodes.Conjunction(operands=operands) | nodes.Disjunction(operands=operands)
        ):
            found = [of(one) for one in operands]
            decisive = int(isinstance(node, nodes.Disjunction))
            if decisive in found:
                return decisive
            return None if None in found else 1 - decisive
    operands = [of(one) for one in _operands(node)]
    return None if None in operands else _computed(node, *operands)


def _operands(node: Any) -> list[Node]:
    if isinstance(node, nodes.Quotient):
        return [node.x, node.y]
    return [node.operand] if hasattr(node, "operand") else [node.left, node.right]


def _computed(node: Node, x: int, y: int = 0) -> int | None:  # noqa: PLR0911, PLR0912, C901
    match node:
        case nodes.KeyNumber(first=first):
            return x + first
        case nodes.Sum():
            return node.left_by * x + node.right_by * y
        case nodes.Product():
            return x * y
        case nodes.Extreme():
            choose = max if node.largest else min
            return choose(node.left_by * x, node.right_by * y)
        case nodes.Absolute():
            return abs(x)
        case nodes.Floor():
            return math.floor(Fraction(node.times * x + node.plus, node.over))
        case nodes.Quotient():
            if y == 0:
                return None
            top = 2 * (node.c_x * x - node.c_y * y) + node.c_s * y
            found = math.floor(Fraction(top, 2 * node.c_s * y))
            return node.base + node.factor * max(min(found, node.steps), 0)
        case nodes.Compare():
            return int(HOLDS[node.operator](node.left_by * x, node.right_by * y))
        case nodes.Among(values=values):
            return int(x in values)
        case nodes.Within():
            return int(node.lowest <= x <= node.highest)
        case nodes.KeyAmong(codes=codes):
            return int(x in codes)
        case nodes.KeyPair():
            return int((node.codes[x] == y) is not node.negated)
        case nodes.Band():
            if not node.starts[0] <= x <= node.end:
                return None
            return sum(start <= x for start in node.starts) - 1
    raise AssertionError(node)


def _times(x: int | None, by: int) -> int | None:
    return None if x is None else by * x


def _stored(data: Data, name: str, fill: Fraction | None) -> Any:
    whole = not isinstance(data.column(name), NumberColumn) or oracle.is_whole(
        data.number(name)
    )
    return fill if fill is None or whole else Fraction(oracle.as_double(fill))


def _number_cell(node: nodes.NumberCell, cell: Any, data: Data) -> int | None:
    column = data.number(node.column)
    if cell is None:
        if not isinstance(column.nulls, FillNulls):
            return None
        u = oracle.fill_index(column, node.steps)
        if isinstance(data.column(node.column), TimeColumn):
            u = math.floor((column.nulls.value - column.lower) / (column.step or 1))
    elif isinstance(data.column(node.column), TimeColumn):
        inside = max(min(Fraction(cell), column.upper), column.lower)
        u = math.floor((inside - column.lower) / (column.step or 1))
    else:
        found = oracle.index(column, cell, node.steps)
        assert found is not None
        u = found
    return node.base + node.factor * u


def _part_key(node: nodes.PartKey, cell: int | None, data: Data) -> int | None:
    column = data.column(node.column)
    nulls = getattr(column, "nulls", None)
    if cell is None and isinstance(nulls, FillNulls):
        cell = int(nulls.value)
    if cell is None:
        return None
    seconds = cell
    if isinstance(column, DateColumn):
        seconds *= DAY
        if not column.first <= cell <= column.last:
            return None
    elif isinstance(column, TimeColumn):
        u = (cell - column.first) // column.step
        if not 0 <= u <= (column.last - column.first) // column.step:
            return None
    code = part_index(node.part, seconds) - node.offset
    return code if 0 <= code < len(node.shape.keys) else None


def _cell_band(node: nodes.CellBand, cell: Any, data: Data) -> int | None:
    column = data.number(node.column)
    step = column.step
    ends: list[Any] = list(node.edges)
    number: Any
    if step is not None:
        z = _number_cell(_grid_of(node.column, data), cell, data)
        number = None if z is None else column.lower + z * step
    else:
        number = cell
        if cell is None and isinstance(column.nulls, FillNulls):
            number = oracle.as_double(column.nulls.value)
        if number is not None:
            bounds = oracle.as_double(column.lower), oracle.as_double(column.upper)
            number = max(min(number, bounds[1]), bounds[0])
        ends = [oracle.as_double(end) for end in ends]
    if number is None or not ends[0] <= number <= ends[-1]:
        return None
    return min(sum(end <= number for end in ends) - 1, len(ends) - 2)


def _grid_of(name: str, data: Data) -> nodes.NumberCell:
    column = data.number(name)
    assert column.step is not None
    steps = int((column.upper - column.lower) / column.step)
    shape = nodes.Shape(
        kind=nodes.Kind.NUMBER, step=column.step, low=0, high=steps, nullable=True
    )
    return nodes.NumberCell(column=name, steps=steps, base=0, factor=1, shape=shape)


def _cell_test(node: Any, cell: Any, data: Data) -> int | None:
    if cell is None:
        return None if node.missing is None else int(node.missing)
    column = data.column(node.column)
    whole = not isinstance(column, NumberColumn) or oracle.is_whole(column)

    def literal(value: Fraction) -> Any:
        return value if whole else oracle.as_double(value)

    match node:
        case nodes.CellCompare():
            return int(HOLDS[node.operator](cell, literal(node.value)))
        case nodes.CellAmong():
            equal = HOLDS[Operator.EQUAL]
            return int(any(equal(cell, literal(value)) for value in node.values))
        case _:
            return int(literal(node.lower) <= cell <= literal(node.upper))
