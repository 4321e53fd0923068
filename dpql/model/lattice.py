"""The exact integers of expressions over declared columns: bounds, steps and nulls.

A value is ``g * z``, g > 0 rational, z whole from low to high. Every node says by how
much its operands are multiplied to come to their common g, the gcd of theirs.

    column        g = gcd(lower, step); a float has 2^20 steps
    constant      g = |c|; the constant 0 has none of its own
    x + y, min    gcd           x * y   g_x * g_y       x // c, a test   1

Source: MATH-statistics 4, 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.diagnostics import shown
from dpql.model import lattice_keys, lattice_numbers, lattice_tests
from dpql.model.expression import (
    And,
    Bands,
    Between,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    IsMissing,
    IsNull,
    Listed,
    Map,
    Membership,
    Not,
    Or,
    PartOf,
    Ranged,
    Reference,
    operands_of,
)
from dpql.model.lattice_nodes import (
    CellMissing,
    DerivedCell,
    KeyCell,
    Kind,
    Missing,
    Node,
    NumberCell,
    Shape,
)
from dpql.model.lattice_rules import (
    TRUTH,
    Untyped,
    common_step,
    constant,
    shaped,
)
from dpql.model.limits import LARGEST_WHOLE

if TYPE_CHECKING:
    from dpql.model.spec import Column, Data, NumberColumn

FLOAT_STEPS = 1 << 20
"""The steps of a float inside an expression."""

_EXACT_STEPS = 1 << 46
"""Doubles tell so many steps of a decimal apart."""

_HALF = Fraction(1, 2)


class Lattice:
    """The columns that an expression may name, and the nodes of what it is made of.

    ``derived`` has the node of each derived column, in order; `add` adds one more.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.declared = {column.name: column for column in columns}
        self.derived: dict[str, Node] = {}
        self._cells: dict[str, Node] = {}

    @classmethod
    def of(cls, data: Data) -> Lattice:
        """Return the lattice of all columns of the data.

        Raises:
            Untyped: a derived column has no type.
        """
        found = cls(data.columns)
        for column in data.derived:
            found.add(column.name, found.typed(column.expression))
        return found

    def add(self, name: str, node: Node) -> None:
        """Let the expressions below name a derived column."""
        self.derived[name] = node

    def typed(self, expression: Expression) -> Node:
        """Return the node of an expression.

        Raises:
            Untyped: it has no type.
        """
        operands = [self.typed(operand) for operand in operands_of(expression)]
        return self.combined(expression, operands)

    def combined(  # noqa: PLR0911, C901, PLR0912  one per kind
        self, expression: Expression, operands: Sequence[Node]
    ) -> Node:
        """Return the node of an expression, given those of its operands.

        Raises:
            Untyped: it has no type.
        """
        match expression:
            case Reference(column=name):
                return self.column(name)
            case Constant(value=value):
                return constant(value)
            case Call():
                return lattice_numbers.called(expression, operands, self)
            case Bands(edges=edges):
                return lattice_keys.banded(operands[0], edges, self.plain(expression))
            case Map():
                return lattice_keys.mapped(expression, operands[0])
            case PartOf(part=part, column=name):
                return lattice_keys.part(part, self.declared.get(name), name)
            case Comparison(column=name, operator=operator, value=value):
                tested = lattice_tests.Tested.of(self, name)
                return lattice_tests.compared(tested, operator, value)
            case Membership(column=name, values=values):
                return lattice_tests.listed(lattice_tests.Tested.of(self, name), values)
            case Between(column=name, lower=lower, upper=upper):
                tested = lattice_tests.Tested.of(self, name)
                return lattice_tests.ranged(tested, lower, upper)
            case Compared(operator=operator):
                return lattice_tests.paired(expression, operator, operands, self)
            case Listed(operand=operand, values=values):
                tested = lattice_tests.Tested.at(self, operand, operands[0])
                return lattice_tests.listed(tested, values)
            case Ranged(operand=operand, lower=first, upper=last):
                tested = lattice_tests.Tested.at(self, operand, operands[0])
                return lattice_tests.ranged(tested, first, last)
            case IsNull(column=name) if name in self.declared:
                self.column(name)
                return CellMissing(column=name, shape=TRUTH)
            case IsNull(column=name):
                return Missing(
                    operand=self.column(name), shape=shaped(TRUTH, self.column(name))
                )
            case IsMissing():
                return Missing(operand=operands[0], shape=shaped(TRUTH, operands[0]))
            case Not() | And() | Or():
                return lattice_tests.joined(expression, operands)

    def column(self, name: str) -> Node:
        """Return the value of a column, as an expression has it.

        Raises:
            Untyped: there is no such column above, or it is an id.
        """
        if name in self.derived:
            return DerivedCell(column=name, shape=self.derived[name].shape)
        if name in self._cells:
            return self._cells[name]
        found = self.declared.get(name)
        if found is None:
            raise Untyped(
                f"there is no column `{shown(name)}` above",
                "a derived column names declared ones and derived ones above it",
            )
        self._cells[name] = cell(found)
        return self._cells[name]

    def made(self, node: Node) -> Node:
        """Return what makes a node, through the names of derived columns."""
        while isinstance(node, DerivedCell):
            node = self.derived[node.column]
        return node

    def plain(self, expression: Bands) -> NumberColumn | None:
        """Return the declared number whose bands these are, if it is one."""
        from dpql.model.spec import NumberColumn

        operand = expression.operand
        if not isinstance(operand, Reference) or operand.column in self.derived:
            return None
        found = self.declared.get(operand.column)
        return found if isinstance(found, NumberColumn) else None


def cell(column: Column) -> Node:
    """Return the value of a declared column, as an expression has it.

    Raises:
        Untyped: it is an id, or a column whose keys are not declared.
    """
    from dpql.model.spec import (
        BooleanColumn,
        CategoryColumn,
        DateColumn,
        FillNulls,
        IdColumn,
        NumberColumn,
        PrivateColumn,
    )

    match column:
        case IdColumn(name=name):
            raise Untyped(f"`{shown(name)}` is an id, which no expression reads")
        case PrivateColumn(name=name):
            raise Untyped(
                f"the keys of `{shown(name)}` are found in the data, and no expression "
                "reads it"
            )
        case CategoryColumn(name=name, keys=keys):
            shape = lattice_keys.key_shape(keys, nullable=True)
            return KeyCell(column=name, shape=shape)
        case NumberColumn():
            return _number(column)
    nullable = not isinstance(column.nulls, FillNulls)
    if isinstance(column, BooleanColumn):
        kind, step, first, width, clock = Kind.BOOLEAN, 1, 0, 1, None
    elif isinstance(column, DateColumn):
        kind, step, first, clock = Kind.DATE, 1, column.first, None
        width = column.last - first
    else:
        kind, step, first = Kind.TIME, column.step, column.first
        width, clock = column.last - first, (step, column.zone)
    steps = width // step
    g = common_step(Fraction(first), Fraction(step))
    base, factor = int(first / g), int(step / g)
    return NumberCell(
        column=column.name,
        steps=steps,
        base=base,
        factor=factor,
        shape=Shape(
            kind=kind,
            step=g,
            low=base,
            high=base + factor * steps,
            nullable=nullable,
            clock=clock,
        ),
    )


def like(name: str, node: Node) -> Column:
    """Return the declared column that a derived one is like."""
    from dpql.model.spec import (
        BooleanColumn,
        CategoryColumn,
        DropNulls,
        FillNulls,
        NumberColumn,
        NumberType,
    )

    shape = node.shape
    if shape.kind is Kind.KEY:
        return CategoryColumn(name=name, keys=shape.keys)
    nulls = DropNulls() if shape.nullable else FillNulls(value=shape.lower)
    if shape.kind is Kind.BOOLEAN:
        return BooleanColumn(name=name, nulls=nulls)
    whole = shape.step.denominator == 1
    return NumberColumn(
        name=name,
        type=NumberType.INTEGER if whole else NumberType.DECIMAL,
        lower=shape.lower,
        upper=shape.upper,
        step=shape.step,
        unit=None,
        nulls=nulls,
    )


def _number(column: NumberColumn) -> Node:
    from dpql.model.spec import FillNulls, NumberType

    width = column.upper - column.lower
    step = width / FLOAT_STEPS if column.step is None else column.step
    steps = int(width / step)
    g = common_step(column.lower, step)
    base, factor = int(column.lower / g), int(step / g)
    shape = shaped(
        Shape(
            kind=Kind.NUMBER,
            step=g,
            low=base,
            high=base + factor * steps,
            nullable=not isinstance(column.nulls, FillNulls),
        ),
        met=(factor * steps,),
    )
    exact = max(abs(column.lower), abs(column.upper)) <= LARGEST_WHOLE
    if column.type is NumberType.DECIMAL:
        # Its big numbers take long to load, and few columns need them.
        from dpql.model.doubles import double_error

        far = steps > _EXACT_STEPS
        exact = not far and double_error(column, steps) < _HALF
    if not exact:
        shape = shaped(shape, met=(1 << 62,))
    return NumberCell(
        column=column.name, steps=steps, base=base, factor=factor, shape=shape
    )
