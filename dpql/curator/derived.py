"""Derived columns of a program: what an engine computes of a row before all else.

Each is an expression of the spec with its types, `dpql.model.lattice_nodes`, which says
in whole numbers what it is. A number becomes WHOLE, its z; what is true or false WHOLE,
1 or 0; a key its CODE. A condition that is more than tests of single columns has its
other parts derived, so nothing behind the derived columns knows of expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from dpql.curator.columns import CanonicalColumn, Content
from dpql.curator.conditions import (
    Conjunction,
    Disjunction,
    Negation,
    OneOf,
    Present,
    Test,
    Within,
)
from dpql.curator.grid import (
    Bins,
    Interval,
    Quantiser,
    WholeQuantiser,
    bins,
    interval,
    quantiser,
)
from dpql.model import lattice_nodes as nodes
from dpql.model.expression import Expression, Operator
from dpql.model.lattice_nodes import Kind, Node, Shape
from dpql.model.notation import plain
from dpql.model.spec import Data, DropNulls, FillNulls, TimeColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A derived column in canonical form, and the node that it is."""

    column: CanonicalColumn
    node: Node

    def __str__(self) -> str:
        return f"{self.column} = {described(self.node)}"


class Derivation:
    """The derived columns of some data, and tests that need further ones."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._found = {
            name: Derived(column=derived_column(name, node.shape), node=node)
            for name, node in data.lattice.derived.items()
        }
        self._tests: dict[Node, str] = {}
        self._taken = {column.name for column in data.columns} | set(self._found)

    def needed(self, names: set[str]) -> tuple[tuple[Derived, ...], set[str]]:
        """Return the derived columns that some need, in order, and all columns."""
        used = set(names)
        found = []
        for one in reversed(self._found.values()):
            if one.column.name in used:
                found.append(one)
                used.update(columns_of(one.node))
        return tuple(reversed(found)), used

    def test(self, condition: Expression) -> Test:
        """Return the test of a row that a condition is."""
        return self._test(self._data.lattice.typed(condition))

    def _test(self, node: Node) -> Test:  # noqa: PLR0911, C901  one per kind
        match node:
            case nodes.Negation(operand=operand):
                return Negation(self._test(operand))
            case nodes.Conjunction(operands=operands):
                return Conjunction(tuple(map(self._test, operands)))
            case nodes.Disjunction(operands=operands):
                return Disjunction(tuple(map(self._test, operands)))
            case nodes.CellMissing(column=name):
                return Negation(Present(name))
            case nodes.Missing(operand=nodes.DerivedCell(column=name)):
                return Negation(Present(name))
            case nodes.CellCompare(column=name):
                return _or_missing(self._compared(node), name, node.missing)
            case nodes.CellAmong(column=name, values=values):
                found = [self._within(name, Operator.EQUAL, one) for one in values]
                return _or_missing(_any(found, name), name, node.missing)
            case nodes.CellBetween(column=name, lower=lower, upper=upper):
                first = self._within(name, Operator.AT_LEAST, lower)
                last = self._within(name, Operator.AT_MOST, upper)
                both = Within(name, first.lower, last.upper)
                return _or_missing(both, name, node.missing)
            case nodes.KeyAmong(operand=nodes.KeyCell() | nodes.DerivedCell() as cell):
                keys = tuple(cell.shape.keys[code] for code in node.codes)
                none = Within(cell.column, 1, 0)
                return OneOf(cell.column, node.codes, keys) if keys else none
            case nodes.Among(operand=nodes.DerivedCell(column=name), values=values):
                return _any([Within(name, one, one) for one in values], name)
            case nodes.DerivedCell(column=name):
                return Within(name, 1, 1)
            case nodes.NumberCell(column=name) if node.shape.nullable:
                return Within(name, 1, 1)
        return self._lifted(node)

    def _compared(self, node: nodes.CellCompare) -> Test:
        if node.operator is Operator.UNEQUAL:
            return Negation(self._within(node.column, Operator.EQUAL, node.value))
        return self._within(node.column, node.operator, node.value)

    def _within(self, name: str, operator: Operator, value: Fraction) -> Within:
        found = cells_for(self._data, name, operator, value)
        return Within(name, found.lower, found.upper)

    def _lifted(self, node: Node) -> Test:
        """Return the test of a derived column that is the node."""
        if node not in self._tests:
            name = f"test {len(self._tests) + 1}"
            while name in self._taken:
                name += " "
            self._tests[node] = name
            column = derived_column(name, node.shape)
            self._found[name] = Derived(column=column, node=node)
        return Within(self._tests[node], 1, 1)


def derived_column(name: str, shape: Shape) -> CanonicalColumn:
    """Return the canonical column of such values."""
    if shape.kind is Kind.KEY:
        return CanonicalColumn(name=name, content=Content.CODE, keys=shape.keys)
    truth = shape.kind is Kind.BOOLEAN
    content = Content.TRUTH if truth else Content.WHOLE
    return CanonicalColumn(name=name, content=content)


def cells_for(data: Data, name: str, operator: Operator, value: Fraction) -> Interval:
    """Return the cells of a declared column for which a comparison holds."""
    return interval(data.number(name), operator, value)


def column_grid(data: Data, name: str, steps: int) -> Quantiser:
    """Return how the canonical cells of a column are counted in so many steps.

    Times count full steps. The cells of a derived number are its z.
    """
    node = data.lattice.derived.get(name)
    if node is None:
        floors = isinstance(data.column(name), TimeColumn)
        return quantiser(data.number(name), steps, floors=floors)
    shape = node.shape
    assert shape.steps % steps == 0, "the planner makes no finer grids"
    return WholeQuantiser(
        lower=shape.low,
        upper=shape.high,
        step=shape.steps // steps,
        steps=steps,
        fill=None,
    )


def column_bins(data: Data, name: str, edges: Sequence[Fraction]) -> Bins:
    """Return the bins of a column, declared or derived."""
    column, node = data.number(name), data.lattice.derived.get(name)
    if node is not None:
        return bins(column, edges, grid=column_grid(data, name, node.shape.steps))
    if isinstance(data.column(name), TimeColumn):
        assert column.step is not None, "times have steps"
        steps = int((column.upper - column.lower) / column.step)
        return bins(column, edges, grid=column_grid(data, name, steps))
    return bins(column, edges)


def drops_nulls(data: Data, name: str) -> bool:
    """Tell whether rows without a value in a column are left out."""
    node = data.lattice.derived.get(name)
    if node is not None:
        return node.shape.nullable
    return isinstance(data.number(name).nulls, DropNulls)


def fill_of(data: Data, name: str) -> int | None:
    """Return what a missing day, second or truth counts as, if it is filled."""
    nulls = getattr(data.column(name), "nulls", None)
    return int(nulls.value) if isinstance(nulls, FillNulls) else None


def columns_of(node: Node) -> Iterator[str]:
    """Yield the columns that a node reads, declared and derived."""
    if isinstance(node, nodes.CellPair):
        yield node.left
        yield node.right
    elif hasattr(node, "column"):
        yield node.column
    for operand in _operands(node):
        yield from columns_of(operand)


def _operands(node: Node) -> Iterator[Node]:
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (one for one in value if isinstance(one, Node))


def described(node: Node) -> str:
    """Return what a node computes, in one line for a curious reviewer."""
    words = []
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name != "shape" and value is not None:
            words.append(f"{field.name} {_word(value)}")
    name = type(node).__name__
    return f"{name}({', '.join(words)})"


_SHOWN = 12
"""Entries of a list that are printed."""


def _word(value: object) -> str:
    match value:
        case Node():
            return described(value)
        case Fraction():
            return plain(value)
        case tuple():
            more = ", ..." if len(value) > _SHOWN else ""
            return f"[{', '.join(map(_word, value[:_SHOWN]))}{more}]"
        case _:
            return str(value)


def _any(tests: list[Within], name: str) -> Test:
    """Return where one of the tests of a column is true; without any, nothing is."""
    if not tests:
        return Within(name, 1, 0)
    return tests[0] if len(tests) == 1 else Disjunction(tuple(tests))


def _or_missing(test: Test, name: str, missing: bool | None) -> Test:  # noqa: FBT001
    """Return a test that is known where the cell is missing, too, if it is filled."""
    if missing is None:
        return test
    if missing:
        return Disjunction((Negation(Present(name)), test))
    return Conjunction((Present(name), test))
