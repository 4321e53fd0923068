"""Expressions have the public shapes and the exact values of the vectors."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from exact_rows import meaning, value_of
from golden import VECTORS

from dpql.model.expression import (
    And,
    Call,
    Compared,
    Constant,
    Expression,
    Function,
    IsMissing,
    Not,
    Operator,
    Or,
    Reference,
)
from dpql.model.lattice_nodes import Kind
from dpql.model.spec import (
    Data,
    DropNulls,
    FillNulls,
    NumberColumn,
    NumberType,
    RowsAtMost,
)

CASES = json.loads((VECTORS / "questions" / "derived.json").read_text("utf-8"))["cases"]
FUNCTIONS = {
    "add": Function.ADD,
    "sub": Function.SUBTRACT,
    "mul": Function.MULTIPLY,
    "min": Function.MIN,
    "max": Function.MAX,
    "abs": Function.ABS,
    "floordiv": Function.FLOOR_DIVIDE,
    "case": Function.CASE,
    "coalesce": Function.COALESCE,
    "div": Function.DIV,
    "round": Function.ROUND,
}
TESTS = {"eq": Operator.EQUAL, "lt": Operator.LESS, "le": Operator.AT_MOST}


def expression(tree: Any) -> Expression:  # noqa: PLR0911  one per word
    """Return the expression of a tree of the vectors."""
    if isinstance(tree, str):
        return Constant(value=Fraction(tree))
    word, *given = tree
    if word == "col":
        return Reference(column=given[0])
    if word == "const":
        return Constant(value=Fraction(given[0]))
    operands = tuple(map(expression, given))
    match word:
        case "and":
            return And(operands=operands)
        case "or":
            return Or(operands=operands)
        case "not":
            return Not(operand=operands[0])
        case "isnull":
            return IsMissing(operand=operands[0])
    if word in TESTS:
        return Compared(left=operands[0], operator=TESTS[word], right=operands[1])
    return Call(function=FUNCTIONS[word], operands=operands)


def data_of(columns: dict[str, dict[str, Any]]) -> Data:
    """Return the declared columns of a case."""
    return Data(
        source="rows",
        rows=RowsAtMost(count=100),
        columns=tuple(
            NumberColumn(
                name=name,
                type=NumberType.DECIMAL,
                lower=Fraction(column["lower"]),
                upper=Fraction(column["upper"]),
                step=Fraction(column["step"]),
                unit=None,
                nulls=DropNulls()
                if column["null"]
                else FillNulls(value=Fraction(column["lower"])),
            )
            for name, column in columns.items()
        ),
    )


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_an_expression_has_its_shape_and_its_values(case: dict[str, Any]) -> None:
    """Step, bounds, null, and the value of every row; or it is refused."""
    data = data_of(case["input"]["columns"])
    wanted = expression(case["input"]["expression"])
    node = data.lattice.typed(wanted)
    expected = case["expect"]
    if "refused" in expected:
        assert node.shape.excess is not None
        return
    shape = {
        "step": str(node.shape.step),
        "lower": str(node.shape.lower),
        "upper": str(node.shape.upper),
        "null": node.shape.nullable,
    }
    assert expected["shape"] == shape
    assert node.shape.kind in (Kind.NUMBER, Kind.BOOLEAN)
    rows = [
        {name: None if cell is None else Fraction(cell) for name, cell in row.items()}
        for row in case["input"]["rows"]
    ]
    values = [None if text is None else Fraction(text) for text in expected["values"]]
    assert values == [value_of(node, data, row) for row in rows]
    assert values == [meaning(wanted, data, row) for row in rows]
